# SPDX-License-Identifier: BSD-3-Clause
# GPU code: every src/**/*_cuda.cu, compiled by nvcc into libfloe where there is one; *_real_cuda.cu once for each element type.
# With FLOE_CUDA_EMULATED the same sources are compiled by the C++ compiler for tests/emulator/, which runs kernels on the CPU.
include(CheckLanguage)

# The kernels take nvcc many minutes: AUTO builds them only where a GPU can run them. FLOE_NO_CUDA: why they are not built.
set(has_gpu ON)
if(FLOE_CUDA STREQUAL AUTO AND NOT EXISTS /dev/nvidiactl)
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(has_gpu OFF)
  endif()
endif()
if(FLOE_CUDA AND has_gpu AND NOT FLOE_CUDA_EMULATED)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
  endif()
endif()
if(NOT FLOE_CUDA)
  set(FLOE_NO_CUDA "FLOE_CUDA is ${FLOE_CUDA}")
elseif(NOT has_gpu)
  set(FLOE_NO_CUDA "there is no GPU here; 'make gpu' or -DFLOE_CUDA=ON builds it all the same")
elseif(NOT CMAKE_CUDA_COMPILER)
  set(FLOE_NO_CUDA "there is no nvcc")
elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 11.8) # the first that knows sm_90
  set(FLOE_NO_CUDA "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than 11.8")
endif()

set(FLOE_CUDA_LEAST_MAJOR 9) # compute capability 9.0: what the kernels are written for
if(FLOE_CUDA_EMULATED)
  enable_language(CXX)
  set(FLOE_CUDA_BUILD emulated)
  set(cuda_headers ${PROJECT_SOURCE_DIR}/tests/emulator/include)
elseif(NOT FLOE_NO_CUDA)
  find_package(CUDAToolkit REQUIRED)
  set(FLOE_CUDA_BUILD nvcc)
  set(cuda_headers ${CUDAToolkit_INCLUDE_DIRS})
elseif(FLOE_CUDA AND NOT FLOE_CUDA STREQUAL AUTO)
  message(FATAL_ERROR "floe: FLOE_CUDA is ${FLOE_CUDA}, but ${FLOE_NO_CUDA}")
else()
  return()
endif()
set(FLOE_CUDA_ARCHITECTURES 90 CACHE STRING "What the GPU kernels are compiled for, as for CMAKE_CUDA_ARCHITECTURES")

# All of our C sees that there is a GPU backend.
target_compile_definitions(floe_flags INTERFACE FLOE_HAVE_CUDA_BUILD=1 FLOE_CUDA_LEAST_MAJOR=${FLOE_CUDA_LEAST_MAJOR})
target_include_directories(floe_flags SYSTEM INTERFACE ${cuda_headers})
# cuFFT is no dependency: it is looked for when the first spectrum is asked for, last where the toolkit is now.
if(FLOE_CUFFT AND FLOE_CUDA_BUILD STREQUAL emulated)
  set(cufft FLOE_HAVE_CUFFT=1 FLOE_CUFFT_EMULATED=1)
elseif(FLOE_CUFFT)
  set(cufft FLOE_HAVE_CUFFT=1 FLOE_CUFFT_DIR="${CUDAToolkit_LIBRARY_DIR}")
endif()
set_source_files_properties(src/assess/spectrum/cufft_load.c PROPERTIES COMPILE_DEFINITIONS "${cufft}")
if(FLOE_CUDA_BUILD STREQUAL emulated) # which has no driver
  set_source_files_properties(src/backend/cuda_reach.c PROPERTIES COMPILE_DEFINITIONS FLOE_CUDA_EMULATED=1)
  set(FLOE_CUDA_LIBS pthread)
else() # static, so that the library starts where there is no driver
  set(FLOE_CUDA_LIBS ${CUDAToolkit_LIBRARY_DIR}/libcudart_static.a dl rt pthread)
endif()

function(floe_cuda_objects name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEFINITIONS;SOURCES")
  list(TRANSFORM arg_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  add_library(${name} OBJECT ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS} FLOE_HAVE_CUDA_BUILD=1)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_STANDARD 17 CUDA_STANDARD 17)
  if(FLOE_CUDA_BUILD STREQUAL emulated)
    target_include_directories(${name} BEFORE PRIVATE ${cuda_headers})
    target_compile_definitions(${name} PRIVATE FLOE_EMULATED)
    # As nvcc does: words of memory may be read as another type. No C++ runtime, so that programs in C link as before.
    # Kernels have unused variables and unrolling hints that only nvcc understands.
    target_compile_options(${name} PRIVATE -ffp-contract=off -fno-strict-aliasing -fno-exceptions -fno-rtti
                                           -fno-threadsafe-statics -Wall -Wno-unknown-pragmas -Wno-unused -Wno-attributes
                                           $<$<BOOL:${FLOE_WERROR}>:-Werror>)
    if(FLOE_SANITIZE)
      target_compile_options(${name} PRIVATE -fsanitize=${FLOE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    endif()
    foreach(source ${sources})
      if(source MATCHES "\\.cu$")
        set_source_files_properties(${source} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
      endif()
    endforeach()
  else()
    # Unfused, like the C: what is fused on purpose says fmaf.
    # No C++ runtime, so that programs in C link as before. Kernels are compressed, and a profiler's line numbers are left
    # out of a release: they are larger than the kernels.
    target_compile_options(${name} PRIVATE -fmad=false -diag-suppress=177 # of templates, some go unused
                                           -Xcompiler=-fno-exceptions,-fno-rtti,-fno-threadsafe-statics
                                           -Xfatbin=-compress-all $<$<NOT:$<CONFIG:Release>>:-lineinfo>
                                           $<$<BOOL:${FLOE_WERROR}>:--Werror=all-warnings>)
    set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES "${FLOE_CUDA_ARCHITECTURES}")
  endif()
  set(FLOE_OBJECTS ${FLOE_OBJECTS} $<TARGET_OBJECTS:${name}> PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE kernels CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src/*_cuda.cu)
set(real_kernels ${kernels})
list(FILTER real_kernels INCLUDE REGEX "_real_cuda\\.cu$")
list(FILTER kernels EXCLUDE REGEX "_real_cuda\\.cu$")
if(FLOE_CUDA_BUILD STREQUAL emulated)
  file(GLOB emulator CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests/emulator/*.cpp)
  list(TRANSFORM emulator PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE absolute)
  set_source_files_properties(${absolute} PROPERTIES COMPILE_OPTIONS -O2) # most of a test's time is spent there
  list(APPEND kernels ${emulator})
endif()
floe_cuda_objects(floe_cuda_once SOURCES ${kernels})
foreach(bits 32 64)
  floe_cuda_objects(floe_cuda_f${bits} SOURCES ${real_kernels} DEFINITIONS FLOE_REAL_BITS=${bits})
endforeach()

# Kernels of f64 take most of nvcc's time, much of it from PTX to registers: PTX alone shows that they compile.
set(library_objects ${FLOE_OBJECTS})
if(FLOE_CUDA_BUILD STREQUAL nvcc)
  floe_cuda_objects(floe_ptx_f64 SOURCES ${real_kernels} DEFINITIONS FLOE_REAL_BITS=64)
  set_target_properties(floe_ptx_f64 PROPERTIES EXCLUDE_FROM_ALL ON CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES ${FLOE_CUDA_LEAST_MAJOR}0-virtual)
endif()

# Kernels of tests, which try device functions one by one: not in libfloe.
file(GLOB trials CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests/gpu/*_real_cuda.cu)
foreach(bits 32 64)
  floe_cuda_objects(floe_trials_f${bits} SOURCES ${trials} DEFINITIONS FLOE_REAL_BITS=${bits})
  set_target_properties(floe_trials_f${bits} PROPERTIES EXCLUDE_FROM_ALL ON)
endforeach()
set(FLOE_OBJECTS ${library_objects})
add_library(floe_trials STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:floe_trials_f32> $<TARGET_OBJECTS:floe_trials_f64>)
set_target_properties(floe_trials PROPERTIES LINKER_LANGUAGE C)
