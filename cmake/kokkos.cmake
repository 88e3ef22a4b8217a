# SPDX-License-Identifier: BSD-3-Clause
# Finds Kokkos, and for HIP Kokkos Kernels: those of the site, or our own. Included by dependencies.cmake.
#
# A site's Kokkos stays where it is; programs and plugins then name its folder in RUNPATH, and messages call
# it the site's. Our own is built once by get_kokkos.sh in a cache of the user, and copied into this build:
# the libraries to lib/, beside libencore_kernels.so, the rest to lib/encore/kokkos, which is a prefix of its
# own for CMake. install.cmake installs both, so an installation does not need any folder of the person who
# built it.

set(kokkos_oldest 4.7)

# Sets RESULT to the first of the paths in the list CONFIGS that lies below one of the paths in the list
# PLACES; empty if none does.
function(encore_first_below RESULT CONFIGS PLACES)
  foreach(config IN LISTS ${CONFIGS})
    foreach(place IN LISTS ${PLACES})
      cmake_path(IS_PREFIX place "${config}" NORMALIZE below)
      if(below)
        set(${RESULT} "${config}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
  set(${RESULT} "" PARENT_SCOPE)
endfunction()

# The paths that the user has set, for Kokkos alone and for all packages. A Kokkos there is either used or
# refused with an error, never skipped. Kokkos_DIR of an earlier configuration is not kept for our own Kokkos,
# because site, compiler or options may have changed; Kokkos_ROOT comes first.
set(roots ${Kokkos_ROOT} $ENV{Kokkos_ROOT})
encore_first_below(within_roots Kokkos_DIR roots)
if(ENCORE_OWN_KOKKOS STREQUAL "ON" OR ENCORE_OWN_KOKKOS STREQUAL Kokkos_DIR OR Kokkos_DIR MATCHES "-NOTFOUND$" OR (roots AND NOT within_roots))
  unset(Kokkos_DIR CACHE)
  unset(KokkosKernels_DIR CACHE)
endif()
set(for_kokkos ${Kokkos_DIR} ${roots})
string(REPLACE ":" ";" for_all "$ENV{CMAKE_PREFIX_PATH}")
list(PREPEND for_all ${CMAKE_PREFIX_PATH})
list(REMOVE_ITEM for_all "")
set(remedy "Name the folder in which a fit one is installed, or name none (what CMake remembers goes away with: cmake -U \
'*Kokkos_*' -U CMAKE_PREFIX_PATH -B ${CMAKE_BINARY_DIR}): Encore then builds its own.")
foreach(place IN LISTS for_kokkos for_all)
  if(NOT IS_DIRECTORY "${place}")
    message(FATAL_ERROR "${place} is not a folder, but Kokkos_ROOT, Kokkos_DIR or CMAKE_PREFIX_PATH names it. ${remedy}")
  endif()
endforeach()

# Finds a Kokkos, and the reason if it cannot be used.
find_package(Kokkos ${kokkos_oldest} CONFIG QUIET)
set(config)
set(problem)
set(named ${for_kokkos} ${for_all})
if(for_kokkos)
  set(named ${for_kokkos})
endif()
encore_first_below(config Kokkos_CONSIDERED_CONFIGS named)
if(Kokkos_FOUND)
  encore_first_below(found_named Kokkos_CONFIG named)
  if(found_named OR NOT (config OR for_kokkos))
    set(config ${Kokkos_CONFIG})
  endif()
elseif(Kokkos_CONSIDERED_CONFIGS AND NOT (config OR for_kokkos))
  list(GET Kokkos_CONSIDERED_CONFIGS 0 config)
endif()
if(NOT config AND for_kokkos)
  list(JOIN for_kokkos " " places)
  message(FATAL_ERROR "There is no Kokkos (no KokkosConfig.cmake) in ${places}, which Kokkos_ROOT or Kokkos_DIR names. ${remedy}")
elseif(config AND Kokkos_FOUND AND config STREQUAL Kokkos_CONFIG)
  get_target_property(library_type Kokkos::kokkoscore TYPE)
  if(NOT Kokkos_ENABLE_${ENCORE_BACKEND})
    list(JOIN Kokkos_DEVICES ", " devices)
    set(problem "was built for ${devices}, without ${ENCORE_BACKEND}")
  elseif(ENCORE_BACKEND STREQUAL SERIAL AND NOT Kokkos_DEVICES STREQUAL SERIAL)   # kernels run where Kokkos runs by default
    list(JOIN Kokkos_DEVICES ", " devices)
    set(problem "was built for ${devices}, and the backend serial needs one for SERIAL alone")
  elseif(NOT library_type STREQUAL SHARED_LIBRARY)
    set(problem "is static, and plugins need one shared copy for each process: it must be built with BUILD_SHARED_LIBS=ON")
  endif()
elseif(config)
  list(FIND Kokkos_CONSIDERED_CONFIGS ${config} at)
  list(GET Kokkos_CONSIDERED_VERSIONS ${at} version)
  set(problem "has version ${version}, and Encore needs ${kokkos_oldest} or a later 4.x")
  if(version VERSION_GREATER_EQUAL kokkos_oldest AND version VERSION_LESS 5)
    set(problem "has version ${version} and says that it cannot be used: ${Kokkos_NOT_FOUND_MESSAGE}")
  endif()
endif()
encore_first_below(config_named config named)
if(problem AND config_named)
  message(FATAL_ERROR "Kokkos in ${config} ${problem}. ${remedy}")
elseif(problem AND Kokkos_FOUND)   # CMake has its targets now, and cannot take others of the same names
  cmake_path(GET config PARENT_PATH folder)
  message(FATAL_ERROR "Kokkos in ${config} ${problem}. To have Encore build its own: cmake -D CMAKE_IGNORE_PATH=${folder} "
                      "-B ${CMAKE_BINARY_DIR}")
elseif(problem)   # it came with the system, and the user has not named it
  message(NOTICE "Kokkos in ${config} ${problem}. Encore takes its own instead.")
endif()

# Copies our own Kokkos from PREFIX into this build, unless the same one is there.
function(encore_take_kokkos PREFIX)
  set(library_folder ${CMAKE_BINARY_DIR}/lib)
  set(own ${library_folder}/encore/kokkos)
  get_filename_component(name ${PREFIX} NAME)
  if(EXISTS ${own}/taken.txt)
    file(READ ${own}/taken.txt taken)
    if(taken STREQUAL name)
      return()
    endif()
  endif()
  file(GLOB old ${library_folder}/libkokkos*.so*)
  file(REMOVE_RECURSE ${own} ${old})
  file(COPY ${PREFIX}/include DESTINATION ${own})
  file(COPY ${PREFIX}/lib/cmake DESTINATION ${own}/lib)
  file(GLOB libraries ${PREFIX}/lib/libkokkos*.so*)   # that of Kokkos Kernels has no version
  foreach(library IN LISTS libraries)
    if(library MATCHES "\\.so$" AND IS_SYMLINK ${library})
      list(REMOVE_ITEM libraries ${library})
    endif()
  endforeach()
  file(COPY ${libraries} DESTINATION ${library_folder})
  foreach(library IN LISTS libraries)
    get_filename_component(file ${library} NAME)
    file(CREATE_LINK ../../../${file} ${own}/lib/${file} SYMBOLIC)
  endforeach()
  # Files of the cache are as old as its first use. Touch them, so that everything that depends on another
  # Kokkos is compiled again.
  file(GLOB_RECURSE headers ${own}/include/*)
  file(GLOB libraries ${library_folder}/libkokkos*.so*)
  file(TOUCH ${headers} ${libraries})
  file(WRITE ${own}/taken.txt ${name})
endfunction()

if(Kokkos_FOUND AND NOT problem)
  set(ENCORE_OWN_KOKKOS "" CACHE INTERNAL "The folder of Kokkos' package, if it is our own")
  message(STATUS "Kokkos ${Kokkos_VERSION} of this site, which programs and plugins name: ${Kokkos_DIR}")
else()
  set(ENV{CXX} ${CMAKE_CXX_COMPILER})
  execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/get_kokkos.sh ${ENCORE_BACKEND_NAME}
    OUTPUT_VARIABLE kokkos_prefix OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE kokkos_result)
  if(NOT kokkos_result EQUAL 0)
    message(FATAL_ERROR "cmake/get_kokkos.sh ${ENCORE_BACKEND_NAME} failed; see its message above")
  endif()
  encore_take_kokkos(${kokkos_prefix})
  message(STATUS "Kokkos of Encore: ${kokkos_prefix}, copied into this build")
  set(own_packages ${CMAKE_BINARY_DIR}/lib/encore/kokkos/lib/cmake)
  set(ENCORE_OWN_KOKKOS ${own_packages}/Kokkos CACHE INTERNAL "The folder of Kokkos' package, if it is our own")
  set(Kokkos_DIR ${ENCORE_OWN_KOKKOS} CACHE PATH "Kokkos" FORCE)
  if(ENCORE_BACKEND STREQUAL HIP)
    if(KokkosKernels_ROOT OR DEFINED ENV{KokkosKernels_ROOT})
      message(FATAL_ERROR "KokkosKernels_ROOT names Kokkos Kernels of the site, but Kokkos is Encore's own. Name both or neither.")
    endif()
    set(KokkosKernels_DIR ${own_packages}/KokkosKernels CACHE PATH "Kokkos Kernels" FORCE)
  endif()
  find_package(Kokkos ${kokkos_oldest} CONFIG REQUIRED)
endif()
if(ENCORE_BACKEND STREQUAL HIP)   # its products; those of the other backends come from elsewhere
  # No version is asked for: Kokkos Kernels 4.4 writes an empty one into its package file. 4.4 is the oldest that Encore is built with.
  find_package(KokkosKernels CONFIG REQUIRED)
endif()
