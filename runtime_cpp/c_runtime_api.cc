// SPDX-License-Identifier: Apache-2.0
//
// The C API for front ends, implemented with the C++ classes.
//
// Handles: a module is a ModulePtr and a function a PackedFuncPtr, both allocated by new. An array
// is the DLTensor at the start of an NDArray's container and holds one reference.
#include "tvm/runtime/c_runtime_api.h"

#include <bit>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/call_from_c.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/packed_func.h"
#include "runtime_cpp/registry.h"
#include "runtime_cpp/status/macros.h"

using kiln::runtime::Args;
using kiln::runtime::CallFromC;
using kiln::runtime::DeviceApi;
using kiln::runtime::GetDeviceApi;
using kiln::runtime::Module;
using kiln::runtime::ModulePtr;
using kiln::runtime::NDArray;
using kiln::runtime::PackedFunc;
using kiln::runtime::PackedFuncPtr;
using kiln::runtime::Value;

namespace {

ModulePtr& ModuleOf(TVMModuleHandle handle) { return *static_cast<ModulePtr*>(handle); }

PackedFunc FunctionOf(TVMFunctionHandle handle) {
  return PackedFunc(*static_cast<PackedFuncPtr*>(handle));
}

// In this API, a missing function is not an error but a null handle.
absl::Status ReturnFunction(const absl::StatusOr<PackedFunc>& function, TVMFunctionHandle* out) {
  *out = nullptr;
  if (absl::IsNotFound(function.status())) return absl::OkStatus();
  if (function.ok()) *out = new PackedFuncPtr(function->body());
  return function.status();
}

absl::Status ReturnArray(const absl::StatusOr<NDArray>& array, TVMArrayHandle* out) {
  if (array.ok()) *out = array->ToHandle();
  return array.status();
}

// The result of the last call on this thread: text, bytes or names.
struct ThreadResult {
  Value value;
  TVMByteArray bytes;
  std::vector<std::string> names;
  std::vector<const char*> name_pointers;
};

ThreadResult& LastResult() {
  thread_local ThreadResult result;
  return result;
}

absl::Status LoadModuleFromFile(const char* file_name, const char* format, TVMModuleHandle* out) {
  const std::string kind = format == nullptr ? "" : format;
  if (kind != "" && kind != "so") {
    return absl::UnimplementedError(
        absl::StrCat(file_name, ": cannot load format '", kind, "', only 'so'"));
  }
  KILN_ASSIGN_OR_RETURN(const Module module, Module::LoadFromFile(file_name));
  *out = new ModulePtr(module.node());
  return absl::OkStatus();
}

absl::Status CheckArguments(const TVMValue* values, const int* codes, int count) {
  if (count == 0 || (count > 0 && values != nullptr && codes != nullptr)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("TVMFuncCall: found ", count, " arguments",
                   count < 0 ? "" : ", of which the values or the type codes are NULL"));
}

absl::Status Call(TVMFunctionHandle func, const Args& args, TVMValue* ret_val, int* ret_type_code) {
  KILN_RETURN_IF_ERROR(CheckArguments(args.values(), args.codes(), args.size()));
  ThreadResult& result = LastResult();
  KILN_ASSIGN_OR_RETURN(result.value, FunctionOf(func).Call(args));
  *ret_type_code = result.value.ToC(ret_val, &result.bytes);
  // The caller owns the handles now. Keeping another reference here would delay their destruction.
  if (*ret_type_code != kTVMStr && *ret_type_code != kTVMBytes) result.value = Value();
  return absl::OkStatus();
}

PackedFunc FromC(TVMPackedCFunc func, std::shared_ptr<void> resource) {
  return PackedFunc(
      [func, resource = std::move(resource)](const Args& args) -> absl::StatusOr<Value> {
        Value result;
        if (func(const_cast<TVMValue*>(args.values()), const_cast<int*>(args.codes()), args.size(),
                 &result, resource.get()) != 0) {
          return absl::InternalError(TVMGetLastError());
        }
        return result;
      });
}

absl::Status SetReturn(TVMRetValueHandle ret, const TVMValue& value, int type_code, int num_ret) {
  if (num_ret != 1) {
    return absl::InvalidArgumentError(absl::StrCat("a function returns one value, not ", num_ret));
  }
  KILN_ASSIGN_OR_RETURN(*static_cast<Value*>(ret), Value::Copy(value, type_code));
  return absl::OkStatus();
}

absl::Status AllocateArray(const tvm_index_t* shape, int ndim, DLDataType dtype, DLDevice device,
                           TVMArrayHandle* out) {
  if (ndim < 0) return absl::InvalidArgumentError("an array of negative rank");
  if (ndim > 0 && shape == nullptr) {
    return absl::InvalidArgumentError("TVMArrayAlloc: shape is NULL");
  }
  return ReturnArray(NDArray::Empty({shape, static_cast<size_t>(ndim)}, dtype, device), out);
}

// Checks the numbers before the conversion. An element needs at least one bit and one lane.
absl::StatusOr<DLDataType> DataTypeFromC(int code, int bits, int lanes) {
  if (code < kDLInt || code > kDLComplex || bits < 1 || bits > 255 || lanes < 1 || lanes > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("data type: found code ", code, ", ", bits,
                                                   " bits and ", lanes, " lanes, wanted a code of ",
                                                   kDLInt, " to ", kDLComplex,
                                                   ", 1 to 255 bits and 1 to 65535 lanes"));
  }
  return DLDataType{static_cast<uint8_t>(code), static_cast<uint8_t>(bits),
                    static_cast<uint16_t>(lanes)};
}

absl::Status AllocateData(DLDevice device, size_t bytes, size_t alignment, void** out) {
  if (!std::has_single_bit(alignment)) {
    return absl::InvalidArgumentError(
        absl::StrCat("alignment: found ", alignment, ", wanted a power of two"));
  }
  KILN_ASSIGN_OR_RETURN(DeviceApi* const api, GetDeviceApi(device));
  KILN_ASSIGN_OR_RETURN(*out, api->Allocate(device, bytes, alignment));
  return absl::OkStatus();
}

}  // namespace

int TVMModLoadFromFile(const char* file_name, const char* format, TVMModuleHandle* out) {
  return CallFromC(__func__, {{"file_name", file_name}, {"out", out}},
                   [=] { return LoadModuleFromFile(file_name, format, out); });
}

int TVMModImport(TVMModuleHandle mod, TVMModuleHandle dep) {
  return CallFromC(__func__, {{"mod", mod}, {"dep", dep}},
                   [=] { return Module(ModuleOf(mod)).Import(Module(ModuleOf(dep))); });
}

int TVMModGetFunction(TVMModuleHandle mod, const char* func_name, int query_imports,
                      TVMFunctionHandle* out) {
  return CallFromC(__func__, {{"mod", mod}, {"func_name", func_name}, {"out", out}}, [=] {
    return ReturnFunction(Module(ModuleOf(mod)).GetFunction(func_name, query_imports != 0), out);
  });
}

int TVMModFree(TVMModuleHandle mod) {
  delete static_cast<ModulePtr*>(mod);
  return 0;
}

int TVMFuncCall(TVMFunctionHandle func, TVMValue* arg_values, int* type_codes, int num_args,
                TVMValue* ret_val, int* ret_type_code) {
  return CallFromC(
      __func__, {{"func", func}, {"ret_val", ret_val}, {"ret_type_code", ret_type_code}},
      [=] { return Call(func, Args(arg_values, type_codes, num_args), ret_val, ret_type_code); });
}

int TVMFuncFree(TVMFunctionHandle func) {
  delete static_cast<PackedFuncPtr*>(func);
  return 0;
}

int TVMFuncCreateFromCFunc(TVMPackedCFunc func, void* resource_handle, TVMPackedCFuncFinalizer fin,
                           TVMFunctionHandle* out) {
  return CallFromC(__func__, {{"func", reinterpret_cast<const void*>(func)}, {"out", out}}, [=] {
    const std::shared_ptr<void> resource(resource_handle, [fin](void* handle) {
      if (fin != nullptr) fin(handle);
    });
    *out = new PackedFuncPtr(FromC(func, resource).body());
    return absl::OkStatus();
  });
}

int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue* value, int* type_code, int num_ret) {
  return CallFromC(__func__, {{"ret", ret}, {"value", value}, {"type_code", type_code}},
                   [=] { return SetReturn(ret, *value, *type_code, num_ret); });
}

int TVMCbArgToReturn(TVMValue* value, int* code) {
  return CallFromC(__func__, {{"value", value}, {"code", code}}, [=]() -> absl::Status {
    if (*code == kTVMStr || *code == kTVMBytes) return absl::OkStatus();
    const absl::StatusOr<Value> copy = Value::Copy(*value, *code);
    TVMByteArray unused;
    if (copy.ok()) *code = copy->ToC(value, &unused);
    return copy.status();
  });
}

int TVMFuncRegisterGlobal(const char* name, TVMFunctionHandle f, int override) {
  return CallFromC(__func__, {{"name", name}, {"f", f}}, [=] {
    return kiln::runtime::RegisterGlobalFunction(name, FunctionOf(f), /*replace=*/override != 0);
  });
}

int TVMFuncGetGlobal(const char* name, TVMFunctionHandle* out) {
  return CallFromC(__func__, {{"name", name}, {"out", out}},
                   [=] { return ReturnFunction(kiln::runtime::GetGlobalFunction(name), out); });
}

int TVMFuncListGlobalNames(int* out_size, const char*** out_array) {
  return CallFromC(__func__, {{"out_size", out_size}, {"out_array", out_array}}, [=] {
    ThreadResult& result = LastResult();
    result.name_pointers.clear();
    result.names = kiln::runtime::GlobalFunctionNames();
    for (const std::string& name : result.names) result.name_pointers.push_back(name.c_str());
    *out_size = static_cast<int>(result.names.size());
    *out_array = result.name_pointers.data();
    return absl::OkStatus();
  });
}

int TVMFuncRemoveGlobal(const char* name) {
  return CallFromC(__func__, {{"name", name}},
                   [=] { return kiln::runtime::RemoveGlobalFunction(name); });
}

int TVMArrayAlloc(const tvm_index_t* shape, int ndim, int dtype_code, int dtype_bits,
                  int dtype_lanes, int device_type, int device_id, TVMArrayHandle* out) {
  return CallFromC(__func__, {{"out", out}}, [=]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const DLDataType dtype,
                          DataTypeFromC(dtype_code, dtype_bits, dtype_lanes));
    return AllocateArray(shape, ndim, dtype, DLDevice{device_type, device_id}, out);
  });
}

int TVMArrayFree(TVMArrayHandle handle) {
  NDArray::FromHandle(handle);
  return 0;
}

int TVMArrayCopyFromBytes(TVMArrayHandle handle, void* data, size_t nbytes) {
  return CallFromC(__func__, {{"handle", handle}}, [=] {
    return NDArray::ShareHandle(handle).CopyFromBytes({static_cast<const char*>(data), nbytes});
  });
}

int TVMArrayCopyToBytes(TVMArrayHandle handle, void* data, size_t nbytes) {
  return CallFromC(__func__, {{"handle", handle}}, [=] {
    return NDArray::ShareHandle(handle).CopyToBytes({static_cast<char*>(data), nbytes});
  });
}

int TVMArrayCopyFromTo(TVMArrayHandle from, TVMArrayHandle to, TVMStreamHandle) {
  return CallFromC(__func__, {{"from", from}, {"to", to}},
                   [=] { return kiln::runtime::CopyTensor(*from, *to); });
}

int TVMArrayFromDLPack(DLManagedTensor* from, TVMArrayHandle* out) {
  return CallFromC(__func__, {{"from", from}, {"out", out}},
                   [=] { return ReturnArray(NDArray::FromDLPack(from), out); });
}

int TVMArrayToDLPack(TVMArrayHandle from, DLManagedTensor** out) {
  return CallFromC(__func__, {{"from", from}, {"out", out}}, [=] {
    *out = NDArray::ShareHandle(from).ToDLPack();
    return absl::OkStatus();
  });
}

void TVMDLManagedTensorCallDeleter(DLManagedTensor* dltensor) {
  if (dltensor != nullptr && dltensor->deleter != nullptr) dltensor->deleter(dltensor);
}

int TVMDeviceAllocDataSpace(DLDevice dev, size_t nbytes, size_t alignment, DLDataType,
                            void** out_data) {
  return CallFromC(__func__, {{"out_data", out_data}},
                   [=] { return AllocateData(dev, nbytes, alignment, out_data); });
}

int TVMDeviceFreeDataSpace(DLDevice dev, void* ptr) {
  return CallFromC([=] {
    const absl::StatusOr<DeviceApi*> api = GetDeviceApi(dev);
    if (api.ok()) (*api)->Free(dev, ptr);
    return api.status();
  });
}

int TVMDeviceCopyDataFromTo(DLTensor* from, DLTensor* to, TVMStreamHandle) {
  return CallFromC(__func__, {{"from", from}, {"to", to}},
                   [=] { return kiln::runtime::CopyTensor(*from, *to); });
}

int TVMSynchronize(int device_type, int device_id, TVMStreamHandle) {
  const DLDevice device = {device_type, device_id};
  return CallFromC([=] {
    const absl::StatusOr<DeviceApi*> api = GetDeviceApi(device);
    return api.ok() ? (*api)->Synchronize(device) : api.status();
  });
}
