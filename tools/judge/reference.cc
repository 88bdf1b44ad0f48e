// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/reference.h"

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "tools/judge/model_tensors.h"
#include "tools/judge/onnx_runtime.h"
#include "tools/kiln/board_model.h"
#include "tools/kiln/files.h"
#include "tools/kiln/tensor_file.h"

namespace kiln::tools {
namespace {

constexpr absl::string_view kOnnxRuntime = "onnxruntime", kBoard = "board:";

// Returns the names by which tensors can be found: their own, and those of the real tensors from
// which they are made.
std::set<std::string> NamesOf(const std::vector<NamedTensor>& tensors) {
  std::set<std::string> names;
  for (const NamedTensor& tensor : tensors) {
    names.insert(tensor.name);
    if (tensor.scale.has_value()) names.insert(tensor.scale->real_name);
  }
  names.erase("");
  return names;
}

// Returns the options of the reference: those in --against-options, or the model's options if there
// are none.
absl::StatusOr<ModelFlags> FlagsOf(const ReferenceFlags& flags, const ModelFlags& model_flags) {
  if (flags.options.empty()) return model_flags;
  ModelFlags own;
  CLI::App app("--against-options");
  AddModelOptions(app, own);
  app.get_option("model")->required(false);
  try {
    app.parse(flags.options);
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(absl::StrCat("--against-options: found '", flags.options,
                                                   "': ", error.what(),
                                                   "; wanted options of kiln compile"));
  }
  if (own.model.empty()) return own;
  return absl::InvalidArgumentError(absl::StrCat("--against-options: found '", own.model,
                                                 "', wanted options alone; name a model with "
                                                 "--against"));
}

// Returns the values of the reference to compare: values that its compiled code keeps, and others
// with a requested name.
absl::StatusOr<std::vector<NamedValue>> ValuesFor(const std::set<std::string>& names,
                                                  const ModelSource& model,
                                                  const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(const std::vector<NamedValue> kept, model.Kept(options));
  std::set<std::string> covered;
  std::set<ValueId> chosen;
  for (const NamedValue& value : kept) {
    const std::string real = model.RealName(value);
    if (!names.contains(value.name) && !names.contains(real)) continue;
    covered.insert({value.name, real});
    chosen.insert(value.value);
  }
  std::vector<NamedValue> values = NamedValues(model.graph());
  std::erase_if(values, [&](const NamedValue& value) {
    return !chosen.contains(value.value) &&
           (covered.contains(value.name) || !names.contains(value.name));
  });
  return values;
}

// `board` is the target of the board that runs the reference. If it is empty, the options select
// the machine.
absl::StatusOr<ReferenceTensors> FromModel(
    const std::string& path, const std::optional<std::string>& board, const ReferenceFlags& flags,
    const ModelFlags& model_flags, const std::vector<NamedValue>& values,
    const std::vector<NamedTensor>& tensors, const std::vector<NamedTensor>& inputs) {
  KILN_ASSIGN_OR_RETURN(ModelFlags own, FlagsOf(flags, model_flags));
  const bool same = path == model_flags.model;
  if (same && own.inputs.empty()) {
    own.inputs = model_flags.inputs;
  }
  if (board.has_value()) own.target = *board;
  KILN_ASSIGN_OR_RETURN(const CompileOptions options, OptionsToRun(own, "reference"));
  if (board.has_value() && !options.target.is_baremetal()) {
    return absl::InvalidArgumentError(absl::StrCat("--against: found the board '", *board,
                                                   "', wanted a microcontroller's target, such as "
                                                   "board:cortex-m4f"));
  }
  KILN_ASSIGN_OR_RETURN(const ModelSource model, ModelSource::Read(path, own.inputs));
  std::vector<NamedValue> wanted = values;
  if (!same) {
    KILN_ASSIGN_OR_RETURN(wanted, ValuesFor(NamesOf(tensors), model, options));
  }
  ReferenceTensors reference{.name = path};
  if (options.target.is_baremetal()) {
    absl::StrAppend(&reference.name, " on ", options.target.name, " in QEMU");
  }
  if (!flags.options.empty()) absl::StrAppend(&reference.name, " with ", flags.options);
  if (wanted.empty()) return reference;
  KILN_ASSIGN_OR_RETURN(reference.tensors, model.Run(wanted, options, inputs));
  return reference;
}

absl::StatusOr<ReferenceTensors> FromOnnxRuntime(const std::string& path,
                                                 const ReferenceFlags& flags,
                                                 const ModelFlags& model_flags,
                                                 const std::vector<NamedTensor>& tensors,
                                                 const std::vector<NamedTensor>& inputs) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxModelFileBytes));
  const InputFlags& input_flags = path == model_flags.model ? model_flags.inputs : InputFlags();
  KILN_ASSIGN_OR_RETURN(const auto import_options, OnnxImportOptions(bytes, path, input_flags));
  std::map<std::string, Tensor> values = import_options.constants;
  for (const NamedTensor& input : inputs) values.emplace(input.name, input.tensor);
  const std::set<std::string> names = NamesOf(tensors);
  KILN_ASSIGN_OR_RETURN(const OnnxRuntimeRun run,
                        RunOnnxRuntime(flags.python, path, values, {names.begin(), names.end()}));
  ReferenceTensors reference{.name = absl::StrCat("ONNX Runtime ", run.version)};
  if (path != model_flags.model) absl::StrAppend(&reference.name, " with ", path);
  for (const auto& [name, tensor] : run.tensors) {
    NamedTensor& added =
        reference.tensors.emplace_back(NamedTensor{.name = name, .tensor = tensor});
    // Integers of one type have the same scale in both.
    for (const NamedTensor& own : tensors) {
      if (own.name == name && own.tensor.type().dtype == tensor.type().dtype) {
        added.scale = own.scale;
      }
    }
  }
  return reference;
}

absl::StatusOr<ReferenceTensors> FromFolder(const std::string& folder,
                                            const std::vector<NamedTensor>& tensors) {
  ReferenceTensors reference{.name = folder};
  for (const NamedTensor& tensor : tensors) {
    const std::optional<std::string> path = FileOf(folder, tensor.name);
    if (!path.has_value()) continue;
    NamedTensor& added = reference.tensors.emplace_back(NamedTensor{.name = tensor.name});
    KILN_ASSIGN_OR_RETURN(added.tensor, ReadTensorFile(*path));
    if (added.tensor.type().dtype == tensor.tensor.type().dtype) added.scale = tensor.scale;
  }
  return reference;
}

}  // namespace

void AddReferenceOptions(CLI::App& command, ReferenceFlags& flags) {
  command.add_option("--against", flags.against,
                     "The reference: a model file, a folder with NAME.npy for tensors of the "
                     "model, onnxruntime, onnxruntime:FILE.onnx, or board:TARGET for the same "
                     "model on a board in QEMU [the same model]");
  command.add_option("--against-options", flags.options,
                     "Options of compile for the reference, in one word: \"--no-winograd\" [those "
                     "of the model]");
  command
      .add_option("--python", flags.python,
                  "Of onnxruntime: a Python with the packages onnx, onnxruntime and numpy")
      ->capture_default_str();
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::optional<std::string> FileOf(const std::string& folder, const std::string& tensor) {
  if (!IsFolder(folder)) return std::nullopt;
  std::string path = absl::StrCat(folder, "/", TensorFileName(tensor), ".npy");
  std::error_code error;
  return std::filesystem::exists(path, error) ? std::optional(std::move(path)) : std::nullopt;
}

absl::StatusOr<ReferenceTensors> ReadReference(const ReferenceFlags& flags,
                                               const ModelFlags& model_flags,
                                               const std::vector<NamedValue>& values,
                                               const std::vector<NamedTensor>& tensors,
                                               const std::vector<NamedTensor>& inputs) {
  if (flags.against.empty() && flags.options.empty()) {
    return absl::InvalidArgumentError(
        "compare: found no reference, wanted --against, --against-options or both");
  }
  if (IsFolder(flags.against)) return FromFolder(flags.against, tensors);
  absl::string_view other = flags.against;
  if (absl::ConsumePrefix(&other, kOnnxRuntime) && (other.empty() || other[0] == ':')) {
    absl::ConsumePrefix(&other, ":");
    const std::string path = other.empty() ? model_flags.model : std::string(other);
    return FromOnnxRuntime(path, flags, model_flags, tensors, inputs);
  }
  const bool on_board = absl::ConsumePrefix(&other, kBoard);
  const bool same = flags.against.empty() || on_board;
  return FromModel(same ? model_flags.model : flags.against,
                   on_board ? std::optional(std::string(other)) : std::nullopt, flags, model_flags,
                   values, tensors, inputs);
}

}  // namespace kiln::tools
