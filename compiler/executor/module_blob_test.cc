// SPDX-License-Identifier: Apache-2.0
// The bytes of __tvm_dev_mblob, written out field by field. runtime_cpp/module_blob_test.cc tests
// how a runtime reads them.
#include "compiler/executor/module_blob.h"

#include <cstdint>

#include "compiler/base/ndarray_bytes.h"
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

TEST(ModuleBlob, ModulesOfExternalGeneratorsAreBelowTheLibrary) {
  const ExternalModule code{.codegen = "a", .type_key = "c", .functions = {{.name = "f"}}};
  const ExternalModule bytes{
      .codegen = "b", .type_key = "bytes", .payload = "12", .functions = {{.name = "g"}}};
  const ExternalModule more{.codegen = "b", .type_key = "bytes", .payload = "3"};
  // A linkable module is part of the library.
  EXPECT_EQ(AotModuleBlob("m", {code}), AotModuleBlob("m"));
  EXPECT_EQ(GraphModuleBlob("m", "{}", {code, bytes, more}),
            WithLength(U64(5) + Text("GraphExecutorFactory") + Text("{}") + U64(0) + U64(0) +
                       Text("m") + Text("_lib") + Text("bytes") + "12" + Text("bytes") + "3" +
                       Text("_import_tree") + U64(5) + U64(0) + U64(1) + U64(3) + U64(3) + U64(3) +
                       U64(3) + U64(1) + U64(2) + U64(3)));
}

TEST(ModuleBlob, ConstantsAreBetweenTheLibraryAndModulesThatNeedThem) {
  const Tensor k0 = Tensor::Scalar(DType::Int(8), 5), k1 = Tensor::Scalar(DType::Int(8), 6);
  const ExternalModule module{
      .codegen = "b",
      .type_key = "bytes",
      .payload = "12",
      .functions = {{.name = "f", .constants = {{"k0", k0}, {"k1", k1}}}, {.name = "g"}}};
  std::string arrays;
  AppendNDArray(k0, arrays);
  AppendNDArray(k1, arrays);
  EXPECT_EQ(AotModuleBlob("m", {module}),
            WithLength(U64(6) + Text("AotExecutorFactory") + U64(0) + U64(0) + Text("m") +
                       Text("metadata_module") + Text("_lib") +  //
                       Text("const_loader") + U64(2) + Text("k0") + Text("k1") + U64(2) + arrays +
                       U64(1) + Text("f") + U64(1) + U64(2) + Text("k0") + Text("k1") +  //
                       Text("bytes") + "12" +                                            //
                       Text("_import_tree") + U64(6) + U64(0) + U64(1) + U64(2) + U64(3) + U64(4) +
                       U64(4) +                                       // rows
                       U64(4) + U64(1) + U64(2) + U64(3) + U64(4)));  // children
}

TEST(ModuleBlob, NumbersAreLittleEndian) {
  const std::string blob = GraphModuleBlob("m", std::string(0x1234, ' '));
  // The length of the JSON follows the length, the count and the factory's name.
  const size_t at = 8 + 8 + 8 + std::string("GraphExecutorFactory").size();
  EXPECT_EQ(blob.substr(at, 8), std::string("\x34\x12\0\0\0\0\0\0", 8));
}

}  // namespace
}  // namespace kiln
