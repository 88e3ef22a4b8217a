#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every check that needs a GPU in one command: the tests that launch kernels, the most doubtful ones
# first, then the speed of training steps. Called by hand (docs/guides/backends.md). It fits a machine that is
# available for minutes only: every part writes its result when it ends, and an interrupted call keeps them.
#
#   gpu_check.sh pack FILE [DATA]     on a machine with nvcc and packages: builds for CUDA, and packs programs, plugins, tests and the
#                                     libraries that they need into FILE (.tar.xz); DATA: a folder with wikineural_en and bert_vocab
#   gpu_check.sh run [OPTIONS]        on the machine with the GPU, in a checkout of the same commit
#     --packed FILE        unpacks this instead of building; without it the build needs the packages of docs/guides/backends.md
#     --backend NAME       cuda (default) or openmp, which rehearses the command on a machine without a GPU
#     --data DATA          for the steps; default: that of the packed file
#     --peer FILE          the script torch_ner.py: PyTorch's tokens a second on the same data, in turn
#     --only PART,...      some parts; --list shows them
#     --seconds N          starts nothing after N seconds, and ends what runs then (default 780)
#     --out FOLDER         results: table.txt, and what each part printed (default gpu-check)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
begin=$SECONDS
fail() { echo "gpu_check: $*" >&2; exit 2; }

# NAME | what: PROGRAM of tests and FILTER, or a command below | the limit in seconds
parts=(
  'template    | template                                                                       | 120'
  'guards      | contract_test *ALayerThatIsNotRowWise*                                         | 60'
  'float16     | kernels_test *float16*-*bfloat16*                                               | 90'
  'recompute   | train_test *ComputesAgain*:*Float16*                                            | 90'
  'step32      | bench bfloat16 32                                                              | 60'
  'step3360    | bench bfloat16 3360 --order-cost                                               | 90'
  'kept3360    | bench bfloat16 3360 -S train.recompute=none                                    | 60'
  'float16_32  | bench float16 32                                                               | 60'
  'peer_sorted | peer sorted bf16-weights                                                       | 75'
  'peer_compile | peer sorted bf16-weights --compile                                             | 120'
  'peer_varlen | peer varlen bf16-weights                                                       | 75'
  'contract    | contract_test *                                                                | 200'
  'kernels     | kernels_test *                                                                 | 200'
  'train       | train_test *                                                                   | 200'
  'model       | model_test *                                                                   | 120'
  'memory      | memory_test *                                                                  | 60'
  'plugins     | plugins_test *                                                                 | 120'
  'infer       | infer_test *                                                                   | 90'
  'golden      | golden_test *                                                                  | 90'
  'bert        | bert_test *                                                                    | 60'
  'seams       | seams_test *                                                                   | 90'
  'allocation  | allocation_test *                                                              | 60'
  'engine      | engine_allocation_test *                                                       | 60'
  'bench       | bench_test *                                                                   | 60'
)

pack() {   # pack FILE [DATA]
  [ $# -ge 1 ] && [ $# -le 2 ] || fail "usage: gpu_check.sh pack FILE [DATA]"
  local file data=${2:-}
  file=$(realpath -m "$1")
  [ -z "$data" ] || data=$(realpath -e "$data")
  folder=$(mktemp -d)   # not local: the trap runs after this function
  trap 'rm -rf "$folder"' EXIT
  cd "$root"
  cmake --preset cuda -DENCORE_TESTS=ON >/dev/null
  cmake --build --preset cuda --target exp encore-worker plugins device_tests
  mkdir -p "$folder/build/cuda/bin" "$folder/build/cuda/system"
  cp -a build/cuda/lib build/cuda/share "$folder/build/cuda/"
  cp -a build/cuda/bin/exp build/cuda/bin/encore-worker "$folder/build/cuda/bin/"
  cp -a build/cuda/bin/tests "$folder/build/cuda/bin/"
  rm -f "$folder"/build/cuda/lib/*.a
  # The plugin with which a user begins; to build it there would take Kokkos and CMake.
  (cd "$folder" && ENCORE_BACKEND=cuda "$root/build/cuda/bin/exp" plugin new my_layer --kind layer && ENCORE_BACKEND=cuda "$root/build/cuda/bin/exp" plugin build my_layer) >/dev/null
  mv "$folder/my_layer/build/cuda/plugins" "$folder/build/cuda/template"
  rm -r "$folder/my_layer"
  echo "$root" >"$folder/build/cuda/built-in"
  git rev-parse HEAD >"$folder/build/cuda/commit" 2>/dev/null || true
  # The libraries of this system that the other one may not have; not the C and C++ libraries, nor CUDA's and the driver's.
  find "$folder/build/cuda" -type f \( -perm -u+x -o -name '*.so*' \) -exec ldd {} + 2>/dev/null |
    sed -n 's/.* => \(\/[^ ]*\) (.*/\1/p' | sort -u |
    grep -vE '/(ld-linux|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|libcu[a-zA-Z]*|libnv[a-zA-Z]*)[-.0-9]*\.so' |
    grep -v -e "^$root/" -e "^$folder/" | xargs -r -I{} cp -L {} "$folder/build/cuda/system/"
  find "$folder/build/cuda" -type f \( -perm -u+x -o -name '*.so*' \) -exec strip --strip-debug {} + 2>/dev/null || true
  if [ -n "$data" ]; then
    mkdir -p "$folder/build/cuda/data"
    cp -r "$data/wikineural_en" "$data/bert_vocab" "$folder/build/cuda/data/"
  fi
  tar --sort=name -C "$folder" -cf - build | xz -T0 -6 >"$file"
  echo "gpu_check: $(du -h "$file" | cut -f1) in $file"
}

build_or_unpack() {
  cd "$root"
  if [ -n "$packed" ]; then
    # Python has this decompressor; a machine that is lent may have neither xz nor zstd.
    python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' "$packed" | tar xf - -C "$root"
    local place
    place=$(cat "$build/built-in")
    # Tests have the place of the tree inside.
    if [ ! -e "$place" ]; then mkdir -p "$(dirname "$place")" && ln -s "$root" "$place"; fi
    export LD_LIBRARY_PATH=$build/system${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    [ -n "$data" ] || data=$build/data
  else
    cmake --preset "$backend" -DENCORE_TESTS=ON >"$out/configure.txt" 2>&1 || { tail -n 20 "$out/configure.txt" >&2; fail "CMake could not configure"; }
    cmake --build --preset "$backend" --target exp encore-worker plugins device_tests >"$out/build.txt" 2>&1 || { tail -n 40 "$out/build.txt" >&2; fail "the build failed"; }
  fi
}

row() { printf '%-12s %-8s %6s s  %s\n' "$@" | tee -a "$out/table.txt"; }

# A test program in as many processes as the machine bears; GoogleTest divides its tests among them.
tests_of() {   # tests_of NAME SECONDS PROGRAM FILTER
  local name=$1 limit=$2 program=$build/bin/tests/$3 filter=$4 begun=$SECONDS shard code failed_shards=0 cut_shards=0 pids=()
  [ -x "$program" ] || { row "$name" absent 0 "$program is missing"; return; }
  for ((shard = 0; shard < shards; ++shard)); do
    GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive timeout -k 5 "$limit" "$program" \
      --gtest_filter="$filter" --gtest_color=no >"$out/$name.$shard.txt" 2>&1 & pids+=($!)
  done
  for shard in "${!pids[@]}"; do
    code=0
    wait "${pids[$shard]}" || code=$?
    case $code in 0) ;; 124 | 137) cut_shards=1 ;; *) failed_shards=1 ;; esac
  done
  local passed failed skipped verdict=passed
  passed=$(cat "$out/$name".*.txt | grep -c '^\[       OK' || true)
  failed=$(cat "$out/$name".*.txt | grep -c '^\[  FAILED  \].*ms)' || true)
  skipped=$(cat "$out/$name".*.txt | grep -c '^\[  SKIPPED \].*ms)' || true)
  if [ "$failed_shards" = 1 ]; then verdict=failed; elif [ "$cut_shards" = 1 ]; then verdict=cut-off; fi
  if [ "$passed$failed$skipped" = 000 ]; then verdict=none; fi
  row "$name" "$verdict" $((SECONDS - begun)) "$passed passed, $failed failed, $skipped skipped"
  cat "$out/$name".*.txt | sed -n 's/^\[  FAILED  \] \(.*\) (.* ms)/    \1/p' | sort -u | tee -a "$out/table.txt"
}

# Steps of the seed model. The JSON has every sample.
bench() {   # bench NAME SECONDS PRECISION BATCH [-S ...]
  local name=$1 limit=$2 precision=$3 batch=$4 begun=$SECONDS code=0
  shift 4
  [ -d "$data/wikineural_en" ] || { row "$name" absent 0 "no data: --data"; return; }
  ENCORE_DATA=$data timeout -k 5 "$limit" "$build/bin/exp" bench experiments/seed_ner.toml --db "$out/bench.db" --json --quiet --rounds 8 --batches 8 \
    --backend "$backend" --precision "$precision" --batch-size "$batch" "$@" >"$out/$name.json" 2>"$out/$name.txt" || code=$?
  if [ "$code" != 0 ]; then row "$name" failed $((SECONDS - begun)) "$(tail -n 1 "$out/$name.txt")"; return; fi
  row "$name" measured $((SECONDS - begun)) "$(python3 - "$out/$name.json" <<'PY'
import json, sys
for step in json.load(open(sys.argv[1]))["summary"]["steps"]:
    m = lambda key: step[key]["median"]
    print(f'{step["name"]}: {1e3 * m("step_seconds"):.3f} ms ({1e3 * step["step_seconds"]["interval"][0]:.3f} to {1e3 * step["step_seconds"]["interval"][1]:.3f}), '
          f'{m("tokens_per_second"):,.0f} tokens/s, products {1e3 * m("gemm_seconds"):.3f} ms')
PY
)"
}

# PyTorch's tokens a second in one of its modes. Without a device it takes small steps, which rehearses the command.
peer() {   # peer NAME SECONDS BATCHING DTYPE [OPTION...]
  local name=$1 limit=$2 batching=$3 dtype=$4 begun=$SECONDS device=(--device cuda --batch 3360 --steps 60)
  shift 4
  [ -n "$peer_script" ] || { row "$name" absent 0 "no --peer"; return; }
  if [ "$backend" != cuda ]; then device=(--batch 8 --steps 2); fi
  if LD_LIBRARY_PATH=$libraries_before timeout -k 5 "$limit" python3 "$peer_script" --data "$data/wikineural_en" --vocab "$data/bert_vocab/bert-base-uncased-vocab.txt" --batching "$batching" --dtype "$dtype" \
      --layers 12 --width 384 --heads 6 --ffn 768 --residual-norm "${device[@]}" "$@" >"$out/$name.json" 2>"$out/$name.txt"
  then row "$name" measured $((SECONDS - begun)) "$(tail -n 1 "$out/$name.json" | cut -c1-300)"
  else row "$name" failed $((SECONDS - begun)) "$(tail -n 1 "$out/$name.txt" | cut -c1-160)"; fi
}

# The plugin that `exp plugin new` copies: its kernels are checked on the device. A packed file has it built.
template() {   # template NAME SECONDS
  local name=$1 limit=$2 begun=$SECONDS folder plugin=$build/template/my_layer.so
  folder=$(mktemp -d)
  if (cd "$folder" && export ENCORE_BACKEND=$backend && if [ -z "$packed" ]; then plugin=my_layer/build/$backend/plugins/my_layer.so
        timeout -k 5 "$limit" "$build/bin/exp" plugin new my_layer --kind layer && timeout -k 5 "$limit" "$build/bin/exp" plugin build my_layer; fi &&
      timeout -k 5 "$limit" "$build/bin/exp" plugin check "$plugin") >"$out/$name.txt" 2>&1; then row "$name" passed $((SECONDS - begun)) "$(tail -n 1 "$out/$name.txt")"
  else row "$name" failed $((SECONDS - begun)) "$(tail -n 1 "$out/$name.txt")"; fi
  rm -rf "$folder"
}

run() {
  backend=cuda packed= data= peer_script= only= seconds=780 out=gpu-check libraries_before=${LD_LIBRARY_PATH-}
  while [ $# -gt 0 ]; do
    case $1 in
      --list) printf '%s\n' "${parts[@]}"; exit 0 ;;
      --packed | --backend | --data | --peer | --only | --seconds | --out)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in
          --packed) packed=$(realpath -e "$2") ;; --backend) backend=$2 ;; --data) data=$(realpath -e "$2") ;;
          --peer) peer_script=$(realpath -e "$2") ;; --only) only=,$2, ;; --seconds) seconds=$2 ;; --out) out=$2 ;;
        esac
        shift 2 ;;
      *) fail "unknown option \"$1\"; see the head of $0" ;;
    esac
  done
  local part name what limit left known=
  for part in "${parts[@]}"; do known=$known,$(cut -d' ' -f1 <<<"$part"); done
  for name in ${only//,/ }; do
    case $known, in *,$name,*) ;; *) fail "unknown part \"$name\"; --list shows them" ;; esac
  done
  case $backend in cuda | openmp) ;; *) fail "unknown backend \"$backend\"; cuda or openmp was expected" ;; esac
  build=$root/build/$backend
  mkdir -p "$out"
  out=$(realpath "$out")
  : >"$out/table.txt"
  shards=$(($(nproc) < 8 ? $(nproc) : 8))
  build_or_unpack
  row begin ready $((SECONDS - begin)) "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo 'no GPU'), $(nproc) cores"
  for part in "${parts[@]}"; do
    IFS='|' read -r name what limit <<<"$part"
    name=${name// /} limit=${limit// /}
    if [ -n "$only" ] && [ "${only/,$name,/}" = "$only" ]; then continue; fi
    left=$((seconds - (SECONDS - begin)))
    if [ "$left" -lt 5 ]; then row "$name" left-out 0 "no time left of $seconds s"; continue; fi
    if [ "$limit" -gt "$left" ]; then limit=$left; fi
    set -f; set -- $what; set +f
    case $1 in
      bench | peer) "$1" "$name" "$limit" "${@:2}" ;;
      template) template "$name" "$limit" ;;
      *) tests_of "$name" "$limit" "$@" ;;
    esac
  done
}

case ${1:-} in
  pack) shift; pack "$@" ;;
  run) shift; run "$@" ;;
  *) sed -n '2,/^set -euo/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
