// SPDX-License-Identifier: Apache-2.0
// The operators of SEANet, a speech codec, in int16: 127 models of one operator each, with the
// outputs of TFLite Micro's reference kernels. The interpreter, generated C and LLVM must give the
// same bits.
#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status.h"
#include "compiler/base/tensor.h"
#include "compiler/graph/graph.h"
#include "compiler/import/import.h"
#include "compiler/target/target.h"
#include "tests/equality/engines.h"

namespace kiln {
namespace {

constexpr const char* kArchive = "/tflm/seanet.tar.zst";

using Files = std::map<std::string, std::string>;  // by path in the archive

// Returns all files of an archive.
absl::StatusOr<Files> ReadArchive(const std::string& path) {
  const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(),
                                                                      archive_read_free);
  const auto error = [&] {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", archive_error_string(reader.get())));
  };
  constexpr size_t kBlockBytes = 1 << 16;
  if (archive_read_support_filter_zstd(reader.get()) != ARCHIVE_OK ||
      archive_read_support_format_tar(reader.get()) != ARCHIVE_OK ||
      archive_read_open_filename(reader.get(), path.c_str(), kBlockBytes) != ARCHIVE_OK) {
    return error();
  }
  Files files;
  archive_entry* entry = nullptr;
  int result = archive_read_next_header(reader.get(), &entry);
  for (; result == ARCHIVE_OK; result = archive_read_next_header(reader.get(), &entry)) {
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    std::string bytes(static_cast<size_t>(archive_entry_size(entry)), '\0');
    if (archive_read_data(reader.get(), bytes.data(), bytes.size()) !=
        static_cast<la_ssize_t>(bytes.size())) {
      return error();
    }
    files[archive_entry_pathname(entry)] = std::move(bytes);
  }
  if (result != ARCHIVE_EOF) return error();
  return files;
}

// Reads the numbers of the file <stem>_int16.csv or <stem>_int32.csv, if one of them exists.
absl::StatusOr<Tensor> ReadNumbers(const Files& files, const std::string& stem) {
  for (const DType dtype : {DType::Int(16), DType::Int(32)}) {
    const auto file = files.find(absl::StrCat(stem, "_", dtype.ToString(), ".csv"));
    if (file == files.end()) continue;
    std::string bytes;
    int64_t count = 0;
    for (absl::string_view text :
         absl::StrSplit(file->second, absl::ByAnyChar(",\n "), absl::SkipWhitespace())) {
      double value = 0;
      if (!absl::SimpleAtod(text, &value)) {
        return absl::InvalidArgumentError(absl::StrCat(file->first, ": found ", text));
      }
      bytes += Tensor::Scalar(dtype, value).bytes();
      ++count;
    }
    return Tensor({{count}, dtype}, std::move(bytes));
  }
  return absl::NotFoundError(stem);
}

// Reads a model and its inputs, in the file's order. Shape inputs become constants.
absl::StatusOr<equality::Case> ReadCase(const Files& files, const std::string& stem) {
  equality::Case test{.name = stem, .graph = {}, .inputs = {}};
  const std::string& bytes = files.at(stem + ".tflite");
  frontend::ImportOptions options;
  absl::StatusOr<Graph> graph = ImportModel(bytes, stem, options);
  if (stem.find("transpose_conv") != std::string::npos) {
    // The first input is the shape. It must be a constant, and the error contains its name.
    KILN_ASSIGN_OR_RETURN(const Tensor shape, ReadNumbers(files, stem + "_input0"));
    if (graph.ok()) return absl::InternalError("a shape that is not known was imported");
    const std::vector<std::string> behind =
        absl::StrSplit(graph.status().message(), absl::MaxSplits("(input '", 1));
    if (behind.size() != 2) return graph.status();
    options.constants[std::string(behind[1].substr(0, behind[1].find('\'')))] = shape;
    graph = ImportModel(bytes, stem, options);
  }
  if (!graph.ok()) return graph.status();
  test.graph = *std::move(graph);
  const size_t first = options.constants.size();
  for (size_t i = 0; i < test.graph.inputs.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(const Tensor numbers,
                          ReadNumbers(files, absl::StrCat(stem, "_input", first + i)));
    const TensorType type = test.graph.type(test.graph.inputs[i]);
    if (numbers.type().dtype != type.dtype ||
        numbers.type().num_elements() != type.num_elements()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input ", i, ": found ", numbers.type().ToString(), ", wanted ", type.ToString()));
    }
    test.inputs.emplace_back(type, std::string(numbers.bytes()));
  }
  return test;
}

struct Family {
  std::string op;
  int models;
  std::vector<int> inexact;  // models whose outputs differ by 1 on other runtimes
};

void PrintTo(const Family& family, std::ostream* out) { *out << family.op; }

class Seanet : public testing::TestWithParam<Family> {};

TEST_P(Seanet, IsThatOfTheReferenceKernels) {
  const auto& [op, models, inexact] = GetParam();
  const char* folder = std::getenv("KILN_SHARED_DATA");
  if (folder == nullptr || *folder == '\0') {
    GTEST_SKIP() << "KILN_SHARED_DATA does not name the folder with the models";
  }
  const absl::StatusOr<Files> files = ReadArchive(std::string(folder) + kArchive);
  ASSERT_TRUE(files.ok()) << files.status();
  std::vector<equality::Case> cases;
  for (int i = 0; i < models; ++i) {
    const std::string stem = absl::StrCat("seanet/", op, "/", op, i);
    ASSERT_TRUE(files->contains(stem + ".tflite")) << stem;
    absl::StatusOr<equality::Case> test = ReadCase(*files, stem);
    ASSERT_TRUE(test.ok()) << stem << ": " << test.status();
    cases.push_back(*std::move(test));
  }
  EXPECT_FALSE(files->contains(absl::StrCat("seanet/", op, "/", op, models, ".tflite")));
  const std::vector<equality::Outputs> found =
      equality::RunOnAllEngines(cases, {.target = Target::Host()});
  ASSERT_EQ(found.size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    const absl::StatusOr<Tensor> wanted = ReadNumbers(*files, cases[i].name + "_golden");
    ASSERT_TRUE(wanted.ok()) << wanted.status();
    ASSERT_EQ(found[i].size(), 1U) << cases[i].name;
    const Tensor& output = found[i][0];
    ASSERT_EQ(output.type().dtype, wanted->type().dtype) << cases[i].name;
    ASSERT_EQ(output.type().num_elements(), wanted->type().num_elements()) << cases[i].name;
    int64_t unequal = 0, largest = 0;
    for (int64_t k = 0; k < wanted->type().num_elements(); ++k) {
      const int64_t difference = std::abs(output.AsInt(k) - wanted->AsInt(k));
      unequal += difference != 0 ? 1 : 0;
      largest = std::max(largest, difference);
    }
    const bool may_differ = std::find(inexact.begin(), inexact.end(), i) != inexact.end();
    EXPECT_LE(largest, may_differ ? 1 : 0)
        << cases[i].name << ": " << unequal << " of " << wanted->type().num_elements() << " differ";
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, Seanet,
                         testing::Values(Family{"add", 17, {}}, Family{"conv", 22, {}},
                                         Family{"leaky_relu", 23, {}}, Family{"pad", 19, {}},
                                         Family{"quantize", 2, {}}, Family{"strided_slice", 34, {}},
                                         Family{"sub", 5, {0, 1, 3}},
                                         Family{"transpose_conv", 5, {}}),
                         [](const auto& info) { return info.param.op; });

}  // namespace
}  // namespace kiln
