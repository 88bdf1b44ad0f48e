// SPDX-License-Identifier: Apache-2.0
// Small models that have, together, something of everything that the front ends read.
#ifndef KILN_TESTS_FUZZ_SEEDS_H_
#define KILN_TESTS_FUZZ_SEEDS_H_

#include <string>
#include <vector>

namespace kiln::fuzz {

struct Seed {
  std::string name;  // "onnx/loops.onnx"
  std::string bytes;
};

std::vector<Seed> OnnxSeeds();
std::vector<Seed> TfliteSeeds();
// Both.
std::vector<Seed> Seeds();

// A model whose weight, two floats, is in the file "weights.bin" of its folder.
std::string OnnxWithExternalData();

}  // namespace kiln::fuzz

#endif  // KILN_TESTS_FUZZ_SEEDS_H_
