#!/usr/bin/env bash
# Two users build this tree in two folders, without a compiler cache; both builds are installed and moved. Every file must be equal. A third
# user, who can read neither home, trains with the first installation, stops the run, and resumes it with the second one: one numeric
# environment, and the digests of an unbroken run. Root starts it, for the users; they need no accounts. Not in CI: these are two builds.
#
#   tests/system/installation/two_builds.sh FOLDER      FOLDER is made, and kept for inspection
#
# ENCORE_KOKKOS_ARCHIVE saves two downloads; ENCORE_JOBS=1 and nice spare a machine on which others work.
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
folder=${1:?which folder? two_builds.sh FOLDER}
[ "$(id -u)" = 0 ] || { echo "two_builds: root is needed, to work as three users"; exit 2; }
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
chmod 755 "$folder"
say() { printf 'two_builds: %s\n' "$*"; }
fail() { say "FAILED: $*"; exit 1; }

archive=()
if [ -n "${ENCORE_KOKKOS_ARCHIVE:-}" ]; then
  cp "$ENCORE_KOKKOS_ARCHIVE" "$folder/" && chmod 644 "$folder"/*.tar.gz
  archive=("ENCORE_KOKKOS_ARCHIVE=$folder/$(basename "$ENCORE_KOKKOS_ARCHIVE")")
fi
as() {   # as USER COMMAND...: in that user's home, with nothing of this environment
  local user=$1 home=$folder/home-$1
  shift
  mkdir -p "$home" && chown "$user:$user" "$home" && chmod 700 "$home"
  (cd "$home" && setpriv --reuid "$user" --regid "$user" --clear-groups env -i HOME="$home" PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 \
    CCACHE_DISABLE=1 OMP_NUM_THREADS=2 ${ENCORE_JOBS:+ENCORE_JOBS=$ENCORE_JOBS} "${archive[@]}" "$@")
}

# USER FOLDER-BELOW-HOME: builds, installs below the home, and root moves the installation to $folder/installed-USER.
build_as() {
  local user=$1 place=$2 start=$SECONDS
  as "$user" mkdir -p "$place"
  as "$user" tar -x -C "$place" <"$folder/tree.tar"
  as "$user" "$place/exp" build
  as "$user" cmake --install "$place/build/openmp" --prefix "$folder/home-$user/prefix" >"$folder/install-$user.log"
  mv "$folder/home-$user/prefix" "$folder/installed-$user"
  say "user $user has built in $((SECONDS - start)) s"
}
(cd "$tree" && tar -c --exclude=./build --exclude=./.git .) >"$folder/tree.tar"   # once: the tree may change while the first one builds
build_as 64001 encore
build_as 64002 src/of/another/depth/encore-2

# --- every file is equal ----------------------------------------------------------------------------------------------------------
sums() { (cd "$1" && find . \( -type f -o -type l \) ! -path './lib/cmake/encore/*' ! -path ./share/encore/source.json | LC_ALL=C sort | while read -r file; do
  if [ -L "$file" ]; then echo "link $(readlink "$file") $file"; else sha256sum "$file"; fi; done); }
sums "$folder/installed-64001" >"$folder/sums-64001"
sums "$folder/installed-64002" >"$folder/sums-64002"
diff "$folder/sums-64001" "$folder/sums-64002" || fail "the two installations differ"
# A tree without git is recorded by the hash of its content and by the name of its folder, which differs here.
record() { grep -v '"archive":' "$1/share/encore/source.json"; }
diff <(record "$folder/installed-64001") <(record "$folder/installed-64002") || fail "the records of the source differ"
if grep -rlF "$folder/home" "$folder"/installed-*; then fail "these files name a home"; fi
say "$(wc -l <"$folder/sums-64001") files are equal, $(find "$folder/installed-64001" -name '*.so*' -type f | wc -l) of them libraries and plugins; none names a home"

# --- a third user: stopped in one, resumed in the other -----------------------------------------------------------------------------
work=$folder/home-64003
first=$folder/installed-64001/bin/exp second=$folder/installed-64002/bin/exp
as 64003 true
cp -r "$tree/experiments" "$work/" && chown -R 64003:64003 "$work/experiments"
as 64003 "$second" run experiments/quickstart.toml --db unbroken.db -q
printf '#!/bin/sh\nif [ "$1" = train ]; then set -- "$@" --stop-after 300; fi\nexec %s "$@"\n' "${first%/*}/encore-worker" >"$folder/stopping-worker"
chmod 755 "$folder/stopping-worker"
as 64003 env ENCORE_WORKER="$folder/stopping-worker" "$first" run experiments/quickstart.toml --db run.db -q &&
  fail "the run was not stopped"
as 64003 "$second" run experiments/quickstart.toml --db run.db -q
python3 - "$folder" <<'END' || fail "the run that was stopped is not the unbroken one"
import json, sqlite3, sys
folder = sys.argv[1]
def of(name):
    database = sqlite3.connect(f"{folder}/home-64003/{name}")
    return (database.execute("SELECT environment FROM attempt").fetchall(),
            database.execute("SELECT step, scope, value FROM current_digest ORDER BY step, scope").fetchall(),
            database.execute("SELECT state FROM run").fetchone()[0])
stopped, unbroken = of("run.db"), of("unbroken.db")
assert len(stopped[0]) == 2, f"{len(stopped[0])} attempts"
assert len(set(stopped[0] + unbroken[0])) == 1, "the numeric environments differ"
assert stopped[2] == unbroken[2] == "completed", (stopped[2], unbroken[2])
assert stopped[1] == unbroken[1] and stopped[1], "the digests differ"
print(f"two_builds: stopped and resumed in the other installation: one numeric environment, {len(stopped[1])} equal digests")
print("two_builds: fields of it:", ", ".join(json.loads(stopped[0][0][0])))
END
say "all is equal"
