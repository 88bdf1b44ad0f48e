// SPDX-License-Identifier: Apache-2.0
// The bytes of __tvm_dev_mblob, written out field by field. What a runtime makes of them is in
// runtime_cpp/module_blob_test.cc.
#include "compiler/executor/module_blob.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace kiln {
namespace {

std::string U64(uint64_t value) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<char>(value >> shift & 0xff));
  }
  return bytes;
}

std::string Text(const std::string& text) { return U64(text.size()) + text; }

// The length does not count itself.
std::string WithLength(const std::string& bytes) { return U64(bytes.size()) + bytes; }

TEST(ModuleBlob, OfTheAotExecutor) {
  EXPECT_EQ(AotModuleBlob("my_mod"),
            WithLength(U64(4) +                                        // entries
                       Text("AotExecutorFactory") + U64(0) + U64(0) +  // parameters
                       Text("my_mod") +                                //
                       Text("metadata_module") +                       //
                       Text("_lib") +                                  //
                       Text("_import_tree") +                          //
                       U64(4) + U64(0) + U64(1) + U64(2) + U64(2) +    // rows
                       U64(2) + U64(1) + U64(2)));                     // children
}

TEST(ModuleBlob, OfTheGraphExecutor) {
  EXPECT_EQ(GraphModuleBlob("my_mod", "{\"nodes\":[]}"),
            WithLength(U64(3) + Text("GraphExecutorFactory") + Text("{\"nodes\":[]}") + U64(0) +
                       U64(0) + Text("my_mod") + Text("_lib") + Text("_import_tree") + U64(3) +
                       U64(0) + U64(1) + U64(1) + U64(1) + U64(1)));
}

TEST(ModuleBlob, NumbersAreLittleEndian) {
  const std::string blob = GraphModuleBlob("m", std::string(0x1234, ' '));
  // After length, count and the factory's name: the JSON's length.
  const size_t at = 8 + 8 + 8 + std::string("GraphExecutorFactory").size();
  EXPECT_EQ(blob.substr(at, 8), std::string("\x34\x12\0\0\0\0\0\0", 8));
}

}  // namespace
}  // namespace kiln
