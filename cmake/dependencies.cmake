# SPDX-License-Identifier: BSD-3-Clause
# Finds the libraries that Encore uses. All come from the system, except Kokkos and, for HIP, Kokkos Kernels
# (kokkos.cmake). The top CMakeLists.txt includes it after options.cmake. Read next: targets.cmake.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# --- Kokkos -----------------------------------------------------------------------------------------------------------------------
if(ENCORE_BACKEND STREQUAL CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # The GPU by Kokkos' name and its number, as in get_kokkos.sh.
    set(gpu HOPPER90)
    if(DEFINED ENV{ENCORE_GPU_ARCH})
      set(gpu $ENV{ENCORE_GPU_ARCH})
    endif()
    string(REGEX REPLACE "[^0-9]" "" gpu ${gpu})
    set(CMAKE_CUDA_ARCHITECTURES ${gpu} CACHE STRING "CUDA architecture; must be the one Kokkos was built for")
  endif()
  include(encore_cuda)
endif()

include(kokkos)

# --- Libraries of the system ------------------------------------------------------------------------------------------------------
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)   # SHA-256
find_package(SQLite3 3.40 REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(nlohmann_json 3.11 REQUIRED CONFIG)
find_package(PkgConfig REQUIRED)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)   # bundles

find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)   # toml++ 3: header only is the one way all its packages offer
add_library(encore_tomlplusplus INTERFACE)
target_include_directories(encore_tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIR})
add_library(tomlplusplus::tomlplusplus ALIAS encore_tomlplusplus)

# oneDNN: float32 and bfloat16 products at the machine's peak. Its CMake package has no usable target on some
# systems; a library and a header are all that is needed.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)
option(ENCORE_ONEDNN "Use oneDNN for products on the host if it is there" ON)
add_library(encore_onednn INTERFACE)
if(ENCORE_ONEDNN AND DNNL_INCLUDE_DIR AND DNNL_LIBRARY)
  target_include_directories(encore_onednn SYSTEM INTERFACE ${DNNL_INCLUDE_DIR})
  target_link_libraries(encore_onednn INTERFACE ${DNNL_LIBRARY})
  target_compile_definitions(encore_onednn INTERFACE ENCORE_HAVE_ONEDNN=1)
  if(ENCORE_BACKEND STREQUAL SERIAL)   # oneDNN has threads of OpenMP; kernels set their number to one
    find_package(OpenMP REQUIRED COMPONENTS CXX)
    target_link_libraries(encore_onednn INTERFACE ${OpenMP_CXX_LIBRARIES})
  endif()
  message(STATUS "Products on the host: oneDNN (${DNNL_LIBRARY})")
else()
  # NOTICE goes to stderr, which ./exp shows; it hides the rest of a successful configuration.
  message(NOTICE "Products on the host: Encore's own, because oneDNN is missing or switched off. They are slower; "
                 "Debian's package is libdnnl-dev.")
endif()

# SentencePiece splits text for the tokenizer "unigram"; its header does not depend on protocol buffers. Its
# package file lists both libraries, and a folder of headers only if that is not the system's.
pkg_check_modules(sentencepiece QUIET IMPORTED_TARGET sentencepiece)
option(ENCORE_SENTENCEPIECE "Build the tokenizer unigram if SentencePiece is there" ON)
if(ENCORE_SENTENCEPIECE AND TARGET PkgConfig::sentencepiece)
  add_library(encore_sentencepiece INTERFACE)
  target_link_libraries(encore_sentencepiece INTERFACE PkgConfig::sentencepiece)
  target_compile_definitions(encore_sentencepiece INTERFACE ENCORE_HAVE_SENTENCEPIECE=1)
else()
  message(NOTICE "The tokenizer unigram is left out, because SentencePiece is missing or switched off. Models of MarianMT "
                 "need it; Debian's package is libsentencepiece-dev.")
endif()

# RE2 has the regular expressions of the step "match", in a time that is linear in the text.
pkg_check_modules(re2 QUIET IMPORTED_TARGET re2)
option(ENCORE_RE2 "Build the step match if RE2 is there" ON)
if(ENCORE_RE2 AND TARGET PkgConfig::re2)
  add_library(encore_re2 INTERFACE)
  target_link_libraries(encore_re2 INTERFACE PkgConfig::re2)
else()
  message(NOTICE "The step match is left out, because RE2 is missing or switched off. Applications need it for regular "
                 "expressions; Debian's package is libre2-dev.")
endif()

# MPI, for ranks that train one run together. Only its C interface is used.
option(ENCORE_MPI "Train with several ranks (exp run --ranks) if MPI is there" ON)
set(mpi_state off)
if(ENCORE_MPI)
  set(mpi_state no)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI 3 QUIET COMPONENTS CXX)
endif()
if(ENCORE_MPI AND MPI_CXX_FOUND)
  add_library(encore_mpi_library INTERFACE)
  target_link_libraries(encore_mpi_library INTERFACE MPI::MPI_CXX)
  set(mpi_state yes)
  message(STATUS "Ranks: MPI ${MPI_CXX_VERSION} (${MPI_mpi_LIBRARY})")
else()
  message(STATUS "Ranks: none, because MPI is missing or switched off (./exp build --mpi installs Open MPI on Debian)")
endif()
set(ENCORE_MPI_STATE ${mpi_state} CACHE INTERNAL "For ./exp: yes, no (not found), off")

if(ENCORE_TESTS)
  find_package(GTest 1.12 REQUIRED)
  find_package(Python3 COMPONENTS Interpreter)
endif()
