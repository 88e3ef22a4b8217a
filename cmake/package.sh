#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes a package that users install without a compiler: exp, the worker and the plugins for several processors,
# the SDK, and every library that they load, except those of glibc and the runtime of C++, which every Linux with a
# recent glibc has (as for manylinux wheels, PEP 600). `./exp package` calls it. Programs find each
# other and the libraries relative to their own folder, so the package works in any folder. Read next:
# framework/runner/programs.hpp, which chooses the processor, and package_wheel.py.
#
#   cmake/package.sh FORM... [--cpu NAME,...] [--from BUILD] [-o DIR]
#     FORM         tar: a folder in an archive; wheel: for pip; deb: for apt. Several are made of one build.
#     --cpu        processors, as g++ -march= takes them, the first for all programs without kernels (default:
#                  x86-64-v3,x86-64-v4,cooperlake)
#     --from BUILD package this build folder, which is for one processor, and build nothing
#     -o DIR       where to write the packages (default: build/package)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf 'package: %s\n' "$*" >&2; }
fail() { printf 'package: error: %s\n' "$*" >&2; exit 2; }

forms=() cpus= from= out=$root/build/package
while [ $# -gt 0 ]; do
  case $1 in
    tar | wheel | deb) forms+=("$1"); shift ;;
    --cpu | --from | -o) [ $# -gt 1 ] || fail "$1 needs a value"
      case $1 in --cpu) cpus=$2 ;; --from) from=$2 ;; -o) out=$2 ;; esac
      shift 2 ;;
    *) fail "unknown argument \"$1\": expected tar, wheel, deb, --cpu NAME,..., --from BUILD or -o DIR" ;;
  esac
done
[ ${#forms[@]} != 0 ] || fail "name the form of the package: tar, wheel or deb"
[ "$(uname -m)" = x86_64 ] || fail "packages are made on x86-64 machines only; this one is $(uname -m)"
[ -z "$from" ] || [ -z "$cpus" ] || fail "--from and --cpu exclude each other: a build is for one processor"
[ -z "$from" ] || [ -x "$from/bin/exp" ] || fail "$from has no bin/exp: name the folder of a build, such as build/openmp"
missing=
for tool in patchelf objdump zstd python3; do command -v "$tool" >/dev/null || missing+=" $tool"; done
[ -z "$missing" ] || fail "missing:$missing; on Debian: apt-get install patchelf binutils zstd python3"

version=$(sed -n 's/^project(.*VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
mkdir -p "$out"
out=$(cd "$out" && pwd)
stage=$out/stage/encore-$version
rm -rf "$out/stage"
mkdir -p "$stage"

# --- build and install --------------------------------------------------------------------------------------------

# install_build BUILD PREFIX: installs a build with the library for C programs, without debug symbols.
install_build() {
  cmake --build "$1" --target encore_infer_library >/dev/null
  cmake --install "$1" --prefix "$2" --strip >/dev/null
  cmake --install "$1" --prefix "$2" --component library --strip >/dev/null
}

# The questions are those of framework/world/processor.cpp. The build loads each plugin to write its manifest. Where this
# machine cannot run the plugins, their manifests are those of a build for a processor that it runs.
can_run() {
  printf 'int main() { return 0; }\n' | c++ -x c++ "-march=$1" - -o "$out/stage/probe" 2>/dev/null || return 1
  local feature
  case $1 in
    x86-64-v3 | x86-64-v4) feature="__builtin_cpu_supports(\"$1\")" ;;
    cooperlake) feature='__builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16")' ;;
    *) fail "unknown processor \"$1\": expected x86-64-v3, x86-64-v4 or cooperlake" ;;
  esac
  printf 'int main() { return %s ? 0 : 1; }\n' "$feature" |
    c++ -x c++ - -o "$out/stage/probe" && "$out/stage/probe"
}

if [ -n "$from" ]; then
  say "installing $from"
  install_build "$from" "$stage"
else
  first=
  for cpu in $(tr , ' ' <<<"${cpus:-x86-64-v3,x86-64-v4,cooperlake}"); do
    manifests= only_worker=OFF targets=(exp encore-worker components encore_source)
    if [ -n "$first" ]; then only_worker=ON targets=(encore-worker components); fi
    if can_run "$cpu"; then
      say "building for $cpu (minutes)"
    elif [ -n "$first" ]; then
      say "building for $cpu (minutes); this machine cannot run it, so nothing of it is tried here"
      manifests=$out/$first/lib/encore/plugins
    else
      fail "this machine cannot run programs for $cpu; name another processor first, whose programs it can run"
    fi
    ENCORE_CPU_ARCH=$cpu cmake -S "$root" --preset openmp -B "$out/$cpu" -DENCORE_MPI=OFF -DENCORE_TESTS=OFF -DENCORE_ONE_WORKER=ON \
      "-DENCORE_ONLY_WORKER=$only_worker" "-DENCORE_MANIFESTS=$manifests" >"$out/$cpu.log" ||
      { tail -n 20 "$out/$cpu.log" >&2; fail "CMake could not configure the build for $cpu"; }
    NINJA_STATUS="[$cpu %f/%t %es] " cmake --build "$out/$cpu" ${ENCORE_JOBS:+--parallel "$ENCORE_JOBS"} \
      --target "${targets[@]}" >&2
    prefix=$stage/lib/encore/cpu/$cpu
    install_build "$out/$cpu" "$prefix"
    # Programs and files without kernels are the same for all processors.
    if [ -z "$first" ]; then
      mkdir -p "$stage/bin" "$stage/lib"
      mv "$prefix"/bin/exp "$prefix"/bin/exp-* "$stage/bin"
      mv "$prefix/share" "$stage/share"
      cp "$prefix/lib/libencore_index.so" "$stage/lib"
      first=$cpu
    else
      rm -rf "$prefix/share"
    fi
  done
fi
rm -f "$out/stage/probe"

# --- libraries ----------------------------------------------------------------------------------------------------

elf_files() { find "$stage" -type f \( -perm -u+x -o -name '*.so*' \) -exec sh -c 'head -c 4 "$1" | grep -q ELF' sh {} \; -print | sort; }

say "collecting libraries"
licences=$stage/share/doc/encore/libraries
mkdir -p "$licences"
cp "$root/LICENSE" "$stage/share/doc/encore/"
# Prints the paths of the system's libraries that files of the package load, without those that every system has.
libraries_of_system() {
  elf_files | LD_LIBRARY_PATH=$(find "$stage" -name '*.so*' -printf '%h\n' | sort -u | tr '\n' :) xargs ldd 2>/dev/null |
    sed -n 's/^.* => \(\/[^ ]*\) (.*/\1/p' | sort -u | grep -v "^$stage/" |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libmvec|ld-linux-x86-64|libstdc\+\+|libgcc_s)\.so'
}
while true; do
  added=
  for library in $(libraries_of_system); do
    name=${library##*/}
    [ ! -e "$stage/lib/$name" ] || continue
    cp -L "$library" "$stage/lib/$name"
    chmod u+w,a+rx "$stage/lib/$name"
    file=$(readlink -f "$library")   # Debian's list of files may have it without /usr
    package=$(dpkg-query -S "$file" "${file#/usr}" 2>/dev/null | head -n 1 | cut -d: -f1 || true)
    if [ -n "$package" ] && [ -e "/usr/share/doc/$package/copyright" ]; then
      cp -L "/usr/share/doc/$package/copyright" "$licences/$package.txt"
    else
      say "no licence file is known for $library"
    fi
    added=1
  done
  [ -n "$added" ] || break
done

# Each file finds libraries beside its own, then those of the package.
elf_files | while read -r file; do
  folder=${file%/*}
  to_shared=$(realpath --relative-to="$folder" "$stage/lib")
  case $folder in
    */bin) own='$ORIGIN/../lib' ;;
    */plugins) own='$ORIGIN/../..' ;;
    *) own='$ORIGIN' ;;
  esac
  path=$own
  if [ "$(realpath -m "${folder}/${own#\$ORIGIN}")" != "$stage/lib" ]; then path=$own:'$ORIGIN'/$to_shared; fi
  patchelf --set-rpath "$path" "$file"
done
glibc=$(elf_files | xargs objdump -T 2>/dev/null | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1 | cut -d. -f2)

# --- completion and manual pages ----------------------------------------------------------------------------------

exp=$stage/bin/exp
"$exp" version >/dev/null || fail "the packaged exp does not run here; see its message above"
completion=$stage/share/bash-completion/completions zsh=$stage/share/zsh/site-functions
fish=$stage/share/fish/vendor_completions.d man=$stage/share/man/man1
mkdir -p "$completion" "$zsh" "$fish" "$man"
"$exp" completion bash >"$completion/exp"
"$exp" completion zsh >"$zsh/_exp"
"$exp" completion fish >"$fish/exp.fish"
# Writes a manual page whose only section is the help that the program prints.
manual_page() {
  printf '.TH %s 1 "" "Encore %s"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n' "${1^^}" "$version" "$1" "$2"
  sed -e 's/\\/\\e/g' -e "s/^[.']/\\\\\&&/" -e 's/-/\\-/g'
  printf '.fi\n'
}
"$exp" -h </dev/null | manual_page exp "train Transformers and record every run" >"$man/exp.1"
"$exp" -h </dev/null | sed -n 's/^  \([a-z]*\)  *\(.*\)/\1 \2/p' | while read -r verb summary; do
  "$exp" "$verb" -h </dev/null | manual_page "exp-$verb" "$summary" >"$man/exp-$verb.1"
done
gzip -9n "$man"/*.1

# --- packages -----------------------------------------------------------------------------------------------------

: "${SOURCE_DATE_EPOCH:=$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 315532800)}"
export SOURCE_DATE_EPOCH
for form in "${forms[@]}"; do
  case $form in
    tar)
      file=$out/encore-$version-linux-x86_64.tar.zst
      tar -C "$out/stage" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "encore-$version" |
        zstd -q -12 -f -o "$file" ;;
    wheel)
      # A wheel has no links. A library has the name by which programs ask for it; CMake's files name Kokkos' other one.
      tree=$out/stage/wheel
      cp -a "$stage" "$tree"
      find "$tree" -type l -name '*.so*' | while read -r link; do
        target=$(readlink -f "$link")
        if [ "$(patchelf --print-soname "$target")" != "${link##*/}" ]; then continue; fi
        case $link in */libkokkos*) cp --remove-destination "$target" "$link" ;; *) mv -T "$target" "$link" ;; esac
      done
      find "$tree" -type l -delete
      file=$(python3 "$root/cmake/package_wheel.py" "$tree" "$root/python" --version "$version" --glibc "2.$glibc" -o "$out")
      rm -rf "$tree" ;;
    deb)
      command -v dpkg-deb >/dev/null || fail "a deb needs dpkg-deb, which Debian's package dpkg has"
      tree=$out/stage/deb
      mkdir -p "$tree/DEBIAN" "$tree/usr/lib" "$tree/usr/bin" "$tree/usr/share/doc"
      cp -a "$stage" "$tree/usr/lib/encore"
      for folder in man bash-completion zsh fish; do mv "$tree/usr/lib/encore/share/$folder" "$tree/usr/share/"; done
      mv "$tree/usr/lib/encore/share/doc/encore" "$tree/usr/share/doc/encore"
      mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
      ln -s ../lib/encore/bin/exp "$tree/usr/bin/exp"
      cat >"$tree/DEBIAN/control" <<END
Package: encore
Version: $version
Architecture: amd64
Maintainer: $(git -C "$root" log -1 --format='%an <%ae>' 2>/dev/null || echo 'unknown <unknown@localhost>')
Depends: libc6 (>= 2.$glibc), libstdc++6 (>= $(c++ -dumpversion | cut -d. -f1)), libgcc-s1
Installed-Size: $(du -sk "$tree/usr" | cut -f1)
Section: science
Priority: optional
Description: training of Transformers whose results can be proved
 Trains Transformers, records every run, metric and checkpoint in SQLite, verifies runs bit for bit, and writes
 the report. The command is exp.
END
      find "$tree" -type d -exec chmod 755 {} +
      file=$out/encore_${version}_amd64.deb
      dpkg-deb --root-owner-group -Zxz -b "$tree" "$file" >/dev/null
      rm -rf "$tree" ;;
  esac
  echo "$file: $(($(stat -c %s "$file") / 1000000)) MB, for glibc 2.$glibc and newer"
done
