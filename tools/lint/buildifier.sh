#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks the format of the build files:   tools/lint/buildifier.sh [--fix]
# Debian has no buildifier. The script uses the one on the PATH, one that an earlier run built, or builds one with `go
# install`, in this order. Without Go or network access it reports that it checked nothing. lint.py still checks that
# lists are sorted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# This version builds with Go 1.19 of Debian 12.
version=v0.0.0-20230317132445-9c3c1fc0106e
built="${XDG_CACHE_HOME:-$HOME/.cache}/kiln-tools/$version/buildifier"
# Kiln has its own rules for docstrings: repository rules are described in the module's docstring, and a rule set is not
# a macro's parameter.
warnings="-module-docstring,-function-docstring,-function-docstring-args,-function-docstring-header,-unnamed-macro,-native-py,-native-proto,-native-cc,-attr-cfg"

if command -v buildifier >/dev/null; then
  buildifier=buildifier
else
  buildifier="$built"
  if [[ ! -x "$buildifier" ]] && command -v go >/dev/null; then
    echo "buildifier: building it with $(go version)" >&2
    GOBIN="$(dirname "$built")" GOFLAGS= timeout 300 go install "github.com/bazelbuild/buildtools/buildifier@$version" || true
  fi
  if [[ ! -x "$buildifier" ]]; then
    echo "buildifier: not there, and go install could not make it; build files are not checked for their form" >&2
    exit 0
  fi
fi

mapfile -t files < <(git ls-files --cached --others --exclude-standard \
  'WORKSPACE' '*.bazel' '*.bzl' '*.BUILD' | sort -u | while read -r file; do [[ -f "$file" ]] && echo "$file"; done)
if [[ "${1:-}" == --fix ]]; then
  "$buildifier" --mode=fix --lint=fix --warnings="$warnings" "${files[@]}"
else
  "$buildifier" --mode=check --lint=warn --warnings="$warnings" "${files[@]}"
fi
