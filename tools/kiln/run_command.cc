// SPDX-License-Identifier: Apache-2.0
// kiln run
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "tools/judge/difference.h"
#include "tools/judge/runner.h"
#include "tools/judge/samples.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/files.h"
#include "tools/kiln/help_format.h"
#include "tools/kiln/library.h"
#include "tools/kiln/library_options.h"
#include "tools/kiln/npy.h"
#include "tools/kiln/standard_output.h"
#include "tools/kiln/tensor_file.h"

namespace kiln::tools {
namespace {

constexpr int64_t kPrintedValues = 10;

struct RunFlags {
  std::string library, output;
  LibraryFlags load;
  std::vector<std::string> inputs, checks;
  double rtol = 1e-5, atol = 1e-6;
  int threads = 0;
  bool json = false;
};

absl::Status PrintTensor(const std::string& name, const Tensor& tensor) {
  std::string text = absl::StrCat(name, " ", tensor.type().ToString(), ":");
  const int64_t n = std::min(tensor.type().num_elements(), kPrintedValues);
  for (int64_t i = 0; i < n; ++i) {
    absl::StrAppend(&text, " ", ElementText(tensor, i));
  }
  if (tensor.type().num_elements() > n) absl::StrAppend(&text, " …");
  return Print(text + "\n");
}

// Returns the elements as JSON numbers. Values that JSON lacks, such as inf, are strings.
nlohmann::ordered_json JsonOf(const Tensor& tensor) {
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (int64_t i = 0; i < std::min(tensor.type().num_elements(), kPrintedValues); ++i) {
    const std::string text = ElementText(tensor, i);
    nlohmann::ordered_json value =
        nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
    values.push_back(value.is_discarded() ? nlohmann::ordered_json(text) : std::move(value));
  }
  return {{"dtype", tensor.type().dtype.ToString()},
          {"shape", tensor.type().shape},
          {"first_values", std::move(values)}};
}

TensorType TypeOfSamples(const TensorType& type, int64_t count) {
  return count == 1 ? type : StackedType(type, count);
}

// Returns the expected outputs of `count` samples, keyed by name.
absl::StatusOr<std::map<std::string, Tensor>> ReadWanted(
    const std::map<std::string, std::string>& checks, const runtime::Executor& executor,
    int64_t count) {
  std::map<std::string, Tensor> wanted;
  for (const auto& [name, path] : checks) {
    const absl::StatusOr<int> index = executor.GetOutputIndex(name);
    if (!index.ok()) return Annotate(index.status(), "--check: ");
    KILN_ASSIGN_OR_RETURN(const Tensor tensor, ReadTensorFile(path));
    const TensorType type = TypeOf(executor.output_infos()[static_cast<size_t>(*index)]);
    if (CountSamples(tensor.type(), type) != count) {
      return absl::InvalidArgumentError(absl::StrCat("--check ", name, ": the file holds ",
                                                     tensor.type().ToString(), ", the output is ",
                                                     TypeOfSamples(type, count).ToString()));
    }
    wanted[name] = Tensor(TypeOfSamples(type, count), tensor.bytes());
  }
  return wanted;
}

// Returns the inputs from files, keyed by index. Sets inputs that are random.
absl::StatusOr<std::map<int, Samples>> ReadInputs(const std::map<std::string, std::string>& values,
                                                  runtime::Executor& executor) {
  std::map<int, Samples> inputs;
  for (const auto& [name, value] : values) {
    KILN_ASSIGN_OR_RETURN(const int index, executor.GetInputIndex(name));
    if (value == "random") {
      KILN_RETURN_IF_ERROR(SetRandomInput(executor, index));
      continue;
    }
    const TensorType type = TypeOf(executor.input_infos()[static_cast<size_t>(index)]);
    KILN_ASSIGN_OR_RETURN(inputs[index],
                          ReadSamples(absl::StrCat("input '", name, "'"), value, type));
    const int64_t first = inputs.begin()->second.count;
    if (inputs[index].count != first) {
      return absl::InvalidArgumentError(absl::StrCat("--input: found ", first, " and ",
                                                     inputs[index].count,
                                                     " samples, wanted as many in every file"));
    }
  }
  return inputs;
}

absl::Status RunLibrary(const RunFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const auto inputs, Assignments("--input", flags.inputs));
  KILN_ASSIGN_OR_RETURN(const auto checks, Assignments("--check", flags.checks));
  KILN_RETURN_IF_ERROR(CheckTolerance("--rtol", flags.rtol));
  KILN_RETURN_IF_ERROR(CheckTolerance("--atol", flags.atol));
  KILN_RETURN_IF_ERROR(SetThreads(flags.threads));
  KILN_ASSIGN_OR_RETURN(const Library library, LoadLibrary(flags.library, flags.load));
  const std::shared_ptr<runtime::Executor>& executor = library.executor;
  KILN_ASSIGN_OR_RETURN(const auto samples, ReadInputs(inputs, *executor));
  const int64_t count = samples.empty() ? 1 : samples.begin()->second.count;
  KILN_ASSIGN_OR_RETURN(const auto wanted, ReadWanted(checks, *executor, count));
  std::optional<OutputFolder> folder;
  if (!flags.output.empty()) {
    KILN_ASSIGN_OR_RETURN(OutputFolder made, OutputFolder::Make(flags.output));
    folder.emplace(std::move(made));
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<Samples> results, RunSamples(*executor, samples));
  KILN_ASSIGN_OR_RETURN(const std::string variant, RunningVariant(library.module));
  nlohmann::ordered_json json;
  if (!variant.empty()) json["cpu_variant"] = variant;
  if (!variant.empty() && !flags.json) {
    KILN_RETURN_IF_ERROR(Print(absl::StrCat("variant ", variant, "\n")));
  }
  std::map<std::string, std::string> files;
  std::map<std::string, Tensor> outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string& name = executor->output_infos()[i].name;
    Tensor tensor(TypeOfSamples(results[i].type, count), results[i].bytes);
    json["outputs"][name] = JsonOf(tensor);
    if (!flags.json) KILN_RETURN_IF_ERROR(PrintTensor(name, tensor));
    std::string file = name;
    for (char& c : file) c = c == '/' ? '_' : c;
    files[file + ".npy"] = ToNpy(tensor);
    outputs[name] = std::move(tensor);
  }
  if (!flags.output.empty()) KILN_RETURN_IF_ERROR(WriteFiles(flags.output, files));
  for (const auto& [name, tensor] : wanted) {
    const absl::Status close = CheckClose(outputs.at(name), tensor, {flags.rtol, flags.atol});
    KILN_RETURN_IF_ERROR(Annotate(close, absl::StrCat("--check ", name, ": ")));
    json["outputs"][name]["agrees"] = true;
    if (flags.json) continue;
    KILN_RETURN_IF_ERROR(
        Print(absl::StrCat(name, " agrees (", tensor.type().num_elements(), " values)\n")));
  }
  return flags.json ? PrintJson(json) : absl::OkStatus();
}

}  // namespace

void AddRunCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Run a compiled library on one or many samples");
  auto flags = std::make_shared<RunFlags>();
  command->add_option("library", flags->library, "Shared object that compile has made")->required();
  command->add_option("--input", flags->inputs,
                      "name=FILE (.npy or ONNX .pb) or name=random, for every input; a file may "
                      "hold many samples, which its first dimension counts");
  command->add_option("--output", flags->output, "Folder to write <output name>.npy to");
  command->add_option("--check", flags->checks,
                      "name=FILE: compare an output with a file; differing is an error");
  command
      ->add_option("--rtol", flags->rtol,
                   "Relative tolerance of --check; 0 with --atol 0: equal bits")
      ->capture_default_str();
  command->add_option("--atol", flags->atol, "Absolute tolerance of --check")
      ->capture_default_str();
  command->add_flag("--json", flags->json,
                    "Print one JSON object: type and first values of each output");
  AddLibraryOptions(*command, flags->load, flags->threads);
  SetGroups(*command, {{"Samples", {"--input", "--output", "--json"}},
                       {"Check", {"--check", "--rtol", "--atol"}}});
  command->footer(
      "Examples:\n"
      "  kiln run out/my_mod.so --input data=image.npy --output results\n"
      "  kiln run out/my_mod.so --input data=1000_images.npy --output results\n"
      "  kiln run out/my_mod.so --input data=input_0.pb --check softmax=output_0.pb --rtol 1e-4");
  command->callback([flags, &action] { action = [flags] { return RunLibrary(*flags); }; });
}

}  // namespace kiln::tools
