# SPDX-License-Identifier: BSD-3-Clause
# Plugins that exist only to be refused or caught. encore_add_plugin would install them and list them with those that ship.
#
#   encore_add_sample(NAME FOLDER SOURCES [MANIFEST] [HOST] [KERNELS file...])   FOLDER/NAME.so, with its manifest where it can write one;
#   HOST: it calls no kernel, so that none has to be built for it; KERNELS: more sources, those that include Kokkos

function(encore_add_sample NAME FOLDER SOURCES)
  cmake_parse_arguments(arg "MANIFEST;HOST" "" "KERNELS" ${ARGN})
  add_library(sample_${NAME} MODULE ${SOURCES} ${arg_KERNELS})
  set_target_properties(sample_${NAME} PROPERTIES PREFIX "" SUFFIX ".so" OUTPUT_NAME ${NAME} LIBRARY_OUTPUT_DIRECTORY ${FOLDER})
  target_link_libraries(sample_${NAME} PRIVATE encore_sdk)
  if(NOT arg_HOST)
    target_link_libraries(sample_${NAME} PRIVATE encore_kernels)
  endif()
  encore_own_symbols(sample_${NAME})
  encore_apply_common(sample_${NAME} PRIVATE ${arg_KERNELS})
  add_dependencies(contract_samples sample_${NAME})
  if(arg_MANIFEST)
    encore_write_manifest(sample_${NAME} ${FOLDER}/${NAME}.json)
    add_dependencies(contract_samples sample_${NAME}_manifest)
  endif()
endfunction()
