#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the module file of an installation (cmake/modulefile.in) with Environment Modules and with Lmod, those of the two
# that are installed: it finds its installation in any place, also through a link, two versions stand beside each other,
# and unloading leaves nothing. CTest runs it as modules_test. $ENCORE_TEST_LMOD names the folder of an Lmod that is not
# installed for all users (the folder with init/ and libexec/).
#
#   modules_test.sh TREE build/openmp
set -uo pipefail
tree=$1 build=$2
. "$tree/tests/system/shell_checks.sh"
version=$(sed -n 's/^project(.*VERSION \([0-9.]*\).*/\1/p' "$tree/CMakeLists.txt")

# Each system by a file that defines the command `module` in a shell.
cat >"$work/lmod.sh" <<'END'
module() { eval "$(LUA_PATH="$lmod/libexec/?.lua;$lmod/tools/?.lua;;" "$lmod/libexec/lmod" bash "$@")"; }
END
systems=()
for file in "${MODULESHOME:-/usr/share/modules}/init/bash" /usr/share/modules/init/bash /usr/share/Modules/init/bash; do
  if [ -e "$file" ] && grep -q modulecmd.tcl "$file"; then
    cp "$file" "$work/modules.sh"
    systems+=(modules)
    break
  fi
done
export lmod=${ENCORE_TEST_LMOD:-${LMOD_PKG:-/usr/share/lmod/lmod}}
if [ -x "$lmod/libexec/lmod" ]; then systems+=(lmod); fi
[ ${#systems[@]} != 0 ] || { echo "skipped: there are neither Environment Modules (Debian: environment-modules) nor Lmod"; exit 77; }

# install PREFIX VERSION: what cmake --install writes for the module file, with the programs of the build.
install() {
  mkdir -p "$1/share/encore/modulefiles/encore" "$1/lib/encore/python"
  ln -s "$build/bin" "$1/bin"
  sed "s/$version/$2/g" "$build/share/encore/modulefiles/encore/$version" >"$1/share/encore/modulefiles/encore/$2"
}
install "$work/first place/encore" "$version"
install "$work/second" 99.0
mkdir "$work/moved"
mv "$work/first place/encore" "$work/moved/openmp"   # after it was installed
first=$work/moved/openmp second=$work/second
mkdir -p "$work/site/encore" "$work/copied/encore"
ln -s "$first/share/encore/modulefiles/encore/$version" "$work/site/encore/$version-openmp"
ln -s "../../second/share/encore/modulefiles/encore/99.0" "$work/site/encore/99.0-cuda"
ln -s "$first/share/encore/modulefiles" "$work/linked"
cp "$first/share/encore/modulefiles/encore/$version" "$work/copied/encore/"

# in_shell SCRIPT: runs it in a new shell with the command `module` and an environment that no user has changed.
in_shell() {
  env -i HOME="$work" PATH=/usr/local/bin:/usr/bin:/bin lmod="$lmod" bash --norc -c ". '$work/$system.sh'; $1" >"$work/output" 2>&1 </dev/null
  status=$?
}

for system in "${systems[@]}"; do
  in_shell "module use '$first/share/encore/modulefiles'; module load encore/$version; command -v exp; exp version; echo \"root \$ENCORE_ROOT\""
  check "$system: exp is that of the installation, in the place to which it was moved" says "$first/bin/exp"
  check "$system: and runs" says "encore $version "
  check "$system: ENCORE_ROOT is the installation" says "root $first"

  in_shell "module use '$first/share/encore/modulefiles'; before=\$(env | LC_ALL=C sort | grep -vE '^(_|__|BASH_FUNC|LOADED|_LM|MODULE|_Module)')
    module load encore; module unload encore; after=\$(env | LC_ALL=C sort | grep -vE '^(_|__|BASH_FUNC|LOADED|_LM|MODULE|_Module)'); diff <(echo \"\$before\") <(echo \"\$after\") && echo restored"
  check "$system: unloading leaves nothing" says restored

  in_shell "module use '$work/site'; module load encore/$version-openmp; command -v exp; module switch encore/99.0-cuda; command -v exp; echo \"\$PATH\""
  check "$system: a link with a name of the site" says "$first/bin/exp"
  check "$system: a relative link, and the other version in place of the first" says "$second/bin/exp"
  check "$system: the first version is gone from the PATH" silent_about "$first/bin:"

  in_shell "module use '$work/site'; module load encore/$version-openmp; module load encore/99.0-cuda; echo \"PATH \$PATH\""
  check "$system: never two versions at once" test "$(grep -oE "^PATH .*" "$work/output" | grep -oE "(moved/openmp|second)/bin" | wc -l)" = 1

  in_shell "module use '$work/linked'; module load encore; command -v exp; echo \"\$PYTHONPATH|\$CMAKE_PREFIX_PATH\""
  check "$system: a link to the folder" says "$first/bin/exp"
  check "$system: find_package and import find it" says "$first/lib/encore/python|$first"

  in_shell "module use '$work/copied'; module load encore"
  check "$system: a copy is refused" test "$status" != 0
  tr '\n' ' ' <"$work/output" | tr -s ' ' >"$work/line" && mv "$work/line" "$work/output"   # Lmod breaks lines
  check "$system: with the reason" says "the module file of Encore must stay in its installation; make a link to it instead of a copy"

  in_shell "module use '$first/share/encore/modulefiles'; module whatis encore; module help encore"
  check "$system: whatis names the version" says "Version: $version"
  check "$system: and the backend" says "(backend "
  check "$system: help names a next step" says "exp doctor"
done

# The modules of a site, which are loaded first (-DENCORE_MODULES).
mkdir -p "$work/with/share/encore/modulefiles/encore" "$work/site/openmpi"
ln -s "$build/bin" "$work/with/bin"
sed 's/^foreach module {.*} {/foreach module {openmpi\/4.1} {/' "$build/share/encore/modulefiles/encore/$version" >"$work/with/share/encore/modulefiles/encore/$version"
printf '#%%Module\nsetenv MPI_OF_SITE yes\n' >"$work/site/openmpi/4.1"
for system in "${systems[@]}"; do
  in_shell "module use '$work/site' '$work/with/share/encore/modulefiles'; module load encore/$version; echo \"mpi \$MPI_OF_SITE\""
  check "$system: the modules of the site are loaded first" says "mpi yes"
done
echo "with: ${systems[*]}"
report
