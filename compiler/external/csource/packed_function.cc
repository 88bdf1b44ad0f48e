// SPDX-License-Identifier: Apache-2.0
#include "compiler/external/csource/packed_function.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln::csource {
namespace {

constexpr char kCheck[] = R"(
/* Takes the address of a compact tensor on the CPU out of an argument; 0 where it is another. */
static int csource_data(const TVMValue* value, int type_code, uint8_t code, int32_t ndim,
                        const int64_t* shape, void** data) {
  const DLTensor* tensor = (const DLTensor*)value->v_handle;
  int64_t stride = 1;
  if ((type_code != kTVMDLTensorHandle && type_code != kTVMNDArrayHandle &&
       type_code != kTVMOpaqueHandle) || tensor == NULL) {
    return 0;
  }
  if (tensor->ndim != ndim || tensor->dtype.code != code || tensor->dtype.bits != 32 ||
      tensor->dtype.lanes != 1 || tensor->device.device_type != kDLCPU) {
    return 0;
  }
  for (int32_t i = ndim - 1; i >= 0; --i) {
    if (tensor->shape[i] != shape[i]) return 0;
    if (tensor->strides != NULL && shape[i] != 1 && tensor->strides[i] != stride) return 0;
    stride *= shape[i];
  }
  *data = (char*)tensor->data + tensor->byte_offset;
  return 1;
}
)";

const char* LastError(bool loader_pointers) {
  return loader_pointers ? "__TVMAPISetLastError" : "TVMAPISetLastError";
}

}  // namespace

std::string PackedPrologue(bool loader_pointers) {
  std::string text = "#include <stddef.h>\n\n#include \"tvm/runtime/c_backend_api.h\"\n";
  if (loader_pointers) {
    // The model's own code may define it, too.
    absl::StrAppend(&text,
                    "\n__attribute__((weak)) void (*__TVMAPISetLastError)(const char* message);\n");
  }
  return absl::StrCat(text, kCheck);
}

std::string WritePackedFunction(const Graph& body, const std::string& name,
                                const std::string& body_name, bool loader_pointers) {
  const std::string signature = absl::StrCat(
      "int ", name,
      "(TVMValue* args, int* type_codes, int num_args, TVMValue* ret_value, int* ret_type_code,\n"
      "    void* resource_handle)");
  std::vector<ValueId> values = body.inputs;
  values.insert(values.end(), body.outputs.begin(), body.outputs.end());
  const std::string fail = absl::StrCat(LastError(loader_pointers), "(\"", name, ": ");
  std::string text = absl::StrCat(signature, ";\n", signature, " {\n");
  std::string checks, addresses;
  for (size_t i = 0; i < values.size(); ++i) {
    const TensorType& type = body.type(values[i]);
    absl::StrAppend(&text, "  static const int64_t shape", i, "[",
                    std::max<size_t>(1, type.shape.size()), "] = {",
                    type.shape.empty() ? "0" : absl::StrJoin(type.shape, ", "), "};\n");
    absl::StrAppend(&checks, "  if (!csource_data(&args[", i, "], type_codes[", i, "], ",
                    type.dtype.is_float() ? "kDLFloat" : "kDLInt", ", ", type.rank(), ", shape", i,
                    ", &data[", i, "])) {\n    ", fail, "argument ", i, ": wanted a compact ",
                    type.dtype.ToString(), " tensor of shape ", ShapeToString(type.shape),
                    " on the CPU\");\n    return -1;\n  }\n");
    absl::StrAppend(&addresses, i == 0 ? "" : ", ", "data[", i, "]");
  }
  return absl::StrCat(text, "  void* data[", values.size(), "];\n",
                      "  (void)ret_value;\n  (void)ret_type_code;\n  (void)resource_handle;\n",
                      "  if (num_args != ", values.size(), ") {\n    ", fail, "wanted ",
                      values.size(), " arguments\");\n    return -1;\n  }\n", checks, "  return ",
                      body_name, "(", addresses, ");\n}\n");
}

}  // namespace kiln::csource
