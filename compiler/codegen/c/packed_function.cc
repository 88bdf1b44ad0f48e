// SPDX-License-Identifier: Apache-2.0
// Packed functions: the wrapper around the body that checks and unpacks the arguments.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c/analysis.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/helpers.h"
#include "compiler/codegen/c/literals.h"

namespace kiln::codegen {

using loop::Buffer;
using loop::Func;

const char kPackedParameters[] =
    "TVMValue* args, int* type_codes, int num_args, TVMValue* ret_value, int* ret_type_code, void* "
    "resource_handle";

namespace {

// `$0`: TVMAPISetLastError, or the pointer to it.
constexpr char kFail[] =
    "/* Leaves \"function: argument 'argument' problem wanted\" as the last error. */\n"
    "static int kiln_fail(const char* function, const char* argument, const char* problem, const "
    "char* wanted) {\n"
    "  const char* parts[6];\n"
    "  char text[256];\n"
    "  size_t size = 0;\n"
    "  int i;\n"
    "  parts[0] = function;\n"
    "  parts[1] = argument[0] == '\\0' ? \": \" : \": argument '\";\n"
    "  parts[2] = argument;\n"
    "  parts[3] = argument[0] == '\\0' ? \"\" : \"' \";\n"
    "  parts[4] = problem;\n"
    "  parts[5] = wanted;\n"
    "  for (i = 0; i < 6; ++i) {\n"
    "    const char* c;\n"
    "    for (c = parts[i]; *c != '\\0' && size < sizeof(text) - 1; ++c) text[size++] = *c;\n"
    "  }\n"
    "  text[size] = '\\0';\n"
    "  $0(text);\n"
    "  return -1;\n"
    "}\n\n";

constexpr char kCheck[] =
    "/* Takes the address of a compact tensor on the CPU out of an argument; leaves an error where "
    "it is none. With `shape` NULL, at least\n"
    "   `bytes` bytes of uint8. */\n"
    "static int kiln_check(const char* function, const char* argument, const char* wanted, const "
    "TVMValue* value, int type_code,\n"
    "                      int32_t ndim, uint8_t code, uint8_t bits, const int64_t* shape, int64_t "
    "bytes, void** address) {\n"
    "  const DLTensor* tensor;\n"
    "  int64_t stride = 1, elements = 1;\n"
    "  int32_t i;\n"
    "  if ((type_code != kTVMOpaqueHandle && type_code != kTVMNullptr && type_code != "
    "kTVMDLTensorHandle &&\n"
    "       type_code != kTVMNDArrayHandle) ||\n"
    "      value->v_handle == NULL) {\n"
    "    return kiln_fail(function, argument, \"is no tensor; wanted: \", wanted);\n"
    "  }\n"
    "  tensor = (const DLTensor*)value->v_handle;\n"
    "  if (tensor->ndim != ndim) return kiln_fail(function, argument, \"has another number of "
    "dimensions; wanted: \", wanted);\n"
    "  if (tensor->dtype.code != code || tensor->dtype.bits != bits || tensor->dtype.lanes != 1) "
    "{\n"
    "    return kiln_fail(function, argument, \"has another data type; wanted: \", wanted);\n"
    "  }\n"
    "  if (tensor->device.device_type != kDLCPU) return kiln_fail(function, argument, \"is not in "
    "memory of the CPU\", \"\");\n"
    "  for (i = 0; i < ndim; ++i) {\n"
    "    if (shape == NULL ? tensor->shape[i] < bytes : tensor->shape[i] != shape[i]) {\n"
    "      return kiln_fail(function, argument, \"has another shape; wanted: \", wanted);\n"
    "    }\n"
    "    elements *= shape == NULL ? bytes : shape[i];\n"
    "  }\n"
    "  for (i = ndim - 1; tensor->strides != NULL && elements != 0 && i >= 0; --i) {\n"
    "    const int64_t extent = shape == NULL ? bytes : shape[i];\n"
    "    if (extent != 1 && tensor->strides[i] != stride) return kiln_fail(function, argument, "
    "\"is not compact\", \"\");\n"
    "    stride *= extent;\n"
    "  }\n"
    "  *address = (void*)((char*)tensor->data + tensor->byte_offset);\n"
    "  return 0;\n"
    "}\n\n";

constexpr char kArgument[] =
    "/* Makes argument `value` of a packed call: the tensor at `data`. */\n"
    "static void kiln_argument(DLTensor* tensor, TVMValue* value, int* code, void* data, int32_t "
    "ndim, uint8_t dtype_code,\n"
    "                          uint8_t bits, const int64_t* shape) {\n"
    "  tensor->data = data;\n"
    "  tensor->device.device_type = kDLCPU;\n"
    "  tensor->device.device_id = 0;\n"
    "  tensor->ndim = ndim;\n"
    "  tensor->dtype.code = dtype_code;\n"
    "  tensor->dtype.bits = bits;\n"
    "  tensor->dtype.lanes = 1;\n"
    "  tensor->shape = (int64_t*)shape;\n"
    "  tensor->strides = NULL;\n"
    "  tensor->byte_offset = 0;\n"
    "  value->v_handle = tensor;\n"
    "  *code = kTVMDLTensorHandle;\n"
    "}\n\n";

}  // namespace

std::string ShapeInitializer(const Shape& shape) {
  return shape.empty() ? "{0}" : absl::StrCat("{", absl::StrJoin(shape, ", "), "}");
}

std::string DLDataTypeFields(DType dtype) {
  const int code = dtype.is_float() ? 2 : dtype.is_int() ? 0 : 1;
  return absl::StrCat(code, ", ", dtype.bits);
}

std::string PackedHelpers(CContext& context) {
  std::string result;
  if (context.uses_check_tensor) {
    const std::string fail = absl::Substitute(kFail, context.Runtime("TVMAPISetLastError"));
    absl::StrAppend(&result, OncePerUnit("kiln_fail", fail), OncePerUnit("kiln_check", kCheck));
  }
  if (context.uses_call_tensor) result.append(OncePerUnit("kiln_argument", kArgument));
  return result;
}

std::string PackedWrapper(CContext& context, const FuncInfo& info) {
  const Func& func = *info.func;
  context.uses_tvm_headers = true;
  context.uses_check_tensor = true;
  context.Runtime("TVMAPISetLastError");
  const std::string function = StringLiteral(func.name);
  const size_t n = func.params.size();
  const bool workspace_param = func.workspace != nullptr && !func.allocate_workspace;
  // Some loaders of this ABI pass a tensor of constant pools before the pools of the entry
  // function, so pools are counted from the end.
  const size_t num_pools = static_cast<size_t>(func.num_pools);
  const size_t num_args = n + (workspace_param ? 1 : 0);

  LineWriter out;
  out.Open(absl::StrCat(func.exported ? "TVM_DLL int " : "static int ", func.name, "(",
                        kPackedParameters, ") {"));
  for (size_t i = 0; i < n - num_pools; ++i) {
    const Shape& shape = func.params[i]->shape;
    out.Line(absl::StrCat("static const int64_t kiln_shape", i, "[",
                          std::max<size_t>(1, shape.size()), "] = ", ShapeInitializer(shape), ";"));
  }
  const bool takes_pointers = n > 0 || workspace_param || func.allocate_workspace;
  if (takes_pointers) out.Line(absl::StrCat("void* data[", n + 1, "] = {NULL};"));
  if (func.allocate_workspace) out.Line("int result, freed;");
  for (const char* unused : {"ret_value", "ret_type_code", "resource_handle"})
    out.Line(absl::StrCat("(void)", unused, ";"));
  if (num_args == 0) {
    out.Line("(void)args;");
    out.Line("(void)type_codes;");
  }
  const std::string with_pools =
      num_pools > 0 ? absl::StrCat(" && num_args != ", num_args + 1) : "";
  out.Line(absl::StrCat("if (num_args != ", num_args, with_pools, ") return kiln_fail(", function,
                        ", \"\", \"wrong number of arguments; wanted: \", \"", num_args, "\");"));
  const auto check = [&](const std::string& arg, size_t slot, const Buffer& buffer, bool at_least) {
    const std::string wanted =
        at_least ? absl::StrCat("uint8, at least ", buffer->num_bytes(), " bytes")
                 : absl::StrCat(buffer->dtype.ToString(), " ", ShapeToString(buffer->shape));
    out.Line(absl::StrCat(
        "if (kiln_check(", function, ", ", StringLiteral(buffer->name), ", ", StringLiteral(wanted),
        ", &args[", arg, "], type_codes[", arg, "], ", at_least ? 1 : buffer->shape.size(), ", ",
        DLDataTypeFields(buffer->dtype), ", ", at_least ? "NULL" : absl::StrCat("kiln_shape", arg),
        ", ", at_least ? buffer->num_bytes() : 0, ", &data[", slot, "]) != 0) return -1;"));
  };
  for (size_t i = 0; i < n - num_pools; ++i) check(absl::StrCat(i), i, func.params[i], false);
  for (size_t i = n - num_pools; i < n; ++i)
    check(absl::StrCat("num_args - ", n - i), i, func.params[i], true);
  if (workspace_param) check(absl::StrCat(n), n, func.workspace, true);
  if (func.allocate_workspace) {
    out.Line(absl::StrCat("data[", n, "] = ", context.Runtime("TVMBackendAllocWorkspace"),
                          "(kDLCPU, 0, ", std::max<int64_t>(1, func.workspace->num_bytes()),
                          ", kDLUInt, 8);"));
    out.Line(absl::StrCat("if (data[", n, "] == NULL) return kiln_fail(", function,
                          ", \"\", \"no memory for the workspace, bytes: \", \"",
                          func.workspace->num_bytes(), "\");"));
  }
  std::vector<std::string> list;
  for (size_t i = 0; i < info.pointer_names.size(); ++i) {
    const bool written = i >= info.written.size() || info.written[i];
    const DType dtype = i < n ? func.params[i]->dtype : DType::UInt(8);
    list.push_back(absl::StrCat("(", written ? "" : "const ", CType(dtype), "*)data[", i, "]"));
  }
  const std::string call =
      absl::StrCat("(int)", info.body_name, "(", absl::StrJoin(list, ", "), ")");
  if (func.allocate_workspace) {
    out.Line(absl::StrCat("result = ", call, ";"));
    out.Line(absl::StrCat("freed = ", context.Runtime("TVMBackendFreeWorkspace"),
                          "(kDLCPU, 0, data[", n, "]);"));
    out.Line("return result != 0 ? result : freed;");
  } else {
    out.Line(absl::StrCat("return ", call, ";"));
  }
  out.Close();
  return absl::StrCat(out.text(), "\n");
}

}  // namespace kiln::codegen
