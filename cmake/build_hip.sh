#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles and links with hipcc what differs for AMD GPUs: the worker, the plugins and their tests; no GPU is
# needed. It is called by hand, not in CI, because it installs a second compiler. Other targets ("all") can be
# given: cmake/build_hip.sh [targets]
#
# On Debian 12 (hipcc 5.2.3): clang 15, which its hipcc calls, crashes on C++20 as soon as a class holds a std::pair of libstdc++ 12.
# Debian also has clang 16, which does not, but its hipcc has the name of clang 15 written into it. So a copy of hipcc is made in the
# cache with that one name changed. With AMD's own ROCm, whose hipcc calls a newer clang, the hipcc on PATH is used as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cache=${ENCORE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/encore}

packages=(hipcc libamdhip64-dev clang-16 lld-16 clang-tools-16 libclang-rt-16-dev)
debian_12() { grep -q '^VERSION_CODENAME=bookworm' /etc/os-release 2>/dev/null; }

./exp setup
if debian_12; then
  missing=()
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || missing+=("$package")
  done
  if [ "${#missing[@]}" != 0 ]; then
    command="apt-get install -y --no-install-recommends ${missing[*]}"
    if [ "$(id -u)" != 0 ]; then echo "hip: please run as root: $command"; exit 2; fi
    echo "hip: installing ${missing[*]}"
    DEBIAN_FRONTEND=noninteractive $command >/dev/null
  fi
  wrapper=$cache/hipcc-clang-16
  mkdir -p "$wrapper"
  cp /usr/bin/hipcc /usr/bin/hipcc.pl /usr/bin/hipvars.pm "$wrapper/"
  sed -i -e 's|\$HIP_CLANG_PATH/clang++-15|/usr/lib/llvm-16/bin/clang++|' \
    -e 's|\$HIP_CLANG_PATH/\.\./lib/clang/\$HIP_CLANG_VERSION|/usr/lib/llvm-16/lib/clang/16|g' "$wrapper/hipcc.pl"
  export PATH=$wrapper:$PATH HIP_PATH=/usr
fi
command -v hipcc >/dev/null || { echo "hip: no hipcc on PATH"; exit 2; }

target=${ENCORE_GPU_ARCH:-AMD_GFX90A}
target=${target#AMD_}
export HIP_PLATFORM=amd HCC_AMDGPU_TARGET=${target,,}
hipcc --version | sed 's/^/hip: /'
cmake --preset hip -DENCORE_TESTS=ON
[ "$#" != 0 ] || set -- encore-worker encore-worker-bench encore-worker-check-plugin encore-worker-export plugins device_tests
NINJA_STATUS='[hip %f/%t %es] ' cmake --build --preset hip --target "$@"
echo "hip: compiled and linked in build/hip: $*"
