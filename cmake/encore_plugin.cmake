# SPDX-License-Identifier: BSD-3-Clause
# The public functions that build plugins: the tree uses them for plugins/, other projects through
# find_package(encore). Needs ENCORE_BACKEND and the targets encore::compile_options, sdk, kernels, testing,
# manifest and exp. Signatures are an interface for other projects and stay compatible.
#
#   encore_add_plugin(NAME [layer|head|tokenizer|optimizer|schedule|task|reader|step] [HOST] SOURCES file... [LIBRARIES target...])
#   encore_add_plugin_test(NAME SOURCES file... [LIBRARIES target...] [CHECK argument...])

# The folder in which plugins are built: NAME.so with NAME.json beside it. Users put this folder into
# plugin_path.
if(NOT DEFINED ENCORE_PLUGIN_DIRECTORY)
  set(ENCORE_PLUGIN_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
endif()

# Sets RESULT to what FLAG (-march=native) means on this machine: the compiler's name of the processor, and
# the beginning of the SHA-256 of the macros that the flag defines, because machines with one name differ in
# what their kernel or hypervisor allows: `icelake-server-5f0c91d2`.
function(encore_resolve_processor RESULT FLAG)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${FLAG} -x c++ -E -dM /dev/null OUTPUT_VARIABLE with ERROR_QUIET)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -x c++ -E -dM /dev/null OUTPUT_VARIABLE without ERROR_QUIET)
  string(REPLACE "\n" ";" with "${with}")
  string(REPLACE "\n" ";" without "${without}")
  list(REMOVE_ITEM with ${without} "")
  list(SORT with)
  string(SHA256 digest "${with}")
  string(SUBSTRING ${digest} 0 8 digest)
  set(name native)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${FLAG} -Q --help=target OUTPUT_VARIABLE gcc ERROR_QUIET)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${FLAG} "-###" -c -x c++ /dev/null -o /dev/null ERROR_VARIABLE clang OUTPUT_QUIET)
  if(gcc MATCHES "\n +-m(arch|cpu)=[ \t]+([^ \t\n]+)")
    set(name ${CMAKE_MATCH_2})
  elseif(clang MATCHES "\"-target-cpu\" \"([^\"]+)\"")
    set(name ${CMAKE_MATCH_1})
  endif()
  set(${RESULT} ${name}-${digest} PARENT_SCOPE)
endfunction()

# Sets RESULT to the fingerprint: what a plugin and the worker that loads it must agree on, computed from the
# compiler and the Kokkos of the current project (config/fingerprint.hpp). SDK is the folder with
# encore/plugin.hpp. RESULT is one string, because a list would split its fields at semicolons.
function(encore_compute_fingerprint RESULT SDK)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -x c++ -std=c++20 -E -dM -include version /dev/null
                  OUTPUT_VARIABLE macros ERROR_QUIET)
  set(standard_library unknown)
  if(macros MATCHES "_GLIBCXX_RELEASE ([0-9]+)")
    set(standard_library "libstdc++ ${CMAKE_MATCH_1}")
  elseif(macros MATCHES "_LIBCPP_VERSION ([0-9]+)")
    set(standard_library "libc++ ${CMAKE_MATCH_1}")
  endif()
  list(JOIN Kokkos_ARCH " " architecture)
  get_target_property(flags Kokkos::kokkoscore INTERFACE_COMPILE_OPTIONS)
  if("${flags}" MATCHES "(-march=|-mcpu=)([^;>,\"]+)")   # ENCORE_CPU_ARCH of get_kokkos.sh
    set(processor ${CMAKE_MATCH_2})
    if(processor STREQUAL native)
      encore_resolve_processor(processor ${CMAKE_MATCH_1}native)
    endif()
    string(REPLACE NATIVE "${processor}" architecture "${architecture}")
  endif()
  string(STRIP "${CMAKE_SYSTEM_PROCESSOR} ${architecture}" architecture)
  if(ENCORE_BACKEND STREQUAL CUDA)
    list(JOIN CMAKE_CUDA_ARCHITECTURES " " cuda_architecture)
    string(APPEND architecture " sm_${cuda_architecture}")
  endif()
  set(sanitizer none)
  if(ENCORE_SANITIZE)
    set(sanitizer "${ENCORE_SANITIZE}")
  endif()
  string(TOLOWER ${ENCORE_BACKEND} backend)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SDK}/encore/plugin.hpp)
  file(STRINGS ${SDK}/encore/plugin.hpp sdk_version REGEX "^#define ENCORE_SDK_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" sdk_version "${sdk_version}")
  string(CONCAT fingerprint
    "sdk=${sdk_version};compiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION};standard_library=${standard_library};"
    "kokkos=${Kokkos_VERSION};backend=${backend};architecture=${architecture};sanitizer=${sanitizer}")
  set(${RESULT} "${fingerprint}" PARENT_SCOPE)
endfunction()

# Compiles the fingerprint as a C++ string into the plugins (libraries of the type MODULE) that link TARGET. Other
# targets are compiled without it, so that builds for several processors share what they compile for none.
function(encore_set_fingerprint TARGET FINGERPRINT)
  string(REPLACE ";" "\\073" escaped "${FINGERPRINT}")   # C++ reads a semicolon, and CMake no list
  set_property(TARGET ${TARGET} PROPERTY INTERFACE_COMPILE_DEFINITIONS
    "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>:ENCORE_FINGERPRINT=\"${escaped}\">")
endfunction()

# Names source files relative to the root of their project in __FILE__, std::source_location and debug
# information, so that the bytes of TARGET do not depend on the folder or the user: a run identifies its
# plugins by SHA-256.
function(encore_map_paths TARGET)
  set(folders ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${ENCORE_FOLDERS})
  foreach(folder IN LISTS folders)
    file(REAL_PATH "${folder}" real)
    list(APPEND folders "${real}")
  endforeach()
  file(RELATIVE_PATH from_build ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})   # ccache makes paths relative where it is asked to
  string(REGEX REPLACE "/$" "" from_build "${from_build}")
  list(APPEND folders ${from_build})
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    foreach(map "-ffile-prefix-map=${folder}=." "-ffile-prefix-map=${folder}/=")
      target_compile_options(${TARGET} PRIVATE
        "$<$<COMPILE_LANGUAGE:CXX>:${map}>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${map}>")
    endforeach()
  endforeach()
  # nvcc writes the name of its temporary file into the object, with the number of its process, unless an
  # option sets another name.
  target_compile_options(${TARGET} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--objdir-as-tempdir>)
endfunction()

# Sets warnings, sanitizers, paths and the compiler of the backend. The options after VISIBILITY are for the
# sources of the target that include Kokkos: these go to nvcc on CUDA, where each takes half a minute. HIP has
# one compiler, and an option declares the other sources as plain C++.
function(encore_apply_common TARGET VISIBILITY)
  target_link_libraries(${TARGET} PRIVATE encore::compile_options)
  encore_map_paths(${TARGET})
  set(kernels ${ARGN})
  if(NOT kernels)
    if(ENCORE_BACKEND STREQUAL HIP)
      target_compile_options(${TARGET} PRIVATE "SHELL:-x c++")
    endif()
    return()
  endif()
  target_link_libraries(${TARGET} ${VISIBILITY} Kokkos::kokkos)
  if(ENCORE_BACKEND STREQUAL CUDA)
    set_source_files_properties(${kernels} TARGET_DIRECTORY ${TARGET} PROPERTIES LANGUAGE CUDA)
  elseif(ENCORE_BACKEND STREQUAL HIP)
    get_target_property(others ${TARGET} SOURCES)
    list(REMOVE_ITEM others ${kernels})
    if(others)   # two arguments: a source's options know no SHELL:
      set_source_files_properties(${others} TARGET_DIRECTORY ${TARGET} PROPERTIES COMPILE_OPTIONS "-x;c++")
    endif()
  endif()
endfunction()

# Writes the manifest FILE of the plugin TARGET in the build (target TARGET_manifest). With ENCORE_MANIFESTS, the folder of
# plugins of a build of the same sources for another processor, no plugin is loaded: package.sh sets it for processors
# that this machine lacks.
function(encore_write_manifest TARGET FILE)
  set(library_path)
  if(ENCORE_FOLDERS)   # outside of the tree RUNPATH leads to Encore's libraries only once the plugin is installed beside them
    list(APPEND library_path $<TARGET_FILE_DIR:encore::kernels>)
  endif()
  # Loading a CUDA plugin needs libcuda; on a build machine without a driver this is the toolkit's stub. It
  # comes last, so that a driver is preferred.
  if(ENCORE_BACKEND STREQUAL CUDA)
    set(stub_links ${CMAKE_BINARY_DIR}/cuda_stub)
    file(MAKE_DIRECTORY ${stub_links})
    file(CREATE_LINK ${CUDAToolkit_LIBRARY_DIR}/stubs/libcuda.so ${stub_links}/libcuda.so.1 SYMBOLIC)
    list(APPEND library_path ${stub_links})
  endif()
  set(run "")
  if(library_path)
    list(PREPEND library_path $ENV{LD_LIBRARY_PATH})
    list(JOIN library_path ":" library_path)
    set(run ${CMAKE_COMMAND} -E env "LD_LIBRARY_PATH=${library_path}")
  endif()
  set(like "")
  if(ENCORE_MANIFESTS)
    set(like --like ${ENCORE_MANIFESTS}/${TARGET}.json)
  endif()
  add_custom_command(OUTPUT ${FILE}
    COMMAND ${run} $<TARGET_FILE:encore::manifest> ${like} $<TARGET_FILE:${TARGET}> ${FILE}
    DEPENDS ${TARGET} $<TARGET_FILE:encore::manifest> COMMENT "Writing the manifest of plugin ${TARGET}" VERBATIM)
  add_custom_target(${TARGET}_manifest ALL DEPENDS ${FILE})
endfunction()

# Disables unique symbols, so that a static of an inline function belongs to one plugin. Other compilers make
# none and do not have the option.
function(encore_own_symbols TARGET)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${TARGET} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fno-gnu-unique>")
  endif()
endfunction()

# Adds the plugin NAME.so and its manifest NAME.json, which encore-manifest writes as part of the build; the
# build fails if the plugin cannot be loaded. Visibility is default and unique symbols are off, so that
# Kokkos' globals exist once per process and no plugin keeps another one loaded. HOST: no source includes
# Kokkos (a layer that only calls encore::kernels need not), so the plain C++ compiler compiles it;
# tokenizers, schedules, tasks, readers and steps are always HOST and do not link the kernels. `cmake --install`
# copies both files unchanged to lib/encore/plugins, where every run finds them. RUNPATH leads from there to
# Encore's libraries; elsewhere the worker has them loaded already.
function(encore_add_plugin NAME)
  cmake_parse_arguments(arg "HOST;layer;head;tokenizer;optimizer;schedule;task;reader;step" "" "SOURCES;LIBRARIES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "encore_add_plugin(${NAME}): unexpected \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "encore_add_plugin(${NAME}): SOURCES are missing")
  endif()
  set(computes ON)
  if(arg_tokenizer OR arg_schedule OR arg_task OR arg_reader OR arg_step)
    set(computes OFF)
  endif()
  set(kernels ${arg_SOURCES})
  if(arg_HOST OR NOT computes)
    set(kernels "")
  endif()
  add_library(${NAME} MODULE ${arg_SOURCES})
  set_target_properties(${NAME} PROPERTIES
    PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${ENCORE_PLUGIN_DIRECTORY}
    INSTALL_RPATH "$ORIGIN/../.." INSTALL_RPATH_USE_LINK_PATH ON)
  # Plugins of Encore's own tests are built elsewhere, are never installed, and keep the RUNPATH of the build.
  if(ENCORE_FOLDERS OR ENCORE_PLUGIN_DIRECTORY STREQUAL "${CMAKE_BINARY_DIR}/lib/encore/plugins")
    set_target_properties(${NAME} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  endif()
  target_link_libraries(${NAME} PRIVATE encore::sdk ${arg_LIBRARIES})
  if(computes)
    target_link_libraries(${NAME} PRIVATE encore::kernels)
  endif()
  encore_own_symbols(${NAME})
  encore_apply_common(${NAME} PRIVATE ${kernels})

  set(manifest ${ENCORE_PLUGIN_DIRECTORY}/${NAME}.json)
  encore_write_manifest(${NAME} ${manifest})
  install(TARGETS ${NAME} LIBRARY DESTINATION lib/encore/plugins)
  install(FILES ${manifest} DESTINATION lib/encore/plugins)
  set_property(GLOBAL APPEND PROPERTY ENCORE_PLUGINS ${NAME}_manifest)
  if(NOT computes)
    set_property(GLOBAL APPEND PROPERTY ENCORE_HOST_PLUGINS ${NAME})
  endif()
endfunction()

# Adds two tests of the plugin NAME to CTest. NAME.check runs `exp plugin check`, which tests what Encore
# requires of any plugin. NAME.test is a program made from SOURCES; it links encore::testing
# (<encore/testing.hpp>) and fails by its exit code. CHECK: more arguments of `exp plugin check`, such as
# --data ${CMAKE_CURRENT_SOURCE_DIR}/sample.tsv -S data.type=tsv. CTest runs in the build folder, so a relative
# path begins there.
function(encore_add_plugin_test NAME)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;CHECK" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "encore_add_plugin_test(${NAME} SOURCES file...): SOURCES are missing, or \"${arg_UNPARSED_ARGUMENTS}\" is one "
                        "argument too many")
  endif()
  add_executable(${NAME}_test ${arg_SOURCES})
  if(TARGET ${NAME}_manifest)   # a test that does not compile leaves no plugin with the manifest of an older one
    add_dependencies(${NAME}_test ${NAME}_manifest)
  endif()
  target_link_libraries(${NAME}_test PRIVATE encore::testing ${arg_LIBRARIES})
  encore_apply_common(${NAME}_test PRIVATE ${arg_SOURCES})
  add_test(NAME ${NAME}.test COMMAND ${NAME}_test)
  add_test(NAME ${NAME}.check COMMAND encore::exp plugin check $<TARGET_FILE:${NAME}> ${arg_CHECK})
  # Passive waiting: threads that wait in busy loops would take the cores from other tests.
  set_tests_properties(${NAME}.test ${NAME}.check PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)
endfunction()
