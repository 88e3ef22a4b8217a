# SPDX-License-Identifier: BSD-3-Clause
# Components: targets that ./exp builds when a call first needs them, and rebuilds with the rest from then on:
# programs for some verbs, the plugins that ship, and what foreign plugins link. targets.cmake includes it.
# build/<backend>/components.txt lists them, one per line. ./exp reads these lines, so a change of their form
# changes ./exp too:
#   NAME TARGET FILE SECONDS     for example "exp-report exp-report bin/exp-report 130"; seconds of one core
# The target "components" builds all; so do the tests, ./exp build and an installation.

# Registers a component: TARGET makes FILE (a path in the build), in about SECONDS beyond exp and
# encore-worker.
function(encore_note_component NAME TARGET FILE SECONDS)
  set_property(GLOBAL APPEND PROPERTY ENCORE_COMPONENTS "${NAME} ${TARGET} ${FILE} ${SECONDS}")
  set_property(GLOBAL APPEND PROPERTY ENCORE_COMPONENT_TARGETS ${TARGET})
endfunction()

# Adds a program in build/bin, and in bin/ of an installation, that is a component.
function(encore_add_component NAME)
  cmake_parse_arguments(arg "" "SECONDS" "SOURCES;LIBRARIES" ${ARGN})
  encore_add_executable(${NAME} INSTALL SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES})
  if(ENCORE_ONLY_WORKER AND NAME MATCHES "^exp")
    return()
  endif()
  encore_note_component(${NAME} ${NAME} bin/${NAME} ${arg_SECONDS})
endfunction()

# Sets RESULT to a line "KIND NAME PLUGIN" for each type that the plugin registers by plugin.add<Kind::KIND,
# ...>("NAME") in its sources.
function(encore_read_offers RESULT PLUGIN)
  get_target_property(sources ${PLUGIN} SOURCES)
  get_target_property(folder ${PLUGIN} SOURCE_DIR)
  set(lines "")
  foreach(source IN LISTS sources)
    file(READ ${folder}/${source} text)
    string(REGEX MATCHALL "plugin\\.add<[^(]*>\\([ \n]*\"[^\"]+\"" offers "${text}")
    foreach(offer IN LISTS offers)
      string(REGEX REPLACE ".*Kind::([a-z]+),.*\\([ \n]*\"([^\"]+)\"" "\\1 \\2 ${PLUGIN}" line "${offer}")
      string(APPEND lines "${line}\n")
    endforeach()
  endforeach()
  if(NOT lines)
    message(FATAL_ERROR "plugin ${PLUGIN}: no source of it has plugin.add<encore::Kind::KIND, Type>(\"NAME\")")
  endif()
  set(${RESULT} "${lines}" PARENT_SCOPE)
endfunction()

# Makes the target "plugins" (everything under plugins/ with its manifests), and the list of the types that
# they offer (config/catalogue.hpp, offers_file), so that exp knows types of plugins that are not built yet.
# Call it once, after all plugins are known.
function(encore_finish_plugins)
  get_property(manifests GLOBAL PROPERTY ENCORE_PLUGINS)
  add_custom_target(plugins)
  add_dependencies(plugins ${manifests})
  set(all_offers "")
  foreach(manifest IN LISTS manifests)
    string(REGEX REPLACE "_manifest$" "" plugin ${manifest})
    encore_read_offers(offers ${plugin})
    string(APPEND all_offers "${offers}")
    encore_note_component(${plugin} ${manifest} lib/encore/plugins/${plugin}.json 5)
  endforeach()
  file(CONFIGURE OUTPUT ${ENCORE_PLUGIN_DIRECTORY}/offers.txt CONTENT "${all_offers}" @ONLY)
endfunction()

# Makes the target "components" and writes components.txt. Call it once, after all components are known.
function(encore_finish_components)
  get_property(targets GLOBAL PROPERTY ENCORE_COMPONENT_TARGETS)
  add_custom_target(components)
  add_dependencies(components ${targets})
  get_property(lines GLOBAL PROPERTY ENCORE_COMPONENTS)
  list(JOIN lines "\n" text)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/components.txt CONTENT "${text}\n" @ONLY)
endfunction()
