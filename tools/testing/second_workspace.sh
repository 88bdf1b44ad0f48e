#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Kiln as @kiln of another workspace:   tools/testing/second_workspace.sh [--from_source]
# Copies tests/workspace out of the tree and builds and tests it there, with an output folder of its own and the disk cache of this
# checkout. The models are compiled by the compiler of this checkout, since Bazel would build one anew for a workspace in which its
# sources lie elsewhere; --from_source does just that, which takes as long as a first build.
# Skips with a message where there is no Bazel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
kiln="$PWD"

if ! command -v bazel >/dev/null; then
  echo "second workspace: skipped, there is no bazel"
  exit 0
fi

folder="$(mktemp -d)"
nested() { (cd "$folder/user" && bazel --output_base="$folder/output" "$@" </dev/null); }
clean_up() {
  nested shutdown >/dev/null 2>&1 || true
  chmod -R u+w "$folder"
  rm -rf "$folder"
}
trap clean_up EXIT

fail() {
  printf 'second workspace: %s\n' "$*"
  exit 1
}

cp -r tests/workspace "$folder/user"
flags=(--override_repository=kiln="$kiln" --noshow_progress --show_result=0)
cache="$(sed -n 's/^build --disk_cache=//p' .bazelrc)"
flags+=(--disk_cache="${cache/#\~/$HOME}" --nosandbox_debug)
if [[ "${1:-}" != --from_source ]]; then
  bazel build --noshow_progress --show_result=0 //tools:kiln </dev/null
  mkdir "$folder/user/prebuilt"
  cp bazel-bin/tools/kiln/kiln "$folder/user/prebuilt/kiln"
  flags+=(--@kiln//tools:compiler=//:prebuilt/kiln)
fi

nested test "${flags[@]}" --test_output=errors //... || fail "its tests do not pass"

numbers="$(nested run "${flags[@]}" //:firmware 2>/dev/null)" || fail "its program does not run"
[[ "$numbers" == "2 4 6" ]] || fail "its program printed '$numbers', wanted '2 4 6'"

# refused WORDS ARGUMENTS...: a build that fails, and says WORDS.
refused() {
  local words="$1"
  shift
  if nested build "${flags[@]}" "$@" >"$folder/refused.log" 2>&1; then
    fail "has been built, and should not: $*"
  fi
  if ! grep -qF -- "$words" "$folder/refused.log"; then
    cat "$folder/refused.log"
    fail "'$*' is refused without these words: $words"
  fi
}

refused "--runtime cpp and --interface c do not go together: the C++ runtime calls a model by packed functions; use --runtime crt, or --interface packed" //:illegal

refused "two_cc_models_of_one_program_have_the_module_name_doubled" //:two_of_one_name
refused "two models of one program have the module name 'doubled': //:double_c and //:other_doubled" \
  --aspects=@kiln//tools:module_names.bzl%unique_module_names //:two_of_one_name

if command -v arm-none-eabi-gcc >/dev/null; then
  cortex_m4f=--platforms=@kiln//tools/bazel/platforms:cortex_m4f
  nested build "${flags[@]}" "$cortex_m4f" //:double_c //:double_object || fail "its model is not built for a Cortex-M4F"
  for library in double_c double_object; do
    # Machine 40 is Arm's.
    [[ "$(ar p "$folder/user/bazel-bin/lib$library.a" | od -An -tu2 -j18 -N2 | tr -d ' ')" == 40 ]] ||
      fail "lib$library.a, built for a Cortex-M4F, is for another machine"
  done
  refused 'runtime = "cpp" needs an operating system, and the platform has none; use runtime = "crt"' "$cortex_m4f" //:double
fi
echo "second workspace: its tests pass"
