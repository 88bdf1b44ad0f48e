// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/const_loader.h"

#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln::runtime {
namespace {

using ::testing::HasSubstr;

// A module of an external code generator with a function "f" that needs constants.
class ExternalModule final : public ModuleNode {
 public:
  absl::string_view type_key() const override { return "external"; }
  std::vector<std::string> FunctionNames() const override { return {"f"}; }
  PackedFunc FindFunction(const std::string& name) override {
    if (name == "__init_f") {
      return PackedFunc([this](const Args& args) -> absl::StatusOr<Value> {
        ++inits;
        for (int i = 0; i < args.size(); ++i) total += args.Array(i)->values<int32_t>()[0];
        return Value(init_result);
      });
    }
    if (name == "f") {
      return PackedFunc([this](const Args&) -> absl::StatusOr<Value> { return Value(total); });
    }
    return PackedFunc();
  }

  int inits = 0;
  int64_t total = 0;
  int64_t init_result = 0;
};

NDArray Constant(int32_t value) {
  const NDArray array = NDArray::Empty({}, {kDLInt, 32, 1}).value();
  array.values<int32_t>()[0] = value;
  return array;
}

std::string Payload(const std::string& needed) {
  ByteWriter writer;
  writer.Strings({"c0", "c1"});
  writer.U64(2);
  EXPECT_TRUE(Constant(3).Save(writer).ok());
  EXPECT_TRUE(Constant(4).Save(writer).ok());
  writer.Strings({"f"});
  writer.U64(1);
  writer.Strings({"c1", needed});
  return writer.bytes();
}

absl::StatusOr<ModulePtr> Load(absl::string_view bytes) {
  ByteReader reader(bytes, "const_loader");
  return LoadConstLoaderModule(reader);
}

TEST(ConstLoader, InitialisesOnceAndLazily) {
  const ModulePtr loader = Load(Payload("c0")).value();
  const auto external = std::make_shared<ExternalModule>();
  loader->Import(external);
  EXPECT_EQ(external->inits, 0);
  EXPECT_EQ(loader->FindFunctionInTree("f")()->Int().value(), 7);
  EXPECT_EQ(loader->FindFunctionInTree("f")()->Int().value(), 7);
  EXPECT_EQ(external->inits, 1);
  EXPECT_FALSE(loader->FindFunctionInTree("g").defined());
}

TEST(ConstLoader, FailedInitialiserIsReported) {
  const ModulePtr loader = Load(Payload("c0")).value();
  const auto external = std::make_shared<ExternalModule>();
  external->init_result = 1;
  loader->Import(external);
  EXPECT_THAT(std::string(loader->FindFunction("f")().status().message()),
              HasSubstr("'__init_f' did not return 0"));
}

TEST(ConstLoader, MissingInitialiserIsReported) {
  const ModulePtr loader = Load(Payload("c0")).value();
  EXPECT_THAT(std::string(loader->FindFunction("f")().status().message()),
              HasSubstr("there is no '__init_f'"));
}

TEST(ConstLoader, DamagedPayloadsAreErrors) {
  const std::string bytes = Payload("c0");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(Load(absl::string_view(bytes).substr(0, size)).status().code(),
              absl::StatusCode::kDataLoss);
  }
  EXPECT_THAT(std::string(Load(Payload("c9")).status().message()),
              HasSubstr("unknown constant 'c9'"));
}

}  // namespace
}  // namespace kiln::runtime
