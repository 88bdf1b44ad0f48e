#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a test, and saves the counters of the test and of the programs that it starts in
# $KILN_COVERAGE_FOLDER. bazel test calls this script by --run_under.
set -uo pipefail

raw="$TEST_TMPDIR/coverage"
mkdir -p "$raw"
# %4m: the processes of a program share four files, and add their counters to one of them.
export LLVM_PROFILE_FILE="$raw/%4m.profraw"
status=0
"$@" || status=$?
name="${TEST_TARGET//[^A-Za-z0-9]/_}_${TEST_SHARD_INDEX:-0}"
if compgen -G "$raw/*.profraw" >/dev/null; then
  llvm-profdata-19 merge -sparse -o "$KILN_COVERAGE_FOLDER/$name.profdata" "$raw"/*.profraw || exit 1
fi
exit "$status"
