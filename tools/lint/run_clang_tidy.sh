#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# One action of clang_tidy.bzl: run_clang_tidy.sh REPORT CONFIG SOURCE FLAG...
# Writes what clang-tidy says to REPORT, and prints it and fails when it is a complaint.
set -euo pipefail
report="$1" config="$2" source="$3"
shift 3
# A module's repository has a longer name, which ends with that of a workspace's.
clang_tidy=("$0".runfiles/*lint_packages/site-packages/clang_tidy/data/bin/clang-tidy)
if ! "${clang_tidy[0]}" --quiet --config-file="$config" "$source" -- "$@" >"$report" 2>&1; then
  cat "$report" >&2
  exit 1
fi
