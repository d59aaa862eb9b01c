# SPDX-License-Identifier: BSD-3-Clause
# Files of other formats are no raw values, and their names none for what floe writes.
begin() { printf "$2" >"$1" && head -c $((64 - $(size "$1"))) /dev/zero >>"$1"; }
r="--shape 4x4 --dtype f32 --bound abs=1"
begin a.h5 '\211HDF\r\n\032\n'
begin a.nc 'CDF\001'
begin b.nc 'CDF\002'
begin c.nc 'CDF\005'
begin a.grib 'GRIB'
begin a.fits 'SIMPLE  ='
begin a.tif 'II*\000'
begin b.tif 'MM\000*'
begin c.tif 'II+\000'
begin a.npz 'PK\003\004'
begin a.mat 'MATLAB 5.0 MAT-file'
begin a.gz '\037\213\010'
begin a.zst '\050\265\057\375'
begin a.xz '\3757zXZ\000'
begin a.zfp 'zfp\005'
for f in *.*; do show compress "$f" -o x.floe $r -q; done
mkdir a.zarr
: >a.zarr/.zgroup
show compress a.zarr -o x.floe $r
show compress a.nc -o x.floe --bound abs=1
show_sh "floe compress - -o x.floe $r <a.h5"
show_sh "cat a.h5 | floe compress - -o x.floe $r"
field t.f32 4x4
show compress t.f32 -o t.floe $r -q
show compress t.floe -o x.floe $r
show verify t.floe --against a.h5
show check t.f32 a.h5 --shape 4x4 --dtype f32
show check a.nc t.floe
show stat a.gz --shape 4x4 --dtype f32
show compress a.h5 -o x.zfp $r --raw-zfp

# who has such values says so; they come back
show compress a.h5 -o x.floe $r -q --raw
show verify x.floe --against a.h5 --raw
show stat a.gz --shape 4x4 --dtype f32 --raw -q
rm x.floe

for f in x.h5 x.HDF5 x.nc x.nc4 x.tif x.tiff x.fits x.grib x.grb x.npz x.zarr x.mat x.gz; do
    show decompress t.floe -o $f --force
done
show decompress t.floe -o a.h5 --force
show compress t.f32 -o x.npz $r
show compress t.f32 -o x.npy $r --force
show compress t.f32 -o x.npy $r --raw-zfp
show compress t.f32 -o x.zfp $r --raw-zfp --index x.npy
show fields ramp --shape 4 -o x.nc
show compress t.f32 -o t.zfp $r --raw-zfp -q
show index t.zfp -o x.npy
show decompress t.zfp -o x.tiff --raw-zfp
show decompress t.zfp -o x.npy --raw-zfp -q
show decompress t.floe -o my.nc.raw -q
only a.h5 a.nc b.nc c.nc a.grib a.fits a.tif b.tif c.tif a.npz a.mat a.gz a.zst a.xz a.zfp a.zarr t.f32 t.floe t.zfp x.npy my.nc.raw
