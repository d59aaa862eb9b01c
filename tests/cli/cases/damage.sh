# SPDX-License-Identifier: BSD-3-Clause
field t.f32 32x16x16
show compress t.f32 -o t.floe --shape 32x16x16 --dtype f32 --bound rel=1e-3 --chunk 8x16x16 -q
show decompress t.floe -o whole.f32 -q
n=$(size t.floe)

# cut anywhere: never a word but one, never an output, never more than exit code 3
for cut in $(few $(seq 0 7 300) $(seq 301 $((n / 23)) $((n - 1)))); do
    head -c $cut t.floe >cut.floe
    for command in "decompress cut.floe -o x.f32" "verify cut.floe" "verify cut.floe --against t.f32"; do
        "$FLOE" $command -q >out 2>err
        [ $? = 3 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || echo "cut at $cut: $command: $(cat err)"
    done
done
# one byte of the header wrong, whatever it says then
for at in $(few $(seq 0 127)); do
    cp t.floe bad.floe
    flip bad.floe $at
    "$FLOE" decompress bad.floe -o x.f32 -q 2>err
    [ $? = 3 ] && [ "$(wc -l <err)" -eq 1 ] || echo "byte $at: $(cat err)"
done
rm -f out err
only t.f32 t.floe whole.f32 cut.floe bad.floe

: >cut.floe
show decompress cut.floe -o x.f32
show decompress t.f32 -o x.f32
cp t.floe new.floe
poke new.floe 8 011 # the version of the format, and the oldest reader that knows it
poke new.floe 10 011
show decompress new.floe -o x.f32
show info new.floe

# damage in the second chunk of four
cp t.floe bad.floe
flip bad.floe $((n * 3 / 8))
show decompress bad.floe -o x.f32
show verify bad.floe
show verify bad.floe --json
show verify bad.floe --against t.f32
show decompress bad.floe -o x.f32 --region 16:32,:,:
rm x.f32
show decompress bad.floe -o x.f32 --salvage
for part in 0 2 3; do
    cmp <(tail -c +$((part * 8192 + 1)) x.f32 | head -c 8192) <(tail -c +$((part * 8192 + 1)) whole.f32 | head -c 8192) &&
        echo "chunk $part is whole"
done
rm x.f32
show_sh "cat bad.floe | floe decompress - -o x.f32 --salvage --json"
# the index gone, all chunks there
head -c $((n - 50)) t.floe >cut.floe
show verify cut.floe
show info cut.floe
show decompress cut.floe -o y.f32 --salvage
same y.f32 whole.f32
# integers become a number
field t.i64 32x16x16 turbulence i64
show compress t.i64 -o bad.floe -f --shape 32x16x16 --dtype i64 --bound abs=1 --chunk 8x16x16 -q
flip bad.floe $(($(size bad.floe) * 3 / 8))
show_sh "floe decompress bad.floe -o x.i64 --salvage 2>&1 | tail -n 1"
show_sh "floe decompress bad.floe -o x.i64 -f --salvage --json | grep -A 6 lost"
show compress t.i64 -o bad.floe -f --shape 32x16x16 --dtype i64 --bound abs=1 --chunk 8x16x16 --fill -7 -q
flip bad.floe $(($(size bad.floe) * 3 / 8))
show_sh "floe decompress bad.floe -o x.i64 -f --salvage 2>&1 | tail -n 1"
rm t.i64 x.i64
# a header that claims more chunks than are there: what is said stays bounded
show compress t.f32 -o many.floe --shape 8192 --dtype f32 --bound rel=1e-3 --chunk 1 -q
head -c 5000 many.floe >cut.floe
show verify cut.floe
show decompress cut.floe -o z.f32
show decompress cut.floe -o z.f32 --salvage
show_sh "cat cut.floe | floe decompress - -o z.f32 --salvage"
head -c 9000 many.floe >cut.floe
show_sh "floe verify cut.floe | tail -n 1"
show_sh "floe verify cut.floe | wc -l"
show_sh "floe verify cut.floe --json | grep -c chunk.:"
show_sh "floe decompress cut.floe -o z.f32 --salvage 2>&1 | tail -n 3"
rm many.floe z.f32
# limits
show decompress t.floe -o z.f32 --max-elems 8191
show decompress t.floe -o z.f32 --max-elems 8192 --memory 8 -q
rm z.f32
show verify t.floe --max-elems 8191
show decompress t.floe -o z.f32 --max-elems 0
show decompress t.floe -o z.f32 --memory 1e3
show decompress t.zfp -o z.f32 --raw-zfp --memory 8
show decompress t.floe -o z.f32 --memory 0
only t.f32 t.floe whole.f32 cut.floe bad.floe new.floe x.f32 y.f32
