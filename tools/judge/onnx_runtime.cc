// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/onnx_runtime.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/base/temporary_folder.h"
#include "tools/kiln/files.h"
#include "tools/kiln/npy.h"
#include "tools/kiln/run_program.h"
#include "tools/kiln/runtime_files.h"

namespace kiln::tools {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxResultBytes = int64_t{4} << 30;
constexpr size_t kMaxShownBytes = 2000;
constexpr char kScript[] = "run_onnx.py", kRequest[] = "request.json", kResult[] = "result.json";

// Returns the files of a request: the script, the inputs, and request.json.
std::map<std::string, std::string> Request(const std::string& model,
                                           const std::map<std::string, Tensor>& inputs,
                                           const std::vector<std::string>& names) {
  Json request = {{"model", model}, {"inputs", Json::object()}, {"tensors", names}};
  std::map<std::string, std::string> files = {{kScript, OnnxRuntimeScript().at(kScript)}};
  for (const auto& [name, tensor] : inputs) {
    const std::string file = absl::StrCat("input_", files.size(), ".npy");
    files[file] = ToNpy(tensor);
    request["inputs"][name] = file;
  }
  files[kRequest] = request.dump();
  return files;
}

std::string EndOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  const std::string all(absl::StripAsciiWhitespace(text.str()));
  return all.size() <= kMaxShownBytes ? all : "… " + all.substr(all.size() - kMaxShownBytes);
}

}  // namespace

absl::StatusOr<OnnxRuntimeRun> RunOnnxRuntime(const std::string& python, const std::string& model,
                                              const std::map<std::string, Tensor>& inputs,
                                              const std::vector<std::string>& names) {
  KILN_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  const auto path = [&](absl::string_view name) { return absl::StrCat(folder.path(), "/", name); };
  KILN_RETURN_IF_ERROR(WriteFiles(folder.path(), Request(model, inputs, names)));
  const absl::StatusOr<int> ran =
      RunProgram({python, path(kScript), folder.path()}, path("log"), /*timeout_seconds=*/0);
  if (!ran.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--python: '", python, "' cannot be run: ", ran.status().message()));
  }
  if (*ran != 0) {
    return absl::InvalidArgumentError(absl::StrCat("ONNX Runtime: ", EndOf(path("log"))));
  }
  KILN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path(kResult), kMaxResultBytes));
  const Json result = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (result.is_discarded()) return absl::InternalError("run_onnx.py wrote no JSON");
  OnnxRuntimeRun run{.version = result.at("version")};
  for (const auto& [name, file] : result.at("tensors").items()) {
    KILN_ASSIGN_OR_RETURN(const std::string bytes,
                          ReadFile(path(file.get<std::string>()), kMaxResultBytes));
    absl::StatusOr<Tensor> tensor = ParseNpy(bytes);
    if (!tensor.ok()) {
      return Annotate(tensor.status(), absl::StrCat("tensor '", name, "' of ONNX Runtime: "));
    }
    run.tensors[name] = *std::move(tensor);
  }
  return run;
}

}  // namespace kiln::tools
