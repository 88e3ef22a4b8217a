#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests ./exp and cmake/get_kokkos.sh as programs; CTest runs it as exp_script_test. They run on a copy in a
# temporary folder, with stand-ins for cmake, apt-get and id on a PATH of their own: nothing is installed,
# built or downloaded.
set -uo pipefail
tree=$1
. "$tree/tests/system/shell_checks.sh"
logged() { grep -q -- "$1" "$work/log"; }
not_logged() { ! logged "$1"; }

# A tree with the folders that the stamp looks at.
copy=$work/tree
mkdir -p "$copy"/{framework,plugins,cmake}
cp "$tree/exp" "$copy/exp"
touch "$copy/CMakeLists.txt" "$copy/CMakePresets.json" "$copy/framework/a.cpp"

# A PATH with the plain tools only; the others are stand-ins that log their command line.
bin=$work/bin
mkdir "$bin"
for tool in bash cat chmod cp cut dirname find flock grep head mkdir mv nproc printf readlink rm sed sort stat touch tr uname env; do
  ln -s "$(command -v $tool)" "$bin/$tool"
done
stand_in() {   # stand_in NAME BODY
  rm -f "$bin/$1"
  printf '#!/usr/bin/env bash\necho "%s $*" >>"%s/log"\n%s\n' "$1" "$work" "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}
call() {   # call ARGUMENTS...: runs ./exp, keeps its output and status
  : >"$work/log"
  (cd "$work" && PATH=$bin "$copy/exp" "$@") >"$work/output" 2>&1 </dev/null
  status=$?
}
cmake_body='
build='"$copy"'/build/openmp
if [ "$1" = --build ]; then
  mkdir -p $build/bin
  cp '"$work"'/program $build/bin/exp
  touch $build/bin/encore-worker
  chmod +x $build/bin/exp $build/bin/encore-worker
  case "$*" in *exp-report* | *" components "*) touch $build/bin/exp-report ;; esac
  case "$*" in *conll_manifest* | *" components "*) mkdir -p $build/lib; touch $build/lib/conll.json ;; esac
else
  kokkos=$build/lib/encore/kokkos/lib/cmake/Kokkos
  mkdir -p $kokkos
  printf "exp-report exp-report bin/exp-report 130\nconll conll_manifest lib/conll.json 6\n" >$build/components.txt
  printf "Kokkos_DIR:PATH=%s\nENCORE_MPI_STATE:INTERNAL=%s\n" $kokkos "$(cat '"$work"'/mpi)" >$build/CMakeCache.txt
fi'
echo no >"$work/mpi"   # whether CMake finds MPI
# exp: report is done by exp-report, which ./exp is asked for; other verbs print how exp was called.
cat >"$work/program" <<'END'
#!/usr/bin/env bash
here=${BASH_SOURCE[0]%/*}
if [ "$1" = report ] && [ ! -e "$here/exp-report" ]; then exec "$ENCORE_SCRIPT" --backend openmp --build exp-report "$@"; fi
echo program "$@"
echo "command $ENCORE_COMMAND, built: $ENCORE_BUILT"
END
compiler_body='cat >/dev/null'   # a compiler that finds every header

# --- an ordinary user on a machine without cmake -----------------------------------------------------------------------------------
stand_in id 'echo 1000'
stand_in apt-get 'exit 0'
stand_in g++ "$compiler_body"
stand_in ninja ''
stand_in pkg-config ''
stand_in ccache ''
stand_in python3 ''
call run a.toml
check "an ordinary user gets exit 2 when cmake is missing" returned 2
check "the exact command to run is printed" says "sudo apt-get update && sudo apt-get install --no-install-recommends cmake"
check "nothing is installed for an ordinary user" not_logged '^apt-get'

# --- headers: a compiler that finds none -------------------------------------------------------------------------------------------
stand_in cmake "$cmake_body"
stand_in g++ 'grep "^missing"'
call run a.toml
check "missing headers stop the call" returned 2
check "the package of a missing header is named" says libsqlite3-dev
check "optional packages are named along with required ones" says libdnnl-dev
check "installed packages are not named" silent_about ninja-build

# --- root without a terminal: installs without asking, builds, runs ----------------------------------------------------------------
stand_in id 'echo 0'
call run a.toml 'b c'
check "root installs without a terminal and continues" returned 0
check "the installation takes no recommended packages" logged '^apt-get install -q -y --no-install-recommends.*libtomlplusplus-dev'
check "the first build builds no tests" logged '^cmake --preset openmp -DENCORE_TESTS=OFF'
check "only the programs that every command needs are built" logged '^cmake --build .*--target exp encore-worker$'
check "the program gets the arguments unchanged" says "program run a.toml b c"

# --- nothing changed: nothing is asked, configured or built -----------------------------------------------------------------------
call ls
check "a second call runs the program" says "program ls"
check "a second call neither configures nor builds" not_logged '^cmake'
check "a second call prints nothing of its own" silent_about "exp: "

# --- components ---------------------------------------------------------------------------------------------------------------------
call report 'a b'
check "a component that the program misses is built" logged '^cmake --build .*--target exp-report$'
check "and nothing else" not_logged 'encore-worker'
check "one line says what is built, and roughly how long it takes" says "exp: building what this command needs for the first time, about "
check "and names it" says " s: exp-report"
check "then the program gets the same arguments" says "program report a b"
check "it knows what was built for it" says ", built: exp-report"
check "and suggests commands by the name of the first call" says "command $copy/exp,"
call report
check "the next call builds nothing" not_logged '^cmake'
sleep 0.05
touch "$copy/framework/a.cpp"
call ls
check "existing components are rebuilt with the rest" logged '^cmake --build .*--target exp encore-worker exp-report$'
call build conll
check "build NAME builds a component" logged '^cmake --build .*--target conll_manifest$'
call build conll
check "once" not_logged '^cmake'
call build nothing
check "an unknown component is refused" returned 2
check "and the known ones are named" says 'unknown component "nothing": expected one of exp-report conll'
rm "$copy/build/openmp/bin/exp-report"
call build
check "build without a name builds all components" logged '^cmake --build .*--target exp encore-worker components'
call build
check "and then nothing" not_logged '^cmake'
rm "$copy/build/openmp/bin/exp-report" "$copy/build/openmp/lib/conll.json"

# --- a changed source ---------------------------------------------------------------------------------------------------------------
stand_in g++ "$compiler_body"
sleep 0.05
touch "$copy/framework/a.cpp"
call ls
check "a changed source is built" logged '^cmake --build'
call ls
check "and only once" not_logged '^cmake'
sleep 0.05
rm "$copy/framework/a.cpp"
call ls
check "a removed source is noticed" logged '^cmake --build'

# --- a build that fails ---------------------------------------------------------------------------------------------------------------
sleep 0.05
touch "$copy/framework/b.cpp"
stand_in cmake 'if [ "$1" = --build ]; then echo "error: expected ;" >&2; exit 1; fi'
call run a.toml
check "a failed build is exit 2" returned 2
check "the compiler's message is shown" says "error: expected ;"
check "the old program does not run" silent_about "program run"
call run a.toml
check "a failed build is tried again" logged '^cmake --build'

# --- a tree that has been moved, and one of another user ----------------------------------------------------------------------------
stand_in cmake "$cmake_body"
call ls
check "the next build works" says "program ls"
mv "$copy" "$work/moved"
copy=$work/moved call ls
check "a moved tree is up to date, our own Kokkos with it" says "program ls"
check "and nothing is configured" not_logged '^cmake'
mv "$work/moved" "$copy"

# As root permissions hold for others alone; an ordinary user takes his own away for a while.
other=()
if [ "$("$(command -v id)" -u)" = 0 ]; then
  other=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  chmod 755 "$work"
else
  find "$copy/build" -exec chmod a-w {} +
fi
call_as_other() {
  : >"$work/log"
  chmod 666 "$work/log"
  (cd "$work" && "${other[@]}" env PATH="$bin" "$copy/exp" "$@") >"$work/output" 2>&1 </dev/null
  status=$?
}
call_as_other ls
check "a user without write permission uses the build" says "program ls"
check "and builds nothing" not_logged '^cmake'
call_as_other report
check "who may not write the build cannot add a component" returned 2
check "and hears who can" says "exp: build/openmp lacks exp-report, and you cannot write $copy/build/openmp"
sleep 0.05
touch "$copy/framework"
call_as_other ls
check "who may not write an old build gets exit 2" returned 2
check "with the file that is newer" says "exp: build/openmp is out of date (framework is newer), and you cannot write $copy/build/openmp, which belongs to"
check "and what to do" says "  $copy/exp build"
check "in the script's own words" silent_about "ermission"
check "nothing is configured or installed" not_logged '^cmake\|^apt-get'
mkdir "$work/fresh" && cp "$copy/exp" "$work/fresh/exp" && chmod 555 "$work/fresh"
copy=$work/fresh call_as_other ls
check "who may not write a tree without a build gets exit 2" returned 2
check "and hears that nothing is built" says "exp: build/openmp is not built, and you cannot write $work/fresh"
chmod -R u+w "$work/fresh" "$copy/build"
if [ "${#other[@]}" != 0 ]; then   # a folder that several users may write, and a lock that one of them has made
  chmod -R a+w "$copy/build"
  chmod 644 "$copy/build/openmp/.exp-lock"
  rm -r "$copy/build/openmp/bin"
  call_as_other ls
  check "another user's lock does not matter" says "program ls"
  check "the build is made" logged '^cmake --build'
  chmod -R go-w "$copy/build"
fi

# --- MPI ----------------------------------------------------------------------------------------------------------------------------
stand_in id 'echo 0'
call build
call build
check "a build without MPI says so and names the command for MPI" says "is up to date, without MPI (with it: ./exp build --mpi)"
stand_in mpicxx ''
call build
check "an MPI installed later is used by the next build" logged '^cmake --build'
call build
check "one that CMake cannot use is tried once" not_logged '^cmake'
rm "$bin/mpicxx"
stand_in apt-get 'if [ "$1" = install ]; then printf "#!/bin/sh\n" >'"$bin"'/mpicxx; cp '"$bin"'/mpicxx '"$bin"'/mpirun; chmod +x '"$bin"'/mpi*; fi'
call build --mpi
check "--mpi installs an MPI" logged '^apt-get install .*libopenmpi-dev openmpi-bin'
check "CMake searches it, even if it was switched off" logged '^cmake --preset openmp.*-DENCORE_MPI=ON'
check "and the call fails if CMake finds none" returned 2
check "with the name of the log file" says "build/openmp/configure.log"
echo yes >"$work/mpi"
call build --mpi --backend openmp
check "--mpi succeeds with an MPI" returned 0
check "and builds with it" logged '^cmake --build'
call build --mpi
check "a build with MPI is up to date" says "build/openmp is up to date, with MPI"
check "and not built again" not_logged '^cmake'
echo off >"$work/mpi"
sleep 0.05
touch "$copy/framework/a.cpp"
call build
call build
check "MPI stays off if it was switched off" not_logged '^cmake'
call build --mip
check "an unknown argument of build is refused" returned 2
check "and named" says 'unknown argument of build: "--mip"'

# --- usage ------------------------------------------------------------------------------------------------------------------------
call run --backend vulkan a.toml
check "an unknown backend is refused" returned 2
check "and the known ones are named" says "expected openmp, serial, cuda or hip"
call --backend
check "--backend without a name is refused" returned 2
rm -rf "$copy/build"
call -h
check "-h works before anything is built" returned 0
check "-h builds nothing" not_logged '^cmake'
check "-h shows the first command" says "./exp run experiments/quickstart.toml"
for verb in build setup package test; do
  for words in "$verb -h" "$verb --help" "--backend openmp $verb -h" "$verb --backend openmp -h" "help $verb"; do
    call $words
    check "$words works before anything is built" returned 0
    check "$words prints the help of $verb" says " $verb"
    check "$words shows an example" says "Example: ./exp "
    check "$words neither builds nor installs" test ! -s "$work/log"
  done
done

# --- get_kokkos.sh ----------------------------------------------------------------------------------------------------------------
kokkos() { (ENCORE_CACHE=$work/cache "$@") >"$work/output" 2>&1; status=$?; }
kokkos "$tree/cmake/get_kokkos.sh" vulkan
check "get_kokkos refuses an unknown backend" returned 1
ENCORE_CPU_ARCH=x86-64-v9 kokkos "$tree/cmake/get_kokkos.sh" openmp
check "get_kokkos refuses a processor that the compiler does not know" returned 1
check "and names one that it knows" says "ENCORE_CPU_ARCH=x86-64-v9 is not a processor for -march= of g++; use x86-64-v3 for any processor with AVX2"
kokkos "$tree/cmake/get_kokkos.sh" openmp --find
check "--find builds nothing" returned 1
check "--find leaves no cache behind" test ! -e "$work/cache"
echo "not the archive" >"$work/pygenten-0.1.5.tar.gz"
ENCORE_KOKKOS_ARCHIVE=$work/pygenten-0.1.5.tar.gz kokkos "$tree/cmake/get_kokkos.sh" openmp
check "an archive with another SHA-256 is refused" returned 1
check "and the expected SHA-256 is named" says e620f05c742905e2db705d875f1cac92ef0ed453f9e6734e9beda26cc0f9cce7
check "nothing half-made stays behind" test -z "$(find "$work/cache" -name 'kokkos-*' -o -name '.build-*')"

report
