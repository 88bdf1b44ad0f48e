#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# From a fresh checkout to a first result:   tools/quickstart.sh
# Installs the missing Debian packages, builds the compiler, compiles a model that recognizes handwritten digits, and
# runs it on images in a small C++ program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n== %s\n' "$*"; }

tools/install_packages.sh build

step "Build the compiler and the example (some minutes the first time)"
bazel build --show_result=0 //tools:kiln //models/digits:classify </dev/null

output="$(mktemp -d)"
trap 'rm -rf "$output"' EXIT

step "Compile the model: kiln compile models/digits/digits.onnx -o out --module-name digits"
bazel-bin/tools/kiln/kiln compile models/digits/digits.onnx -o "$output" --module-name digits

step "Run it: classify out/digits.so models/digits/test_images.npy models/digits/test_labels.npy"
bazel-bin/models/digits/classify "$output/digits.so" models/digits/test_images.npy models/digits/test_labels.npy
