# SPDX-License-Identifier: BSD-3-Clause
# GPU code: every src/**/*_cuda.cu, compiled by nvcc where there is one; *_real_cuda.cu once for each element type. It becomes
# libfloe_cuda.so, which libfloe loads when a GPU is first requested, or, with FLOE_CUDA_STATIC, part of libfloe.
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
elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 11.8) # the first with launch attributes
  set(FLOE_NO_CUDA "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than 11.8")
endif()

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
# For GPUs of this machine; where there are none, for an H100 or H200. "release": for all there are, and for those to come.
if(EXISTS /dev/nvidiactl AND CMAKE_VERSION VERSION_GREATER_EQUAL 3.24)
  set(architectures native)
else()
  set(architectures 90)
endif()
set(FLOE_CUDA_ARCHITECTURES ${architectures}
    CACHE STRING "What the GPU kernels are compiled for, as for CMAKE_CUDA_ARCHITECTURES; release: for all GPUs")
set(architectures ${FLOE_CUDA_ARCHITECTURES})
if(architectures STREQUAL release)
  set(architectures 80-real 86-real 89-real 90-real)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    list(APPEND architectures 100-real 120-real)
  endif()
  list(APPEND architectures 80-virtual)
  set(beside --threads=0) # the longest source takes as long for one architecture as all others for all
endif()

# All of our C sees that there is a GPU backend.
target_compile_definitions(floe_flags INTERFACE FLOE_HAVE_CUDA_BUILD=1)
target_include_directories(floe_flags SYSTEM INTERFACE ${cuda_headers})
# cuFFT is no dependency: it is looked for when the first spectrum is requested, last where the toolkit is now.
if(FLOE_CUFFT AND FLOE_CUDA_BUILD STREQUAL emulated)
  set(cufft FLOE_HAVE_CUFFT=1 FLOE_CUFFT_EMULATED=1)
elseif(FLOE_CUFFT)
  set(cufft FLOE_HAVE_CUFFT=1 FLOE_CUFFT_DIR="${CUDAToolkit_LIBRARY_DIR}")
endif()
set_source_files_properties(src/assess/spectrum/cufft_load.c PROPERTIES COMPILE_DEFINITIONS "${cufft}")
if(FLOE_CUDA_BUILD STREQUAL emulated) # which has no driver
  set_source_files_properties(src/backend/cuda_reach.c PROPERTIES COMPILE_DEFINITIONS FLOE_CUDA_EMULATED=1)
  set(FLOE_CUDART pthread)
else() # static, so that the library starts where there is no driver
  set(FLOE_CUDART ${CUDAToolkit_LIBRARY_DIR}/libcudart_static.a dl rt pthread)
endif()
set(FLOE_CUDA_LIBS ${FLOE_CUDART})
if(NOT FLOE_CUDA_STATIC)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|aarch64|arm64)$")
    message(FATAL_ERROR "floe: for ${CMAKE_SYSTEM_PROCESSOR} the GPU backend is part of libfloe: say FLOE_CUDA_STATIC=ON")
  endif()
  set(FLOE_CUDA_LOADED ON)
  set(FLOE_CUDA_LIBS dl)
endif()

set(compressed -Xfatbin=-compress-all)
if(CMAKE_CUDA_FLAGS MATCHES "--compress-mode=")
  set(compressed)
elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
  set(compressed --compress-mode=size)
endif()

function(floe_cuda_objects name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEFINITIONS;SOURCES")
  list(TRANSFORM arg_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  add_library(${name} OBJECT ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS} FLOE_HAVE_CUDA_BUILD=1 ${FLOE_TEST_CODEC_ROW})
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
                                           ${compressed} ${beside} $<$<NOT:$<CONFIG:Release>>:-lineinfo>
                                           $<$<BOOL:${FLOE_WERROR}>:--Werror=all-warnings>)
    set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
  endif()
  set(FLOE_OBJECTS ${FLOE_OBJECTS} $<TARGET_OBJECTS:${name}> PARENT_SCOPE)
endfunction()

set(kernels)
foreach(room src ${FLOE_TEST_CODEC_ROOM})
  file(GLOB_RECURSE here CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${room}/*_cuda.cu)
  list(APPEND kernels ${here})
endforeach()
set(real_kernels ${kernels})
list(FILTER real_kernels INCLUDE REGEX "_real_cuda\\.cu$")
list(FILTER kernels EXCLUDE REGEX "_real_cuda\\.cu$")
if(FLOE_CUDA_BUILD STREQUAL emulated)
  file(GLOB emulator CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests/emulator/*.cpp)
  list(TRANSFORM emulator PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE absolute)
  set_source_files_properties(${absolute} PROPERTIES COMPILE_OPTIONS "-O2;-fno-sanitize=alignment") # most of a test's time is spent there
  list(APPEND kernels ${emulator})
endif()
floe_cuda_objects(floe_cuda_once SOURCES ${kernels})
foreach(bits 32 64)
  floe_cuda_objects(floe_cuda_f${bits} SOURCES ${real_kernels} DEFINITIONS FLOE_REAL_BITS=${bits})
endforeach()

set(FLOE_CUDA_OBJECTS ${FLOE_OBJECTS})
if(FLOE_CUDA_LOADED)
  set(FLOE_OBJECTS)
endif()

# Most of nvcc's time goes from PTX to registers: PTX alone shows that kernels compile. Of either type for another architecture, so
# that both ways of what only 9.0 has are seen.
set(library_objects ${FLOE_OBJECTS})
function(floe_cuda_ptx name architecture)
  floe_cuda_objects(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES ${architecture}-virtual)
endfunction()
if(FLOE_CUDA_BUILD STREQUAL nvcc)
  floe_cuda_ptx(floe_ptx_once 90 SOURCES ${kernels})
  floe_cuda_ptx(floe_ptx_f32 90 SOURCES ${real_kernels} DEFINITIONS FLOE_REAL_BITS=32)
  floe_cuda_ptx(floe_ptx_f64 80 SOURCES ${real_kernels} DEFINITIONS FLOE_REAL_BITS=64)
endif()

# libfloe's C, which the objects given are made of, and libfloe_cuda.so: what joins them. The library is found at run time, not
# linked, and refused by another version: it has a plain name.
function(floe_cuda_library)
  set(folder ${PROJECT_BINARY_DIR}/cuda_entries)
  set(script ${PROJECT_SOURCE_DIR}/cmake/CudaEntries.cmake)
  file(GENERATE OUTPUT ${folder}/objects.txt CONTENT "$<JOIN:${FLOE_OBJECTS},\n>\n")
  add_custom_command(OUTPUT ${folder}/cuda_jumps.c ${folder}/cuda_entries.c DEPENDS ${FLOE_OBJECTS} ${script} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOBJECTS=${folder}/objects.txt -DMACHINE=${CMAKE_SYSTEM_PROCESSOR}
                             -DALSO=floe_huffman_books_read_cuda,floe_lorenzo_begin_cuda -DVERSION=${PROJECT_VERSION} -DOUT=${folder} -P ${script})
  add_library(floe_cuda_jumps OBJECT ${folder}/cuda_jumps.c)
  add_library(floe_host STATIC EXCLUDE_FROM_ALL ${FLOE_OBJECTS}) # of which kernels' launches need a little
  add_library(floe_cuda SHARED ${FLOE_CUDA_OBJECTS} ${folder}/cuda_entries.c)
  add_dependencies(floe_cuda floe_cuda_jumps)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/floe_cuda.map @ONLY
       CONTENT "{\nglobal:\n    floe_cuda_library_id;\n    floe_cuda_library_entries;\nlocal:\n    *;\n};\n")
  target_link_libraries(floe_cuda PRIVATE floe_host ${FLOE_CUDART} m)
  target_link_options(floe_cuda PRIVATE -Wl,--version-script=${PROJECT_BINARY_DIR}/floe_cuda.map -Wl,-z,defs)
  set_target_properties(floe_cuda PROPERTIES LINKER_LANGUAGE C LINK_DEPENDS ${PROJECT_BINARY_DIR}/floe_cuda.map)
  set(FLOE_OBJECTS ${FLOE_OBJECTS} $<TARGET_OBJECTS:floe_cuda_jumps> PARENT_SCOPE)
endfunction()

# Kernels of tests, which try device functions one by one: not in libfloe.
file(GLOB trials CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests/gpu/*_real_cuda.cu)
foreach(bits 32 64)
  floe_cuda_objects(floe_trials_f${bits} SOURCES ${trials} DEFINITIONS FLOE_REAL_BITS=${bits})
  set_target_properties(floe_trials_f${bits} PROPERTIES EXCLUDE_FROM_ALL ON)
endforeach()
set(FLOE_OBJECTS ${library_objects})
add_library(floe_trials STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:floe_trials_f32> $<TARGET_OBJECTS:floe_trials_f64>)
set_target_properties(floe_trials PROPERTIES LINKER_LANGUAGE C)
