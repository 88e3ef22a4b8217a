# SPDX-License-Identifier: BSD-3-Clause
# Shared by exp_script_test.sh and configure_test.sh, which source it: a temporary folder $work, and checks of
# $work/output and $status, which a call leaves.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

check() {   # check WHAT CONDITION...
  local what=$1
  shift
  if "$@"; then echo "ok      $what"; else echo "FAILED  $what"; sed 's/^/        | /' "$work/output"; failures=$((failures + 1)); fi
}
says() { grep -qF -- "$1" "$work/output"; }
silent_about() { ! grep -qF -- "$1" "$work/output"; }
returned() { [ "$status" = "$1" ]; }
report() {   # the last line of a test
  echo
  if [ "$failures" != 0 ]; then echo "$failures checks failed"; exit 1; fi
  echo "all checks passed"
}
