// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/module_blob.h"

#include <memory>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FakeModule final : public ModuleNode {
 public:
  explicit FakeModule(std::string key) : key_(std::move(key)) {}
  absl::string_view type_key() const override { return key_; }
  PackedFunc FindFunction(const std::string&) override { return PackedFunc(); }
  std::vector<std::string> FunctionNames() const override { return {}; }

 private:
  std::string key_;
};

// Loads an entry whose payload is one string.
absl::StatusOr<ModulePtr> LoadFake(const std::string& key, ByteReader& reader) {
  if (key == "unknown") return absl::NotFoundError("no loader");
  absl::StatusOr<std::string> payload = reader.String();
  if (!payload.ok()) return payload.status();
  return std::make_shared<FakeModule>(key + *payload);
}

std::string WithLength(const ByteWriter& body) {
  ByteWriter writer;
  writer.U64(body.bytes().size());
  writer.Bytes(body.bytes());
  return writer.bytes();
}

// Returns a blob with factory → metadata → library and the given tree.
std::string Blob(const std::vector<uint64_t>& rows, const std::vector<uint64_t>& children) {
  ByteWriter body;
  body.U64(4);
  body.String("factory");
  body.String("!");
  body.String("metadata");
  body.String("");
  body.String("_lib");
  body.String("_import_tree");
  body.U64s(rows);
  body.U64s(children);
  return WithLength(body);
}

absl::StatusOr<ModulePtr> Load(absl::string_view bytes, const ModulePtr& library) {
  return LoadModuleBlob(bytes, library, LoadFake);
}

absl::Status LoadStatus(absl::string_view bytes) {
  return Load(bytes, std::make_shared<FakeModule>("library")).status();
}

TEST(ModuleBlob, BuildsTheTree) {
  const ModulePtr library = std::make_shared<FakeModule>("library");
  const ModulePtr root = Load(Blob({0, 1, 2, 2}, {1, 2}), library).value();
  EXPECT_EQ(root->type_key(), "factory!");
  ASSERT_EQ(root->imports().size(), 1u);
  EXPECT_EQ(root->imports()[0]->type_key(), "metadata");
  EXPECT_THAT(root->imports()[0]->imports(), ElementsAre(library));
}

TEST(ModuleBlob, TruncationAtEveryByteIsAnError) {
  const std::string bytes = Blob({0, 1, 2, 2}, {1, 2});
  ASSERT_TRUE(LoadStatus(bytes).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(LoadStatus(bytes.substr(0, size)).code(), absl::StatusCode::kDataLoss) << size;
  }
  // The same truncations with a length that fits the rest.
  for (size_t size = 8; size < bytes.size(); ++size) {
    ByteWriter body;
    body.Bytes(absl::string_view(bytes).substr(8, size - 8));
    EXPECT_EQ(LoadStatus(WithLength(body)).code(), absl::StatusCode::kDataLoss) << size;
  }
}

TEST(ModuleBlob, NoDamagedByteCrashes) {
  const std::string bytes = Blob({0, 1, 2, 2}, {1, 2});
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char value : {'\0', '\1', '\x7f', '\xff'}) {
      std::string damaged = bytes;
      damaged[i] = value;
      LoadStatus(damaged).IgnoreError();
    }
  }
}

TEST(ModuleBlob, RefusesTreesThatDoNotFit) {
  const struct {
    std::vector<uint64_t> rows;
    std::vector<uint64_t> children;
    const char* error;
  } kCases[] = {
      {{0, 1, 2}, {1, 2}, "does not fit 3 modules"},
      {{1, 1, 2, 2}, {1, 2}, "does not fit 3 modules"},
      {{0, 2, 1, 2}, {1, 2}, "does not fit 3 modules"},
      {{0, 1, 2, 3}, {1, 2}, "does not fit 3 modules"},
      {{0, 1, 2, 2}, {1, 3}, "module 3 is imported, there are 3 modules"},
      {{0, 1, 2, 3}, {1, 2, 0}, "in a cycle"},
      {{0, 1, 1, 1}, {0}, "in a cycle"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(std::string(LoadStatus(Blob(c.rows, c.children)).message()), HasSubstr(c.error));
  }
}

TEST(ModuleBlob, WithoutTreeTheLibraryImportsAll) {
  ByteWriter body;
  body.U64(1);
  body.String("one");
  body.String("");
  const ModulePtr library = std::make_shared<FakeModule>("library");
  EXPECT_EQ(Load(WithLength(body), library).value(), library);
  ASSERT_EQ(library->imports().size(), 1u);
  // A second load of the same library does not change its imports.
  EXPECT_EQ(Load(WithLength(body), library).value(), library);
  EXPECT_EQ(library->imports().size(), 1u);
}

TEST(ModuleBlob, RefusesDuplicatesAndRests) {
  ByteWriter twice;
  twice.U64(2);
  twice.String("_lib");
  twice.String("_lib");
  EXPECT_THAT(std::string(LoadStatus(WithLength(twice)).message()), HasSubstr("second entry"));
  ByteWriter rest;
  rest.U64(1);
  rest.String("_lib");
  rest.U8(0);
  EXPECT_THAT(std::string(LoadStatus(WithLength(rest)).message()), HasSubstr("after the last"));
  ByteWriter no_modules;
  no_modules.U64(1);
  no_modules.String("_import_tree");
  no_modules.U64s({0});
  no_modules.U64s({});
  EXPECT_THAT(std::string(LoadStatus(WithLength(no_modules)).message()),
              HasSubstr("without modules"));
}

TEST(ModuleBlob, MissingLoaderListsTheKnownOnes) {
  ByteWriter body;
  body.U64(1);
  body.String("abacus");
  const ModulePtr library = std::make_shared<FakeModule>("library");
  EXPECT_THAT(std::string(LoadModuleBlob(WithLength(body), library).status().message()),
              testing::AllOf(HasSubstr("type 'abacus'"), HasSubstr("GraphExecutorFactory")));
}

TEST(ModuleBlob, RegisteredLoadersAreUsed) {
  ASSERT_TRUE(RegisterModuleLoader("counter", [](ByteReader& reader) -> absl::StatusOr<ModulePtr> {
                absl::StatusOr<uint64_t> count = reader.U64();
                if (!count.ok()) return count.status();
                return std::make_shared<FakeModule>(std::to_string(*count));
              }).ok());
  EXPECT_EQ(RegisterModuleLoader("counter", nullptr).code(), absl::StatusCode::kAlreadyExists);
  ByteWriter body;
  body.U64(1);
  body.String("counter");
  body.U64(7);
  const ModulePtr library = std::make_shared<FakeModule>("library");
  ASSERT_TRUE(LoadModuleBlob(WithLength(body), library).ok());
  EXPECT_EQ(library->imports().at(0)->type_key(), "7");
}

}  // namespace
}  // namespace kiln::runtime
