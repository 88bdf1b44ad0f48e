// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/metadata.h"

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/executor_factory.h"
#include "runtime_cpp/status/annotate.h"
#include "runtime_cpp/status/macros.h"
#include "runtime_cpp/tvm_metadata.h"

namespace kiln::runtime {
namespace {

constexpr char kGetModelMetadata[] = "get_model_metadata";

// Forwards requests for metadata to the library that it imports.
class MetadataModuleNode final : public ModuleNode {
 public:
  absl::string_view type_key() const override { return "metadata_module"; }

  PackedFunc FindFunction(const std::string& name) override {
    if (name == kGetModelMetadata) return FindInImports(name);
    if (name == "get_metadata") return FindInImports("get_c_metadata");
    return PackedFunc();
  }

  std::vector<std::string> FunctionNames() const override {
    return {kGetModelMetadata, "get_metadata"};
  }

 private:
  PackedFunc FindInImports(const std::string& name) {
    PackedFunc function;
    for (size_t i = 0; !function.defined() && i < imports().size(); ++i) {
      function = imports()[i]->FindFunctionInTree(name);
    }
    return function;
  }
};

absl::Status CheckParameter(const ::ParameterInfo& parameter) {
  if (parameter.relay_name_hint == nullptr || parameter.tir_name_hint == nullptr) {
    return absl::DataLossError("a parameter has no name");
  }
  if (parameter.ndim < 0 || (parameter.ndim > 0 && parameter.shape == nullptr)) {
    return absl::DataLossError(
        absl::StrCat("parameter '", parameter.relay_name_hint, "' has no shape"));
  }
  KILN_ASSIGN_OR_RETURN(
      const int64_t bytes,
      TensorBytes({parameter.shape, static_cast<size_t>(parameter.ndim)}, parameter.dtype));
  if (bytes != parameter.size_bytes) {
    return absl::DataLossError(absl::StrCat("parameter '", parameter.relay_name_hint, "' has ",
                                            parameter.size_bytes, " bytes, its shape and type ",
                                            bytes));
  }
  return absl::OkStatus();
}

absl::Status CheckFunction(const ::FunctionInfo& function) {
  if (function.function_name == nullptr) return absl::DataLossError("a function has no name");
  if (function.num_inputs < 0 || function.num_outputs < 0 ||
      static_cast<int64_t>(function.num_inputs) + function.num_outputs != function.num_params ||
      (function.num_params > 0 && function.params == nullptr) ||
      function.workspace_size_bytes < 0) {
    return absl::DataLossError(
        absl::StrCat("counts of function '", function.function_name, "' do not fit together"));
  }
  for (int32_t i = 0; i < function.num_params; ++i) {
    KILN_RETURN_IF_ERROR(Annotate(CheckParameter(function.params[i]),
                                  absl::StrCat("function '", function.function_name, "': ")));
  }
  if (function.num_launch_params < 0 ||
      (function.num_launch_params > 0 && function.launch_params == nullptr)) {
    return absl::DataLossError(
        absl::StrCat("function '", function.function_name, "' has no launch parameters"));
  }
  for (int32_t i = 0; i < function.num_launch_params; ++i) {
    if (function.launch_params[i].name == nullptr) {
      return absl::DataLossError(absl::StrCat("a launch parameter of function '",
                                              function.function_name, "' has no name"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPool(const ::PoolInfo& pool) {
  if (pool.name == nullptr) return absl::DataLossError("a pool has no name");
  if (pool.num_buffers < 0 || (pool.num_buffers > 0 && pool.buffers == nullptr)) {
    return absl::DataLossError(absl::StrCat("pool '", pool.name, "' has no buffers"));
  }
  for (int32_t i = 0; i < pool.num_buffers; ++i) {
    if (pool.buffers[i].name == nullptr) {
      return absl::DataLossError(absl::StrCat("a buffer of pool '", pool.name, "' has no name"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOrigin(const ::OriginInfo& origin) {
  if (origin.compiler == nullptr || origin.model_sha256 == nullptr ||
      origin.options_sha256 == nullptr) {
    return absl::DataLossError("a text of the origin is missing");
  }
  if (origin.num_properties < 0 || (origin.num_properties > 0 && origin.properties == nullptr)) {
    return absl::DataLossError("the origin has no properties");
  }
  for (int32_t i = 0; i < origin.num_properties; ++i) {
    if (origin.properties[i].key == nullptr || origin.properties[i].value == nullptr) {
      return absl::DataLossError("a property of the origin has no key or no value");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMetadata(const ::Metadata* metadata) {
  if (metadata == nullptr) return absl::DataLossError("the library has no metadata");
  if (metadata->version != KILN_METADATA_VERSION) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the model has metadata of version ", metadata->version, ", this runtime reads version ",
        KILN_METADATA_VERSION, "; compile the model again, or use the runtime of its compiler"));
  }
  for (const char* const text :
       {metadata->module_name, metadata->executor, metadata->runtime, metadata->interface_api,
        metadata->calling_convention, metadata->target}) {
    if (text == nullptr) return absl::DataLossError("a text of the metadata is missing");
  }
  if (metadata->num_functions < 1 || metadata->functions == nullptr || metadata->num_pools < 0 ||
      (metadata->num_pools > 0 && metadata->pools == nullptr) || metadata->num_devices < 0 ||
      (metadata->num_devices > 0 && metadata->devices == nullptr) ||
      metadata->num_cpu_variants < 0 ||
      (metadata->num_cpu_variants > 0 && metadata->cpu_variants == nullptr) ||
      metadata->num_states < 0 || (metadata->num_states > 0 && metadata->states == nullptr) ||
      metadata->num_cpu_features < 0 ||
      (metadata->num_cpu_features > 0 && metadata->cpu_features == nullptr)) {
    return absl::DataLossError("counts of the metadata do not fit together");
  }
  for (int32_t i = 0; i < metadata->num_functions; ++i) {
    KILN_RETURN_IF_ERROR(CheckFunction(metadata->functions[i]));
  }
  for (int32_t i = 0; i < metadata->num_pools; ++i) {
    KILN_RETURN_IF_ERROR(CheckPool(metadata->pools[i]));
  }
  for (int32_t i = 0; i < metadata->num_devices; ++i) {
    if (metadata->devices[i].name == nullptr || metadata->devices[i].program == nullptr) {
      return absl::DataLossError("a device has no name");
    }
  }
  for (int32_t i = 0; i < metadata->num_cpu_variants; ++i) {
    if (metadata->cpu_variants[i] == nullptr) {
      return absl::DataLossError("a CPU variant has no name");
    }
  }
  for (int32_t i = 0; i < metadata->num_cpu_features; ++i) {
    if (metadata->cpu_features[i] == nullptr) {
      return absl::DataLossError("a CPU feature has no name");
    }
  }
  for (int32_t i = 0; i < metadata->num_states; ++i) {
    if (metadata->states[i].input == nullptr || metadata->states[i].output == nullptr) {
      return absl::DataLossError("a state has no name");
    }
  }
  return metadata->origin == nullptr ? absl::OkStatus() : CheckOrigin(*metadata->origin);
}

TensorInfo ParameterInfoView::ToTensorInfo() const {
  TensorInfo result = {.name = std::string(relay_name_hint()),
                       .shape = {shape().begin(), shape().end()},
                       .dtype = dtype(),
                       .device = target_device(),
                       .size_bytes = size_bytes(),
                       .quantization = {}};
  if (is_quantized()) {
    const ::QuantizationInfo& info = quantization();
    result.quantization.scales.assign(info.scales, info.scales + info.num_scales);
    result.quantization.zero_points.assign(info.zero_points, info.zero_points + info.num_scales);
    result.quantization.axis = info.axis;
  }
  return result;
}

ModelOrigin ModelMetadata::ToModelOrigin() const {
  ModelOrigin result;
  if (origin() == nullptr) return result;
  result = {.compiler = origin()->compiler,
            .model_sha256 = origin()->model_sha256,
            .options_sha256 = origin()->options_sha256};
  for (int32_t i = 0; i < origin()->num_properties; ++i) {
    result.properties.emplace_back(origin()->properties[i].key, origin()->properties[i].value);
  }
  return result;
}

std::vector<ParameterInfoView> FunctionInfoView::Params(int32_t begin, int32_t end) const {
  std::vector<ParameterInfoView> result;
  for (int32_t i = begin; i < end; ++i) result.emplace_back(&info_->params[i]);
  return result;
}

absl::StatusOr<ModelMetadata> ModelMetadata::Find(const Module& module) {
  const PackedFunc getter = module.node()->FindFunctionInTree(kGetModelMetadata);
  if (!getter.defined()) return Describe(module);
  KILN_ASSIGN_OR_RETURN(const Value value, getter());
  KILN_ASSIGN_OR_RETURN(void* const handle, value.OpaqueHandle());
  const auto* const metadata = static_cast<const ::Metadata*>(handle);
  KILN_RETURN_IF_ERROR(CheckMetadata(metadata));
  return ModelMetadata(metadata, module);
}

absl::StatusOr<ModelMetadata> ModelMetadata::Describe(const Module& module) {
  std::shared_ptr<const ExecutorFactoryNode> factory;
  module.node()->VisitTree([&](ModuleNode& node) {
    factory = std::dynamic_pointer_cast<const ExecutorFactoryNode>(node.shared_from_this());
    return factory != nullptr;
  });
  if (factory != nullptr && !factory->graph_json().empty()) {
    KILN_ASSIGN_OR_RETURN(std::shared_ptr<const ::Metadata> description,
                          DescribeGraph(factory->module_name(), factory->graph_json()));
    return ModelMetadata(std::move(description), module);
  }
  KILN_ASSIGN_OR_RETURN(const TVMMetadata* const metadata, FindTvmMetadata(module));
  if (metadata != nullptr) {
    KILN_ASSIGN_OR_RETURN(std::shared_ptr<const ::Metadata> description,
                          DescribeTvmModel(*metadata));
    return ModelMetadata(std::move(description), module);
  }
  return absl::NotFoundError(
      absl::StrCat("a module of type '", module.type_key(), "' has no model metadata"));
}

absl::StatusOr<ModelMetadataModule> ModelMetadataModule::Find(const Module& module) {
  ModulePtr found;
  module.node()->VisitTree([&](ModuleNode& node) {
    if (node.type_key() == "metadata_module") found = node.shared_from_this();
    return found != nullptr;
  });
  if (found == nullptr) {
    KILN_RETURN_IF_ERROR(ModelMetadata::Find(module).status());
    found = std::make_shared<MetadataModuleNode>();
    found->Import(module.node());
  }
  return ModelMetadataModule(Module(std::move(found)));
}

absl::StatusOr<ModulePtr> LoadMetadataModule(ByteReader&) {
  return std::make_shared<MetadataModuleNode>();
}

}  // namespace kiln::runtime
