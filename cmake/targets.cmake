# The functions that every CMakeLists.txt of the tree uses, so that backends, warnings, output folders and manifests are decided once.
#
#   encore_add_library(NAME [SHARED] [DEVICE] [SOURCES file...] [LIBRARIES target...])
#   encore_add_executable(NAME [DEVICE] SOURCES file... [LIBRARIES target...])
#   encore_add_plugin(NAME [layer|head|tokenizer|optimizer|schedule] [HOST] SOURCES file... [LIBRARIES target...])
#   encore_add_test(NAME [DEVICE] SOURCES file... [LIBRARIES target...] [LABELS label...])
#
# DEVICE says that the sources include Kokkos: they are compiled by the compiler of the backend (nvcc for CUDA) and linked to Kokkos.
# Without it a target sees neither Kokkos' headers nor its compile flags: the control program stays a plain C++ program.

include(GoogleTest)

# Gives the sources of TARGET to the device compiler. HIP needs nothing: there hipcc is the C++ compiler of the whole build, and it is
# the other sources that are told to be plain C++ (encore_apply_common).
function(encore_device_sources TARGET)
  if(ENCORE_BACKEND STREQUAL CUDA)
    get_target_property(sources ${TARGET} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    set_source_files_properties(${sources} TARGET_DIRECTORY ${TARGET} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()

function(encore_apply_common TARGET VISIBILITY DEVICE)
  target_link_libraries(${TARGET} PRIVATE $<BUILD_INTERFACE:encore_compile_options>)
  if(DEVICE)
    target_link_libraries(${TARGET} ${VISIBILITY} Kokkos::kokkos)
    encore_device_sources(${TARGET})
  elseif(ENCORE_BACKEND STREQUAL HIP)
    target_compile_options(${TARGET} PRIVATE "SHELL:-x c++")
  endif()
endfunction()

# A library of the framework: static and position independent, or SHARED (build/lib). Includes are written from framework/ and
# framework/sdk/; both are visible to whoever links the library. LIBRARIES are linked PUBLIC. Without SOURCES it is an interface library.
function(encore_add_library NAME)
  cmake_parse_arguments(arg "SHARED;DEVICE" "" "SOURCES;LIBRARIES" ${ARGN})
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
  target_include_directories(${NAME} ${visibility} ${PROJECT_SOURCE_DIR}/framework ${PROJECT_SOURCE_DIR}/framework/sdk)
  target_link_libraries(${NAME} ${visibility} ${arg_LIBRARIES})
  if(arg_SOURCES)
    encore_apply_common(${NAME} PUBLIC ${arg_DEVICE})
  elseif(arg_DEVICE)
    target_link_libraries(${NAME} INTERFACE Kokkos::kokkos)
  endif()
endfunction()

# A program in build/bin.
function(encore_add_executable NAME)
  cmake_parse_arguments(arg "DEVICE" "" "SOURCES;LIBRARIES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "encore_add_executable(${NAME}): unexpected \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  add_executable(${NAME} ${arg_SOURCES})
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/framework ${PROJECT_SOURCE_DIR}/framework/sdk)
  target_link_libraries(${NAME} PRIVATE ${arg_LIBRARIES})
  encore_apply_common(${NAME} PRIVATE "${arg_DEVICE}")
endfunction()

# A plugin: build/lib/encore/plugins/NAME.so and the manifest NAME.json beside it, which encore-manifest writes as part of the build.
# Default visibility and no unique symbols, so that Kokkos' globals exist once per process and a plugin never pins another one.
# Tokenizers and schedules (and whatever says HOST) have no kernels and are left to the plain C++ compiler.
function(encore_add_plugin NAME)
  cmake_parse_arguments(arg "HOST;layer;head;tokenizer;optimizer;schedule" "" "SOURCES;LIBRARIES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "encore_add_plugin(${NAME}): unexpected \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  set(device ON)
  if(arg_HOST OR arg_tokenizer OR arg_schedule)
    set(device OFF)
  endif()
  add_library(${NAME} MODULE ${arg_SOURCES})
  set_target_properties(${NAME} PROPERTIES PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${ENCORE_PLUGIN_DIRECTORY})
  target_link_libraries(${NAME} PRIVATE encore_sdk ${arg_LIBRARIES})
  if(device)
    target_link_libraries(${NAME} PRIVATE encore_kernels)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${NAME} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fno-gnu-unique>")
  endif()
  encore_apply_common(${NAME} PRIVATE ${device})
  set_property(GLOBAL APPEND PROPERTY ENCORE_PLUGINS ${NAME})
endfunction()

# Called once, after all plugins and tools are known: writes the manifests and makes the target "plugins".
function(encore_finish_plugins)
  get_property(plugins GLOBAL PROPERTY ENCORE_PLUGINS)
  add_custom_target(plugins)
  # Loading a CUDA plugin needs a libcuda; a build machine without a driver has the toolkit's stub. It comes last, so a driver wins.
  set(run "")
  if(ENCORE_BACKEND STREQUAL CUDA)
    set(stubs ${CUDAToolkit_LIBRARY_DIR}/stubs)
    set(stub_links ${CMAKE_BINARY_DIR}/cuda_stub)
    file(MAKE_DIRECTORY ${stub_links})
    file(CREATE_LINK ${stubs}/libcuda.so ${stub_links}/libcuda.so.1 SYMBOLIC)
    set(run ${CMAKE_COMMAND} -E env "LD_LIBRARY_PATH=$ENV{LD_LIBRARY_PATH}:${stub_links}")
  endif()
  foreach(plugin IN LISTS plugins)
    add_dependencies(plugins ${plugin})
    if(TARGET encore-manifest)
      add_custom_command(OUTPUT ${ENCORE_PLUGIN_DIRECTORY}/${plugin}.json
        COMMAND ${run} $<TARGET_FILE:encore-manifest> $<TARGET_FILE:${plugin}> ${ENCORE_PLUGIN_DIRECTORY}/${plugin}.json
        DEPENDS ${plugin} encore-manifest COMMENT "Writing the manifest of plugin ${plugin}" VERBATIM)
      add_custom_target(${plugin}_manifest ALL DEPENDS ${ENCORE_PLUGIN_DIRECTORY}/${plugin}.json)
      add_dependencies(plugins ${plugin}_manifest)
    endif()
  endforeach()
endfunction()

# A GoogleTest program build/bin/tests/NAME, each of its tests known to CTest as NAME.suite.test. DEVICE links a main that holds
# Kokkos open around all tests; otherwise GoogleTest's own main. The tests are listed when ctest runs, not when they are built, because
# a machine that compiles for a GPU need not have one. ENCORE_SOURCE_DIR, ENCORE_BUILD_DIR and ENCORE_BACKEND_NAME are defined as
# strings for tests that need files of the tree or the programs of the build.
function(encore_add_test NAME)
  cmake_parse_arguments(arg "DEVICE" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "encore_add_test(${NAME}): unexpected \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  add_executable(${NAME} ${arg_SOURCES})
  set_target_properties(${NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)
  target_include_directories(${NAME} PRIVATE
    ${PROJECT_SOURCE_DIR}/framework ${PROJECT_SOURCE_DIR}/framework/sdk ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${NAME} PRIVATE
    ENCORE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ENCORE_BUILD_DIR="${PROJECT_BINARY_DIR}"
    ENCORE_BACKEND_NAME="${ENCORE_BACKEND_NAME}")
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
  # Tests run side by side: threads that wait for each other in busy loops would take the cores from the others.
  gtest_discover_tests(${NAME} TEST_PREFIX "${NAME}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300 ENVIRONMENT OMP_WAIT_POLICY=passive ${labels})
endfunction()
