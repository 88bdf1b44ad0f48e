// SPDX-License-Identifier: Apache-2.0
// Initializers whose values are in a file next to the model.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/model_text.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {
namespace {

namespace fs = std::filesystem;

// While an object exists, the process cannot open files, but can see that they exist. Unlike
// missing permissions, this also works for root.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none = {.rlim_cur = 0, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoMoreFiles() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_ = {};
};

class ExternalData : public testing::Test {
 protected:
  using Entries = std::map<std::string, std::string>;

  void SetUp() override {
    fs::create_directories(folder_ + "/folder");
    Write("weights", 8);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, size_t size) const {
    std::ofstream(absl::StrCat(folder_, "/", name), std::ios::binary)
        << std::string("abcdefghijkl").substr(0, size);
  }

  // Returns the bytes, or the error, of a model whose initializer 'w' of four bytes is stored as
  // `entries` describe.
  std::string Text(const Entries& entries) const {
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(
        Model("initializer { name: 'w' data_type: 3 dims: 4 data_location: EXTERNAL }"
              "node { op_type: 'Identity' input: 'w' output: 'y' }")));
    for (const auto& [key, value] : entries) {
      auto* entry = model.mutable_graph()->mutable_initializer(0)->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    const absl::StatusOr<Graph> graph =
        ImportOnnx(model.SerializeAsString(), folder_ + "/m.onnx", {}, EvaluateConstants);
    if (graph.ok()) return graph->value(graph->outputs[0]).constant.bytes();
    return std::string(graph.status().message());
  }

  std::string Error(const std::string& text) const {
    return absl::StrCat(folder_, "/m.onnx: initializer 'w': external data: ", text);
  }

  const std::string folder_ = absl::StrCat(testing::TempDir(), "external_data_", getpid());
};

TEST_F(ExternalData, IsReadAtItsOffset) {
  EXPECT_EQ(Text({{"location", "weights"}}), "abcd");
  EXPECT_EQ(Text({{"location", "folder/../weights"}, {"offset", "4"}, {"length", "4"}}), "efgh");
}

TEST_F(ExternalData, MayBeTooShort) {
  EXPECT_EQ(Text({{"location", "weights"}, {"offset", "5"}}),
            Error("file 'weights' has no 4 bytes at 5"));
  EXPECT_EQ(Text({{"location", "weights"}, {"offset", "9223372036854775807"}}),
            Error("file 'weights' has no 4 bytes at 9223372036854775807"));
  Write("weights", 3);
  EXPECT_EQ(Text({{"location", "weights"}}), Error("file 'weights' has no 4 bytes at 0"));
}

TEST_F(ExternalData, IsAFile) {
  EXPECT_EQ(Text({{"location", "none"}}), Error("'none': no such file in the model's folder"));
  EXPECT_EQ(Text({{"location", "folder"}}), Error("file 'folder' has no 4 bytes at 0"));
  fs::create_symlink("nowhere", folder_ + "/link");
  EXPECT_EQ(Text({{"location", "link"}}), Error("'link': no such file in the model's folder"));
}

TEST_F(ExternalData, MayBeUnreadable) {
  const NoMoreFiles none;
  EXPECT_EQ(Text({{"location", "weights"}}), Error("'weights' cannot be read"));
}

TEST_F(ExternalData, LiesInTheFolderOfTheModel) {
  fs::create_symlink("/etc", folder_ + "/outside");
  const std::string absolute = folder_ + "/weights";
  for (const std::string& location : {std::string(), absolute, std::string("outside/passwd"),
                                      std::string("folder/../../weights")}) {
    EXPECT_EQ(Text({{"location", location}}),
              Error(absl::StrCat("'", location, "' is not inside the model's folder")));
  }
  const std::string zero("weights\0", 8);
  EXPECT_EQ(Text({{"location", zero}}),
            Error(absl::StrCat("found '", zero, "', which has a character 0, as the location")));
}

TEST_F(ExternalData, IsDescribedByNumbers) {
  EXPECT_EQ(Text({{"location", "weights"}, {"length", "8"}}), Error("found 8 bytes, wanted 4"));
  EXPECT_EQ(Text({{"location", "weights"}, {"length", "four"}}), Error("length is 'four'"));
  EXPECT_EQ(Text({{"location", "weights"}, {"offset", "-1"}}), Error("offset is '-1'"));
}

}  // namespace
}  // namespace kiln::onnx_frontend
