#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs one action of clang_tidy.bzl: run_clang_tidy.sh REPORT CONFIG SOURCE FLAG...
# Writes the output of clang-tidy to REPORT. If there are complaints, prints them and fails.
set -euo pipefail
report="$1" config="$2" source="$3"
shift 3
# The name of a module's repository is longer, but has the same ending as in a workspace.
clang_tidy=("$0".runfiles/*lint_packages/site-packages/clang_tidy/data/bin/clang-tidy)
if ! "${clang_tidy[0]}" --quiet --config-file="$config" "$source" -- "$@" >"$report" 2>&1; then
  cat "$report" >&2
  exit 1
fi
