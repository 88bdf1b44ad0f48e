// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/library.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/import/import.h"
#include "runtime_cpp/cpu_variant.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/thread_pool.h"
#include "tools/kiln/elf.h"
#include "tools/kiln/files.h"
#include "tools/kiln/tensor_file.h"

namespace kiln::tools {
namespace {

DType FromDl(DLDataType dtype) {
  if (dtype.code == kDLFloat) return DType::Float(dtype.bits);
  if (dtype.code == kDLInt) return DType::Int(dtype.bits);
  return dtype.bits == 1 ? DType::Bool() : DType::UInt(dtype.bits);
}

// InvalidArgument for a model file, which must be compiled first, and for anything that is not a
// regular file. ONNX files have no magic number, so they are recognized by their extension.
absl::Status CheckIsNoModel(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const std::string beginning, ReadBeginning(path, 4096));
  const ModelFormat format = FormatOf(beginning);
  const char* const name = format == ModelFormat::kRelay    ? "Relay text"
                           : format == ModelFormat::kTflite ? "a TFLite model"
                           : absl::EndsWith(path, ".onnx")  ? "an ONNX model"
                                                            : nullptr;
  if (name == nullptr || absl::StartsWith(beginning, kElfMagic)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is ", name,
                   ", wanted a compiled library: compile it first with "
                   "kiln compile ",
                   path, " -o DIR"));
}

}  // namespace

absl::Status SetThreads(int threads) {
  if (threads < 0 || threads > runtime::ThreadPool::kMaxThreads) {
    return absl::InvalidArgumentError(absl::StrCat("--threads: found ", threads, ", wanted 0 to ",
                                                   runtime::ThreadPool::kMaxThreads));
  }
  return threads == 0 ? absl::OkStatus() : runtime::ThreadPool::Global().SetNumThreads(threads);
}

absl::StatusOr<Library> LoadLibrary(const std::string& path, const LibraryFlags& flags) {
  KILN_RETURN_IF_ERROR(CheckIsNoModel(path));
  KILN_ASSIGN_OR_RETURN(
      const runtime::Module module,
      runtime::Module::LoadFromFile(path, {.check_checksum = !flags.skip_checksum}));
  KILN_ASSIGN_OR_RETURN(const runtime::Model model, runtime::Model::FromModule(module));
  if (!flags.cpu_variant.empty()) {
    KILN_RETURN_IF_ERROR(
        Annotate(runtime::SetCpuVariant(module, flags.cpu_variant), "--cpu-variant: "));
  }
  Library library{.module_name = model.name(), .module = module, .executor = nullptr};
  KILN_ASSIGN_OR_RETURN(library.executor, runtime::Executor::Create(module, runtime::kCpu));
  return library;
}

absl::StatusOr<std::string> RunningVariant(const runtime::Module& module) {
  KILN_ASSIGN_OR_RETURN(const runtime::ModelMetadata metadata,
                        runtime::ModelMetadata::Find(module));
  if (metadata.cpu_variants().empty()) return std::string();
  const absl::StatusOr<std::string> running = runtime::CpuVariant(module);
  return absl::StrCat(running.ok() ? *running : "none", " (of ",
                      absl::StrJoin(metadata.cpu_variants(), ", "),
                      running.ok() ? "" : absl::StrCat("; ", running.status().message()), ")");
}

absl::StatusOr<std::map<std::string, std::string>> Assignments(
    const char* option, const std::vector<std::string>& texts) {
  std::map<std::string, std::string> map;
  for (const std::string& text : texts) {
    const size_t at = text.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, ": found '", text, "', wanted name=FILE",
                       option == std::string("--input") ? " or name=random" : ""));
    }
    if (!map.emplace(text.substr(0, at), text.substr(at + 1)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, ": '", text.substr(0, at), "' is given twice"));
    }
  }
  return map;
}

TensorType TypeOf(const runtime::TensorInfo& info) { return {info.shape, FromDl(info.dtype)}; }

absl::Status SetRandomInput(runtime::Executor& executor, int index) {
  KILN_ASSIGN_OR_RETURN(const runtime::NDArray array, executor.GetInput(index));
  const TensorType type = TypeOf(executor.input_infos()[static_cast<size_t>(index)]);
  return array.CopyFromBytes(
      RandomTensor(type, kFirstInputSeed + static_cast<uint32_t>(index)).bytes());
}

absl::Status SetRandomInputs(runtime::Executor& executor) {
  for (int i = 0; i < executor.num_inputs(); ++i) {
    if (!executor.IsParam(i)) KILN_RETURN_IF_ERROR(SetRandomInput(executor, i));
  }
  return absl::OkStatus();
}

}  // namespace kiln::tools
