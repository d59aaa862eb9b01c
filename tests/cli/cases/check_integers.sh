# SPDX-License-Identifier: BSD-3-Clause
# Integers: 256 zeros of which one is 256, and a decoded 2^24 more in one place.
head -c 1024 /dev/zero >o.i32
poke o.i32 41 001
cp o.i32 d.i32
poke d.i32 83 001
metrics=n,min,max,mean,max_error,l1,zeros,worst_errors,entropy_bytes
show check o.i32 d.i32 --shape 16x16 --dtype i32 --metrics $metrics
show stat o.i32 --shape 16x16 --dtype i32 --metrics n,max,entropy_bytes --csv
show stat o.i32 --shape 8x16 --dtype i64 --metrics n,max,fill --fill 0
show stat o.i32 --shape 8x16 --dtype i64 --metrics n --fill 0.5
# streams, lossless by either codec and not, of which the command knows the bound
field t.npy 20x30x40 terrain i64
for codec in lorenzo zfp; do
    "$FLOE" compress t.npy -o t.floe --lossless --codec $codec -q -f
    show check t.npy t.floe -q --fail-if 'max_error>0' --fail-if 'outside>0' --fail-if 'n<24000'
done
"$FLOE" compress t.npy -o t.floe --bound abs=3 -q -f
show check t.npy t.floe -q --fail-if 'max_error>3' --fail-if 'outside>0'
show check t.npy t.floe -q --fail-if 'max_error<=3'
"$FLOE" decompress t.floe -o back.npy -q
"$FLOE" check t.npy back.npy --csv 2>notes | sed '/^size\|^time/ d' >arrays
"$FLOE" check t.npy t.floe --csv 2>notes | sed '/^size\|^time\|^spatial_error:[cpf]/ d' >stream
same arrays stream
# where one differs beyond what doubles can tell
printf '\001\000\000\000\000\000\000\100' >a.i64 && cp a.i64 b.i64 && poke b.i64 0 003
cat a.i64 a.i64 >aa.i64 && cat a.i64 b.i64 >ab.i64
show check aa.i64 ab.i64 --shape 2 --dtype i64 --metrics max_error,linf,mse,max --fail-if 'max_error>0'
show check aa.i64 ab.i64 --shape 2 --dtype i64 -q --bound abs=1 --fail-if 'outside>0'
show check aa.i64 ab.i64 --shape 2 --dtype i64 -q --bound abs=2 --fail-if 'outside>0'
# a fill value that no double has, NetCDF's for i64: found, or named
fill='\0002\0\0\0\0\0\0\0200' value='\0007\0\0\0\0\0\0\0'
for i in 1 2 3 4; do printf '%b' "$fill$value\\0\\0\\0\\0\\0\\0\\0\\0$value"; done >f.i64
show compress f.i64 -o f.floe --shape 4x4 --dtype i64 --bound abs=2 -q
show_sh "floe info f.floe | grep fill; floe info f.floe --json | grep fill_value"
show compress f.i64 -o f.floe -f --shape 4x4 --dtype i64 --bound abs=2 --fill -9223372036854775806 -q
show_sh "floe info f.floe | grep fill; floe check f.i64 f.floe --metrics n,fill | grep -E 'fill|  n '"
show stat f.i64 --shape 4x4 --dtype i64 --metrics n,fill --fill -9223372036854775806
show_sh "floe stat f.i64 --shape 4x4 --dtype i64 --metrics n,fill --json | grep fill"
show compress f.i64 -o x.floe --shape 4x4 --dtype f64 --bound abs=1 --fill 9007199254740993
only o.i32 d.i32 t.npy t.floe back.npy arrays stream notes a.i64 b.i64 aa.i64 ab.i64 f.i64 f.floe
