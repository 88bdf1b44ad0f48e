// SPDX-License-Identifier: Apache-2.0
// Writes the binary seeds into the tree: bazel run //tests/fuzz:write_corpus
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "tests/fuzz/seeds.h"

int main() {
  const char* root = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const std::string folder = std::string(root == nullptr ? "." : root) + "/tests/fuzz/corpus/";
  for (const kiln::fuzz::Seed& seed : kiln::fuzz::Seeds()) {
    std::ofstream file(folder + seed.name, std::ios::binary);
    if (!(file << seed.bytes)) {
      std::cerr << "cannot write " << folder << seed.name << "\n";
      return 1;
    }
  }
  return 0;
}
