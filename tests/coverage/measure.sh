#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs tests and shows which branches of the product they take:
#   bazel run //tests/coverage:measure [-- [--require FOLDER=PERCENT] [--list FOLDER] TARGETS...]
# Without targets, it runs all tests that run on this machine. See README.md.
set -euo pipefail
cd "${BUILD_WORKSPACE_DIRECTORY:-$(dirname "${BASH_SOURCE[0]}")/../..}"

report_options=()
targets=()
while (($# > 0)); do
  case "$1" in
    --require | --list)
      report_options+=("$1" "${2:?$1 needs a value}")
      shift
      ;;
    *) targets+=("$1") ;;
  esac
  shift
done
if ((${#targets[@]} == 0)); then
  # Boards use other toolchains, and a build for size counts no branches. The counters fail in tests
  # that take files or memory away, and disturb tests that watch threads.
  targets=(//... -//tests/firmware/... -//tests/size/... -//tests/cli:resources_test
    -//tests/faults:runtime_cpp_test -//tests/threads:threads_test -//tests/threads:soak_tsan_test)
fi

folder="$(mktemp -d)"
trap 'rm -rf "$folder/profiles"' EXIT
mkdir "$folder/profiles"

status=0
bazel test --noshow_progress --config=coverage --keep_going --nocache_test_results \
  --run_under=//tests/coverage:collect --sandbox_writable_path="$folder/profiles" \
  --test_env=KILN_COVERAGE_FOLDER="$folder/profiles" -- "${targets[@]}" || status=$?

# The objects of the product's libraries that the tests link. They contain the list of branches.
product='kind(cc_library, attr(testonly, 0, deps(set('"${targets[*]/#-*/}"')))) intersect (//compiler/... + //metadata/... +
  //mlf/... + //runtime_cpp/... + //runtime_crt/... + //tools/kiln/...)'
objects=()
while read -r object; do objects+=(-object "$object"); done < <(
  bazel cquery --noshow_progress --keep_going --config=coverage "$product" --output=starlark \
    --starlark:expr='"bazel-bin/" + target.label.package + "/_objs/" + target.label.name' |
    sort -u | while read -r library; do [[ ! -d "$library" ]] || find "$library" -name '*.o' | sort; done
)
if ((${#objects[@]} == 0)); then
  echo "the tests link no library of the product" >&2
  exit 1
fi

find "$folder/profiles" -name '*.profdata' >"$folder/list"
llvm-profdata-19 merge -sparse -o "$folder/all.profdata" --input-files="$folder/list"
llvm-cov-19 export -instr-profile "$folder/all.profdata" "${objects[@]}" >"$folder/coverage.json"
llvm-cov-19 show -format=html -output-dir="$folder/html" -show-branches=count \
  -instr-profile "$folder/all.profdata" "${objects[@]}"
echo "pages: $folder/html/index.html"
python3 tests/coverage/report.py "${report_options[@]}" "$folder/coverage.json" || status=$?
exit "$status"
