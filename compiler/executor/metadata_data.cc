// SPDX-License-Identifier: Apache-2.0
// The metadata as C structs: kiln/metadata.h and tvm/runtime/metadata_types.h.
#include "absl/strings/str_cat.h"
#include "compiler/base/dtype.h"
#include "compiler/base/module_prefix.h"
#include "compiler/executor/data_adder.h"
#include "compiler/executor/describe.h"

namespace kiln {
namespace {

using loop::DataValue;

constexpr char kKilnHeader[] = "kiln/metadata.h";
constexpr char kTvmHeader[] = "tvm/runtime/metadata_types.h";
constexpr int kTvmMetadataVersion = 1;

DataValue DlDataTypeOf(const std::string& spelling) {
  return DlDataType(DType::Parse(spelling).value_or(DType()));
}

DataValue DlDevice(const proto::Device& device) {
  return DataValue::Struct(
      {DataValue::Int(32, device.device_type()), DataValue::Int(32, device.device_id())});
}

DataValue QuantizationData(const proto::Parameter& parameter, const std::string& name,
                           DataAdder& add) {
  if (!parameter.has_quantization()) return DataValue::Null();
  const proto::Quantization& q = parameter.quantization();
  std::vector<DataValue> scales, zero_points;
  for (float scale : q.scales()) scales.push_back(DataValue::Real(32, scale));
  for (int32_t zero : q.zero_points()) zero_points.push_back(DataValue::Int(32, zero));
  const DataValue scale_array = add.Array(name + "_scales", "float", std::move(scales));
  const DataValue zero_array = add.Array(name + "_zero_points", "int32_t", std::move(zero_points));
  return add.Define(name + "_quantization", "struct QuantizationInfo",
                    DataValue::Struct({scale_array, zero_array, DataValue::Int(32, q.scales_size()),
                                       DataValue::Int(32, q.axis())}));
}

DataValue LaunchData(const proto::Function& function, const std::string& name, DataAdder& add) {
  std::vector<DataValue> launch;
  for (const proto::LaunchParameter& p : function.launch_parameters()) {
    launch.push_back(
        DataValue::Struct({DataValue::String(p.name()), DataValue::Int(64, p.value())}));
  }
  return add.Array(name + "_launch_params", "struct LaunchParameterInfo", std::move(launch));
}

// `schedules`: includes the description of the schedule.
DataValue FunctionData(const proto::Function& function, const std::string& name, bool schedules,
                       DataAdder& add) {
  std::vector<DataValue> params;
  for (int i = 0; i < function.parameters_size(); ++i) {
    const proto::Parameter& p = function.parameters(i);
    const std::string id = absl::StrCat(name, "_param", i);
    const DataValue shape = add.IntArray(id + "_shape", 64, p.shape());
    const DataValue quantization = QuantizationData(p, id, add);
    params.push_back(DataValue::Struct(
        {DataValue::String(p.relay_name_hint()), DataValue::String(p.tir_name_hint()), shape,
         DataValue::Int(32, p.shape_size()), DlDataTypeOf(p.dtype()), DlDevice(p.target_device()),
         DataValue::Int(64, p.size_bytes()), quantization}));
  }
  const DataValue array = add.Array(name + "_params", "struct ParameterInfo", std::move(params));
  return DataValue::Struct(
      {DataValue::String(function.name()), array, DataValue::Int(32, function.parameters_size()),
       DataValue::Int(32, function.num_inputs()), DataValue::Int(32, function.num_outputs()),
       DataValue::Int(64, function.workspace_size_bytes()),
       DataValue::Int(64, function.io_size_bytes()),
       DataValue::Int(64, function.constant_size_bytes()), DlDevice(function.device()),
       DataValue::String(function.op_names()), DataValue::String(function.source()),
       schedules ? DataValue::String(function.schedule()) : DataValue::Null(),
       DataValue::String(function.module_type()), LaunchData(function, name, add),
       DataValue::Int(32, function.launch_parameters_size())});
}

DataValue CostData(const proto::Function& function) {
  const bool known = function.has_cost();
  return DataValue::Struct({DataValue::Int(64, known ? function.cost().operations() : -1),
                            DataValue::Int(64, known ? function.cost().accessed_bytes() : -1)});
}

DataValue PoolData(const proto::Pool& pool, const std::string& name, DataAdder& add) {
  std::vector<DataValue> buffers;
  for (const proto::PoolBuffer& b : pool.buffers()) {
    buffers.push_back(
        DataValue::Struct({DataValue::String(b.name()), DataValue::Int(64, b.offset_bytes()),
                           DataValue::Int(64, b.size_bytes()), DataValue::Int(32, b.first_call()),
                           DataValue::Int(32, b.last_call())}));
  }
  const DataValue array = add.Array(name + "_buffers", "struct PoolBufferInfo", std::move(buffers));
  return DataValue::Struct(
      {DataValue::String(pool.name()), DataValue::Int(64, pool.size_bytes()),
       DataValue::Int(64, pool.alignment_bytes()), DataValue::Int(32, pool.kind()),
       DataValue::Int(32, pool.buffers_size()), DataValue::Int(64, pool.lower_bound_bytes()), array,
       DataValue::Int(32, pool.external() ? 1 : 0), DataValue::Int(64, pool.limit_bytes()),
       DataValue::Real(64, pool.speed())});
}

template <typename Texts>
DataValue TextArray(const std::string& name, const Texts& texts, DataAdder& add) {
  std::vector<DataValue> values;
  for (const std::string& text : texts) values.push_back(DataValue::String(text));
  return add.Array(name, "const char*", std::move(values));
}

DataValue OriginData(const proto::Origin& origin, DataAdder& add) {
  std::vector<DataValue> properties;
  for (const proto::Property& property : origin.properties()) {
    properties.push_back(DataValue::Struct(
        {DataValue::String(property.key()), DataValue::String(property.value())}));
  }
  const DataValue array = add.Array("properties", "struct PropertyInfo", std::move(properties));
  return add.Define("origin", "struct OriginInfo",
                    DataValue::Struct({DataValue::String(origin.compiler()),
                                       DataValue::String(origin.model_sha256()),
                                       DataValue::String(origin.options_sha256()), array,
                                       DataValue::Int(32, origin.properties_size())}));
}

DataValue DeviceData(const proto::Device& device) {
  return DataValue::Struct(
      {DlDevice(device), DataValue::String(device.name()), DataValue::String(device.program())});
}

// True if the model's entry function takes the memory of the pool as a parameter: the application's
// pools, and the workspace that the C++ runtime allocates. Other pools are static memory of the
// module.
bool IsEntryParameter(const proto::Metadata& metadata, const proto::Pool& pool) {
  if (pool.kind() != proto::Pool::WORKSPACE) return false;
  return pool.external() || (metadata.runtime() == "cpp" && pool.size_bytes() > 0);
}

}  // namespace

void AddModelMetadata(const proto::Metadata& metadata, const std::string& getter, bool packed,
                      loop::LoopProgram& program) {
  const std::string prefix = ModulePrefix(metadata.module_name());
  DataAdder add(prefix + "_metadata", kKilnHeader, program);
  // Without an operating system, constants take a microcontroller's memory. So the C runtime's
  // metadata lacks schedules, costs, CPU features and the origin.
  const bool complete = metadata.runtime() == "cpp";
  std::vector<DataValue> functions, pools, devices, costs;
  for (const proto::Device& device : metadata.devices()) devices.push_back(DeviceData(device));
  for (int i = 0; i < metadata.functions_size(); ++i) {
    const proto::Function& function = metadata.functions(i);
    functions.push_back(FunctionData(function, absl::StrCat("function", i), complete, add));
    if (complete) costs.push_back(CostData(function));
  }
  for (int i = 0; i < metadata.pools_size(); ++i) {
    pools.push_back(PoolData(metadata.pools(i), absl::StrCat("pool", i), add));
  }
  const DataValue function_array =
      add.Array("functions", "struct FunctionInfo", std::move(functions));
  const DataValue pool_array = add.Array("pools", "struct PoolInfo", std::move(pools));
  const DataValue variant_array = TextArray("cpu_variants", metadata.cpu_variants(), add);
  std::vector<DataValue> states;
  for (const proto::State& state : metadata.states()) {
    states.push_back(DataValue::Struct({DataValue::String(state.tensor().relay_name_hint()),
                                        DataValue::String(state.output()),
                                        DataValue::Real(64, state.initial_value()),
                                        DataValue::Int(32, state.is_in_place() ? 1 : 0)}));
  }
  const DataValue state_array = add.Array("states", "struct StateInfo", std::move(states));
  const DataValue device_array = add.Array("devices", "struct DeviceInfo", std::move(devices));
  const DataValue cost_array = add.Array("costs", "struct CostInfo", std::move(costs));
  const DataValue cpu = complete ? DataValue::String(metadata.cpu()) : DataValue::Null();
  const DataValue feature_array =
      complete ? TextArray("cpu_features", metadata.cpu_features(), add) : DataValue::Null();
  const DataValue origin = complete ? OriginData(metadata.origin(), add) : DataValue::Null();
  add.Define("root", "struct Metadata",
             DataValue::Struct({DataValue::Int(32, metadata.version()),
                                DataValue::String(metadata.module_name()),
                                DataValue::String(metadata.executor()),
                                DataValue::String(metadata.runtime()),
                                DataValue::String(metadata.interface_api()),
                                DataValue::String(metadata.calling_convention()),
                                DataValue::String(metadata.target()),
                                function_array,
                                DataValue::Int(32, metadata.functions_size()),
                                pool_array,
                                DataValue::Int(32, metadata.pools_size()),
                                device_array,
                                DataValue::Int(32, metadata.devices_size()),
                                cost_array,
                                variant_array,
                                DataValue::Int(32, metadata.cpu_variants_size()),
                                state_array,
                                DataValue::Int(32, metadata.states_size()),
                                cpu,
                                feature_array,
                                DataValue::Int(32, complete ? metadata.cpu_features_size() : 0),
                                origin}));
  program.getters.push_back(
      {.name = getter, .data_symbol = absl::StrCat(prefix, "_metadata_root"), .packed = packed});
}

void AddTvmMetadata(const proto::Metadata& metadata, const std::string& getter,
                    loop::LoopProgram& program) {
  const std::string prefix = ModulePrefix(metadata.module_name());
  DataAdder add(prefix + "_tvm_metadata", kTvmHeader, program);
  const proto::Function& main = metadata.functions(0);
  std::vector<DataValue> inputs, outputs, pools;
  for (int i = 0; i < main.parameters_size(); ++i) {
    const proto::Parameter& p = main.parameters(i);
    const bool input = i < main.num_inputs();
    // This format names outputs output0, output1, …, independent of the model's names.
    const std::string name =
        input ? p.tir_name_hint() : absl::StrCat("output", i - main.num_inputs());
    const DataValue shape = add.IntArray(absl::StrCat("param", i, "_shape"), 64, p.shape());
    (input ? inputs : outputs)
        .push_back(
            DataValue::Struct({DataValue::String(name), shape, DataValue::Int(64, p.shape_size()),
                               DlDataTypeOf(p.dtype())}));
  }
  for (const proto::Pool& pool : metadata.pools()) {
    if (!IsEntryParameter(metadata, pool)) continue;
    const DataValue shape = add.IntArray(absl::StrCat("pool", pools.size(), "_shape"), 64,
                                         std::vector<int64_t>{pool.size_bytes()});
    pools.push_back(DataValue::Struct(
        {DataValue::String(pool.name()), shape, DataValue::Int(64, 1), DlDataTypeOf("uint8")}));
  }
  const int64_t counts[] = {static_cast<int64_t>(inputs.size()),
                            static_cast<int64_t>(outputs.size()),
                            static_cast<int64_t>(pools.size())};
  const DataValue input_array = add.Array("inputs", "struct TVMTensorInfo", std::move(inputs));
  const DataValue output_array = add.Array("outputs", "struct TVMTensorInfo", std::move(outputs));
  const DataValue pool_array = add.Array("pools", "struct TVMTensorInfo", std::move(pools));
  add.Define(
      "root", "struct TVMMetadata",
      DataValue::Struct({DataValue::Int(64, kTvmMetadataVersion), input_array,
                         DataValue::Int(64, counts[0]), output_array, DataValue::Int(64, counts[1]),
                         pool_array, DataValue::Int(64, counts[2]), DataValue::Null(),
                         DataValue::Int(64, 0), DataValue::String(prefix)}));
  program.getters.push_back(
      {.name = getter, .data_symbol = absl::StrCat(prefix, "_tvm_metadata_root"), .packed = true});
}

}  // namespace kiln
