# SPDX-License-Identifier: BSD-3-Clause
# What there is to work with: no two machines have the same, but each line is there, and a GPU that is not has a reason.
export CUDA_VISIBLE_DEVICES= FLOE_EMULATED_DEVICES=0
show_sh "floe version --verbose | sed -E -e 's/^(threads): [1-9][0-9]*$/\1: N/' -e 's/^(instruction set): (AVX2|plain)$/\1: SET/' \
    -e 's/^(XXH3): .+/\1: WHICH/' -e 's/^(GPU backend): .+/\1: WHERE/' -e 's/^(GPU): none: .+/\1: none: WHY/'"
