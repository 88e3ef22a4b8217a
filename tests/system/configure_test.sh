#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the decisions of configuring; CTest runs it as configure_test. cmake/kokkos.cmake takes a suitable
# Kokkos of the site, our own if none is named, and rejects all else. The packages are stubs, as is
# get_kokkos.sh. The fingerprint (cmake/encore_plugin.cmake) records what -march=native means.
set -uo pipefail
tree=$1
. "$tree/tests/system/shell_checks.sh"
unset CMAKE_PREFIX_PATH Kokkos_ROOT Kokkos_DIR

# --- which Kokkos -----------------------------------------------------------------------------------------------------------------
choice=$work/choice
mkdir -p "$choice/cmake"
cp "$tree/cmake/kokkos.cmake" "$choice/cmake/"
printf '#!/bin/sh\necho %s\n' "$work/own-kokkos" >"$choice/cmake/get_kokkos.sh"
chmod +x "$choice/cmake/get_kokkos.sh"
cat >"$choice/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(choice NONE)
set(ENCORE_BACKEND OPENMP)
set(ENCORE_BACKEND_NAME openmp)
include(cmake/kokkos.cmake)
message(STATUS "took ${Kokkos_DIR}")
END
a_kokkos() {   # a_kokkos PREFIX VERSION SHARED|STATIC BACKENDS: a package that says so
  local package=$work/$1/lib/cmake/Kokkos
  mkdir -p "$package" "$work/$1/include"
  touch "$work/$1/lib/libkokkoscore.so.4.7.0"
  cat >"$package/KokkosConfig.cmake" <<END
add_library(Kokkos::kokkoscore $3 IMPORTED)
set(Kokkos_DEVICES $4)
foreach(each IN LISTS Kokkos_DEVICES)
  set(Kokkos_ENABLE_\${each} ON)
endforeach()
END
  cat >"$package/KokkosConfigVersion.cmake" <<END
set(PACKAGE_VERSION $2)
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION AND PACKAGE_VERSION VERSION_LESS 5)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
END
}
a_kokkos own-kokkos 4.7.0 SHARED "OPENMP;SERIAL"
a_kokkos fit 4.7.1 SHARED "OPENMP;SERIAL"
a_kokkos old 4.5.1 SHARED "OPENMP;SERIAL"
a_kokkos new 5.0.0 SHARED "OPENMP;SERIAL"
a_kokkos static 4.7.1 STATIC "OPENMP;SERIAL"
a_kokkos serial 4.7.1 SHARED SERIAL
mkdir "$work/empty"
configure() {   # configure OPTIONS...: in a new folder, unless the last one is kept; lines are joined, because CMake breaks them where it likes
  [ -n "${keep:-}" ] || rm -rf "$choice/build"
  cmake "$@" -S "$choice" -B "$choice/build" >"$work/lines" 2>&1
  status=$?
  tr -s ' \n' ' ' <"$work/lines" >"$work/output"
}
refuses() {   # refuses WHAT MESSAGE OPTIONS...
  local what=$1 message=$2
  shift 2
  configure "$@"
  check "$what is refused" returned 1
  check "$what is named" says "$message"
}
configure
check "without a site's Kokkos our own is taken" says "took $choice/build/lib/encore/kokkos/lib/cmake/Kokkos"
check "its libraries are copied beside the others" test -f "$choice/build/lib/libkokkoscore.so.4.7.0"
keep=1 configure
check "and again the next time" says "took $choice/build/lib/encore/kokkos/lib/cmake/Kokkos"
keep=1 configure "-DKokkos_DIR=$work/fit/lib/cmake/Kokkos"
check "a site's Kokkos that is named later is taken" says "took $work/fit/lib/cmake/Kokkos"
for name in Kokkos_ROOT CMAKE_PREFIX_PATH; do
  configure "-D$name=$work/fit"
  check "a site's Kokkos in $name is used" says "took $work/fit/lib/cmake/Kokkos"
  check "and called the site's" says "Kokkos 4.7.1 of this site"
  refuses "4.5.1 in $name" "$work/old/lib/cmake/Kokkos/KokkosConfig.cmake has version 4.5.1, and Encore needs 4.7 or a later 4.x" "-D$name=$work/old"
  refuses "5.0 in $name" "has version 5.0.0" "-D$name=$work/new"
  refuses "a static one in $name" "is static, and plugins need one shared copy" "-D$name=$work/static"
  refuses "one without the backend in $name" "was built for SERIAL, without OPENMP" "-D$name=$work/serial"
  refuses "a folder that is not there in $name" "$work/gone is not a folder" "-D$name=$work/gone"
done
refuses "a Kokkos_ROOT without a Kokkos" "There is no Kokkos (no KokkosConfig.cmake) in $work/empty" "-DKokkos_ROOT=$work/empty"
refuses "Kokkos_DIR of an old one" "has version 4.5.1" "-DKokkos_DIR=$work/old/lib/cmake/Kokkos"
configure
keep=1 refuses "an old one that is named after our own was taken" "has version 4.5.1" "-DKokkos_ROOT=$work/old"
refuses "an old one in Kokkos_ROOT before a fit one" "has version 4.5.1" "-DKokkos_ROOT=$work/old" "-DCMAKE_PREFIX_PATH=$work/fit"
configure "-DCMAKE_PREFIX_PATH=$work/empty"
check "CMAKE_PREFIX_PATH is for other packages too" says "took $choice/build/lib/encore/kokkos"
export CMAKE_PREFIX_PATH=$work/empty:$work/old
refuses "4.5.1 in the environment's CMAKE_PREFIX_PATH" "has version 4.5.1"
export CMAKE_PREFIX_PATH=$work/gone:$work/fit
refuses "a folder that is not there in the environment's CMAKE_PREFIX_PATH" "$work/gone is not a folder"
unset CMAKE_PREFIX_PATH
export Kokkos_ROOT=$work/old
refuses "4.5.1 in the environment's Kokkos_ROOT" "has version 4.5.1"
unset Kokkos_ROOT

# --- what -march=native means: compilers of three machines ---------------------------------------------------------------------------
cat >"$work/architecture.cmake" <<'END'
cmake_minimum_required(VERSION 3.25)
include(${TREE}/cmake/encore_plugin.cmake)
encore_resolve_processor(processor -march=native)
message("${processor}")
END
processor_of() {   # processor_of FLAGS...: what a compiler says whose machine has them
  cat >"$work/g++" <<END
#!/bin/bash
words=()
for each in "\$@"; do if [ "\$each" = -march=native ]; then words+=($*); else words+=("\$each"); fi; done
exec g++ "\${words[@]}"
END
  chmod +x "$work/g++"
  cmake "-DTREE=$tree" "-DCMAKE_CXX_COMPILER=$work/g++" -P "$work/architecture.cmake" >"$work/output" 2>&1
  cat "$work/output"
}
if [ "$(uname -m)" = x86_64 ]; then
  icelake=$(processor_of -march=icelake-server) again=$(processor_of -march=icelake-server)
  without=$(processor_of -march=icelake-server -mno-avx512vnni) skylake=$(processor_of -march=skylake)
  matches() { [[ $1 =~ ^$2-[0-9a-f]{8}$ ]]; }
  check "a processor has its name and eight digits" matches "$icelake" icelake-server
  check "and the same digits every time" test "$icelake" = "$again"
  check "another processor has another name" matches "$skylake" skylake
  check "one of the same name with fewer instructions keeps the name" matches "$without" icelake-server
  check "and has other digits" test "$icelake" != "$without"
fi

report
