#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds a fuzzer and runs it:   tests/fuzz/run.sh onnx|relay_text|tflite|loop_text [SECONDS] The
# default is 600 seconds. Findings are in the folder that the first line of the output names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

reader="${1:?usage: tests/fuzz/run.sh onnx|relay_text|tflite|loop_text [SECONDS]}"
folder="$(mktemp -d)"
printf 'corpus and findings: %s\n' "$folder"
mkdir "$folder/corpus"
bazel build --noshow_progress --config=fuzz "//tests/fuzz:${reader}_fuzz"
program="$(bazel info --noshow_progress --config=fuzz bazel-bin)/tests/fuzz/${reader}_fuzz"
words=()
[[ "$reader" == *_text ]] && words=("-dict=tests/fuzz/${reader%_text}.dict")
exec "$program" -max_total_time="${2:-600}" -timeout=10 -rss_limit_mb=2048 -max_len=8192 "${words[@]}" \
  -artifact_prefix="$folder/" "$folder/corpus" "tests/fuzz/corpus/${reader%_text}"
