// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/parse.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/random_program.h"

namespace kiln::loop {
namespace {

// The overlap of a function f with one input and one output, for an alignment of 4 bytes.
std::optional<Overlap> OverlapOf(const std::string& text) {
  const absl::StatusOr<LoopProgram> program = ParseProgram(text);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? FindOverlap(*program->FindFunc("f"), 0, 0, 4) : std::nullopt;
}

constexpr Overlap kInPlace = {0, 4};

TEST(FindOverlap, ElementsInOrder) {
  EXPECT_EQ(OverlapOf(R"(operator f(x: int8[32]) -> (y: int8[32]) {
    for i in 0..32 { y[i] = x[i] + 1i8 }
  })"),
            kInPlace);
  // Twice as many results: the input is at the end of the output.
  EXPECT_EQ(OverlapOf(R"(operator f(x: int8[32]) -> (y: int8[64]) {
    for i in 0..32 {
      y[i * 2] = x[i]
      y[i * 2 + 1] = x[i]
    }
  })"),
            (Overlap{32, 4}));
  // Results of another size: each store replaces the load before it.
  EXPECT_EQ(OverlapOf(R"(operator f(x: int8[32]) -> (y: float32[32]) {
    for i in 0..32 { y[i] = float32(x[i]) }
  })"),
            (Overlap{96, 4}));
}

// All elements of a row read the same inputs, also after the row's first element has been written.
TEST(FindOverlap, ATileOfRows) {
  EXPECT_EQ(OverlapOf(R"(operator f(x: int8[4, 8]) -> (y: int8[4, 8]) {
    for i in 0..4 {
      for j in 0..8 {
        y[i * 8 + j] = x[i * 8] + x[i * 8 + 7]
      }
    }
  })"),
            (Overlap{8, 4}));
}

TEST(FindOverlap, AWindowNeedsTheRowBefore) {
  EXPECT_EQ(OverlapOf(R"(operator f(x: int8[8, 4]) -> (y: int8[8, 4]) {
    for i in 0..8 {
      for j in 0..4 {
        y[i * 4 + j] = x[max(i - 1, 0) * 4 + j] + x[min(i + 1, 7) * 4 + j]
      }
    }
  })"),
            (Overlap{4, 4}));
}

// The function processes one channel after the other, so the distance must keep channels apart.
TEST(FindOverlap, ChannelsOutside) {
  EXPECT_EQ(OverlapOf(R"(operator f(x: int8[8, 12]) -> (y: int8[8, 12]) {
    for c in 0..12 {
      for i in 0..8 {
        y[i * 12 + c] = x[max(i - 1, 0) * 12 + c]
      }
    }
  })"),
            (Overlap{12, 12}));
}

TEST(FindOverlap, NothingWhereTheOrderForbidsIt) {
  // The last element is written first.
  EXPECT_EQ(OverlapOf(R"(operator f(x: int8[32]) -> (y: int8[32]) {
    for i in 0..32 { y[31 - i] = x[i] }
  })"),
            std::nullopt);
  // Every column reads all rows, as a product with columns in the outer loop does.
  EXPECT_EQ(OverlapOf(R"(operator f(x: int8[8, 8]) -> (y: int8[8, 8]) {
    for j in 0..8 {
      for i in 0..8 { y[i * 8 + j] = x[i * 8] + x[i * 8 + 7] }
    }
  })"),
            std::nullopt);
}

// Iterations may run at the same time, or all load before one stores.
TEST(FindOverlap, ParallelAndVectorizedLoopsAreOneStep) {
  for (const char* kind : {"parallel", "vectorized"}) {
    EXPECT_EQ(OverlapOf(absl::StrCat("operator f(x: int8[4, 8]) -> (y: int8[4, 8]) {\n",
                                     "for i in 0..4 { for j in 0..8 ", kind,
                                     " { y[i * 8 + j] = x[i * 8 + j] } } }")),
              (Overlap{8, 4}))
        << kind;
    EXPECT_EQ(OverlapOf(absl::StrCat("operator f(x: int8[32]) -> (y: int8[32]) {\n",
                                     "for i in 0..32 ", kind, " { y[i] = x[i] } }")),
              std::nullopt)
        << kind;
  }
  EXPECT_EQ(OverlapOf(R"(operator f(x: int8[4, 8]) -> (y: int8[4, 8]) {
    for i in 0..4 { y[ramp(i * 8, 1, 8)] = x[ramp(i * 8, 1, 8)] }
  })"),
            (Overlap{8, 4}));
}

TEST(FindOverlap, NothingWhereTheOrderIsNotKnown) {
  EXPECT_EQ(OverlapOf(R"(operator f(x: int64[8]) -> (y: int64[8]) {
    for i in 0..8 { y[i] = x[max(min(index(x[i]), 7), 0)] }
  })"),
            std::nullopt);
  EXPECT_EQ(OverlapOf(R"(operator f(x: int8[8]) -> (y: int8[8]) {
    for i in 0..8 { if x[i] > 0i8 { y[i] = x[i] } else { y[i] = 0i8 } }
  })"),
            std::nullopt);
  EXPECT_EQ(OverlapOf(R"(operator g(x: int8[8]) -> (y: int8[8]) {
    for i in 0..8 { y[i] = x[i] }
  }
  operator f(x: int8[8]) -> (y: int8[8]) { call g(x, y) })"),
            std::nullopt);
  EXPECT_EQ(OverlapOf(R"(operator f(x: int8[8]) -> (y: int8[8]) {
    for i in 0..8 { y[i] = y[i] + x[i] }
  })"),
            std::nullopt);
  // C compilers may reorder stores of int32 and loads of float32.
  EXPECT_EQ(OverlapOf(R"(operator f(x: float32[8]) -> (y: int32[8]) {
    for i in 0..8 { y[i] = int32(x[i]) }
  })"),
            std::nullopt);
}

// Runs `func` and returns the bytes of all outputs. `places` has the block in `memory` and the
// offset of each input and output.
std::vector<std::string> RunAt(const Func& func, std::vector<std::string>& memory,
                               const std::vector<std::pair<size_t, int64_t>>& places) {
  LoopProgram program;
  program.funcs.push_back(func);
  std::vector<void*> args;
  for (const auto& [block, offset] : places) args.push_back(memory[block].data() + offset);
  const absl::Status status = Interpreter(program).Run("f", args);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<std::string> outputs;
  for (size_t i = static_cast<size_t>(func.num_inputs); i < places.size(); ++i) {
    outputs.push_back(memory[places[i].first].substr(
        static_cast<size_t>(places[i].second), static_cast<size_t>(func.params[i]->num_bytes())));
  }
  return outputs;
}

// Runs the function with every parameter in memory of its own, twice, to find bytes that it does
// not write. Then runs it with output `out` beginning `distance` bytes before input `in`.
void ExpectSameBytes(const Func& func, int in, int out, int64_t distance, uint32_t seed) {
  const auto input = static_cast<size_t>(in),
             output = static_cast<size_t>(func.num_inputs) + static_cast<size_t>(out);
  std::vector<std::string> apart;
  std::vector<std::pair<size_t, int64_t>> places;
  std::mt19937 random(seed);
  for (const Buffer& param : func.params) {
    places.emplace_back(apart.size(), 0);
    apart.emplace_back(static_cast<size_t>(param->num_bytes()), '\0');
    if (apart.size() > static_cast<size_t>(func.num_inputs)) continue;
    // Small integers are valid numbers in every type.
    for (char& c : apart.back()) c = static_cast<char>(random() % 64);
  }
  std::vector<std::string> over = apart, again = apart;
  over[output] = std::string(static_cast<size_t>(distance), '\0') + apart[input] +
                 std::string(apart[output].size(), '\0');
  again[output].assign(apart[output].size(), '\1');
  const std::string expected = RunAt(func, apart, places)[static_cast<size_t>(out)];
  const std::string unwritten = RunAt(func, again, places)[static_cast<size_t>(out)];
  places[input] = {output, distance};
  const std::string found = RunAt(func, over, places)[static_cast<size_t>(out)];
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(found[i] == expected[i] || expected[i] != unwritten[i])
        << "byte " << i << ", seed " << seed << ", input " << in << ", output " << out
        << ", distance " << distance << "\n"
        << ToString(func);
  }
}

TEST(FindOverlap, RandomFunctionsGiveTheSameBytes) {
  int found = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Func func = RandomFunc(seed);
    func.body = Simplify(FlattenBuffers(func.body));
    func.in_place = true;
    Func vectors = func;
    vectors.body = Simplify(VectorizeLoops(UnrollLoops(func.body), 128));
    const int num_outputs = static_cast<int>(func.params.size()) - func.num_inputs;
    for (int in = 0; in < func.num_inputs; ++in) {
      for (int out = 0; out < num_outputs; ++out) {
        const std::optional<Overlap> overlap = FindOverlap(func, in, out, 8);
        if (!overlap.has_value()) continue;
        ++found;
        for (int64_t more = 0; more < 3; ++more) {
          const int64_t distance = overlap->distance_bytes + more * overlap->multiple_bytes;
          ExpectSameBytes(func, in, out, distance, seed);
          ExpectSameBytes(vectors, in, out, distance, seed);
        }
      }
    }
  }
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace kiln::loop
