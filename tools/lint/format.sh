#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks the formatting of C and C++:   tools/lint/format.sh [--fix] [FILE...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
fix=0
if [[ "${1:-}" == --fix ]]; then
  fix=1
  shift
fi
files=("$@")
if ((${#files[@]} == 0)); then
  mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.h' '*.cc' '*.c' |
    while read -r file; do [[ -f "$file" ]] && echo "$file"; done)
fi
if ((${#files[@]} == 0)); then
  exit 0
elif ((fix)); then
  clang-format-19 -i "${files[@]}"
elif ! report="$(clang-format-19 --dry-run -Werror "${files[@]}" 2>&1)"; then
  grep -o '^[^ :]*:[0-9]*' <<<"$report" | sort -t: -k1,1 -u | sed 's/$/: the first line that clang-format-19 would change/'
  echo "tools/lint/format.sh --fix puts them right"
  exit 1
fi
