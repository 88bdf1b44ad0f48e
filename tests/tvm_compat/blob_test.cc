// SPDX-License-Identifier: Apache-2.0
// Reads __tvm_dev_mblob byte by byte, like the release's loader.
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/tvm_compat/release.h"

namespace tvm09 {
namespace {

// Numbers of 64 bits, and strings after their lengths, all little-endian.
class Stream {
 public:
  Stream(const unsigned char* bytes, size_t size) : next_(bytes), end_(bytes + size) {}

  uint64_t Number() {
    uint64_t value = 0;
    EXPECT_GE(end_ - next_, 8);
    if (end_ - next_ < 8) return 0;
    for (int i = 0; i < 8; ++i) value |= static_cast<uint64_t>(*next_++) << (8 * i);
    return value;
  }
  std::string String() {
    const uint64_t size = Number();
    EXPECT_LE(size, static_cast<uint64_t>(end_ - next_));
    if (size > static_cast<uint64_t>(end_ - next_)) return "";
    const std::string text(reinterpret_cast<const char*>(next_), size);
    next_ += size;
    return text;
  }
  std::vector<uint64_t> Numbers() {
    std::vector<uint64_t> values(Number());
    for (uint64_t& value : values) value = Number();
    return values;
  }
  bool AtEnd() const { return next_ == end_; }

 private:
  const unsigned char* next_;
  const unsigned char* const end_;
};

class BlobTest : public testing::TestWithParam<const char*> {
 protected:
  Stream Blob(const Library& library) {
    const auto* const bytes = static_cast<const unsigned char*>(library.Symbol("__tvm_dev_mblob"));
    EXPECT_NE(bytes, nullptr);
    uint64_t size = 0;
    for (int i = 0; i < 8; ++i) size |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    EXPECT_EQ(size + 8, library.SymbolBytes("__tvm_dev_mblob"));
    return Stream(bytes + 8, size);
  }

  // Expects the parameters of a factory, which has none, and its module name.
  void ExpectFactory(Stream& blob) {
    EXPECT_EQ(blob.Number(), 0u) << "number of arrays";
    EXPECT_EQ(blob.Number(), 0u) << "number of names";
    EXPECT_EQ(blob.String(), "chain");
  }
};

TEST_P(BlobTest, Aot) {
  const Library library(std::string("tests/tvm_compat/aot_") + GetParam() + ".shared/chain.so");
  Stream blob = Blob(library);
  EXPECT_EQ(blob.Number(), 4u);
  EXPECT_EQ(blob.String(), "AotExecutorFactory");
  ExpectFactory(blob);
  EXPECT_EQ(blob.String(), "metadata_module");
  EXPECT_EQ(blob.String(), "_lib");
  EXPECT_EQ(blob.String(), "_import_tree");
  EXPECT_EQ(blob.Numbers(), (std::vector<uint64_t>{0, 1, 2, 2}));
  EXPECT_EQ(blob.Numbers(), (std::vector<uint64_t>{1, 2}));
  EXPECT_TRUE(blob.AtEnd());
}

TEST_P(BlobTest, Graph) {
  const Library library(std::string("tests/tvm_compat/graph_") + GetParam() + ".shared/chain.so");
  Stream blob = Blob(library);
  EXPECT_EQ(blob.Number(), 3u);
  EXPECT_EQ(blob.String(), "GraphExecutorFactory");
  EXPECT_EQ(blob.String().substr(0, 10), "{\"nodes\":[");
  ExpectFactory(blob);
  EXPECT_EQ(blob.String(), "_lib");
  EXPECT_EQ(blob.String(), "_import_tree");
  EXPECT_EQ(blob.Numbers(), (std::vector<uint64_t>{0, 1, 1}));
  EXPECT_EQ(blob.Numbers(), (std::vector<uint64_t>{1}));
  EXPECT_TRUE(blob.AtEnd());
}

INSTANTIATE_TEST_SUITE_P(Codegen, BlobTest, testing::ValuesIn(Codegens()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tvm09
