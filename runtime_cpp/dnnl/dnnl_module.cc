// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/dnnl/dnnl_module.h"

#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime_cpp/status/annotate.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

constexpr absl::string_view kInit = "__init_";

// Returns the memory of argument `i`, which must be a compact tensor of this type.
absl::StatusOr<void*> Address(const Args& args, int i, const TensorInfo& info) {
  KILN_ASSIGN_OR_RETURN(const DLTensor* const tensor, args.Tensor(i));
  const bool right_type = tensor->dtype.code == info.dtype.code &&
                          tensor->dtype.bits == info.dtype.bits && tensor->dtype.lanes == 1 &&
                          tensor->device.device_type == kDLCPU;
  if (!right_type || ShapeOf(*tensor) != absl::MakeConstSpan(info.shape) || !IsCompact(*tensor)) {
    return absl::InvalidArgumentError(
        absl::StrCat("argument ", i,
                     ": wanted a compact tensor on the CPU of the shape and type "
                     "that the metadata has for '",
                     info.name, "'"));
  }
  return DataOf(*tensor);
}

}  // namespace

DnnlModule::DnnlModule(dnnl::proto::Program program) : program_(std::move(program)) {
  for (const dnnl::proto::Function& function : program_.functions()) {
    functions_[function.name()].layers = &function;
  }
}

std::vector<std::string> DnnlModule::FunctionNames() const {
  std::vector<std::string> names;
  for (const auto& entry : functions_) names.push_back(entry.first);
  return names;
}

absl::Status DnnlModule::TakeMetadata(const ModelMetadata& metadata) {
  // If a file is loaded a second time, it shares its modules.
  if (has_metadata_) return absl::OkStatus();
  for (int32_t i = 0; i < metadata.num_functions(); ++i) {
    const FunctionInfoView info = metadata.function(i);
    const auto it = functions_.find(std::string(info.function_name()));
    if (it == functions_.end()) continue;
    for (const ParameterInfoView& input : info.inputs()) {
      it->second.inputs.push_back(input.ToTensorInfo());
    }
    for (const ParameterInfoView& output : info.outputs()) {
      it->second.outputs.push_back(output.ToTensorInfo());
    }
  }
  for (const auto& [name, function] : functions_) {
    if (function.outputs.empty()) {
      return absl::DataLossError(
          absl::StrCat("the metadata has no function '", name, "', which a dnnl module has"));
    }
  }
  has_metadata_ = true;
  return absl::OkStatus();
}

PackedFunc DnnlModule::FindFunction(const std::string& name) {
  const bool is_init = absl::StartsWith(name, kInit);
  const auto it = functions_.find(is_init ? name.substr(kInit.size()) : name);
  if (it == functions_.end()) return PackedFunc();
  Function& function = it->second;
  // The functions own the module; it does not own them.
  const auto self = shared_from_this();
  if (is_init) {
    return PackedFunc([this, self, &function](const Args& args) -> absl::StatusOr<Value> {
      KILN_RETURN_IF_ERROR(Initialise(function, args));
      return Value(int64_t{0});
    });
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (function.compiled == nullptr) {
    return PackedFunc::Failing(absl::FailedPreconditionError(
        absl::StrCat("'", name, "' has not been given its constants by '", kInit, name, "'")));
  }
  return PackedFunc(
      [self, &function, compiled = function.compiled](const Args& args) -> absl::StatusOr<Value> {
        KILN_RETURN_IF_ERROR(Run(function, *compiled, args));
        return Value();
      });
}

absl::Status DnnlModule::Initialise(Function& function, const Args& args) {
  std::vector<NDArray> constants;
  for (int i = 0; i < args.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(NDArray array, args.Array(i));
    constants.push_back(std::move(array));
  }
  absl::StatusOr<std::unique_ptr<CompiledFunction>> compiled =
      CompiledFunction::Create(*function.layers, function.inputs, function.outputs, constants);
  if (!compiled.ok()) {
    return Annotate(compiled.status(), absl::StrCat(function.layers->name(), ": "));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  function.compiled = *std::move(compiled);
  return absl::OkStatus();
}

absl::Status DnnlModule::Run(const Function& function, const CompiledFunction& compiled,
                             const Args& args) {
  const size_t num_inputs = function.inputs.size(), num_outputs = function.outputs.size();
  KILN_RETURN_IF_ERROR(args.CheckSize(static_cast<int>(num_inputs + num_outputs),
                                      static_cast<int>(num_inputs + num_outputs)));
  absl::InlinedVector<void*, 8> addresses;
  for (size_t i = 0; i < num_inputs + num_outputs; ++i) {
    const TensorInfo& info = i < num_inputs ? function.inputs[i] : function.outputs[i - num_inputs];
    KILN_ASSIGN_OR_RETURN(void* const address, Address(args, static_cast<int>(i), info));
    addresses.push_back(address);
  }
  return compiled.Run(absl::MakeConstSpan(addresses).subspan(0, num_inputs),
                      absl::MakeConstSpan(addresses).subspan(num_inputs));
}

absl::StatusOr<ModulePtr> LoadDnnlModule(ByteReader& reader) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, reader.String());
  dnnl::proto::Program program;
  if (!program.ParseFromString(bytes)) return reader.Error("a dnnl module that is no program");
  if (program.version() != dnnl::proto::FORMAT_VERSION) {
    return absl::UnimplementedError(absl::StrCat("a dnnl module of version ", program.version(),
                                                 "; this runtime reads version ",
                                                 dnnl::proto::FORMAT_VERSION));
  }
  return std::make_shared<DnnlModule>(std::move(program));
}

// Linking this file is enough to load modules of type "dnnl".
[[maybe_unused]] const absl::Status kRegistered = RegisterModuleLoader("dnnl", LoadDnnlModule);

}  // namespace kiln::runtime
