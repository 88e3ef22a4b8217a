# The functions that every CMakeLists.txt of the tree uses, so that backends, warnings, output folders and manifests are decided once.
#
#   encore_add_library(NAME [SHARED] [SDK] [DEVICE] [SOURCES file...] [LIBRARIES target...])
#   encore_add_executable(NAME [INSTALL] [DEVICE] SOURCES file... [LIBRARIES target...])
#   encore_add_plugin(...)   as everybody else: encore_plugin.cmake
#   encore_add_test(NAME [DEVICE] SOURCES file... [LIBRARIES target...] [LABELS label...])
#
# DEVICE says that the sources include Kokkos: they are compiled by the compiler of the backend (nvcc for CUDA) and linked to Kokkos.
# Without it a target sees neither Kokkos' headers nor its compile flags: the control program stays a plain C++ program.

include(GoogleTest)
include(encore_plugin)

# Makes TARGET part of the package, as encore::EXPORT_NAME here and there. Programs and libraries lie in bin/ and lib/ of whatever prefix
# they are installed into, and find each other from their own place.
function(encore_export TARGET EXPORT_NAME)
  set_target_properties(${TARGET} PROPERTIES EXPORT_NAME ${EXPORT_NAME})
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

# A library of the framework: static and position independent, or SHARED (build/lib). Includes are written from framework/ and
# framework/sdk/; both are visible to whoever links the library. LIBRARIES are linked PUBLIC. Without SOURCES it is an interface library.
# SDK: plugins link it, as encore::NAME without "encore_"; it is installed and shows them the SDK's headers only.
function(encore_add_library NAME)
  cmake_parse_arguments(arg "SHARED;SDK;DEVICE" "" "SOURCES;LIBRARIES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "encore_add_library(${NAME}): unexpected \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  set(visibility PUBLIC)
  if(NOT arg_SOURCES)
    set(visibility INTERFACE)
    add_library(${NAME} INTERFACE)
  elseif(arg_SHARED)
    add_library(${NAME} SHARED ${arg_SOURCES})
  else()
    add_library(${NAME} STATIC ${arg_SOURCES})
  endif()
  set(framework ${PROJECT_SOURCE_DIR}/framework)
  if(arg_SDK)
    target_include_directories(${NAME} ${visibility} $<BUILD_INTERFACE:${framework}/sdk>)
    string(REGEX REPLACE "^encore_" "" export_name ${NAME})
    encore_export(${NAME} ${export_name})
    if(arg_SOURCES)
      target_include_directories(${NAME} PRIVATE ${framework})
    endif()
  else()
    target_include_directories(${NAME} ${visibility} ${framework} ${framework}/sdk)
  endif()
  target_link_libraries(${NAME} ${visibility} ${arg_LIBRARIES})
  if(arg_SOURCES)
    encore_apply_common(${NAME} PUBLIC ${arg_DEVICE})
  elseif(arg_DEVICE)
    target_link_libraries(${NAME} INTERFACE Kokkos::kokkos)
  endif()
endfunction()

# A program in build/bin. INSTALL: also in bin/ of an installation, and known to plugins as encore::NAME without "encore-".
function(encore_add_executable NAME)
  cmake_parse_arguments(arg "INSTALL;DEVICE" "" "SOURCES;LIBRARIES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "encore_add_executable(${NAME}): unexpected \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  add_executable(${NAME} ${arg_SOURCES})
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/framework ${PROJECT_SOURCE_DIR}/framework/sdk)
  target_link_libraries(${NAME} PRIVATE ${arg_LIBRARIES})
  encore_apply_common(${NAME} PRIVATE "${arg_DEVICE}")
  if(arg_INSTALL)
    string(REGEX REPLACE "^encore-" "" export_name ${NAME})
    encore_export(${NAME} ${export_name})
  endif()
endfunction()

# Called once, after all plugins are known: makes the target "plugins", everything under plugins/ with its manifests.
function(encore_finish_plugins)
  get_property(manifests GLOBAL PROPERTY ENCORE_PLUGINS)
  add_custom_target(plugins)
  add_dependencies(plugins ${manifests})
endfunction()

# A GoogleTest program build/bin/tests/NAME, each of its tests known to CTest as NAME.suite.test. DEVICE links a main that holds
# Kokkos open around all tests; otherwise GoogleTest's own main. The tests are listed when ctest runs, not when they are built, because
# a machine that compiles for a GPU need not have one. "support/places.hpp" has the folders of the tree and of the build as strings, for
# tests that need their files; ENCORE_BACKEND_NAME is defined everywhere.
function(encore_add_test NAME)
  cmake_parse_arguments(arg "DEVICE" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "encore_add_test(${NAME}): unexpected \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  add_executable(${NAME} ${arg_SOURCES})
  set_target_properties(${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)
  target_include_directories(${NAME} PRIVATE
    ${PROJECT_SOURCE_DIR}/framework ${PROJECT_SOURCE_DIR}/framework/sdk ${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/tests/include)
  target_compile_definitions(${NAME} PRIVATE ENCORE_BACKEND_NAME="${ENCORE_BACKEND_NAME}")
  target_link_libraries(${NAME} PRIVATE ${arg_LIBRARIES} GTest::gtest)
  encore_apply_common(${NAME} PRIVATE "${arg_DEVICE}")
  if(arg_DEVICE)
    target_link_libraries(${NAME} PRIVATE encore_device_test_main)
  else()
    target_link_libraries(${NAME} PRIVATE GTest::gtest_main)
  endif()
  set(labels "")
  if(arg_LABELS)
    set(labels LABELS "${arg_LABELS}")
  endif()
  # Tests run side by side: threads that wait for each other in busy loops would take the cores from the others. The limits only end what
  # hangs; no test may meet one on a machine that is very busy.
  gtest_discover_tests(${NAME} TEST_PREFIX "${NAME}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 600
    PROPERTIES TIMEOUT 3600 ENVIRONMENT OMP_WAIT_POLICY=passive ${labels})
endfunction()
