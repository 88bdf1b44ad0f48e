// SPDX-License-Identifier: Apache-2.0
// Runs models on Kiln's interpreter, after all passes and schedules, and compares their outputs
// with the expected ones. This costs a tenth of `kiln check-onnx`, which compiles each model to
// machine code; the interpreter gives the same bits.
//
//   interpret_cases TOLERANCE FOLDER…
//
// Each folder is a case in the layout of ONNX's backend tests, or has model.tflite instead of
// model.onnx and .npy files instead of .pb files. One line of standard output per case has three
// fields, separated by tabs: the folder, `passed`, `failed` or `unsupported`, and the reason.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/import/import.h"
#include "gtest/gtest.h"
#include "tests/equality/engines.h"
#include "tools/kiln/npy.h"

namespace kiln::hunt {
namespace {

absl::StatusOr<std::string> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Reads <kind>_0.pb or <kind>_0.npy, then <kind>_1, and so on, until there is no such file.
absl::StatusOr<std::vector<Tensor>> ReadTensors(const std::string& folder, const char* kind) {
  std::vector<Tensor> tensors;
  while (true) {
    const std::string path = absl::StrCat(folder, "/test_data_set_0/", kind, "_", tensors.size());
    absl::StatusOr<std::string> bytes = ReadBytes(path + ".pb");
    const bool is_pb = bytes.ok();
    if (!is_pb) bytes = ReadBytes(path + ".npy");
    if (!bytes.ok()) return tensors;
    KILN_ASSIGN_OR_RETURN(Tensor tensor,
                          is_pb ? onnx_frontend::ParseOnnxTensor(*bytes) : tools::ParseNpy(*bytes));
    tensors.push_back(std::move(tensor));
  }
}

absl::StatusOr<Graph> ReadModel(const std::string& folder) {
  const std::string onnx = folder + "/model.onnx", tflite = folder + "/model.tflite";
  if (const absl::StatusOr<std::string> bytes = ReadBytes(onnx); bytes.ok()) {
    return ImportModel(*bytes, onnx);
  }
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(tflite));
  return ImportModel(bytes, tflite);
}

absl::Status Check(const std::string& folder, double tolerance,
                   const equality::EngineOptions& options) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ReadTensors(folder, "input"));
  KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> wanted, ReadTensors(folder, "output"));
  KILN_ASSIGN_OR_RETURN(Graph graph, ReadModel(folder));
  const std::vector<std::string> names = graph.output_names;
  const auto outputs = equality::RunOnAllEngines({{folder, std::move(graph), inputs}}, options);
  if (outputs.size() != 1 || outputs[0].size() != wanted.size()) {
    return absl::InternalError("cannot be run: see standard error");
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string difference =
        outputs[0][i].type() != wanted[i].type()
            ? absl::StrCat("found ", outputs[0][i].type().ToString(), ", wanted ",
                           wanted[i].type().ToString())
            : equality::Difference({outputs[0][i]}, {wanted[i]}, tolerance);
    if (difference.empty()) continue;
    return absl::FailedPreconditionError(absl::StrCat("output '", names[i], "': ", difference));
  }
  return absl::OkStatus();
}

const char* OutcomeOf(const absl::Status& status) {
  if (status.ok()) return "passed";
  return status.code() == absl::StatusCode::kUnimplemented ? "unsupported" : "failed";
}

int Main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  double tolerance = 0;
  if (argc < 3 || !absl::SimpleAtod(argv[1], &tolerance)) {
    std::fprintf(stderr, "usage: interpret_cases TOLERANCE FOLDER...\n");
    return 2;
  }
  const absl::StatusOr<Target> target = Target::Parse("host");
  if (!target.ok()) return 1;
  const equality::EngineOptions options = {.target = *target, .interpret_only = true};
  for (int i = 2; i < argc; ++i) {
    const absl::Status status = Check(argv[i], tolerance, options);
    const std::string reason = absl::StrReplaceAll(status.message(), {{"\n", " | "}, {"\t", " "}});
    std::printf("%s\t%s\t%s\n", argv[i], OutcomeOf(status), reason.c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace kiln::hunt

int main(int argc, char** argv) { return kiln::hunt::Main(argc, argv); }
