#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the backend serial beside a finished build of openmp, and tests that both compute the same bits: the gradients
# of a first step by `exp bench`, and the weights of a training. The build takes minutes, so it is called by
# hand; .ci/run compiles the kernels only. Read next: docs/guides/backends.md.
#
#   tests/system/serial_test.sh TREE
set -uo pipefail
tree=$(cd "${1:?name the root of the tree}" && pwd)
. "$tree/tests/system/shell_checks.sh"
# call COMMAND...: keeps output and status.
call() { "$@" >"$work/output" 2>&1 </dev/null; status=$?; }
exp=$tree/build/openmp/bin/exp
[ -x "$exp" ] || { echo "missing: $exp; build openmp first"; exit 2; }

cd "$tree" || exit 2
cmake --preset serial -DENCORE_TESTS=OFF >"$work/configure" || { cat "$work/configure"; exit 1; }
plugins="ner conll wordpiece self_attention feed_forward layer_norm linear_head adam linear_schedule"   # of quickstart.toml
# shellcheck disable=SC2086  # several words
NINJA_STATUS='[serial %f/%t %es] ' cmake --build --preset serial --target encore-worker encore-worker-bench \
  $(printf '%s_manifest ' $plugins) || exit 1
cmake --build --preset openmp --target exp-bench encore-worker-bench >/dev/null || exit 1

call "$exp" bench experiments/quickstart.toml --backend openmp,serial --precision float32,bfloat16 --rounds 2 --batches 1 \
  -q --db "$work/bench.db"
check "bench measures both backends" returned 0
verdicts=$(grep -cE '^(float32|bfloat16), batch [0-9]+, serial +(float32|bfloat16), batch [0-9]+, openmp.* equal *$' "$work/output")
check "the gradients have equal bits in both precisions" test "$verdicts" = 2

cp -r experiments/quickstart.toml experiments/corpus "$work/"
# train BACKEND: one epoch, with the SHA-256 of its weights in BACKEND.sum
train() {
  call env -C "$work" "$exp" run quickstart.toml -q --db "$1.db" --backend "$1" -S train.epochs=1
  check "$1 trains" returned 0
  sha256sum <"$(echo "$work/$1".db.runs/*/weights.safetensors)" >"$work/$1.sum"
}
train openmp
train serial
check "the weights have equal bits" cmp "$work/openmp.sum" "$work/serial.sum"
call env -C "$work" "$exp" run quickstart.toml --db serial.db --backend serial --fresh --threads 2
check "several threads are refused" says "backend serial computes with one thread, not 2"
call env -C "$work" "$exp" run quickstart.toml --db serial.db --backend serial --fresh --devices 0
check "GPUs are refused" says "backend serial computes on the cores"
report
