#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests Kiln as @kiln of another workspace:   tools/testing/second_workspace.sh [--module] [--from_source]
# Copies tests/workspace out of the tree, and builds and tests it there. The copy has its own output folder and uses the
# disk cache of this checkout. The compiler of this checkout compiles the models, because Bazel would build it again for
# a workspace in which its sources have another path.
# --from_source builds the compiler in the copy, which takes as long as a first build.
# --module: Bazel 7 or newer ($KILN_BAZEL7 or bazel7) builds and tests it with MODULE.bazel instead of WORKSPACE.
# Skips with a message if there is no Bazel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
kiln="$PWD"

name="second workspace"
bazel=bazel
missing="there is no bazel"
from_source=
for argument in "$@"; do
  case "$argument" in
    --module)
      name="second module"
      bazel="${KILN_BAZEL7:-bazel7}"
      missing="there is no Bazel 7: no $bazel, which KILN_BAZEL7 names"
      ;;
    --from_source) from_source=yes ;;
    *)
      echo "usage: tools/testing/second_workspace.sh [--module] [--from_source]"
      exit 2
      ;;
  esac
done

if ! command -v "$bazel" >/dev/null; then
  echo "$name: skipped, $missing"
  exit 0
fi

folder="$(mktemp -d)"
nested() { in_copy user "$@"; }
# in_copy COPY ARGUMENTS...: runs Bazel in that copy of tests/workspace, with its own output folder.
in_copy() {
  local copy="$1"
  shift
  (cd "$folder/$copy" && "$bazel" --output_base="$folder/$copy.output" "$@" </dev/null)
}
clean_up() {
  for copy in user elsewhere; do
    in_copy "$copy" shutdown >/dev/null 2>&1 || true
  done
  chmod -R u+w "$folder"
  rm -rf "$folder"
}
trap clean_up EXIT

fail() {
  printf '%s: %s\n' "$name" "$*"
  exit 1
}

cp -r tests/workspace "$folder/user"
flags=(--noshow_progress --show_result=0)
if [[ "$name" == "second module" ]]; then
  flags+=(--override_module=kiln="$kiln" --noenable_workspace --lockfile_mode=off)
  # Bazel's own tools name modules that nothing here uses. Empty modules replace them, so that no registry is queried.
  for module in apple_support buildozer protobuf zlib; do
    mkdir -p "$folder/modules/$module"
    echo "module(name = \"$module\")" >"$folder/modules/$module/MODULE.bazel"
    flags+=(--override_module="$module=$folder/modules/$module")
  done
else
  flags+=(--override_repository=kiln="$kiln")
fi
cache="$(sed -n "s/^build --disk_cache=//p" tools/bazel/flags.bazelrc)"
flags+=(--disk_cache="${cache/#\~/$HOME}" --nosandbox_debug)
if [[ -z "$from_source" ]]; then
  bazel build --noshow_progress --show_result=0 //tools:kiln </dev/null
  mkdir "$folder/user/prebuilt"
  cp bazel-bin/tools/kiln/kiln "$folder/user/prebuilt/kiln"
  flags+=(--@kiln//tools:compiler=//:prebuilt/kiln)
fi

nested test "${flags[@]}" --test_output=errors //... || fail "its tests do not pass"

numbers="$(nested run "${flags[@]}" //:firmware 2>/dev/null)" || fail "its program does not run"
[[ "$numbers" == "2 4 6" ]] || fail "its program printed '$numbers', wanted '2 4 6'"

# refused WORDS ARGUMENTS...: runs a build that must fail with the message WORDS.
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
# Bazel 7 builds some targets while it analyzes others. Without --nobuild, the linker may refuse the program first.
refused "two models of one program have the module name 'doubled': //:double_c and //:other_doubled" \
  --nobuild --aspects=@kiln//tools:module_names.bzl%unique_module_names //:two_of_one_name

if command -v arm-none-eabi-gcc >/dev/null; then
  cortex_m4f=--platforms=@kiln//tools/bazel/platforms:cortex_m4f
  nested build "${flags[@]}" "$cortex_m4f" //:double_c //:double_object || fail "its model is not built for a Cortex-M4F"
  for library in double_c double_object; do
    # 40 is the machine code of Arm in ELF.
    [[ "$(ar p "$folder/user/bazel-bin/lib$library.a" | od -An -tu2 -j18 -N2 | tr -d ' ')" == 40 ]] ||
      fail "lib$library.a, built for a Cortex-M4F, is for another machine"
  done
  refused 'runtime = "cpp" needs an operating system, and the platform has none; use runtime = "crt"' "$cortex_m4f" //:double
fi

# The same models in another folder, with another output folder, have the same actions and bytes. A cache that both
# share therefore has all of them.
models=(//:double //:double_c //:double_object)
shared=("${flags[@]}" --disk_cache="$folder/cache")
cp -r "$folder/user" "$folder/elsewhere"
rm -f "$folder"/elsewhere/bazel-*
for copy in user elsewhere; do
  in_copy "$copy" clean >/dev/null 2>&1
  in_copy "$copy" build "${shared[@]}" "${models[@]}" 2>"$folder/$copy.log" || fail "its models are not built in the folder '$copy'"
  in_copy "$copy" aquery "${shared[@]}" --output=text "deps(set(${models[*]}))" 2>/dev/null >"$folder/$copy.actions"
  grep -q KilnCompile "$folder/$copy.actions" || fail "its actions are not listed in the folder '$copy'"
done
cmp "$folder/user.actions" "$folder/elsewhere.actions" || fail "its actions depend on the folder that it lies in"
processes="$(grep -E 'processes?:' "$folder/elsewhere.log")"
if [[ "$processes" != *"cache hit"* || "$processes" =~ (sandbox|local|worker) ]]; then
  fail "models of another folder are compiled again, though the cache has them: $processes"
fi
# For the library of a model that registers itself, Bazel 4 uses the extension .a and Bazel 7 .lo.
mapfile -t files < <(cd "$folder/user/bazel-bin" && ls -d libdouble.{a,lo} libdouble_c.a libdouble_object.a double_c/doubled.h 2>/dev/null)
((${#files[@]} == 4)) || fail "its libraries are not where they are looked for: ${files[*]}"
for file in "${files[@]}"; do
  cmp "$folder/user/bazel-bin/$file" "$folder/elsewhere/bazel-bin/$file" || fail "$file depends on the folder that it is built in"
done

echo "$name: its tests pass"
