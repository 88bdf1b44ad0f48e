// SPDX-License-Identifier: Apache-2.0
// Small models that together cover all features that the front ends read.
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
// Returns the ONNX seeds and the TFLite seeds.
std::vector<Seed> Seeds();

// Returns a model with a weight of two floats in the file "weights.bin" of its folder.
std::string OnnxWithExternalData();

}  // namespace kiln::fuzz

#endif  // KILN_TESTS_FUZZ_SEEDS_H_
