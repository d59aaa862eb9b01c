# SPDX-License-Identifier: BSD-3-Clause
# GPU kernels: every src/**/*_cuda.cu, in a library of their own that libfloe does not link yet. Built on demand:
# cmake --build build --target lorenzo_pack_gpu_check, or tools/gpu-check, which also runs it.
if(NOT FLOE_HAVE_CUDA)
  return()
endif()
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 11.8) # the first that knows sm_90
  message(STATUS "floe: nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old for the GPU kernels")
  return()
endif()
set(FLOE_CUDA_ARCHITECTURES 90 CACHE STRING "What the GPU kernels are compiled for, as for CMAKE_CUDA_ARCHITECTURES")

file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_cuda.cu)
add_library(floe_cuda_kernels STATIC EXCLUDE_FROM_ALL ${kernels})
target_include_directories(floe_cuda_kernels PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(floe_cuda_kernels PRIVATE FLOE_REAL_BITS=32)
# Unfused, like the C: what is fused on purpose says fmaf.
target_compile_options(floe_cuda_kernels PRIVATE -fmad=false -lineinfo $<$<BOOL:${FLOE_WERROR}>:--Werror=all-warnings>)
set_target_properties(floe_cuda_kernels PROPERTIES CUDA_ARCHITECTURES "${FLOE_CUDA_ARCHITECTURES}" CUDA_STANDARD 17)

if(FLOE_TESTS AND TARGET floe_synth)
  add_executable(lorenzo_pack_gpu_check EXCLUDE_FROM_ALL tests/gpu/lorenzo_pack_gpu_check.c)
  target_include_directories(lorenzo_pack_gpu_check SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  target_include_directories(lorenzo_pack_gpu_check PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(lorenzo_pack_gpu_check PRIVATE _POSIX_C_SOURCE=200809L)
  target_compile_options(lorenzo_pack_gpu_check PRIVATE -UNDEBUG -Wno-conversion -Wno-sign-conversion)
  target_link_libraries(lorenzo_pack_gpu_check PRIVATE floe_cuda_kernels floe_synth floe_static floe_flags floe_libs)
  set_target_properties(lorenzo_pack_gpu_check PROPERTIES LINKER_LANGUAGE CUDA
                                                          CUDA_ARCHITECTURES "${FLOE_CUDA_ARCHITECTURES}")
endif()
