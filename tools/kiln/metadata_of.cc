// SPDX-License-Identifier: Apache-2.0
// Converts the C structs of a loaded library back to the metadata that they were made from.
#include "compiler/base/dtype.h"
#include "tools/kiln/library.h"
#include "tools/kiln/report.h"

namespace kiln::tools {
namespace {

// Sets a device with its name and program in the model.
void SetDevice(const runtime::ModelMetadata& metadata, DLDevice from, proto::Device* to) {
  to->set_device_type(from.device_type);
  to->set_device_id(from.device_id);
  for (const ::DeviceInfo& device : metadata.devices()) {
    if (device.device.device_type != from.device_type ||
        device.device.device_id != from.device_id) {
      continue;
    }
    to->set_name(device.name);
    to->set_program(device.program);
    return;
  }
}

void SetParameter(const runtime::ModelMetadata& metadata, const runtime::ParameterInfoView& from,
                  proto::Parameter* to) {
  const runtime::TensorInfo info = from.ToTensorInfo();
  to->set_relay_name_hint(info.name);
  to->set_tir_name_hint(std::string(from.tir_name_hint()));
  for (int64_t extent : info.shape) to->add_shape(extent);
  to->set_dtype(TypeOf(info).dtype.ToString());
  to->set_size_bytes(info.size_bytes);
  SetDevice(metadata, info.device, to->mutable_target_device());
  if (info.quantization.scales.empty()) return;
  proto::Quantization& quantization = *to->mutable_quantization();
  for (float scale : info.quantization.scales) quantization.add_scales(scale);
  for (int32_t zero : info.quantization.zero_points) quantization.add_zero_points(zero);
  quantization.set_axis(info.quantization.axis);
}

void SetFunction(const runtime::ModelMetadata& metadata, const runtime::FunctionInfoView& from,
                 proto::Function* to) {
  to->set_name(std::string(from.function_name()));
  for (const runtime::ParameterInfoView& parameter : from.params()) {
    SetParameter(metadata, parameter, to->add_parameters());
  }
  to->set_num_inputs(static_cast<int32_t>(from.inputs().size()));
  to->set_num_outputs(static_cast<int32_t>(from.outputs().size()));
  to->set_workspace_size_bytes(from.workspace_size_bytes());
  to->set_io_size_bytes(from.io_size_bytes());
  to->set_constant_size_bytes(from.constant_size_bytes());
  SetDevice(metadata, from.device(), to->mutable_device());
  to->set_op_names(std::string(from.op_names()));
  to->set_source(std::string(from.source()));
  to->set_schedule(std::string(from.schedule()));
  to->set_module_type(std::string(from.module_type()));
  if (const ::CostInfo* cost = from.cost(); cost != nullptr) {
    to->mutable_cost()->set_operations(cost->operations);
    to->mutable_cost()->set_accessed_bytes(cost->accessed_bytes);
  }
  for (const ::LaunchParameterInfo& parameter : from.launch_params()) {
    proto::LaunchParameter& launch = *to->add_launch_parameters();
    launch.set_name(parameter.name);
    launch.set_value(parameter.value);
  }
}

void SetPool(const ::PoolInfo& from, proto::Pool* to) {
  to->set_name(from.name);
  to->set_kind(from.kind == KILN_POOL_CONSTANT ? proto::Pool::CONSTANT : proto::Pool::WORKSPACE);
  to->set_size_bytes(from.size_bytes);
  to->set_alignment_bytes(from.alignment_bytes);
  to->set_lower_bound_bytes(from.lower_bound_bytes);
  to->set_external(from.external != 0);
  to->set_limit_bytes(from.limit_bytes);
  to->set_speed(from.speed);
  for (int32_t i = 0; i < from.num_buffers; ++i) {
    const ::PoolBufferInfo& buffer = from.buffers[i];
    proto::PoolBuffer& placed = *to->add_buffers();
    placed.set_name(buffer.name);
    placed.set_offset_bytes(buffer.offset_bytes);
    placed.set_size_bytes(buffer.size_bytes);
    placed.set_first_call(buffer.first_call);
    placed.set_last_call(buffer.last_call);
  }
}

void SetOrigin(const ::OriginInfo& from, proto::Origin* to) {
  to->set_compiler(from.compiler);
  to->set_model_sha256(from.model_sha256);
  to->set_options_sha256(from.options_sha256);
  for (int32_t i = 0; i < from.num_properties; ++i) {
    proto::Property& property = *to->add_properties();
    property.set_key(from.properties[i].key);
    property.set_value(from.properties[i].value);
  }
}

}  // namespace

proto::Metadata MetadataOf(const runtime::ModelMetadata& from) {
  proto::Metadata metadata;
  metadata.set_version(from.version());
  metadata.set_module_name(std::string(from.module_name()));
  metadata.set_executor(std::string(from.executor()));
  metadata.set_runtime(std::string(from.runtime()));
  metadata.set_interface_api(std::string(from.interface_api()));
  metadata.set_calling_convention(std::string(from.calling_convention()));
  metadata.set_target(std::string(from.target()));
  metadata.set_cpu(std::string(from.cpu()));
  for (const char* const feature : from.cpu_features()) metadata.add_cpu_features(feature);
  if (const ::OriginInfo* const origin = from.origin(); origin != nullptr) {
    SetOrigin(*origin, metadata.mutable_origin());
  }
  for (int32_t i = 0; i < from.num_functions(); ++i) {
    SetFunction(from, from.function(i), metadata.add_functions());
  }
  for (const ::DeviceInfo& device : from.devices()) {
    SetDevice(from, device.device, metadata.add_devices());
  }
  for (const char* const variant : from.cpu_variants()) metadata.add_cpu_variants(variant);
  for (const ::PoolInfo& pool : from.pools()) SetPool(pool, metadata.add_pools());
  for (const ::StateInfo& state : from.states()) {
    proto::State& added = *metadata.add_states();
    for (const proto::Parameter& parameter : metadata.functions(0).parameters()) {
      if (parameter.relay_name_hint() == state.input) *added.mutable_tensor() = parameter;
    }
    added.set_initial_value(state.initial_value);
    added.set_output(state.output);
    added.set_is_in_place(state.is_in_place != 0);
  }
  return metadata;
}

}  // namespace kiln::tools
