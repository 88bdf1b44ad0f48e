#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs every test:   tools/test.sh [bazel test options and targets; default: all targets]
# Installs the missing Debian packages. The last line is `N passed, N failed`, counted in test cases. Tests on large
# models need a folder with them: $KILN_SHARED_DATA, by default ../shared/data. They skip without it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/install_packages.sh test

if [[ -z "${KILN_SHARED_DATA:-}" && -d ../shared/data ]]; then
  KILN_SHARED_DATA="$(cd ../shared/data && pwd)"
fi
if [[ -n "${KILN_SHARED_DATA:-}" ]]; then
  export KILN_SHARED_DATA
  echo "Large models: $KILN_SHARED_DATA"
else
  unset KILN_SHARED_DATA
  echo "Large models: none (KILN_SHARED_DATA is not set and ../shared/data does not exist); their tests skip"
fi

arguments=("$@")
targets=0
for argument in "$@"; do
  case "$argument" in -*) ;; *) targets=1 ;; esac
done
if ((targets == 0)); then
  arguments+=("//...")
fi

events="$(mktemp)"
trap 'rm -f "$events"' EXIT
status=0
bazel test --keep_going --build_event_json_file="$events" "${arguments[@]}" </dev/null || status=$?
python3 tools/testing/count_cases.py --bazel_status="$status" "$events"
