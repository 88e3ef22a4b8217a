#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests cmake/package.sh on a finished build: the archive and the wheel work in another folder and with an empty
# environment, load no library of the system but glibc and the runtime of C++, and give the bits of the build. CTest runs it
# as package_test. That a package has several processors is tested by hand (docs/guides/packages.md).
set -uo pipefail
tree=$1 build=$2
. "$tree/tests/system/shell_checks.sh"
for tool in patchelf zstd objdump python3; do
  command -v "$tool" >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
# call COMMAND...: keeps output and status.
call() { "$@" >"$work/output" 2>&1 </dev/null; status=$?; }
# bare COMMAND...: the same with nothing of this environment but a home.
bare() { call env -i HOME="$work/home" PATH=/usr/bin:/bin "$@"; }
mkdir -p "$work/home" "$work/project"

call "$tree/cmake/package.sh"
check "a call without a form is refused" says "name the form of the package: tar, wheel or deb"
call "$tree/cmake/package.sh" rpm
check "an unknown form is refused" says 'unknown argument "rpm"'
call "$tree/cmake/package.sh" tar --from "$work/nowhere"
check "a missing build is refused" says "has no bin/exp: name the folder of a build"
call "$tree/cmake/package.sh" tar --from "$build" --cpu x86-64-v3
check "a build is for one processor" says "--from and --cpu exclude each other"

call "$tree/cmake/package.sh" tar wheel --from "$build" -o "$work/packages"
check "archive and wheel are made" returned 0
[ "$status" = 0 ] || report
rm -rf "$work/packages/stage"
mkdir "$work/unpacked"
call tar --zstd -C "$work/unpacked" -xf "$work"/packages/encore-*.tar.zst
prefix="$work/a folder/encore"
mkdir -p "${prefix%/*}"
mv "$work"/unpacked/encore-* "$prefix"

foreign() {   # the libraries that files of the package load from elsewhere
  find "$prefix" -type f \( -perm -u+x -o -name '*.so*' \) -exec ldd {} + 2>/dev/null |
    sed -n 's/^.* => \(.*\) (.*/\1/p; s/^.*not found/&/p' | sort -u | grep -v "^$prefix" |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|ld-linux-x86-64|libstdc\+\+|libgcc_s)\.so'
}
foreign >"$work/output"
check "every library is in the package, or one that every system has" test ! -s "$work/output"
call find "$prefix/share/doc/encore" -name '*.txt' -size +0
check "the licences of the libraries are there" says "libsqlite3-0.txt"
bare man -l "$prefix/share/man/man1/exp-run.1.gz"
if [ "$status" != 0 ]; then call zcat "$prefix/share/man/man1/exp-run.1.gz"; fi
check "a manual page has the options" says "plugin"

cp -r "$tree/experiments/quickstart.toml" "$tree/experiments/corpus" "$work/project/"
# train EXP DATABASE: one epoch, with the SHA-256 of its weights in DATABASE.sum
train() {
  call env -C "$work/project" -i HOME="$work/home" PATH=/usr/bin:/bin "$1" run quickstart.toml -q --db "$2" -S train.epochs=1
  sha256sum <"$(echo "$work/project/$2".runs/*/weights.safetensors)" >"$work/$2.sum"
}
train "$build/bin/exp" built.db
check "the exp of the build trains" returned 0
train "$prefix/bin/exp" packaged.db
check "the packaged exp trains" returned 0
check "its weights have the bits of the build" cmp "$work/built.db.sum" "$work/packaged.db.sum"

call python3 -m pip install -q --no-index --no-compile --target "$work/site" "$work"/packages/*.whl
if [ "$status" = 0 ]; then
  bare "$work/site/bin/exp" version
  [ "$status" = 0 ] || PYTHONPATH=$work/site call python3 -c 'import encore._command as c, sys; sys.argv = ["exp", "version"]; c.main()'
  check "the wheel's exp runs" says "encore "
  PYTHONPATH=$work/site call python3 -c "
import encore
with encore.load('quickstart', db='$work/project/packaged.db') as model: print(model('The strike at Calbury ended .'))"
  check "the wheel's Python package predicts" returned 0
  check "its answer has words" says "Calbury"
else
  echo "skipped: python3 has no pip"
fi
report
