// SPDX-License-Identifier: Apache-2.0
// Constants of every form have the bytes of the program's constants.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/c/c_compiler.h"
#include "compiler/codegen/c/codegen_c.h"
#include "gtest/gtest.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;
using loop::BufferScope;
using loop::Expr;

// Pseudorandom bytes of all values, without bytes that would make a float a NaN.
Tensor Bytes(DType dtype, int64_t elements) {
  const auto size = static_cast<size_t>(elements * dtype.bytes());
  std::string bytes(size, '\0');
  uint32_t state = 1;
  for (size_t i = 0; i < size; ++i) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = static_cast<char>(state >> 24);
    if (dtype.is_float() && i % 4 == 3) bytes[i] = static_cast<char>(bytes[i] & 0x3f);
  }
  return Tensor({{elements}, dtype}, std::move(bytes));
}

// Returns functions copy_0, copy_1, … that each copy one of the constants.
loop::LoopProgram Copies(const std::vector<Tensor>& tensors) {
  loop::LoopProgram program;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const TensorType& type = tensors[k].type();
    const Buffer constant =
        loop::MakeBuffer(absl::StrCat("c", k), type.dtype, type.shape, BufferScope::kConstant, 64);
    const Buffer out = loop::MakeBuffer("out", type.dtype, type.shape, BufferScope::kParam);
    const loop::Var i = loop::MakeVar("i");
    loop::Func func;
    func.name = absl::StrCat("copy_", k);
    func.params = {out};
    func.body = loop::MakeFor(i, Expr(0), Expr(type.num_elements()), loop::ForKind::kSerial,
                              loop::MakeStore(out, {i}, loop::MakeLoad(constant, {i})));
    program.constants.push_back({constant, tensors[k]});
    program.funcs.push_back(func);
  }
  return program;
}

TEST(Constants, HaveTheirBytesInEveryForm) {
  // The larger constants are one byte too large to be printed by element, whole pieces, and sizes
  // in between.
  const std::vector<Tensor> tensors = {Bytes(DType::Int(8), kMaxConstantBytesByElement + 1),
                                       Bytes(DType::Float(32), 20000), Bytes(DType::Int(64), 100),
                                       Bytes(DType::UInt(16), 40001), Bytes(DType::UInt(8), 70000)};
  const loop::LoopProgram program = Copies(tensors);
  const std::string packed = PackedConstants(program);
  EXPECT_EQ(packed.size(), 65537u + 80000u + 80002u + 70000u);
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path = absl::StrCat(folder != nullptr ? folder : "/tmp", "/constants.bin");
  std::ofstream(path, std::ios::binary) << packed;
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (!HasCompiler(compiler)) continue;
    for (const std::string form : {"packed", "file", "elements"}) {
      SCOPED_TRACE(absl::StrCat(compiler, " ", form));
      const auto source = EmitC(program, Target::Host(), {.packed_constants = form != "elements"});
      ASSERT_TRUE(source.ok()) << source.status();
      EXPECT_EQ(absl::StrContains(*source, "KILN_CONSTANTS_FILE"), form != "elements");
      std::vector<std::string> command = {compiler, "-std=c99", "-O2"};
      if (form == "file") {
        command.push_back(absl::StrCat("'-DKILN_CONSTANTS_FILE=\"", path, "\"'"));
      }
      const auto library = LoadedC::Compile(*source, command);
      ASSERT_TRUE(library.ok()) << library.status();
      for (size_t k = 0; k < tensors.size(); ++k) {
        std::vector<int64_t> out(tensors[k].bytes().size() / 8 + 1);
        auto* copy = (*library)->Function<int32_t(void*)>(absl::StrCat("copy_", k));
        ASSERT_NE(copy, nullptr);
        EXPECT_EQ(copy(out.data()), 0);
        EXPECT_EQ(std::memcmp(out.data(), tensors[k].bytes().data(), tensors[k].bytes().size()), 0)
            << k;
      }
    }
  }
}

// C99 compilers need not accept longer lines or literals.
TEST(Constants, LinesAreShort) {
  const auto source = EmitC(Copies({Tensor({{100000}, DType::UInt(8)}, std::string(100000, '\n'))}),
                            Target::Host(), {});
  ASSERT_TRUE(source.ok()) << source.status();
  size_t longest = 0;
  for (size_t begin = 0; begin < source->size();) {
    const size_t end = source->find('\n', begin);
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  EXPECT_GT(longest, 4000u);
  EXPECT_LE(longest, 4095u);
}

}  // namespace
}  // namespace kiln::codegen
