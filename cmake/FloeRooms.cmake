# SPDX-License-Identifier: BSD-3-Clause
# How a room (a folder) becomes a target. The file's suffix says what it is, so rooms are globbed, not listed:
#   *_cpu.c below src                       compiled per element type and instruction set, see src/base/real.h
#   *_test.c                                a cmocka test, see tests/CMakeLists.txt
#   *_fuzz.c                                a libFuzzer target
#   any other *.c                           compiled once
# CONFIGURE_DEPENDS makes every build look again, so a new file needs no edit here.

# Sources of the folders given, below PROJECT_SOURCE_DIR and sorted, into out. Only those whose path matches pattern.
function(floe_sources out pattern)
  set(found)
  foreach(folder ${ARGN})
    file(GLOB_RECURSE here CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.c)
    list(APPEND found ${here})
  endforeach()
  list(FILTER found INCLUDE REGEX "${pattern}")
  list(SORT found)
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# The sources of a room that are compiled once.
function(floe_plain_sources out)
  floe_sources(all "\\.c$" ${ARGN})
  list(FILTER all EXCLUDE REGEX "(^src/.*_cpu|_test|_fuzz)\\.c$")
  set(${out} ${all} PARENT_SCOPE)
endfunction()

# A folder outside src/ as a static library that only our own programs use. No sources yet: no target.
function(floe_room_library room)
  floe_plain_sources(sources ${room})
  if(sources)
    add_library(floe_${room} STATIC ${sources})
    target_include_directories(floe_${room} PUBLIC ${PROJECT_SOURCE_DIR})
    target_compile_definitions(floe_${room} PRIVATE _POSIX_C_SOURCE=200809L)
    target_link_libraries(floe_${room} PUBLIC floe_static PRIVATE floe_flags floe_libs)
  endif()
endfunction()

# Links target with the rooms that exist.
function(floe_link_rooms target)
  foreach(room ${ARGN})
    if(TARGET floe_${room})
      target_link_libraries(${target} PRIVATE floe_${room})
    endif()
  endforeach()
endfunction()

# A folder as one command.
function(floe_room_command room name)
  floe_plain_sources(sources ${room})
  if(sources AND FLOE_CLI)
    add_executable(floe_command ${sources})
    set_target_properties(floe_command PROPERTIES OUTPUT_NAME ${name})
    target_include_directories(floe_command PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(floe_command PRIVATE _POSIX_C_SOURCE=200809L)
    target_link_libraries(floe_command PRIVATE floe_static floe_flags floe_libs)
    floe_link_rooms(floe_command io synth)
    if(zfp_FOUND)
      target_link_libraries(floe_command PRIVATE zfp::zfp)
      target_compile_definitions(floe_command PRIVATE HAVE_ZFP=1)
    endif()
  endif()
endfunction()

# Every *_bench.c of a folder as a program of its own; the folder's other files are shared by all of them.
function(floe_room_benches room)
  if(NOT FLOE_BENCH)
    return()
  endif()
  floe_plain_sources(shared ${room})
  set(benches ${shared})
  list(FILTER benches INCLUDE REGEX "_bench\\.c$")
  list(FILTER shared EXCLUDE REGEX "_bench\\.c$")
  foreach(source ${benches})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source} ${shared})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${name} PRIVATE _POSIX_C_SOURCE=200809L)
    target_link_libraries(${name} PRIVATE floe_static floe_flags floe_libs)
    floe_link_rooms(${name} io synth)
    if(zfp_FOUND)
      target_link_libraries(${name} PRIVATE zfp::zfp)
      target_compile_definitions(${name} PRIVATE HAVE_ZFP=1)
    endif()
  endforeach()
endfunction()

# Every folder of examples/ is a program of that name, from a user's side: the public API, CUDA's runtime and cuBLAS. Target
# examples is all of them, none where there is not what they use.
function(floe_room_examples room)
  add_custom_target(examples)
  if(NOT FLOE_EXAMPLES OR NOT FLOE_CUDA_BUILD OR (FLOE_CUDA_BUILD STREQUAL nvcc AND NOT TARGET CUDA::cublas))
    return()
  endif()
  file(GLOB folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${room}/*)
  foreach(folder ${folders})
    get_filename_component(name ${folder} NAME)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
    add_executable(${name} ${sources})
    target_compile_definitions(${name} PRIVATE _POSIX_C_SOURCE=200809L)
    target_link_libraries(${name} PRIVATE floe_static floe_flags floe_libs $<TARGET_NAME_IF_EXISTS:CUDA::cublas>)
    add_dependencies(examples ${name})
  endforeach()
endfunction()
