# SPDX-License-Identifier: BSD-3-Clause
# Options of the build, and settings that all targets share. The top CMakeLists.txt includes it first. Read
# next: dependencies.cmake.

set(ENCORE_BACKEND OPENMP CACHE STRING "Kokkos backend of encore-worker: OPENMP, SERIAL, CUDA or HIP")
set_property(CACHE ENCORE_BACKEND PROPERTY STRINGS OPENMP SERIAL CUDA HIP)
if(NOT ENCORE_BACKEND MATCHES "^(OPENMP|SERIAL|CUDA|HIP)$")
  message(FATAL_ERROR "ENCORE_BACKEND is \"${ENCORE_BACKEND}\"; it must be OPENMP, SERIAL, CUDA or HIP")
endif()
string(TOLOWER ${ENCORE_BACKEND} ENCORE_BACKEND_NAME)
set(ENCORE_ON_HOST OFF)   # the cores compute, with one thread (SERIAL) or several
if(ENCORE_BACKEND MATCHES "^(OPENMP|SERIAL)$")
  set(ENCORE_ON_HOST ON)
endif()

set(float16 OFF)
if(ENCORE_BACKEND STREQUAL CUDA)   # hosts have no products of it that are worth having, and Kokkos Kernels on HIP has none
  set(float16 ON)
endif()
option(ENCORE_FLOAT16 "Compile kernels for float16 too, which takes up to a quarter longer" ${float16})
option(ENCORE_TESTS "Build the tests" ON)
option(ENCORE_ONE_WORKER "Put all verbs of the worker into one program, as in packages: smaller, but a first run waits for all of it" OFF)
option(ENCORE_ONLY_WORKER "Leave out exp and its components: package.sh builds them once, for the first of several processors" OFF)
option(ENCORE_WARNINGS_AS_ERRORS "Treat compiler warnings as errors" OFF)
set(ENCORE_SANITIZE "" CACHE STRING "Sanitizers for every target, as in -fsanitize=; for example address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
# Both optimized build types use -O3, because results must not depend on debug symbols.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g1 -DNDEBUG")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Programs find each other, the kernels and the plugins relative to their own folder: bin/, lib/,
# lib/encore/plugins/.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(ENCORE_PLUGIN_DIRECTORY ${CMAKE_BINARY_DIR}/lib/encore/plugins)
# Installed files are linked with their final RUNPATH (encore_export, encore_add_plugin), so that an
# installation changes none of their bytes. RUNPATH contains a folder only if a library of the site is linked
# that is outside of this build and of the system's folders.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
# An installation is readable by all users of the machine, whatever the umask of its installer. CMake sets the
# permissions of files, but gives new folders those of the umask. Existing folders stay unchanged.
install(CODE [[
  set(folders bin include lib/cmake/encore lib/encore/plugins share/encore/modulefiles/encore)
  list(TRANSFORM folders PREPEND "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/")
  execute_process(COMMAND sh -c "umask 022 && mkdir -p \"$@\"" sh ${folders} COMMAND_ERROR_IS_FATAL ANY)
]])

find_program(ENCORE_CCACHE ccache)
if(ENCORE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ENCORE_CCACHE} CACHE STRING "Compiler launcher")
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${ENCORE_CCACHE} CACHE STRING "Compiler launcher")
endif()

# encore::compile_options: the options with which every target of Encore is compiled, and every plugin
# (encore_plugin.cmake). Warnings are errors only in this build, not in plugins.
add_library(encore_compile_options INTERFACE)
add_library(encore::compile_options ALIAS encore_compile_options)
set_target_properties(encore_compile_options PROPERTIES EXPORT_NAME compile_options)
install(TARGETS encore_compile_options EXPORT encore)
set(warnings -Wall -Wextra -Wpedantic -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlapping copies and uninitialized members inside its own std::string at -O3 (GCC bugs 105651, 105562).
  list(APPEND warnings -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(ENCORE_WARNINGS_AS_ERRORS AND NOT ENCORE_BACKEND STREQUAL CUDA)   # nvcc warns of code that it generates itself
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()
target_compile_options(encore_compile_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
if(ENCORE_FLOAT16)
  target_compile_definitions(encore_compile_options INTERFACE ENCORE_FLOAT16=1)
endif()
if(ENCORE_BACKEND STREQUAL CUDA)
  # -Wpedantic trips over the host code that nvcc generates; the same sources get it in the OpenMP build.
  set(host_warnings ${warnings})
  list(REMOVE_ITEM host_warnings -Wpedantic)
  list(JOIN host_warnings "," host_warnings)
  # A host function called in a kernel computes nothing there, and nvcc only warns (20011, 20014; for
  # constexpr 20013, 20015). So these warnings are errors.
  target_compile_options(encore_compile_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${host_warnings};-diag-error=20011,20013,20014,20015>")
endif()
if(ENCORE_SANITIZE)   # -O1: what is looked for is not speed, and this compiles in half the time
  target_compile_options(encore_compile_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-O1;-fsanitize=${ENCORE_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=undefined>")
  target_link_options(encore_compile_options INTERFACE -fsanitize=${ENCORE_SANITIZE})
endif()
