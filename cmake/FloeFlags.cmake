# SPDX-License-Identifier: BSD-3-Clause
# What every C file of floe is compiled with (target floe_flags), and which optional things were found.
include(CheckCCompilerFlag)
include(GNUInstallDirs)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(floe_flags INTERFACE)
target_include_directories(floe_flags INTERFACE ${PROJECT_SOURCE_DIR}/include)
# No contraction: a multiply-add that the compiler fuses on one machine and not on another changes bytes.
# FLOE_SELDOM is set where a processor seldom comes: -O2 takes half the compiler's time.
target_compile_options(floe_flags INTERFACE -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wvla
                                            $<$<CONFIG:Release>:$<IF:$<BOOL:$<TARGET_PROPERTY:FLOE_SELDOM>>,-O2,-O3>>
                                            $<$<BOOL:${FLOE_WERROR}>:-Werror>)
target_compile_definitions(floe_flags INTERFACE _FILE_OFFSET_BITS=64)
# Vectors wider than the target's registers are passed between static functions only: no ABI is at stake.
check_c_compiler_flag(-Wno-psabi FLOE_HAVE_NO_PSABI)
if(FLOE_HAVE_NO_PSABI)
  target_compile_options(floe_flags INTERFACE -Wno-psabi)
endif()
# Nobody replaces functions of libfloe.so one by one, so calls inside it may be direct and inlined.
check_c_compiler_flag(-fno-semantic-interposition FLOE_HAVE_NO_INTERPOSITION)
if(FLOE_HAVE_NO_INTERPOSITION)
  target_compile_options(floe_flags INTERFACE -fno-semantic-interposition)
endif()

# Nothing asks errno what sqrt has said, so it may be an instruction, of vectors too.
check_c_compiler_flag(-fno-math-errno FLOE_HAVE_NO_MATH_ERRNO)
if(FLOE_HAVE_NO_MATH_ERRNO)
  target_compile_options(floe_flags INTERFACE -fno-math-errno)
endif()

if(FLOE_SANITIZE)
  target_compile_options(floe_flags INTERFACE -fsanitize=${FLOE_SANITIZE} -fno-sanitize-recover=all
                                              -fno-omit-frame-pointer)
  target_link_options(floe_flags INTERFACE -fsanitize=${FLOE_SANITIZE})
endif()
if(FLOE_SANITIZE OR FLOE_CUDA_EMULATED) # no forced inlining (src/base/real.h), another linker: the same source, built sooner
  target_compile_definitions(floe_flags INTERFACE FLOE_SLIM=1)
  find_program(FLOE_LLD ld.lld)
  mark_as_advanced(FLOE_LLD)
  if(FLOE_LLD)
    target_link_options(floe_flags INTERFACE -fuse-ld=lld)
  endif()
endif()
if(FLOE_CUDA_EMULATED) # a build for tests: with a codec more, the least that one can be
  set(FLOE_TEST_CODEC_ROOM tests/null_codec)
  set(FLOE_TEST_CODEC_ROW FLOE_TEST_CODEC=floe_null_codec FLOE_TEST_CODEC_NUMBER=200)
  target_compile_definitions(floe_flags INTERFACE ${FLOE_TEST_CODEC_ROW})
endif()
if(FLOE_FUZZ) # a call for each comparison more than doubles the time of tests
  target_compile_options(floe_flags INTERFACE -fsanitize=fuzzer-no-link $<$<NOT:$<BOOL:${FLOE_FUZZ_COMPARISONS}>>:-fno-sanitize-coverage=trace-cmp>)
endif()

# What the library itself links. Empty when nothing was found.
add_library(floe_libs INTERFACE)
target_link_libraries(floe_libs INTERFACE m)

if(FLOE_THREADS)
  find_package(Threads QUIET)
endif()
if(FLOE_THREADS AND Threads_FOUND) # else the loops stay, on one thread
  set(FLOE_HAVE_THREADS ON)
  target_link_libraries(floe_libs INTERFACE Threads::Threads)
  target_compile_definitions(floe_libs INTERFACE FLOE_HAVE_THREADS=1)
endif()

if(FLOE_XXHASH)
  find_path(XXHASH_INCLUDE_DIR xxhash.h)
  find_library(XXHASH_LIBRARY xxhash)
  mark_as_advanced(XXHASH_INCLUDE_DIR XXHASH_LIBRARY)
  if(XXHASH_INCLUDE_DIR AND XXHASH_LIBRARY)
    set(FLOE_HAVE_XXHASH ON)
    target_include_directories(floe_libs SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})
    target_compile_definitions(floe_libs INTERFACE HAVE_XXHASH=1)
    target_link_libraries(floe_libs INTERFACE xxhash)
  endif()
endif()

if(FLOE_ZFP)
  find_package(zfp QUIET CONFIG)
endif()

if(FLOE_AVX2 AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(FLOE_AVX2_FLAGS -mavx2 -mfma -mbmi -mbmi2) # what src/backend/backend.c asks the processor for
  string(JOIN " " avx2_flags ${FLOE_AVX2_FLAGS})
  check_c_compiler_flag("${avx2_flags}" FLOE_HAVE_AVX2_FLAGS)
  if(FLOE_HAVE_AVX2_FLAGS)
    set(FLOE_AVX2_BUILD ON)
    target_compile_definitions(floe_flags INTERFACE FLOE_HAVE_AVX2_BUILD=1)
  endif()
endif()
