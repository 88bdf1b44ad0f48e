#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tries the files of `bazel build //release` on empty Debian 12 systems:   release/try_release.sh
# Needs root, debootstrap, and a network for Debian's packages, NumPy, spdx-tools and auditwheel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

files=bazel-bin/release
work="$(mktemp -d)"
clean_up() {
  for system in python cmake; do
    if mountpoint -q "$work/$system/proc"; then umount "$work/$system/proc"; fi
  done
  rm -rf "$work"
}
trap clean_up EXIT

# file_of SUFFIX: the file of this version, where the folder may have those of others too.
file_of() { awk -v folder="$files/" -v suffix="$1\$" '$2 ~ suffix { print folder $2 }' "$files/SHA256SUMS"; }

step() { printf '\n== %s\n' "$*"; }

# make_system NAME PACKAGES: an empty Debian 12 in $work/NAME.
make_system() {
  debootstrap --variant=minbase --include="$2" bookworm "$work/$1" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$work/$1.log" || {
    tail "$work/$1.log"
    return 1
  }
  mount -t proc proc "$work/$1/proc"
  cp models/digits/digits.onnx models/digits/image.npy "$work/$1/tmp"
}

step "Checksums, SBOM and wheel"
(cd "$files" && sha256sum --check SHA256SUMS)
python3 -m venv "$work/checkers"
"$work/checkers/bin/pip" install --quiet auditwheel spdx-tools
"$work/checkers/bin/pyspdxtools" --infile "$files/kiln.spdx.json"
"$work/checkers/bin/auditwheel" show "$(file_of whl)" | grep 'consistent with' -A 1

step "The wheel, where there is nothing but Python"
make_system python python3,python3-venv
python_version="$(chroot "$work/python" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
"$work/checkers/bin/pip" download --quiet --only-binary :all: --python-version "$python_version" --dest "$work/python/tmp/wheels" numpy
cp "$(file_of whl)" "$work/python/tmp/wheels"
chroot "$work/python" bash -e <<'COMMANDS'
cd /tmp
python3 -m venv venv
venv/bin/pip install --quiet --no-index --find-links wheels kiln
venv/bin/python - <<'PROGRAM'
import kiln, numpy
model = kiln.compile("digits.onnx").load()
assert model(numpy.load("image.npy")).argmax() == 4
PROGRAM
venv/bin/kiln --version
COMMANDS

step "The Debian package and the archive, where there is nothing but CMake and g++"
make_system cmake cmake,g++,make
cp "$(file_of deb)" "$(file_of tar.gz)" "$work/cmake/tmp"
mkdir "$work/cmake/tmp/service"
cp runtime_cpp/examples/run_model.cc "$work/cmake/tmp/service"
cat >"$work/cmake/tmp/service/CMakeLists.txt" <<'LISTS'
cmake_minimum_required(VERSION 3.18)
project(service LANGUAGES CXX)
find_package(kiln REQUIRED)
add_executable(service run_model.cc)
target_link_libraries(service PRIVATE kiln::runtime)
LISTS
chroot "$work/cmake" bash -e <<'COMMANDS'
cd /tmp
tar xzf kiln-*.tar.gz
archive="$(echo "$PWD"/kiln-*/)"
try() { # COMMAND CMAKE_OPTIONS...
  local kiln="$1"
  shift
  rm -rf model build
  "$kiln" compile digits.onnx -o model --module-name digits
  "$kiln" run model/digits.so --input image=image.npy
  cmake -S service -B build "$@" >/dev/null
  cmake --build build >/dev/null
  build/service model/digits.so
}
try "$archive/bin/kiln" "-DCMAKE_PREFIX_PATH=$archive"
dpkg -i kiln_*.deb >/dev/null
try kiln
dpkg --verify kiln
COMMANDS
step "All of it works"
