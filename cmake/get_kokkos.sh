#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds Kokkos, and for HIP Kokkos Kernels, as shared libraries for one backend unless they exist, and prints
# their install prefix. cmake/dependencies.cmake calls it if CMake found no Kokkos of the site. The name of
# the prefix contains everything that affects the libraries (versions, options, compiler, processor), so a
# changed machine gets a second prefix. The libraries contain no folder of this machine, so that two users get
# equal bytes.
#
#   cmake/get_kokkos.sh openmp|serial|cuda|hip [--find]
#
# Progress goes to stderr, the prefix to stdout. With --find nothing is built: exit 1 if the prefix is not there.
#   ENCORE_CACHE            where to build it; default ${XDG_CACHE_HOME:-$HOME/.cache}/encore
#   ENCORE_KOKKOS_ARCHIVE   a pygenten-0.1.5.tar.gz that is already on this machine, for sites without a network
#   ENCORE_CPU_ARCH         what openmp and serial compile for, as g++ -march= takes it: native (default), x86-64-v3, znver3, icelake-server, ...
#   ENCORE_GPU_ARCH         Kokkos' name of the GPU: HOPPER90 (default for cuda), AMD_GFX90A (default for hip), AMPERE80, ...
set -euo pipefail

# One Python source package contains both libraries at fixed versions. Nothing else of the package is used.
archive_name=pygenten-0.1.5.tar.gz
archive_sha256=e620f05c742905e2db705d875f1cac92ef0ed453f9e6734e9beda26cc0f9cce7
kokkos_version=4.7.0

backend=${1:-}
find_only=${2:-}
if [ -n "$find_only" ] && [ "$find_only" != --find ]; then backend=; fi
cache=${ENCORE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/encore}

say() { printf 'kokkos: %s\n' "$*" >&2; }
fail() { printf 'kokkos: error: %s\n' "$*" >&2; exit 1; }

common=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DCMAKE_CXX_STANDARD=20 -DCMAKE_CXX_EXTENSIONS=OFF
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_RPATH='$ORIGIN' -Wno-dev
        -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON)   # CMake would change it in place later, and leave room for the folder of the build
kokkos_options=(-DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_DEPRECATION_WARNINGS=OFF -DKokkos_ENABLE_TESTS=OFF
                -DKokkos_ENABLE_EXAMPLES=OFF -DKokkos_ENABLE_IMPL_VIEW_LEGACY=OFF)
# Only the header-heavy parts of Kokkos Kernels that Encore calls, and no explicit instantiation: seconds instead of an hour. Only HIP
# calls it, and it is built for no other backend; its options are in the name of every prefix.
kernels_options=(-DKokkosKernels_ENABLE_ALL_COMPONENTS=OFF -DKokkosKernels_ENABLE_COMPONENT_BLAS=ON
                 -DKokkosKernels_ENABLE_COMPONENT_BATCHED=ON -DKokkosKernels_ADD_DEFAULT_ETI=OFF
                 -DKokkosKernels_ENABLE_TESTS=OFF -DKokkosKernels_ENABLE_EXAMPLES=OFF -DKokkosKernels_ENABLE_PERFTESTS=OFF
                 -DKokkosKernels_ENABLE_TPL_BLAS=OFF -DKokkosKernels_ENABLE_TPL_LAPACK=OFF
                 -DKokkosKernels_ENABLE_TPL_MKL=OFF)

cxx=${CXX:-g++}
processor=
case $backend in
  openmp | serial)
    cpu=${ENCORE_CPU_ARCH:-native}
    "$cxx" "-march=$cpu" -E -x c++ /dev/null >/dev/null 2>&1 ||
      fail "ENCORE_CPU_ARCH=$cpu is not a processor for -march= of $cxx; use x86-64-v3 for any processor with AVX2, or native for this machine"
    if [ "$backend" = openmp ]; then kokkos_options+=(-DKokkos_ENABLE_OPENMP=ON); fi
    kokkos_options+=(-DKokkos_ARCH_NATIVE=ON)
    # -march=native differs between processors, so the name of the prefix includes what the compiler makes of
    # it.
    processor=$("$cxx" "-march=$cpu" -Q --help=target 2>/dev/null | grep -E '^ +-m' || true) ;;
  cuda)
    gpu=${ENCORE_GPU_ARCH:-HOPPER90}
    # nvcc compiles for the host without -march=native: its front end does not know all of a new processor's intrinsics.
    # -std is set by hand, because CMake 3.25 does not know that nvcc supports C++20 and omits the flag
    # without a message.
    cuda_language=("-DCMAKE_CUDA_ARCHITECTURES=${gpu//[!0-9]/}" -DCMAKE_CUDA_FLAGS=-std=c++20 -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared)
    kokkos_options+=("${cuda_language[@]}" -DKokkos_ENABLE_CUDA=ON -DKokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE=ON "-DKokkos_ARCH_$gpu=ON"
                     -DKokkos_ENABLE_CUDA_RELOCATABLE_DEVICE_CODE=OFF)
    if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then PATH=/usr/local/cuda/bin:$PATH; fi
    command -v nvcc >/dev/null || fail "the cuda backend needs nvcc (CUDA 12.2 or newer) on PATH"
    processor=$(nvcc --version | tail -n 1) ;;
  hip)
    gpu=${ENCORE_GPU_ARCH:-AMD_GFX90A}
    export HIP_PLATFORM=amd
    target=${gpu#AMD_}
    export HCC_AMDGPU_TARGET=${target,,}   # or hipcc asks the driver, and there may be none
    cxx=${CXX:-hipcc}
    command -v "$cxx" >/dev/null || fail "the hip backend needs hipcc (Debian: apt-get install hipcc libamdhip64-dev) on PATH"
    kokkos_options+=(-DKokkos_ENABLE_HIP=ON -DKokkos_ENABLE_ROCTHRUST=OFF "-DKokkos_ARCH_$gpu=ON")
    kernels_options+=(-DKokkosKernels_ENABLE_TPL_ROCBLAS=OFF -DKokkosKernels_ENABLE_TPL_ROCSPARSE=OFF
                      -DKokkosKernels_ENABLE_TPL_ROCSOLVER=OFF) ;;
  *) fail "usage: cmake/get_kokkos.sh openmp|serial|cuda|hip [--find]" ;;
esac
command -v "$cxx" >/dev/null || fail "no C++ compiler \"$cxx\" on PATH"
# One compiler has several names (c++, g++, a path), so the version text without the name identifies it.
version=$("$cxx" --version 2>/dev/null | cut -d' ' -f2- || true)
hash=$({ printf '%s\n' "$archive_sha256" "${common[@]}" "${kokkos_options[@]}" "${kernels_options[@]}" "$processor"
         echo "${version%%$'\n'*}"; } | sha256sum | cut -c1-10)
prefix=$cache/kokkos-$kokkos_version-$backend-$hash
complete=$prefix/encore-complete.txt   # written last: a prefix without it was cut short and is made again

if [ -f "$complete" ]; then printf '%s\n' "$prefix"; exit 0; fi
if [ "$find_only" = --find ]; then exit 1; fi

mkdir -p "$cache" || fail "cannot write below $cache; set ENCORE_CACHE to a folder that you may write"
exec 9>"$cache/.lock-$backend-$hash"
if ! flock -n 9; then say "another build of the same libraries is running; waiting for it"; flock 9; fi
if [ -f "$complete" ]; then printf '%s\n' "$prefix"; exit 0; fi

work=$cache/.build-$backend-$hash
rm -rf "$work" "$prefix"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

matches() { [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -d' ' -f1)" = "$archive_sha256" ]; }

fetch_archive() {
  local given=${ENCORE_KOKKOS_ARCHIVE:-}
  archive=$cache/$archive_name
  if [ -n "$given" ]; then
    matches "$given" || fail "ENCORE_KOKKOS_ARCHIVE=$given is not $archive_name (SHA-256 $archive_sha256)"
    archive=$given
    return
  fi
  if matches "$archive"; then return; fi
  say "downloading $archive_name (17 MB) with pip"
  local python
  for python in /usr/bin/python3 python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then break; fi
  done
  "$python" -m pip --version >/dev/null 2>&1 || fail "pip is missing (Debian: apt-get install python3-pip)"
  # --no-binary for this one package: with :all: pip would build its own build tools from source as well.
  (cd "$work" && "$python" -m pip download -q --disable-pip-version-check --no-deps --no-binary pygenten -d . pygenten==0.1.5) >&2 ||
    fail "pip could not download pygenten 0.1.5; fetch it elsewhere and set ENCORE_KOKKOS_ARCHIVE to the .tar.gz"
  matches "$work/$archive_name" ||
    fail "the downloaded $archive_name has another SHA-256 than $archive_sha256; nothing of it was used"
  mv "$work/$archive_name" "$archive"
}

# Kokkos 4.7.0 is older than CUDA 13, which changed the signature of two functions: an argument for edge data
# (none here), and a location instead of a device number. For CUDA 12 the sources stay as they are.
adapt_to_cuda_13() {
  local file=$sources/kokkos/core/src/Cuda/Kokkos_Cuda_Instance.hpp
  local major
  major=$(nvcc --version | sed -n 's/.*release \([0-9]*\).*/\1/p')
  if [ "$major" -lt 13 ]; then return; fi
  say "adapting two calls of Kokkos $kokkos_version to CUDA $major"
  sed -i -e 's/cudaGraphAddDependencies(graph, from, to, numDependencies)/cudaGraphAddDependencies(graph, from, to, nullptr, numDependencies)/' \
    -e 's/return cudaMemPrefetchAsync(devPtr, count, dstDevice, m_stream);/cudaMemLocation where{};\n    where.type = dstDevice == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;\n    where.id = dstDevice == cudaCpuDeviceId ? 0 : dstDevice;\n    return cudaMemPrefetchAsync(devPtr, count, where, 0, m_stream);/' "$file"
  if ! grep -q 'to, nullptr, numDependencies' "$file" || ! grep -q 'count, where, 0, m_stream' "$file"; then
    fail "the adaption to CUDA $major did not find its two calls in $file"
  fi
}

# Kokkos passes its own flags to every target that uses it, so the kernels and all plugins are compiled for
# the same processor.
compile_for_cpu() {
  local file=$sources/kokkos/cmake/kokkos_arch.cmake
  if [ "$cpu" = native ]; then return; fi
  sed -i -e "s/\"-march=native;-mtune=native\"/\"-march=$cpu\"/" -e "s/\"-mcpu=native\"/\"-march=$cpu\"/" "$file"
  grep -q -- "\"-march=$cpu\"" "$file" || fail "ENCORE_CPU_ARCH=$cpu did not find the flags of the processor in $file"
}

log=$work/log.txt
step() {   # step TITLE COMMAND...: one line while it runs, the whole log when it fails
  local title=$1 start=$SECONDS
  shift
  say "$title"
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    fail "$title: failed (the command was: $*)"
  fi
  say "$title: done in $((SECONDS - start)) s"
}

fetch_archive
sources=$work/sources
mkdir -p "$sources"
tar -xzf "$archive" -C "$sources" --strip-components=2 pygenten-0.1.5/tpls/kokkos pygenten-0.1.5/tpls/kokkos-kernels
case $backend in
  openmp | serial) compile_for_cpu ;;
  cuda) adapt_to_cuda_13 ;;
esac

# __FILE__ contains no folder either. These flags name folders, so the prefix's name does not include them.
export CXXFLAGS="${CXXFLAGS:-} '-ffile-prefix-map=$work=.' '-ffile-prefix-map=$prefix=.'"
if [ "$backend" = cuda ]; then
  kokkos_options+=("-DCMAKE_CUDA_FLAGS=-std=c++20 --objdir-as-tempdir '-Xcompiler=-ffile-prefix-map=$work=.,-ffile-prefix-map=$prefix=.'")
fi
common+=("-DCMAKE_CXX_COMPILER=$cxx")
install_prefix=(-DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_PREFIX_PATH="$prefix")
step "configuring Kokkos $kokkos_version ($backend)" \
  cmake -S "$sources/kokkos" -B "$work/kokkos" "${common[@]}" "${install_prefix[@]}" "${kokkos_options[@]}"
step "building Kokkos (about half a minute on two cores, two minutes for a GPU)" cmake --build "$work/kokkos"
step "installing Kokkos" cmake --install "$work/kokkos"
if [ "$backend" = hip ]; then
  step "configuring Kokkos Kernels ($backend)" \
    cmake -S "$sources/kokkos-kernels" -B "$work/kernels" "${common[@]}" "${install_prefix[@]}" "${kernels_options[@]}"
  step "building Kokkos Kernels" cmake --build "$work/kernels"
  step "installing Kokkos Kernels" cmake --install "$work/kernels"
fi
# Kokkos' package contains its prefix once, as a place to search after it was moved. Remove it.
find "$prefix/lib/cmake" -name '*.cmake' -exec sed -i "s|\"$prefix\"|\"\"|g" {} +

{ echo "Kokkos $kokkos_version, for HIP with Kokkos Kernels, backend $backend, made by cmake/get_kokkos.sh"
  printf '  %s\n' "${kokkos_options[@]}" "${kernels_options[@]}" | grep -vF -- "$work"; } >"$complete.part"
mv "$complete.part" "$complete"
printf '%s\n' "$prefix"
