// SPDX-License-Identifier: Apache-2.0
//
// The metadata of a loaded model as C++ classes.
//
// ModelMetadata is a typed view of the constant structs of kiln/metadata.h inside the library, and
// keeps the library loaded. It describes the model. To run the model, Model or Executor is enough.
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

// Quantization of a tensor. `scales` is empty if the tensor is not quantized.
struct Quantization {
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  int32_t axis = 0;
};

// Compiler, model file and options that a library was made from. Unknown texts are empty.
struct ModelOrigin {
  std::string compiler;        // "kiln 0.1.0"
  std::string model_sha256;    // SHA-256 of the model file, 64 hexadecimal digits.
  std::string options_sha256;  // SHA-256 of all options of the compilation.
  // Properties of the model file: ONNX's metadata_props, TFLite's description and metadata.
  std::vector<std::pair<std::string, std::string>> properties;
};

// An input or output of a model.
struct TensorInfo {
  std::string name;
  std::vector<int64_t> shape;
  DLDataType dtype = {};
  DLDevice device = kCpu;
  int64_t size_bytes = 0;
  size_t alignment_bytes = kTensorAlignment;  // Alignment for use without a copy.
  Quantization quantization;
};

// Views of the structs of the library. They are valid as long as a ModelMetadata of the library.
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

  // Returns a copy that does not depend on the library.
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
  // Returns the cost of one call; for the model's function the sum over all calls. Null if unknown.
  const ::CostInfo* cost() const {
    return cost_ != nullptr && cost_->operations >= 0 ? cost_ : nullptr;
  }
  // Type key of the module that holds the function; "library" is compiled code.
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
  // Calls "get_model_metadata" of `module` or its imports. If another compiler of this ABI made the
  // library, uses its metadata or graph instead. Returns NotFound if there is nothing, and
  // FailedPrecondition, with both versions, if the metadata have another version than this
  // runtime's.
  static absl::StatusOr<ModelMetadata> Find(const Module& module);

  // True if the library has metadata of Kiln. If not, target() is "unknown". There are tensors,
  // functions and pools if they are known, but no costs, schedules or names of operators.
  bool is_complete() const { return description_ == nullptr; }

  int32_t version() const { return metadata_->version; }
  absl::string_view module_name() const { return metadata_->module_name; }
  absl::string_view executor() const { return metadata_->executor; }
  absl::string_view runtime() const { return metadata_->runtime; }
  absl::string_view interface_api() const { return metadata_->interface_api; }
  absl::string_view calling_convention() const { return metadata_->calling_convention; }
  absl::string_view target() const { return metadata_->target; }
  // LLVM's name of the CPU that the code is for, and the features that the code needs beyond the
  // baseline of the architecture. With CPU variants, they describe the lowest variant. Empty if
  // unknown.
  absl::string_view cpu() const { return metadata_->cpu == nullptr ? "" : metadata_->cpu; }
  absl::Span<const char* const> cpu_features() const {
    return {metadata_->cpu_features, static_cast<size_t>(metadata_->num_cpu_features)};
  }

  // Null if unknown.
  const ::OriginInfo* origin() const { return metadata_->origin; }
  // Returns origin() as a copy that does not depend on the library. Unknown texts are empty.
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

  // Targets that the library has code for, lowest first. If there are none, all code is for
  // target(). CpuVariant (cpu_variant.h) returns the variant that runs.
  absl::Span<const char* const> cpu_variants() const {
    return {metadata_->cpu_variants, static_cast<size_t>(metadata_->num_cpu_variants)};
  }

  // The inputs of run_model() that are states: the output whose value each one takes in the next
  // run, and its value in the first run.
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
  // Description of a library without metadata of Kiln, owned by this object; else null.
  std::shared_ptr<const ::Metadata> description_;
  Module owner_;
};

// Checks the structs: version, counts, strings that must not be null.
absl::Status CheckMetadata(const ::Metadata* metadata);

// A module that returns the metadata of the model below it.
class ModelMetadataModule {
 public:
  // Returns the module of type "metadata_module" that `module` is or imports. A graph executor has
  // no such module in its tree, so it gets a new one above `module`. Returns NotFound if the model
  // has no metadata.
  static absl::StatusOr<ModelMetadataModule> Find(const Module& module);

  absl::StatusOr<ModelMetadata> get_model_metadata() const { return ModelMetadata::Find(module_); }
  const Module& module() const { return module_; }

 private:
  explicit ModelMetadataModule(Module module) : module_(std::move(module)) {}

  Module module_;
};

// Loads "metadata_module", whose payload is empty.
absl::StatusOr<ModulePtr> LoadMetadataModule(ByteReader& reader);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_METADATA_H_
