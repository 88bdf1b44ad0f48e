#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the missing Debian 12 packages:   tools/install_packages.sh build|test|check
#   build   packages that build the compiler and the runtimes
#   test    also packages for `bazel test //...`, such as cross compilers and QEMU for firmware
#   check   also packages for .ci/run: formatting and lint
# Works as root and with sudo. If no package is missing, it changes and prints nothing.
set -euo pipefail

build_packages=(
  bazel-bootstrap
  bazel-platforms
  bazel-rules-cc
  bazel-rules-java
  bazel-skylib
  flatbuffers-compiler
  g++
  libabsl-dev
  libarchive-dev
  libcli11-dev
  libdnnl-dev # oneDNN, for the external code generator dnnl
  libelf-dev # reads objects and libraries without loading them
  libflatbuffers-dev
  libjemalloc-dev # the malloc of the command kiln
  libjs-chart.js # charts in HTML pages that the tool writes
  liblld-19-dev
  libonnx-dev
  libprotobuf-dev
  libpython3-dev # the Python package
  libssl-dev # SHA-256 of archives
  libxxhash-dev # checksums of shared objects
  libzstd-dev
  llvm-19-dev
  nlohmann-json3-dev
  pkg-config
  protobuf-compiler
  python-is-python3
  zlib1g-dev
)
test_packages=(
  clang-19
  cmake
  dpkg-dev # unpacks source packages
  gcc-arm-none-eabi
  gcc-riscv64-unknown-elf
  libbenchmark-dev
  libgmock-dev
  libgtest-dev
  libnewlib-arm-none-eabi
  libonnx-testdata # cases of tests/conformance
  libstdc++-arm-none-eabi-newlib
  make
  mypy
  openssl # keys that sign libraries
  picolibc-riscv64-unknown-elf
  python3-kconfiglib # Kconfig files of packages for Zephyr
  python3-numpy
  python3-onnx
  python3-pip
  python3-venv
  python3-yaml
  qemu-system-arm
  qemu-system-misc
  qemu-user
  valgrind # finds leaks of the Python package
)
check_packages=(
  chromium-driver # tests pages in a browser; without it that test is skipped
  clang-format-19
  debootstrap # release/try_release.py
  git
  libclang-rt-19-dev # fuzzers
  python3-selenium
)
# buildifier is built with Go if it is not installed. Any version of Go works.
if ! command -v buildifier >/dev/null && ! command -v go >/dev/null; then
  check_packages+=(golang-go)
fi

say() { echo "install_packages: $*" >&2; }

case "${1:-}" in
  build) packages=("${build_packages[@]}") ;;
  test) packages=("${build_packages[@]}" "${test_packages[@]}") ;;
  check) packages=("${build_packages[@]}" "${test_packages[@]}" "${check_packages[@]}") ;;
  *)
    say "usage: tools/install_packages.sh build|test|check"
    exit 2
    ;;
esac

installed=" $(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' 2>/dev/null | sed -n 's/^ii *//p' | tr '\n' ' ')"
missing=()
for package in "${packages[@]}"; do
  [[ "$installed" == *" $package "* ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    say "these Debian packages are missing, and there is neither root nor sudo to install them: ${missing[*]}"
    exit 1
  fi
  as_root=(sudo)
fi
say "installing ${#missing[@]} missing Debian packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq </dev/null >&2
if ! "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >&2; then
  say "apt-get could not install them; Debian 12 with its updates and security archives has all of these"
  exit 1
fi
