# SPDX-License-Identifier: BSD-3-Clause
# Writes the record of the source that the programs are made from: share/encore/source.json
# (docs/concepts/identity.md). Target encore_source asks git in each build. It rewrites its result, and the
# record with it, only if the result has changed or a program was linked again. Included when all targets are
# known.
set(record_source ${CMAKE_COMMAND} -DSTATE=${CMAKE_BINARY_DIR}/source_state)
set(source_script ${CMAKE_CURRENT_LIST_DIR}/source_record.cmake)

add_custom_target(encore_source_state
  COMMAND ${record_source} -DROOT=${PROJECT_SOURCE_DIR} -P ${source_script}
  BYPRODUCTS ${CMAKE_BINARY_DIR}/source_state.json ${CMAKE_BINARY_DIR}/source_state.diff
  COMMENT "Asking git for the commit of the source" VERBATIM)

get_property(manifests GLOBAL PROPERTY ENCORE_PLUGINS)
list(TRANSFORM manifests REPLACE "_manifest$" "" OUTPUT_VARIABLE modules)
get_property(worker_components GLOBAL PROPERTY ENCORE_COMPONENT_TARGETS)
list(FILTER worker_components INCLUDE REGEX "^encore-worker-")
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/share/encore/source.json
  COMMAND ${record_source} -DFOLDER=${CMAKE_BINARY_DIR} -P ${source_script}
  DEPENDS ${CMAKE_BINARY_DIR}/source_state.json ${CMAKE_BINARY_DIR}/source_state.diff ${source_script}
          encore-worker ${worker_components} encore_kernels encore_index ${modules}
  COMMENT "Recording the source of the programs" VERBATIM)
add_custom_target(encore_source ALL DEPENDS ${CMAKE_BINARY_DIR}/share/encore/source.json)
add_dependencies(encore_source encore_source_state)

# The record for ./exp, which does not build all programs: it covers those that exist.
add_custom_target(encore_source_of_components
  COMMAND ${record_source} -DFOLDER=${CMAKE_BINARY_DIR} -P ${source_script}
  COMMENT "Recording the source of the programs that are built" VERBATIM)
add_dependencies(encore_source_of_components encore_source_state)

# The record of the installed files, which --strip changes.
install(CODE "
  if(EXISTS \"${CMAKE_BINARY_DIR}/source_state.json\")
    execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DSTATE=${CMAKE_BINARY_DIR}/source_state\"
      \"-DFOLDER=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\" -P \"${source_script}\" COMMAND_ERROR_IS_FATAL ANY)
  endif()")
