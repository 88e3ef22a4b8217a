# Plugins that exist only to be refused or caught. encore_add_plugin would install them and list them with those that ship.
#
#   encore_add_sample(NAME FOLDER SOURCES [MANIFEST] [KERNELS file...])   FOLDER/NAME.so, with its manifest where it can write one; KERNELS:
#   more sources, those that include Kokkos

function(encore_add_sample NAME FOLDER SOURCES)
  cmake_parse_arguments(arg "MANIFEST" "" "KERNELS" ${ARGN})
  add_library(sample_${NAME} MODULE ${SOURCES} ${arg_KERNELS})
  set_target_properties(sample_${NAME} PROPERTIES PREFIX "" SUFFIX ".so" OUTPUT_NAME ${NAME} LIBRARY_OUTPUT_DIRECTORY ${FOLDER})
  target_link_libraries(sample_${NAME} PRIVATE encore_sdk encore_kernels)
  encore_own_symbols(sample_${NAME})
  encore_apply_common(sample_${NAME} PRIVATE ${arg_KERNELS})
  add_dependencies(contract_samples sample_${NAME})
  if(arg_MANIFEST)
    encore_write_manifest(sample_${NAME} ${FOLDER}/${NAME}.json)
    add_dependencies(contract_samples sample_${NAME}_manifest)
  endif()
endfunction()
