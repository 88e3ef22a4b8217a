# SPDX-License-Identifier: BSD-3-Clause
# The functions with which every CMakeLists.txt of the tree adds its targets, so that backends, warnings,
# output folders and manifests are decided in one place.
#
#   encore_add_library(NAME [SHARED] [SDK] [SOURCES file...] [KERNELS file...] [LIBRARIES target...])
#   encore_add_executable(NAME [INSTALL] SOURCES file... [LIBRARIES target...])
#   encore_add_component(NAME SECONDS n SOURCES file... [LIBRARIES target...])
#   encore_add_plugin(...)   the same function as for other authors: encore_plugin.cmake
#   encore_add_test(NAME [DEVICE] [SOURCES file...] [KERNELS file...] [LIBRARIES target...] [LABELS label...])
#
# KERNELS are the sources that include Kokkos, through encore/space.hpp, view.hpp, rows.hpp or math.hpp: the compiler of the backend (nvcc
# for CUDA) compiles them, the plain C++ compiler everything else. What only calls kernels belongs to SOURCES.

include(GoogleTest)
include(encore_plugin)
include(components)

# Adds TARGET to the package as encore::EXPORT_NAME, in the tree and for find_package(encore). Programs and
# libraries are in bin/ and lib/ of any prefix, and find each other relative to their own folder, in the build
# and in an installation.
function(encore_export TARGET EXPORT_NAME)
  set_target_properties(${TARGET} PROPERTIES EXPORT_NAME ${EXPORT_NAME} BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS ${TARGET} EXPORT encore RUNTIME DESTINATION bin LIBRARY DESTINATION lib ARCHIVE DESTINATION lib
          INCLUDES DESTINATION include)
  get_target_property(type ${TARGET} TYPE)
  if(type STREQUAL EXECUTABLE)
    set_target_properties(${TARGET} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
    add_executable(encore::${EXPORT_NAME} ALIAS ${TARGET})
  else()
    set_target_properties(${TARGET} PROPERTIES INSTALL_RPATH "$ORIGIN")
    add_library(encore::${EXPORT_NAME} ALIAS ${TARGET})
  endif()
endfunction()

# Adds a library of the framework: static and position independent, or SHARED (build/lib). Includes are
# written from framework/ and framework/sdk/; both are visible to every target that links the library.
# LIBRARIES are linked PUBLIC. Without SOURCES it is an interface library. SDK: plugins link it, as
# encore::NAME without "encore_"; it is installed and shows them the SDK's headers only.
function(encore_add_library NAME)
  cmake_parse_arguments(arg "SHARED;SDK" "" "SOURCES;KERNELS;LIBRARIES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "encore_add_library(${NAME}): unexpected \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  set(sources ${arg_SOURCES} ${arg_KERNELS})
  set(visibility PUBLIC)
  if(NOT sources)
    set(visibility INTERFACE)
    add_library(${NAME} INTERFACE)
  elseif(arg_SHARED)
    add_library(${NAME} SHARED ${sources})
  else()
    add_library(${NAME} STATIC ${sources})
  endif()
  set(framework ${PROJECT_SOURCE_DIR}/framework)
  if(arg_SDK)
    target_include_directories(${NAME} ${visibility} $<BUILD_INTERFACE:${framework}/sdk>)
    string(REGEX REPLACE "^encore_" "" export_name ${NAME})
    encore_export(${NAME} ${export_name})
    if(sources)
      target_include_directories(${NAME} PRIVATE ${framework})
    endif()
  else()
    target_include_directories(${NAME} ${visibility} ${framework} ${framework}/sdk)
  endif()
  target_link_libraries(${NAME} ${visibility} ${arg_LIBRARIES})
  if(sources)
    encore_apply_common(${NAME} PUBLIC ${arg_KERNELS})
  endif()
endfunction()

# Adds a program in build/bin. INSTALL: also in bin/ of an installation, and known to plugins as encore::NAME
# without "encore-".
function(encore_add_executable NAME)
  cmake_parse_arguments(arg "INSTALL" "" "SOURCES;LIBRARIES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "encore_add_executable(${NAME}): unexpected \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  add_executable(${NAME} ${arg_SOURCES})
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/framework ${PROJECT_SOURCE_DIR}/framework/sdk)
  target_link_libraries(${NAME} PRIVATE ${arg_LIBRARIES})
  encore_apply_common(${NAME} PRIVATE)
  if(arg_INSTALL AND NAME MATCHES "^exp")   # a package has exp once and several workers, so the exported targets lack it
    set_target_properties(${NAME} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
    add_executable(encore::${NAME} ALIAS ${NAME})
    if(ENCORE_ONLY_WORKER)
      set_target_properties(${NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
    else()
      install(TARGETS ${NAME} RUNTIME DESTINATION bin)
    endif()
  elseif(arg_INSTALL)
    string(REGEX REPLACE "^encore-" "" export_name ${NAME})
    encore_export(${NAME} ${export_name})
  endif()
endfunction()

# Compiles a target of the tests with LEVEL in place of -O3, which would take most of the time: -O0 for code that
# runs once, -O1 for code that works through data. Builds with sanitizers have a level of their own.
function(encore_compile_fast TARGET LEVEL)
  if(NOT ENCORE_SANITIZE)
    target_compile_options(${TARGET} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release,RelWithDebInfo>>:${LEVEL}>)
  endif()
endfunction()

# Adds a GoogleTest program build/bin/tests/NAME; CTest knows each test as NAME.suite.test. DEVICE links a
# main that keeps Kokkos initialized during all tests, and adds the program to the target device_tests;
# otherwise GoogleTest's own main is used. ctest lists the tests when it runs, because a machine that compiles
# for a GPU need not have one. "support/places.hpp" has the folders of tree and build as strings;
# ENCORE_BACKEND_NAME is defined everywhere.
function(encore_add_test NAME)
  cmake_parse_arguments(arg "DEVICE" "" "SOURCES;KERNELS;LIBRARIES;LABELS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "encore_add_test(${NAME}): unexpected \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  add_executable(${NAME} ${arg_SOURCES} ${arg_KERNELS})
  # As in framework/CMakeLists.txt: the files of a program are compiled eight at once, so their unnamed namespaces are shared.
  if(NOT arg_KERNELS)
    set_target_properties(${NAME} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
  set_target_properties(${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)
  target_include_directories(${NAME} PRIVATE
    ${PROJECT_SOURCE_DIR}/framework ${PROJECT_SOURCE_DIR}/framework/sdk ${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/tests/include)
  target_compile_definitions(${NAME} PRIVATE ENCORE_BACKEND_NAME="${ENCORE_BACKEND_NAME}")
  target_link_libraries(${NAME} PRIVATE ${arg_LIBRARIES} GTest::gtest)
  encore_apply_common(${NAME} PRIVATE ${arg_KERNELS})
  encore_compile_fast(${NAME} -O0)
  if(arg_DEVICE)
    target_link_libraries(${NAME} PRIVATE encore_device_test_main)
    if(arg_KERNELS AND TARGET precompiled_kokkos)
      target_precompile_headers(${NAME} REUSE_FROM precompiled_kokkos)
    endif()
    add_dependencies(device_tests ${NAME})
  else()
    target_link_libraries(${NAME} PRIVATE GTest::gtest_main)
  endif()
  set(labels "")
  if(arg_LABELS)
    set(labels LABELS "${arg_LABELS}")
  endif()
  set(cost 1)
  if("system" IN_LIST arg_LABELS)   # the long ones begin first, the short ones fill the gaps
    set(cost 100)
  endif()
  # Tests run in parallel: threads that wait in busy loops would take the cores from the others. The time
  # limits only end tests that hang; a test must stay below them also on a busy machine.
  gtest_discover_tests(${NAME} TEST_PREFIX "${NAME}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 600
    PROPERTIES TIMEOUT 3600 COST ${cost} ENVIRONMENT OMP_WAIT_POLICY=passive ${labels})
endfunction()
