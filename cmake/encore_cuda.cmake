# SPDX-License-Identifier: BSD-3-Clause
# Settings of the CUDA compiler for Encore and every plugin, in the tree (dependencies.cmake) and in an
# installation (encore-config.cmake). It is included only for the CUDA backend. CMAKE_CUDA_ARCHITECTURES must
# be the one for which Kokkos was built.

if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
  set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
# CMake 3.25 does not know that nvcc supports C++20. These lines add what later versions of CMake know.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
  set(CMAKE_CUDA20_COMPILE_FEATURES cuda_std_20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O3 -DNDEBUG")
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)   # one CUDA runtime for all the libraries and plugins of a process
