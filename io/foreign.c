/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of other formats. Taken for raw values, their headers and compressed blocks would become numbers; written raw under their
 * names, an array would be read by nothing. */
#include "io/format.h"

#include <stdio.h>
#include <string.h>

typedef struct foreign {
    const char *name;
    const char *magic; /* NULL: no other than the row above */
    size_t magic_nbytes;
    const char *suffixes; /* between blanks */
    const char *read;     /* Python that makes the array a */
} foreign;

#define MAGIC(text) text, sizeof text - 1

static const foreign kinds[] = {
    {"a .floe stream",
     MAGIC("\xF1"
           "FLOE"),
     "", NULL},
    {"a zfp stream", MAGIC("zfp\x05"), "", NULL},
    {"an HDF5 (or NetCDF-4) file", MAGIC("\x89HDF\r\n\x1A\n"), " .h5 .hdf5 .he5 .nc4 ", "h5py.File(IN)['NAME'][...]"},
    {"a NetCDF file", MAGIC("CDF\x01"), " .nc .cdf ", "xarray.open_dataset(IN)['NAME'].values"},
    {"a NetCDF file", MAGIC("CDF\x02"), "", "xarray.open_dataset(IN)['NAME'].values"},
    {"a NetCDF file", MAGIC("CDF\x05"), "", "xarray.open_dataset(IN)['NAME'].values"},
    {"a GRIB file", MAGIC("GRIB"), " .grib .grib2 .grb .grb2 ",
     "xarray.open_dataset(IN, engine='cfgrib')['NAME'].values"},
    {"a FITS file", MAGIC("SIMPLE  ="), " .fits .fit ", "astropy.io.fits.getdata(IN)"},
    {"a TIFF file", MAGIC("II*\0"), " .tif .tiff ", "tifffile.imread(IN)"},
    {"a TIFF file", MAGIC("MM\0*"), "", "tifffile.imread(IN)"},
    {"a TIFF file", MAGIC("II+\0"), "", "tifffile.imread(IN)"},
    {"an .npz (or zip) archive", MAGIC("PK\x03\x04"), " .npz .zip ", "np.load(IN)['NAME']"},
    {"a Zarr store", NULL, 0, " .zarr ", "zarr.open(IN)['NAME'][...]"},
    {"a MATLAB file", MAGIC("MATLAB 5"), " .mat ", "scipy.io.loadmat(IN)['NAME']"},
    {"a gzip file", MAGIC("\x1F\x8B\x08"), " .gz .tgz ", NULL},
    {"a zstd file", MAGIC("\x28\xB5\x2F\xFD"), " .zst ", NULL},
    {"an xz file",
     MAGIC("\xFD"
           "7zXZ\0"),
     " .xz ", NULL},
};
enum { NKINDS = sizeof kinds / sizeof kinds[0] };

static floe_status fail_input(const io_reader *reader, const foreign *kind, floe_error *err)
{
    if (!kind->read)
        return io_fail(err, FLOE_ERR_FORMAT, "'%s' is %s, no raw array: decompress it first, or give --raw",
                       reader->name, kind->name);
    return io_fail(err, FLOE_ERR_FORMAT,
                   "'%s' is %s, no raw array: save what is wanted of it with np.save(OUT, %s), or give --raw",
                   reader->name, kind->name, kind->read);
}

floe_status io_reader_refuse_foreign(io_reader *reader, floe_error *err)
{
    const unsigned char *head;
    size_t got;
    floe_status status = reader->format == &io_format_raw ? io_reader_peek(reader, 16, &head, &got, err) : FLOE_OK;
    if (status != FLOE_OK || reader->format != &io_format_raw)
        return status;
    for (int i = 0; i < NKINDS; i++)
        if (kinds[i].magic && got >= kinds[i].magic_nbytes && memcmp(head, kinds[i].magic, kinds[i].magic_nbytes) == 0)
            return fail_input(reader, &kinds[i], err);
    return FLOE_OK;
}

/* The part from the last dot on, as it stands in a table: " .nc "; "" where there is none. */
static void suffix_of(const char *path, char word[16])
{
    const char *dot = strrchr(path, '.');
    word[0] = 0;
    if (!dot || strchr(dot, '/') || strchr(dot, ' ') || snprintf(word, 16, " %s ", dot) >= 16)
        word[0] = 0;
    for (char *c = word; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
}

floe_status io_output_refuse_foreign(const char *path, bool is_array, floe_error *err)
{
    char word[16];
    suffix_of(path, word);
    if (!is_array && strcmp(word, " .npy ") == 0)
        return io_fail(err, FLOE_ERR_ARGUMENT, "'%s' is a name for an array, and this is none: give another one", path);
    if (is_array && strcmp(word, " .floe ") == 0)
        return io_fail(err, FLOE_ERR_ARGUMENT, "'%s' is a name for a stream, and this is an array: give another one",
                       path);
    for (int i = 0; word[0] && i < NKINDS; i++)
        if (strstr(kinds[i].suffixes, word))
            return io_fail(
                err, FLOE_ERR_ARGUMENT, "'%s' is a name for %s, which floe does not write%s", path, kinds[i].name,
                is_array ? ": write a .npy file, which NumPy loads, and convert that" : ": give another one");
    return FLOE_OK;
}
