// SPDX-License-Identifier: Apache-2.0
//
// The central metadata of a loaded model, as C++.
//
// ModelMetadata is a typed view on the constant structs of kiln/metadata.h inside the library, and
// keeps the library loaded. Use it to learn what a model takes and gives; running it needs no more
// than Model or Executor.
//
//   absl::StatusOr<ModelMetadataModule> module = ModelMetadataModule::Find(factory);
//   for (const ParameterInfoView& input : module->get_model_metadata()->run_model().inputs()) …
#ifndef KILN_RUNTIME_CPP_METADATA_H_
#define KILN_RUNTIME_CPP_METADATA_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kiln/metadata.h"
#include "runtime_cpp/bytes.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/module.h"

namespace kiln::runtime {

// How a tensor's integers stand for real numbers; empty scales mean that it is not quantized.
struct Quantization {
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  int32_t axis = 0;
};

// What a library was made of and by. Texts are empty if they are not known.
struct ModelOrigin {
  std::string compiler;        // "kiln 0.1.0"
  std::string model_sha256;    // of the model's file, 64 hexadecimal digits
  std::string options_sha256;  // of all that was asked of the compiler
  // Texts of the model's file about itself: ONNX's metadata_props, TFLite's description and metadata.
  std::vector<std::pair<std::string, std::string>> properties;
};

// One tensor that a model takes or gives.
struct TensorInfo {
  std::string name;
  std::vector<int64_t> shape;
  DLDataType dtype = {};
  DLDevice device = kCpu;
  int64_t size_bytes = 0;
  size_t alignment_bytes = kTensorAlignment;  // of memory that is used in place
  Quantization quantization;
};

// Views on the structs of the library; they live as long as a ModelMetadata of it.
class ParameterInfoView {
 public:
  explicit ParameterInfoView(const ::ParameterInfo* info) : info_(info) {}

  absl::string_view relay_name_hint() const { return info_->relay_name_hint; }
  absl::string_view tir_name_hint() const { return info_->tir_name_hint; }
  absl::Span<const int64_t> shape() const {
    return {info_->shape, static_cast<size_t>(info_->ndim)};
  }
  int32_t ndim() const { return info_->ndim; }
  DLDataType dtype() const { return info_->dtype; }
  DLDevice target_device() const { return info_->target_device; }
  int64_t size_bytes() const { return info_->size_bytes; }
  bool is_quantized() const { return info_->quantization != nullptr; }
  const ::QuantizationInfo& quantization() const { return *info_->quantization; }

  // A copy that lives on its own.
  TensorInfo ToTensorInfo() const;

 private:
  const ::ParameterInfo* info_;
};

class FunctionInfoView {
 public:
  explicit FunctionInfoView(const ::FunctionInfo* info, const ::CostInfo* cost = nullptr)
      : info_(info), cost_(cost) {}

  absl::string_view function_name() const { return info_->function_name; }
  std::vector<ParameterInfoView> params() const { return Params(0, info_->num_params); }
  std::vector<ParameterInfoView> inputs() const { return Params(0, info_->num_inputs); }
  std::vector<ParameterInfoView> outputs() const {
    return Params(info_->num_inputs, info_->num_inputs + info_->num_outputs);
  }
  int64_t workspace_size_bytes() const { return info_->workspace_size_bytes; }
  int64_t io_size_bytes() const { return info_->io_size_bytes; }
  int64_t constant_size_bytes() const { return info_->constant_size_bytes; }
  DLDevice device() const { return info_->device; }
  absl::string_view op_names() const { return absl::NullSafeStringView(info_->op_names); }
  absl::string_view source() const { return absl::NullSafeStringView(info_->source); }
  absl::string_view schedule() const { return absl::NullSafeStringView(info_->schedule); }
  // Of a call; of the model's function that of all its calls. Null where it is not known.
  const ::CostInfo* cost() const {
    return cost_ != nullptr && cost_->operations >= 0 ? cost_ : nullptr;
  }
  // Type key of the module that holds it; "library" is compiled code.
  absl::string_view module_type() const { return absl::NullSafeStringView(info_->module_type); }
  absl::Span<const ::LaunchParameterInfo> launch_params() const {
    return {info_->launch_params, static_cast<size_t>(info_->num_launch_params)};
  }

 private:
  std::vector<ParameterInfoView> Params(int32_t begin, int32_t end) const;

  const ::FunctionInfo* info_;
  const ::CostInfo* cost_;
};

class ModelMetadata {
 public:
  // Calls "get_model_metadata" of `module` or what it imports; where another compiler of this ABI
  // made the library, takes what that says of the model instead. NotFound if there is nothing;
  // FailedPrecondition, naming both versions, if it is of another version than this runtime's.
  static absl::StatusOr<ModelMetadata> Find(const Module& module);

  // Whether the library has metadata of Kiln's. Else target() is "unknown", and there are tensors,
  // functions and pools, as far as they are known, but no costs, schedules or names of operators.
  bool is_complete() const { return description_ == nullptr; }

  int32_t version() const { return metadata_->version; }
  absl::string_view module_name() const { return metadata_->module_name; }
  absl::string_view executor() const { return metadata_->executor; }
  absl::string_view runtime() const { return metadata_->runtime; }
  absl::string_view interface_api() const { return metadata_->interface_api; }
  absl::string_view calling_convention() const { return metadata_->calling_convention; }
  absl::string_view target() const { return metadata_->target; }
  // The CPU that the code is for, by LLVM's name, and the features that it needs beyond the baseline
  // of its architecture; with CPU variants, those of the lowest one. Empty if they are not known.
  absl::string_view cpu() const { return metadata_->cpu == nullptr ? "" : metadata_->cpu; }
  absl::Span<const char* const> cpu_features() const {
    return {metadata_->cpu_features, static_cast<size_t>(metadata_->num_cpu_features)};
  }

  // Null if it is not known.
  const ::OriginInfo* origin() const { return metadata_->origin; }
  // The same as a copy that lives on its own; empty texts if it is not known.
  ModelOrigin ToModelOrigin() const;

  int32_t num_functions() const { return metadata_->num_functions; }
  FunctionInfoView function(int32_t i) const {
    return FunctionInfoView(&metadata_->functions[i],
                            metadata_->costs == nullptr ? nullptr : &metadata_->costs[i]);
  }
  FunctionInfoView run_model() const { return function(0); }
  absl::Span<const ::PoolInfo> pools() const {
    return {metadata_->pools, static_cast<size_t>(metadata_->num_pools)};
  }
  absl::Span<const ::DeviceInfo> devices() const {
    return {metadata_->devices, static_cast<size_t>(metadata_->num_devices)};
  }

  // Targets that there is code for, lowest first; none: target() alone. CpuVariant (cpu_variant.h)
  // says which one runs.
  absl::Span<const char* const> cpu_variants() const {
    return {metadata_->cpu_variants, static_cast<size_t>(metadata_->num_cpu_variants)};
  }

  // The inputs of run_model() that are state: which output of a run is passed to each in the next,
  // and what each holds in the first.
  absl::Span<const ::StateInfo> states() const {
    return {metadata_->states, static_cast<size_t>(metadata_->num_states)};
  }

  const ::Metadata& c_struct() const { return *metadata_; }

 private:
  ModelMetadata(const ::Metadata* metadata, Module owner)
      : metadata_(metadata), owner_(std::move(owner)) {}
  ModelMetadata(std::shared_ptr<const ::Metadata> description, Module owner)
      : metadata_(description.get()),
        description_(std::move(description)),
        owner_(std::move(owner)) {}

  static absl::StatusOr<ModelMetadata> Describe(const Module& module);

  const ::Metadata* metadata_;
  std::shared_ptr<const ::Metadata> description_;  // Of a library without metadata of Kiln's.
  Module owner_;
};

// Checks the structs as far as that can be done: version, counts, strings that must be there.
absl::Status CheckMetadata(const ::Metadata* metadata);

// A module that answers for the metadata of the model below it.
class ModelMetadataModule {
 public:
  // The module of type "metadata_module" that `module` is or imports; of a graph executor, whose
  // tree has none, a new one above `module`. NotFound if nothing is known of the model.
  static absl::StatusOr<ModelMetadataModule> Find(const Module& module);

  absl::StatusOr<ModelMetadata> get_model_metadata() const { return ModelMetadata::Find(module_); }
  const Module& module() const { return module_; }

 private:
  explicit ModelMetadataModule(Module module) : module_(std::move(module)) {}

  Module module_;
};

// Loader of "metadata_module"; the payload is empty.
absl::StatusOr<ModulePtr> LoadMetadataModule(ByteReader& reader);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_METADATA_H_
