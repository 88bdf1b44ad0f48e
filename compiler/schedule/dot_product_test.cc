// SPDX-License-Identifier: Apache-2.0
// Sums of products of small integers: by every instruction of the table, and with padding that a
// small machine computes for the rows of one tile at a time.
#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/schedule/testing/dot_kernels.h"
#include "compiler/schedule/testing/dot_machines.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "compiler/target/instructions.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

// Every row of the table is tested. DotMachines() has the rows that are a machine's first choice
// for bytes. `others` has the rows that other tests use: RowsThatAreShortArePairsOfInt16,
// MultipliesRowsOfInt16, PairsOfRowsMeetPairsOfColumns, dot_taps_test.cc, dot_floats_test.cc and
// dot_matrices_test.cc.
TEST(DotProduct, EveryRowHasAMachine) {
  const std::set<absl::string_view> others = {
      "smlad_s8",   "smlad_taps", "smlad_taps5", "smlad_taps7", "vpdpwssd",
      "vmlava.s16", "smmla",      "usmmla",      "usdot",       "vdpbf16ps",
      "tdpbf16ps",  "tdpbssd",    "tdpbsud",     "tdpbusd",     "tdpbuud"};
  for (const DotInstruction& row : DotInstructions()) {
    bool found = others.contains(row.name);
    for (const DotMachine& machine : DotMachines()) {
      const auto rows = DotInstructionsOf(machine.target, kI32);
      found |= machine.row == row.name && !rows.empty() && rows.front()->name == row.name;
    }
    EXPECT_TRUE(found) << row.name;
  }
}

TEST(DotProduct, RowsAsTheyLieInMemory) {
  for (const auto& [row, target] : DotMachines()) {
    for (const DType of_x : {kI8, kU8}) {
      for (const Weights& weights : kWeights) {
        // Widths of one instruction differ only in their lanes.
        if (target.vector_bits == 256 && weights.least != -148) continue;
        for (const auto& [m, steps, n] :
             {std::tuple{1, 16, 40}, {5, 2, 3}, {13, 9, 33}, {30, 1, 16}}) {
          const int64_t k = steps * std::max<int64_t>(FindDotInstruction(row)->group, 4);
          SCOPED_TRACE(absl::StrCat(row, " ", target.vector_bits, ": ", of_x.ToString(), " by ",
                                    weights.dtype.ToString(), " from ", weights.least, ": ", m, "x",
                                    k, "x", n));
          const Kernel kernel = Dense(m, k, n, of_x, weights);
          const Scheduled scheduled = Schedule(kernel, target);
          if (n >= 4) {
            EXPECT_TRUE(absl::StrContains(scheduled.description, row)) << scheduled.description;
            const DotInstruction& instruction = *FindDotInstruction(row);
            const bool broadcasts = absl::StartsWith(target.triple, "x86_64");
            EXPECT_EQ(absl::StrContains(scheduled.description, "copied"),
                      instruction.a == kI16 || (broadcasts && instruction.a != of_x));
            EXPECT_TRUE(absl::StrContains(Text(scheduled), "dot<"));
            EXPECT_TRUE(absl::StrContains(Text(scheduled), row));
          }
          ExpectLikeNaive(kernel, target);
        }
      }
    }
  }
}

// On AArch64, each row of a tile has a vector of its elements, besides the sums and the columns.
TEST(DotProduct, TilesLeaveRegistersForLanesOfRows) {
  for (const char* features : {"", "+dotprod"}) {
    Target target = WithFeatures(128, "aarch64-unknown-linux-gnu", features);
    target.vector_registers = 32;
    const std::string text = Schedule(Dense(64, 64, 64, kI8, kWeights[0]), target).description;
    std::smatch tile;
    ASSERT_TRUE(std::regex_search(text, tile, std::regex(R"((\d+)x(\d+)x4 )"))) << text;
    const int rows = std::stoi(tile[1]), vectors = std::stoi(tile[2]);
    EXPECT_GT(rows * vectors, 8) << text;
    EXPECT_LT(rows * vectors + rows + vectors, target.vector_registers) << text;
  }
}

// On AVX-512, a tile of several column vectors leaves a register for a column of the next step:
// 14x2 spills.
TEST(DotProduct, TilesLeaveARegisterForTheNextColumn) {
  for (const int64_t rows : {14, 28, 196}) {
    for (const int64_t columns : {32, 96, 512}) {
      const std::string text =
          Schedule(Dense(rows, 256, columns, kU8, kWeights[0]), DotTarget()).description;
      std::smatch tile;
      ASSERT_TRUE(std::regex_search(text, tile, std::regex(R"((\d+)x(\d+)x16 )"))) << text;
      const int tile_rows = std::stoi(tile[1]), vectors = std::stoi(tile[2]);
      EXPECT_GT(tile_rows * vectors, 12) << text;
      // Accumulators, columns, a broadcast, a temporary, and the next column.
      EXPECT_LE(tile_rows * vectors + vectors + 2 + (vectors > 1 ? 1 : 0), 32) << text;
    }
  }
}

// Single rows take fewer instructions if there are few rows or columns, or if rows are short or not
// whole groups.
TEST(DotProduct, PairsOfRowsMeetPairsOfColumns) {
  const Target target = WithFeatures(128, "aarch64-unknown-linux-gnu", "+dotprod,+i8mm");
  for (const DType of_x : {kI8, kU8}) {
    const std::string pairs = of_x == kI8 ? "smmla copied rows" : "usmmla copied rows";
    const std::string single = of_x == kI8 ? "sdot" : "usdot";
    for (const Weights& weights : kWeights) {
      for (const auto& [m, k, n, row] : {std::tuple{30, 64, 32, pairs},
                                         {13, 72, 33, pairs},
                                         {2, 64, 34, pairs},
                                         {1, 64, 40, single},
                                         {8, 64, 28, single},
                                         {6, 56, 40, single},
                                         {6, 76, 40, single}}) {
        SCOPED_TRACE(absl::StrCat(of_x.ToString(), " by ", weights.dtype.ToString(), " from ",
                                  weights.least, ": ", m, "x", k, "x", n));
        const Kernel kernel = Dense(m, k, n, of_x, weights);
        EXPECT_TRUE(absl::EndsWith(Schedule(kernel, target).description, " " + row))
            << Schedule(kernel, target).description;
        ExpectLikeNaive(kernel, target);
      }
    }
    const Conv conv = {.height = 5, .width = 9, .channels = 16, .outputs = 34};
    const Kernel kernel = Convolution(conv, of_x, kWeights[0]);
    EXPECT_TRUE(absl::EndsWith(Schedule(kernel, target).description, single + " stored rows"));
    ExpectLikeNaive(kernel, target);
  }
}

TEST(DotProduct, CopiesRowsThatAreNoMultipleOfTheGroup) {
  for (const auto& [row, target] : DotMachines()) {
    for (const int64_t k : {11, 1001}) {
      const Kernel kernel = Dense(5, k, 20, kI8, kWeights[3]);
      // Small machines have little memory for copies.
      EXPECT_EQ(absl::EndsWith(Schedule(kernel, target).description,
                               absl::StrCat(" ", row, " copied rows")),
                !target.is_baremetal() || k == 11);
      ExpectLikeNaive(kernel, target);
    }
  }
}

// Rows of bytes are copied as int16 if the stack holds two of them: 4 bytes for each element of the
// reduction.
TEST(DotProduct, RowsThatAreShortArePairsOfInt16) {
  for (const auto& [k, description] : {std::pair{64, "smlad copied rows"}, {68, "smlad_s8"}}) {
    const Kernel kernel = Dense(5, k, 20, kI8, kWeights[0]);
    EXPECT_TRUE(absl::EndsWith(Schedule(kernel, DspTarget()).description, description))
        << Schedule(kernel, DspTarget()).description;
    ExpectLikeNaive(kernel, DspTarget());
  }
  // Longer rows are copied if they take at most a quarter of the data.
  for (const auto& [rows, description] : {std::pair{16, "smlad copied rows"}, {15, "smlad_s8"}}) {
    const Scheduled scheduled = Schedule(Dense(rows, 128, 20, kI8, kWeights[0]), DspTarget());
    EXPECT_TRUE(absl::EndsWith(scheduled.description, description)) << scheduled.description;
    EXPECT_EQ(scheduled.func.workspace != nullptr, rows == 16);
  }
  // Rows of int16 are not copied, at any length.
  const Kernel wide = Dense(5, 400, 20, kI16, kWeights[0]);
  EXPECT_TRUE(absl::EndsWith(Schedule(wide, DspTarget()).description, " smlad"));
  ExpectLikeNaive(wide, DspTarget());
}

// On machines with few registers, the steps of a tile are one statement, which is printed as a loop
// in assembly. The loop has two rows, whose pairs of elements alternate, or one row.
TEST(DotProduct, TilesAreOneLoop) {
  const struct {
    Kernel kernel;
    const char* tile;
  } cases[] = {
      {Dense(5, 64, 20, kI8, kWeights[0]), "dot<smlad, 4, swaps, steps 16, run 2>"},
      {Dense(1, 64, 20, kI8, kWeights[0]), "dot<smlad, 4, swaps, steps 16, run 4>"},
      // Rows that are not whole groups, and columns that do not fit into bytes, so that rows are
      // also summed.
      {Dense(5, 27, 20, kI8, kWeights[0]), "dot<smlad, 4, swaps, steps 7, run 4>"},
      {Dense(5, 64, 20, kI8, kWeights[3]), "dot<smlad, 4, swaps, steps 16, run 4>"},
      // Rows of bytes are read in place.
      {Dense(5, 68, 20, kI8, kWeights[0]), "dot<smlad_s8, 4, steps 17, run 4>"},
      // A single step is not a loop.
      {Dense(5, 4, 20, kI8, kWeights[0]), "dot<smlad, 4, swaps>"},
  };
  for (const auto& [kernel, tile] : cases) {
    const std::string text = Text(Schedule(kernel, DspTarget()));
    EXPECT_TRUE(absl::StrContains(text, tile)) << tile << "\n" << text;
    ExpectLikeNaive(kernel, DspTarget());
  }
}

// Constants that an epilogue loads for every column are stored beside the initial values of the
// sums, block by block. Of two constants with the same name the right one is used, and zeros follow
// the last column.
TEST(DotProduct, ConstantsOfColumnsLieSideBySide) {
  constexpr int64_t kColumns = 5;
  const Buffer x = Param("x", kI8, {4, 64}), sum = Workspace("sum", kI32, {4, kColumns}),
               out = Param("out", kI32, {4, kColumns});
  const loop::Constant w = Numbers(kI8, {kColumns, 64}, -128, 127);
  const auto constant = [](int32_t first) {
    std::vector<int32_t> values(kColumns);
    for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<int32_t>(i);
    return loop::Constant{loop::MakeBuffer("c", kI32, {kColumns}, loop::BufferScope::kConstant),
                          Tensor::From<int32_t>({kColumns}, kI32, values)};
  };
  const loop::Constant bias = constant(1000), factor = constant(7), other = constant(-3);
  Kernel kernel{.name = "f",
                .inputs = {x},
                .outputs = {out},
                .constants = {w, bias, factor, other},
                .stages = {}};
  kernel.stages.push_back(Reduce(sum, {64}, Combine::kSum, [&](const Index& i, const Index& r) {
    return Product(MakeLoad(x, {i[0], r[0]}), MakeLoad(w.buffer, {i[1], r[0]}));
  }));
  kernel.stages.push_back(Pointwise(out, [&](const Index& i) {
    const auto of_column = [&](const loop::Constant& c) { return MakeLoad(c.buffer, {i[1]}); };
    return (MakeLoad(sum, i) + of_column(bias)) * of_column(factor) + of_column(other);
  }));
  const std::string text = Text(Schedule(kernel, DspTarget()));
  // Three blocks of two columns, with three constants for each column.
  EXPECT_TRUE(absl::StrContains(text, "acc[1] = w_offsets[block * 6 + 1]")) << text;
  EXPECT_TRUE(absl::StrContains(text, "acc[1] * w_offsets[t1 + 3] + w_offsets[t1 + 5]")) << text;
  EXPECT_FALSE(absl::StrContains(text, " c[")) << text;
  ExpectLikeNaive(kernel, DspTarget());
}

// One tile reads all columns once: every line is prefetched 8 KiB ahead.
TEST(DotProduct, PrefetchesColumnsThatAreReadOnce) {
  const auto prefetched = [](int64_t rows) {
    const std::string text = Text(Schedule(Dense(rows, 512, 64, kI8, kWeights[0]), DotTarget()));
    const std::regex line(R"(prefetch w_packed\[block \* 16384 \+ k \* 512 \+ (\d+)\])");
    std::vector<int64_t> ahead;
    for (auto m = std::sregex_iterator(text.begin(), text.end(), line); m != std::sregex_iterator();
         ++m) {
      ahead.push_back(std::stoll((*m)[1]));
    }
    return ahead;
  };
  // Four steps of two vectors.
  EXPECT_EQ(prefetched(4), (std::vector<int64_t>{8192, 8256, 8320, 8384, 8448, 8512, 8576, 8640}));
  EXPECT_TRUE(prefetched(2).empty());
  ExpectLikeNaive(Dense(4, 512, 64, kI8, kWeights[0]), DotTarget());
}

TEST(DotProduct, MultipliesRowsOfInt16) {
  const DotMachine machines[] = {{"vpmaddwd", WithFeatures(256, "x86_64-pc-linux-gnu", "+avx2")},
                                 {"vpdpwssd", DotTarget()}};
  for (const auto& [row, target] : machines) {
    for (const Weights& weights : {kWeights[0], Weights{kI16, -32768, 32767}}) {
      const Kernel kernel = Dense(7, 32, 24, kI16, weights);
      EXPECT_TRUE(absl::EndsWith(Schedule(kernel, target).description, " " + row));
      ExpectLikeNaive(kernel, target);
    }
  }
  // This instruction multiplies int16 by int8 only.
  for (const auto& [row, target] : DotMachines()) {
    if (row != "vmlava.s8") continue;
    const Kernel kernel = Dense(7, 32, 24, kI16, kWeights[0]);
    EXPECT_TRUE(absl::EndsWith(Schedule(kernel, target).description, " vmlava.s16"));
    ExpectLikeNaive(kernel, target);
  }
}

// Returns the bytes of the rows that a tile copies, according to the text of the loops.
int64_t PanelBytes(const Scheduled& scheduled) {
  const std::string text = Text(scheduled);
  std::smatch found;
  const std::regex panel(R"(allocate pad_rows: u?int(\d+)\[(\d+), (\d+)\])");
  EXPECT_TRUE(std::regex_search(text, found, panel)) << text;
  if (found.empty()) return 0;
  return std::stoll(found[1]) / 8 * std::stoll(found[2]) * std::stoll(found[3]);
}

// If memory is short, each tile pads its own rows. Otherwise padded data are stored once on the
// stack, as the instruction reads them, if rows are nearly whole groups.
TEST(DotProduct, PaddingIsMadeWithTheRows) {
  const Conv convolutions[] = {{.height = 5, .width = 9, .channels = 3, .outputs = 20},
                               {.height = 7, .width = 7, .channels = 8, .outputs = 6, .stride = 2},
                               {.height = 1, .width = 6, .channels = 4, .outputs = 5},
                               {.height = 3, .width = 5, .channels = 17, .outputs = 9},
                               {.height = 4, .width = 4, .channels = 5, .outputs = 17, .kernel = 1},
                               {.height = 4, .width = 4, .channels = 5, .outputs = 17, .pad = 0}};
  std::vector<DotMachine> machines = DotMachines();
  machines.push_back({"", FirmwareTarget(0)});
  machines.push_back({"", FirmwareTarget(128)});
  for (const auto& [row, target] : machines) {
    for (const Conv& conv : convolutions) {
      for (const DType of_x : {kI8, kU8}) {
        for (const Weights& weights : {kWeights[0], kWeights[3]}) {
          SCOPED_TRACE(absl::StrCat(row, " ", target.vector_bits, " bits, ", conv.height, "x",
                                    conv.width, ", ", of_x.ToString(), " by ",
                                    weights.dtype.ToString()));
          const Kernel kernel = Convolution(conv, of_x, weights);
          const Scheduled scheduled = Schedule(kernel, target);
          const DotInstruction* found = FindDotInstruction(row);
          const int64_t run = conv.kernel * conv.channels;
          const int64_t read_on =
              found == nullptr ? 0 : (found->group - run % found->group) % found->group;
          const bool stored = !target.is_baremetal() && read_on <= run / 3;
          if (conv.pad > 0 && stored) {
            EXPECT_TRUE(absl::EndsWith(scheduled.description, row + " stored rows"))
                << scheduled.description;
            EXPECT_EQ(scheduled.func.workspace, nullptr);
            const int64_t elements = (conv.height + 2) * (conv.width + 2) * conv.channels + read_on;
            EXPECT_TRUE(absl::StrContains(
                Text(scheduled),
                absl::StrCat("allocate pad_rows: ", found->a.ToString(), "[", elements, "]")))
                << Text(scheduled);
          } else if (conv.pad > 0) {
            EXPECT_TRUE(absl::EndsWith(scheduled.description, row + " copied rows"))
                << scheduled.description;
            EXPECT_EQ(scheduled.func.workspace != nullptr,
                      target.is_baremetal() && PanelBytes(scheduled) > 256);
          }
          ExpectLikeNaive(kernel, target);
          if (!target.is_baremetal()) continue;
          ExpectLikeNaive(kernel, target, 0, {.optimize = Optimize::kBalanced});
          ExpectLikeNaive(kernel, target, 0, {.optimize = Optimize::kSize});
        }
      }
    }
  }
}

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// --optimize controls copies of code: of the loops over blocks, of the loops over rows, and of the
// epilogue.
TEST(DotProduct, SmallCodeHasNoCopies) {
  const auto text_for = [&](const Conv& conv, Optimize optimize) {
    return Text(Schedule(Convolution(conv, kI8, kWeights[0]), DspTarget(), {.optimize = optimize}));
  };
  // Rows of one channel are copied element by element, with a test for each. Borders get copies of
  // all loops or, if code should be small, only of the loops that copy rows.
  const Conv bytes{.height = 13, .width = 13, .channels = 1, .outputs = 8, .kernel = 8, .pad = 4};
  EXPECT_GT(CountOf(text_for(bytes, Optimize::kSpeed), "dot<"), 1);
  EXPECT_EQ(CountOf(text_for(bytes, Optimize::kBalanced), "dot<"), 1);
  EXPECT_EQ(CountOf(text_for(bytes, Optimize::kSize), "dot<"), 1);
  // The elements of 16 channels share a test.
  const Conv runs{.height = 12, .width = 12, .channels = 16, .outputs = 8};
  const std::string speed = text_for(runs, Optimize::kSpeed),
                    size = text_for(runs, Optimize::kSize);
  EXPECT_EQ(CountOf(speed, "dot<"), 1) << speed;
  EXPECT_EQ(CountOf(speed, "select("), 0) << speed;
  EXPECT_EQ(speed, text_for(runs, Optimize::kBalanced));
  EXPECT_EQ(CountOf(size, "dot<"), 1) << size;
  EXPECT_EQ(CountOf(size, "select("), 0) << size;
  EXPECT_LT(CountOf(size, "pad_rows["), CountOf(speed, "pad_rows[")) << size;
  // The epilogue of a tile of 2 × 2 sums is unrolled for speed, and a loop for size.
  EXPECT_EQ(CountOf(speed, " out["), 4) << speed;
  EXPECT_EQ(CountOf(size, " out["), 1) << size;
}

// Sums of Helium are scalars. The sums of four neighboring columns become a vector at the end.
TEST(DotProduct, WhatIsMadeOfScalarSumsIsVectors) {
  const Conv conv{.height = 6, .width = 6, .channels = 16, .outputs = 8};
  for (const auto& [row, target] : DotMachines()) {
    if (row != "vmlava.s8") continue;
    Target scalar = target;
    scalar.vector_bits = 0;
    const Kernel kernel = Convolution(conv, kI8, kWeights[0]);
    EXPECT_TRUE(absl::StrContains(Text(Schedule(kernel, target)), "max(sums[lane"));
    EXPECT_FALSE(absl::StrContains(Text(Schedule(kernel, scalar)), "max(sums[lane"));
    ExpectLikeNaive(kernel, scalar);
  }
}

TEST(DotProduct, NumbersTooFarApartAreMultipliedAsInt16) {
  const Kernel kernel = Dense(5, 8, 20, kI8, {kI16, -200, 100});
  EXPECT_TRUE(absl::StrContains(Schedule(kernel, DotTarget()).description, " vpdpwssd"));
  ExpectLikeNaive(kernel, DotTarget());
}

TEST(DotProduct, NotOnMachinesWithoutAnInstruction) {
  for (const Target& target : AllTargets()) {
    const Scheduled scheduled = Schedule(Dense(5, 8, 20, kI8, kWeights[0]), target);
    EXPECT_FALSE(absl::StrContains(Text(scheduled), "dot<")) << scheduled.description;
  }
}

}  // namespace
}  // namespace kiln::schedule
