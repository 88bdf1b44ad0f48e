// SPDX-License-Identifier: Apache-2.0
// Damaged modules of a shared object: factories of both executors, constants, and the imports
// between them.
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "mlf/testing/sample.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/module_blob.h"
#include "runtime_cpp/ndarray.h"
#include "tests/damage/damage.h"

namespace kiln::testing {
namespace {

using runtime::ByteWriter;
using runtime::Module;
using runtime::ModuleNode;
using runtime::ModulePtr;
using runtime::NDArray;
using runtime::PackedFunc;

// Represents the code of the library, but has no functions.
class Library final : public ModuleNode {
 public:
  absl::string_view type_key() const override { return "library"; }
  PackedFunc FindFunction(const std::string&) override { return PackedFunc(); }
  std::vector<std::string> FunctionNames() const override { return {}; }
};

void AddArrays(ByteWriter& body) {
  body.U64(1);
  EXPECT_TRUE(NDArray::Empty({2}, {kDLFloat, 32, 1})->Save(body).ok());
}

std::string WithLength(absl::string_view body) {
  ByteWriter writer;
  writer.U64(body.size());
  writer.Bytes(body);
  return writer.bytes();
}

// Graph factory -> (constants -> the code, metadata module -> the code, AOT factory).
std::string Blob() {
  ByteWriter body;
  body.U64(6);
  body.String("GraphExecutorFactory");
  body.String(mlf::SampleModule("m", "graph").graph_json);
  body.U64(1);
  body.Strings({"x"});
  EXPECT_TRUE(NDArray::Empty({2}, {kDLFloat, 32, 1})->Save(body).ok());
  body.String("m");
  body.String("const_loader");
  body.Strings({"c"});
  AddArrays(body);
  body.Strings({"f", "g"});
  body.U64(2);
  body.Strings({"c"});
  body.Strings({});
  body.String("metadata_module");
  body.String("_lib");
  body.String("AotExecutorFactory");
  body.U64(0);
  body.Strings({});
  body.String("n");
  body.String("_import_tree");
  body.U64s({0, 3, 4, 5, 5, 5});
  body.U64s({1, 2, 4, 3, 3});
  return WithLength(body.bytes());
}

absl::Status Read(absl::string_view bytes) {
  const absl::StatusOr<ModulePtr> root =
      runtime::LoadModuleBlob(bytes, std::make_shared<Library>());
  if (!root.ok()) return root.status();
  // Every module answers. Creating an executor fails, because there is no code.
  (*root)->VisitTree([](ModuleNode& node) {
    EXPECT_FALSE(node.type_key().empty());
    for (const std::string& name : node.FunctionNames()) node.FindFunctionInTree(name);
    return false;
  });
  for (const char* const name : {"m", "n"}) {
    EXPECT_FALSE(Module(*root)[name](DLDevice{kDLCPU, 0}).ok());
  }
  return absl::OkStatus();
}

TEST(BlobDamage, Cuts) { ExpectCutsFail(Blob(), Read); }

TEST(BlobDamage, CutsWithALengthThatFits) {
  const std::string body = Blob().substr(sizeof(uint64_t));
  ExpectCutsFail(body, [](absl::string_view cut) { return Read(WithLength(cut)); });
}

TEST(BlobDamage, Flips) { ExpectFlipsAreHarmless(Blob(), Read); }

}  // namespace
}  // namespace kiln::testing
