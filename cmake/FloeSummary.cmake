# SPDX-License-Identifier: BSD-3-Clause
# One line for each optional thing, at the end of configuring.
function(floe_say name found)
  if(found)
    message(STATUS "floe: ${name}: yes")
  else()
    message(STATUS "floe: ${name}: no")
  endif()
endfunction()

message(STATUS "floe ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
floe_say("threads (OpenMP)" "${OpenMP_C_FOUND}")
floe_say("AVX2 paths" "${FLOE_AVX2_BUILD}")
floe_say("libxxhash" "${FLOE_HAVE_XXHASH}")
floe_say("GPU backend (CUDA)" "${FLOE_CUDA_BUILD}")
floe_say("FFTW (spectra)" "${FLOE_HAVE_FFTW}")
floe_say("libzfp (benches)" "${zfp_FOUND}")
