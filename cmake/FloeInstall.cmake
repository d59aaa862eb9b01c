# SPDX-License-Identifier: BSD-3-Clause
# Headers, libraries, command, pkg-config file, CMake package. All of it may be moved after installing.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/floe)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY include/floe TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(TARGETS floe_static EXPORT floe-targets)
if(FLOE_SHARED)
  install(TARGETS floe_shared EXPORT floe-targets)
endif()

if(FLOE_CUDA_LOADED)
  install(TARGETS floe_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set(FLOE_CUDA_NAME libfloe_cuda.so)
endif()

# The command, with man page and completions, which it writes itself from its table of options.
if(TARGET floe_command)
  install(TARGETS floe_command)
endif()
if(TARGET floe_command AND NOT CMAKE_CROSSCOMPILING)
  function(floe_written_by_command file folder)
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/share/${file} DEPENDS floe_command VERBATIM
                       COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share
                       COMMAND floe_command help ${ARGN} > ${PROJECT_BINARY_DIR}/share/${file})
    set(written ${written} ${PROJECT_BINARY_DIR}/share/${file} PARENT_SCOPE)
    install(FILES ${PROJECT_BINARY_DIR}/share/${file} DESTINATION ${folder})
  endfunction()
  floe_written_by_command(floe.1 ${CMAKE_INSTALL_MANDIR}/man1 --man)
  floe_written_by_command(floe ${CMAKE_INSTALL_DATADIR}/bash-completion/completions --completion bash)
  floe_written_by_command(_floe ${CMAKE_INSTALL_DATADIR}/zsh/site-functions --completion zsh)
  floe_written_by_command(floe.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d --completion fish)
  add_custom_target(floe_share ALL DEPENDS ${written})
endif()

install(EXPORT floe-targets NAMESPACE floe:: DESTINATION ${package_dir})
configure_package_config_file(cmake/floe-config.cmake.in floe-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(floe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/floe-config.cmake ${PROJECT_BINARY_DIR}/floe-config-version.cmake
        DESTINATION ${package_dir})

# What a static libfloe needs besides itself.
get_target_property(private_libs floe_static LINK_LIBRARIES)
list(TRANSFORM private_libs REPLACE "^([^-/].*)" "-l\\1")
list(JOIN private_libs " " FLOE_PRIVATE_LIBS)
file(RELATIVE_PATH FLOE_PC_PREFIX /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" FLOE_PC_PREFIX "${FLOE_PC_PREFIX}")
configure_file(floe.pc.in floe.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/floe.pc DESTINATION ${pkgconfig_dir})
# The pages that the README leads to, where its links expect them.
install(FILES LICENSE README.md TYPE DOC)
install(DIRECTORY docs examples TYPE DOC FILES_MATCHING PATTERN "*.md" PATTERN "*.c")
