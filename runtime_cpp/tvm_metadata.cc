// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/tvm_metadata.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime_cpp/bytes.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/graph_table.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

constexpr int64_t kMaxTensors = 1 << 20;  // Maximum per list; longer lists indicate damage.
constexpr char kPrefix[] = "tvmgen_";
constexpr char kMainSuffix[] = "___tvm_main__";

// A description that owns all that it points to.
class Description {
 public:
  Description(std::string module_name, const char* executor, const char* calling_convention) {
    metadata_.version = KILN_METADATA_VERSION;
    metadata_.module_name = Keep(std::move(module_name));
    metadata_.executor = executor;
    metadata_.runtime = "cpp";
    metadata_.interface_api = "packed";
    metadata_.calling_convention = calling_convention;
    metadata_.target = kUnknownTarget;
    metadata_.devices = &kDevice;
    metadata_.num_devices = 1;
  }

  const char* Keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

  absl::StatusOr<::ParameterInfo> Parameter(const char* name, std::vector<int64_t> shape,
                                            DLDataType dtype) {
    KILN_ASSIGN_OR_RETURN(const int64_t bytes, TensorBytes(shape, dtype));
    const std::vector<int64_t>& kept = shapes_.emplace_back(std::move(shape));
    return ::ParameterInfo{.relay_name_hint = name,
                           .tir_name_hint = name,
                           .shape = kept.data(),
                           .ndim = static_cast<int32_t>(kept.size()),
                           .dtype = dtype,
                           .target_device = kCpu,
                           .size_bytes = bytes,
                           .quantization = nullptr};
  }

  ::FunctionInfo& AddFunction(const char* name, std::vector<::ParameterInfo> params,
                              size_t num_inputs) {
    const std::vector<::ParameterInfo>& kept = params_.emplace_back(std::move(params));
    ::FunctionInfo function = {};
    function.function_name = name;
    function.params = kept.data();
    function.num_params = static_cast<int32_t>(kept.size());
    function.num_inputs = static_cast<int32_t>(num_inputs);
    function.num_outputs = function.num_params - function.num_inputs;
    for (const ::ParameterInfo& parameter : kept) function.io_size_bytes += parameter.size_bytes;
    function.device = kCpu;
    function.module_type = "library";
    return functions_.emplace_back(function);
  }

  void AddPool(const char* name, int32_t kind, int64_t bytes,
               std::vector<::PoolBufferInfo> buffers) {
    const std::vector<::PoolBufferInfo>& kept = buffers_.emplace_back(std::move(buffers));
    ::PoolInfo pool = {};
    pool.name = name;
    pool.kind = kind;
    pool.size_bytes = bytes;
    pool.alignment_bytes = kTensorAlignment;
    pool.buffers = kept.data();
    pool.num_buffers = static_cast<int32_t>(kept.size());
    pool.limit_bytes = -1;
    pool.speed = 1;
    pools_.push_back(pool);
  }

  static std::shared_ptr<const ::Metadata> Finish(std::shared_ptr<Description> description) {
    ::Metadata& metadata = description->metadata_;
    metadata.functions = description->functions_.data();
    metadata.num_functions = static_cast<int32_t>(description->functions_.size());
    metadata.pools = description->pools_.data();
    metadata.num_pools = static_cast<int32_t>(description->pools_.size());
    return {std::move(description), &metadata};
  }

 private:
  static constexpr ::DeviceInfo kDevice = {.device = kCpu, .name = "cpu", .program = ""};

  // Deques, so that addresses of elements stay valid.
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> shapes_;
  std::deque<std::vector<::ParameterInfo>> params_;
  std::deque<std::vector<::PoolBufferInfo>> buffers_;
  std::vector<::FunctionInfo> functions_;
  std::vector<::PoolInfo> pools_;
  ::Metadata metadata_ = {};
};

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("get_c_metadata: ", what));
}

template <typename T>
absl::Status CheckList(const T* list, int64_t count, const char* what) {
  if (count < 0 || count > kMaxTensors || (count > 0 && list == nullptr)) {
    return Damaged(absl::StrCat(count, " ", what));
  }
  return absl::OkStatus();
}

absl::Status CheckTensors(const TVMTensorInfo* tensors, int64_t count, const char* what) {
  KILN_RETURN_IF_ERROR(CheckList(tensors, count, what));
  for (int64_t i = 0; i < count; ++i) {
    const TVMTensorInfo& tensor = tensors[i];
    if (tensor.name == nullptr) return Damaged(absl::StrCat(what, ": one has no name"));
    if (tensor.num_shape < 0 || tensor.num_shape > kMaxNdim ||
        (tensor.num_shape > 0 && tensor.shape == nullptr)) {
      return Damaged(absl::StrCat("'", tensor.name, "' has ", tensor.num_shape, " dimensions"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTvmMetadata(const TVMMetadata* metadata) {
  if (metadata == nullptr) return Damaged("no metadata");
  if (metadata->version != TVM_METADATA_VERSION) {
    return absl::FailedPreconditionError(absl::StrCat(
        "get_c_metadata: found version ", metadata->version, ", wanted ", TVM_METADATA_VERSION));
  }
  if (metadata->mod_name == nullptr) return Damaged("the module has no name");
  KILN_RETURN_IF_ERROR(CheckTensors(metadata->inputs, metadata->num_inputs, "inputs"));
  KILN_RETURN_IF_ERROR(CheckTensors(metadata->outputs, metadata->num_outputs, "outputs"));
  KILN_RETURN_IF_ERROR(
      CheckTensors(metadata->workspace_pools, metadata->num_workspace_pools, "workspace pools"));
  KILN_RETURN_IF_ERROR(
      CheckList(metadata->constant_pools, metadata->num_constant_pools, "constants"));
  for (int64_t i = 0; i < metadata->num_constant_pools; ++i) {
    const TVMConstantInfo& constant = metadata->constant_pools[i];
    if (constant.name_hint == nullptr || constant.data_bytes == nullptr ||
        constant.byte_offset < 0 || constant.byte_offset > kMaxTensorBytes ||
        constant.data_len < 0 || constant.data_len > kMaxTensorBytes) {
      return Damaged(absl::StrCat("constant ", i, " has no name or no place"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> PoolBytes(const TVMTensorInfo& pool) {
  return TensorBytes({pool.shape, static_cast<size_t>(pool.num_shape)}, pool.dtype);
}

// Loads a constant, which is the byte form of an array.
absl::StatusOr<NDArray> LoadConstant(const TVMConstantInfo& constant) {
  ByteReader reader(
      {static_cast<const char*>(constant.data_bytes), static_cast<size_t>(constant.data_len)},
      constant.name_hint);
  return NDArray::Load(reader);
}

}  // namespace

absl::StatusOr<const TVMMetadata*> FindTvmMetadata(const Module& module) {
  const PackedFunc getter = module.node()->FindFunctionInTree("get_c_metadata");
  if (!getter.defined()) return nullptr;
  KILN_ASSIGN_OR_RETURN(const Value value, getter());
  KILN_ASSIGN_OR_RETURN(void* const handle, value.OpaqueHandle());
  const auto* const metadata = static_cast<const TVMMetadata*>(handle);
  KILN_RETURN_IF_ERROR(CheckTvmMetadata(metadata));
  return metadata;
}

absl::StatusOr<std::shared_ptr<const ::Metadata>> DescribeTvmModel(const TVMMetadata& metadata) {
  const std::string name(absl::StripPrefix(metadata.mod_name, kPrefix));
  // This is the only convention of this ABI for the C++ runtime.
  auto description = std::make_shared<Description>(name, "aot", "cpacked");
  std::vector<::ParameterInfo> params;
  const auto add = [&](const TVMTensorInfo* tensors, int64_t count) -> absl::Status {
    for (int64_t i = 0; i < count; ++i) {
      const TVMTensorInfo& tensor = tensors[i];
      KILN_ASSIGN_OR_RETURN(
          params.emplace_back(),
          description->Parameter(tensor.name, {tensor.shape, tensor.shape + tensor.num_shape},
                                 tensor.dtype));
    }
    return absl::OkStatus();
  };
  KILN_RETURN_IF_ERROR(add(metadata.inputs, metadata.num_inputs));
  KILN_RETURN_IF_ERROR(add(metadata.outputs, metadata.num_outputs));
  ::FunctionInfo& main =
      description->AddFunction(description->Keep(absl::StrCat(metadata.mod_name, kMainSuffix)),
                               std::move(params), static_cast<size_t>(metadata.num_inputs));
  for (int64_t i = 0; i < metadata.num_workspace_pools; ++i) {
    KILN_ASSIGN_OR_RETURN(const int64_t bytes, PoolBytes(metadata.workspace_pools[i]));
    description->AddPool(metadata.workspace_pools[i].name, KILN_POOL_WORKSPACE, bytes, {});
    main.workspace_size_bytes += bytes;
  }
  std::vector<::PoolBufferInfo> constants;
  int64_t constant_bytes = 0;
  for (int64_t i = 0; i < metadata.num_constant_pools; ++i) {
    const TVMConstantInfo& constant = metadata.constant_pools[i];
    KILN_ASSIGN_OR_RETURN(const NDArray array, LoadConstant(constant));
    constants.push_back({.name = constant.name_hint,
                         .offset_bytes = constant.byte_offset,
                         .size_bytes = array.size_bytes(),
                         .first_call = 0,
                         .last_call = 0});
    constant_bytes = std::max(constant_bytes, constant.byte_offset + array.size_bytes());
    main.constant_size_bytes += array.size_bytes();
  }
  if (!constants.empty()) {
    description->AddPool("constants", KILN_POOL_CONSTANT, constant_bytes, std::move(constants));
  }
  return Description::Finish(std::move(description));
}

absl::StatusOr<std::shared_ptr<const ::Metadata>> DescribeGraph(const std::string& module_name,
                                                                absl::string_view graph_json) {
  KILN_ASSIGN_OR_RETURN(const GraphTable table, ParseGraphTable(graph_json));
  auto description = std::make_shared<Description>(module_name, "graph", "packed");
  const auto parameter = [&](std::string name, size_t entry) {
    return description->Parameter(description->Keep(std::move(name)), table.entries[entry].shape,
                                  table.entries[entry].dtype);
  };
  std::vector<::ParameterInfo> params;
  for (const size_t argument : table.arguments) {
    const GraphNode& node = table.nodes[argument];
    KILN_ASSIGN_OR_RETURN(params.emplace_back(), parameter(node.name, node.first_entry));
  }
  for (size_t i = 0; i < table.heads.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(params.emplace_back(),
                          parameter(absl::StrCat("output", i), table.heads[i]));
  }
  description->AddFunction("", std::move(params), table.arguments.size());
  std::set<std::string> described;
  for (const GraphNode& node : table.nodes) {
    if (node.is_argument || node.func_name == kNopFunction || node.func_name == kCopyFunction ||
        !described.insert(node.func_name).second) {
      continue;
    }
    std::vector<::ParameterInfo> tensors;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      KILN_ASSIGN_OR_RETURN(tensors.emplace_back(),
                            parameter(absl::StrCat("input", i), node.inputs[i]));
    }
    for (size_t i = 0; i < node.num_outputs; ++i) {
      KILN_ASSIGN_OR_RETURN(tensors.emplace_back(),
                            parameter(absl::StrCat("output", i), node.first_entry + i));
    }
    description->AddFunction(description->Keep(node.func_name), std::move(tensors),
                             node.inputs.size());
  }
  return Description::Finish(std::move(description));
}

absl::StatusOr<TvmPools> PoolsOf(const TVMMetadata& metadata) {
  TvmPools pools;
  for (int64_t i = 0; i < metadata.num_workspace_pools; ++i) {
    KILN_ASSIGN_OR_RETURN(pools.workspace_bytes.emplace_back(),
                          PoolBytes(metadata.workspace_pools[i]));
  }
  std::vector<std::pair<int64_t, NDArray>> constants;
  int64_t bytes = 0;
  for (int64_t i = 0; i < metadata.num_constant_pools; ++i) {
    const int64_t offset = metadata.constant_pools[i].byte_offset;
    KILN_ASSIGN_OR_RETURN(NDArray array, LoadConstant(metadata.constant_pools[i]));
    bytes = std::max(bytes, offset + array.size_bytes());
    constants.emplace_back(offset, std::move(array));
  }
  KILN_ASSIGN_OR_RETURN(pools.constants, NDArray::Empty({bytes}, DLDataType{kDLUInt, 8, 1}));
  for (const auto& [offset, array] : constants) {
    memcpy(static_cast<char*>(pools.constants.data()) + offset, array.data(),
           static_cast<size_t>(array.size_bytes()));
  }
  return pools;
}

}  // namespace kiln::runtime
