// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/shared/answers.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime::c_api {
namespace {

absl::Status CheckIndex(absl::string_view what, int32_t index, size_t count) {
  if (index >= 0 && static_cast<size_t>(index) < count) return absl::OkStatus();
  return absl::OutOfRangeError(
      absl::StrCat("found ", what, " ", index, ", wanted 0 to ", static_cast<int64_t>(count) - 1));
}

absl::Status CheckSize(size_t struct_size, absl::string_view type) {
  if (struct_size >= sizeof(struct_size)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("found struct_size ", struct_size, ", wanted sizeof(", type, ")"));
}

absl::Status CheckInfo(absl::string_view what, int32_t index, size_t count, size_t struct_size,
                       absl::string_view type) {
  KILN_RETURN_IF_ERROR(CheckIndex(what, index, count));
  return CheckSize(struct_size, type);
}

}  // namespace

absl::Status ReturnInfo(const std::vector<TensorInfo>& infos, absl::string_view what, int32_t index,
                        KilnTensorInfo* result) {
  const size_t size = result->struct_size;
  KILN_RETURN_IF_ERROR(CheckInfo(what, index, infos.size(), size, "KilnTensorInfo"));
  const TensorInfo& info = infos[static_cast<size_t>(index)];
  KilnTensorInfo known = {};
  known.struct_size = size;
  known.name = info.name.c_str();
  known.shape = info.shape.data();
  known.ndim = static_cast<int32_t>(info.shape.size());
  known.dtype = info.dtype;
  known.device = info.device;
  known.size_bytes = info.size_bytes;
  known.alignment_bytes = info.alignment_bytes;
  known.scales = info.quantization.scales.data();
  known.zero_points = info.quantization.zero_points.data();
  known.num_scales = static_cast<int32_t>(info.quantization.scales.size());
  known.quantized_axis = info.quantization.axis;
  std::memcpy(result, &known, std::min(size, sizeof(known)));
  return absl::OkStatus();
}

absl::Status ReturnState(const std::vector<StateTensor>& states, int32_t index,
                         KilnStateInfo* result) {
  KILN_RETURN_IF_ERROR(
      CheckInfo("state", index, states.size(), result->struct_size, "KilnStateInfo"));
  const StateTensor& state = states[static_cast<size_t>(index)];
  KilnStateInfo known = {};
  known.struct_size = result->struct_size;
  known.input = state.input.c_str();
  known.output = state.output.c_str();
  known.initial_value = state.initial_value;
  known.is_in_place = state.is_in_place ? 1 : 0;
  std::memcpy(result, &known, std::min(known.struct_size, sizeof(known)));
  return absl::OkStatus();
}

absl::Status ReturnOrigin(const ModelOrigin& origin, KilnOrigin* result) {
  const size_t size = result->struct_size;
  KILN_RETURN_IF_ERROR(CheckSize(size, "KilnOrigin"));
  KilnOrigin known = {};
  known.struct_size = size;
  known.compiler = origin.compiler.c_str();
  known.model_sha256 = origin.model_sha256.c_str();
  known.options_sha256 = origin.options_sha256.c_str();
  known.num_properties = static_cast<int32_t>(origin.properties.size());
  std::memcpy(result, &known, std::min(size, sizeof(known)));
  return absl::OkStatus();
}

absl::Status ReturnProperty(const ModelOrigin& origin, int32_t index, const char** key,
                            const char** value) {
  KILN_RETURN_IF_ERROR(CheckIndex("property", index, origin.properties.size()));
  const auto& property = origin.properties[static_cast<size_t>(index)];
  *key = property.first.c_str();
  *value = property.second.c_str();
  return absl::OkStatus();
}

}  // namespace kiln::runtime::c_api
