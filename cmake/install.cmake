# SPDX-License-Identifier: BSD-3-Clause
# Installs the headers, the template, the module file, and the package for find_package(encore); programs,
# libraries and plugins are installed where they are declared. The build tree gets the same package and folders
# (lib/cmake/encore, share/encore/...), so that a plugin can be built against either. The top CMakeLists.txt
# includes it last, when all targets exist.
include(CMakePackageConfigHelpers)

# Kokkos: our own is installed; that of the site is referred to where it is.
set(ENCORE_SITE_KOKKOS "${Kokkos_DIR}")
set(ENCORE_SITE_KOKKOS_KERNELS "${KokkosKernels_DIR}")
if(ENCORE_OWN_KOKKOS)
  set(ENCORE_SITE_KOKKOS "")
  set(ENCORE_SITE_KOKKOS_KERNELS "")
  file(GLOB libraries ${CMAKE_BINARY_DIR}/lib/libkokkos*.so*)
  install(FILES ${libraries} DESTINATION lib)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/encore/kokkos DESTINATION lib/encore)
endif()

set(package ${CMAKE_BINARY_DIR}/lib/cmake/encore)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/encore-config.cmake.in ${package}/encore-config.cmake
  INSTALL_DESTINATION lib/cmake/encore NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${package}/encore-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_file(${CMAKE_CURRENT_LIST_DIR}/encore-toolchain.cmake.in ${package}/encore-toolchain.cmake @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/encore_plugin.cmake ${package}/encore_plugin.cmake COPYONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/encore_cuda.cmake ${package}/encore_cuda.cmake COPYONLY)
export(EXPORT encore NAMESPACE encore:: FILE ${package}/encore-targets.cmake)

file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/encore)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/plugins/template ${CMAKE_BINARY_DIR}/share/encore/template SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/reports ${CMAKE_BINARY_DIR}/share/encore/reports SYMBOLIC)

# The module file, with which a site offers several installations beside each other.
set(ENCORE_MODULES "" CACHE STRING "Modules that Encore's module file loads first, such as gcc/12;openmpi/4.1")
set(ENCORE_MODULE_MPI "without MPI")
if(ENCORE_MPI_STATE STREQUAL yes)
  set(ENCORE_MODULE_MPI "with MPI")
endif()
list(JOIN ENCORE_MODULES " " ENCORE_MODULE_NAMES)
set(modulefile ${CMAKE_BINARY_DIR}/share/encore/modulefiles/encore/${PROJECT_VERSION})
configure_file(${CMAKE_CURRENT_LIST_DIR}/modulefile.in ${modulefile} @ONLY)

install(EXPORT encore NAMESPACE encore:: FILE encore-targets.cmake DESTINATION lib/cmake/encore)
install(FILES ${package}/encore-config.cmake ${package}/encore-config-version.cmake ${package}/encore-toolchain.cmake
              ${package}/encore_plugin.cmake ${package}/encore_cuda.cmake
        DESTINATION lib/cmake/encore)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/framework/sdk/encore DESTINATION include FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/plugins/template/ DESTINATION share/encore/template)
install(FILES ${modulefile} DESTINATION share/encore/modulefiles/encore)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/reports/ DESTINATION share/encore/reports PATTERN output EXCLUDE)
