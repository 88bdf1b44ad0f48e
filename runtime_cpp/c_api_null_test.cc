// SPDX-License-Identifier: Apache-2.0
//
// Calls every function of the C ABI with each of its pointers NULL in turn, and with other invalid
// arguments. Each call must return an error with a text, and neither crash nor throw.
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/registry.h"
#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/c_runtime_api.h"

namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr char kLibrary[] = "runtime_cpp/testdata/add_aot.so";

// Calls `function` with one pointer of `arguments` NULL, for each pointer. Each call must fail with
// a text that names the function. At the positions in `may_be_null`, it only must not crash.
template <typename... A>
class NullsOf {
 public:
  NullsOf(const char* name, int (*function)(A...), std::tuple<A...> arguments,
          std::set<size_t> may_be_null = {})
      : name_(name), function_(function), arguments_(arguments), may_be_null_(may_be_null) {
    CallAll(std::index_sequence_for<A...>());
  }

 private:
  template <size_t... I>
  void CallAll(std::index_sequence<I...>) {
    (CallWithout<I>(), ...);
  }

  template <size_t I>
  void CallWithout() {
    if constexpr (std::is_pointer_v<std::tuple_element_t<I, std::tuple<A...>>>) {
      std::tuple<A...> arguments = arguments_;
      std::get<I>(arguments) = nullptr;
      TVMAPISetLastError("");
      const int status = std::apply(function_, arguments);
      if (may_be_null_.count(I) != 0) return;
      EXPECT_EQ(status, -1) << name_ << ", argument " << I;
      EXPECT_THAT(TVMGetLastError(), HasSubstr(name_)) << "argument " << I;
    }
  }

  const char* name_;
  int (*function_)(A...);
  std::tuple<A...> arguments_;
  std::set<size_t> may_be_null_;
};

#define NULLS_OF(function, ...) NullsOf(#function, function, __VA_ARGS__)

int CFunction(TVMValue*, int*, int, TVMRetValueHandle, void*) { return 0; }

class CApiNull : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(TVMModLoadFromFile(kLibrary, "so", &module_), 0) << TVMGetLastError();
    ASSERT_EQ(TVMFuncCreateFromCFunc(CFunction, nullptr, nullptr, &function_), 0);
    ASSERT_EQ(TVMArrayAlloc(&extent_, 1, kDLFloat, 32, 1, kDLCPU, 0, &array_), 0);
  }
  void TearDown() override {
    TVMModFree(module_);
    TVMFuncFree(function_);
    TVMArrayFree(array_);
  }

  TVMModuleHandle module_ = nullptr;
  TVMFunctionHandle function_ = nullptr;
  TVMArrayHandle array_ = nullptr;
  int64_t extent_ = 4;
  TVMValue value_ = {.v_int64 = 0};
  int code_ = kTVMArgInt;
};

TEST_F(CApiNull, Modules) {
  TVMModuleHandle module = nullptr;
  TVMFunctionHandle function = nullptr;
  NULLS_OF(TVMModLoadFromFile, {kLibrary, "so", &module}, {1});
  EXPECT_EQ(TVMModFree(module), 0);  // The call without a format has loaded it.
  NULLS_OF(TVMModImport, {module_, module_});
  NULLS_OF(TVMModGetFunction, {module_, "add", 0, &function});
  NULLS_OF(TVMModFree, {nullptr}, {0});
}

TEST_F(CApiNull, Functions) {
  TVMFunctionHandle function = nullptr;
  int size = 0;
  const char** names = nullptr;
  NULLS_OF(TVMFuncCall, {function_, &value_, &code_, 1, &value_, &code_});
  NULLS_OF(TVMFuncFree, {nullptr}, {0});
  NULLS_OF(TVMFuncCreateFromCFunc, {CFunction, this, [](void*) {}, &function}, {1, 2});
  NULLS_OF(TVMCFuncSetReturn, {&value_, &value_, &code_, 1});
  NULLS_OF(TVMCbArgToReturn, {&value_, &code_});
  NULLS_OF(TVMFuncRegisterGlobal, {"null_test", function_, 1});
  NULLS_OF(TVMFuncGetGlobal, {"null_test", &function});
  NULLS_OF(TVMFuncListGlobalNames, {&size, &names});
  NULLS_OF(TVMFuncRemoveGlobal, {"null_test"});
  EXPECT_EQ(TVMFuncCall(function_, nullptr, nullptr, 0, &value_, &code_), 0);
  EXPECT_EQ(TVMFuncCall(function_, &value_, &code_, -1, &value_, &code_), -1);
}

TEST_F(CApiNull, Arrays) {
  float data[4] = {};
  TVMArrayHandle array = nullptr;
  DLManagedTensor* managed = nullptr;
  NULLS_OF(TVMArrayAlloc, {&extent_, 1, kDLFloat, 32, 1, kDLCPU, 0, &array});
  NULLS_OF(TVMArrayFree, {nullptr}, {0});
  NULLS_OF(TVMArrayCopyFromBytes, {array_, data, sizeof(data)}, {1});
  EXPECT_EQ(TVMArrayCopyFromBytes(array_, nullptr, sizeof(data)), -1);
  EXPECT_EQ(TVMArrayCopyToBytes(array_, nullptr, sizeof(data)), -1);
  EXPECT_EQ(TVMArrayCopyToBytes(nullptr, data, sizeof(data)), -1);
  NULLS_OF(TVMArrayCopyFromTo, {array_, array_, nullptr}, {2});
  ASSERT_EQ(TVMArrayToDLPack(array_, &managed), 0);
  NULLS_OF(TVMArrayFromDLPack, {managed, &array});
  TVMDLManagedTensorCallDeleter(managed);
  TVMDLManagedTensorCallDeleter(nullptr);
  NULLS_OF(TVMArrayToDLPack, {array_, &managed});
}

TEST_F(CApiNull, Devices) {
  void* data = nullptr;
  const DLDataType type = {kDLFloat, 32, 1};
  NULLS_OF(TVMDeviceAllocDataSpace, {{kDLCPU, 0}, 16, 64, type, &data});
  NULLS_OF(TVMDeviceFreeDataSpace, {{kDLCPU, 0}, nullptr}, {1});
  NULLS_OF(TVMDeviceCopyDataFromTo, {array_, array_, nullptr}, {2});
  NULLS_OF(TVMSynchronize, {kDLCPU, 0, nullptr}, {2});
}

TEST_F(CApiNull, Backend) {
  const auto task = [](int, TVMParallelGroupEnv*, void*) { return 0; };
  const auto once = [](void*) { return 0; };
  TVMFunctionHandle function = nullptr;
  TVMParallelGroupEnv env = {.sync_handle = nullptr, .num_task = 1};
  void* handle = nullptr;
  NULLS_OF(TVMBackendGetFuncFromEnv, {nullptr, "no_such_function", &function}, {0});
  NULLS_OF(TVMBackendParallelLaunch, {task, nullptr, 1}, {1});
  NULLS_OF(TVMBackendParallelBarrier, {0, &env});
  NULLS_OF(TVMBackendRunOnce, {&handle, once, nullptr, 0}, {2});
  NULLS_OF(TVMBackendRegisterEnvCAPI, {"no_such_function", nullptr}, {1});
  NULLS_OF(TVMBackendRegisterSystemLibSymbol, {"null_test", this});
  EXPECT_EQ(TVMBackendFreeWorkspace(kDLCPU, 0, nullptr), -1);
  TVMAPISetLastError(nullptr);
  EXPECT_STREQ(TVMGetLastError(), "");
}

// Values whose handles are NULL.
TEST_F(CApiNull, Values) {
  TVMFunctionHandle load = nullptr;
  ASSERT_EQ(TVMFuncGetGlobal("runtime.ModuleLoadFromFile", &load), 0);
  TVMFunctionHandle list = nullptr;
  ASSERT_EQ(TVMModGetFunction(module_, "get_func_names", 0, &list), 0);
  for (const int code : {kTVMStr, kTVMBytes, kTVMModuleHandle, kTVMPackedFuncHandle}) {
    TVMValue null = {.v_handle = nullptr};
    int changed = code;
    EXPECT_EQ(TVMFuncCall(load, &null, &changed, 1, &value_, &code_), -1) << code;
    EXPECT_STRNE(TVMGetLastError(), "");
    if (code == kTVMModuleHandle || code == kTVMPackedFuncHandle) {
      EXPECT_EQ(TVMCbArgToReturn(&null, &changed), -1) << code;
    }
  }
  TVMFuncFree(load);
  TVMFuncFree(list);
}

TEST_F(CApiNull, TensorsWithoutShapeOrData) {
  DLTensor tensor = *array_;
  tensor.shape = nullptr;
  EXPECT_EQ(TVMArrayCopyFromTo(&tensor, array_, nullptr), -1);
  EXPECT_EQ(TVMArrayCopyFromTo(array_, &tensor, nullptr), -1);
  tensor = *array_;
  tensor.data = nullptr;
  EXPECT_EQ(TVMDeviceCopyDataFromTo(&tensor, array_, nullptr), -1);
  DLManagedTensor managed = {.dl_tensor = *array_, .manager_ctx = nullptr, .deleter = nullptr};
  managed.dl_tensor.shape = nullptr;
  TVMArrayHandle array = nullptr;
  EXPECT_EQ(TVMArrayFromDLPack(&managed, &array), -1);
}

// Functions that keep a tensor of the caller.
TEST_F(CApiNull, TensorsWithoutShapeAreNotBorrowed) {
  TVMValue device = {.v_device = {kDLCPU, 0}}, made = {.v_handle = nullptr};
  int device_code = kDLDevice, made_code = kTVMNullptr;
  TVMFunctionHandle create = nullptr;
  ASSERT_EQ(TVMModGetFunction(module_, "add", 0, &create), 0);
  ASSERT_EQ(TVMFuncCall(create, &device, &device_code, 1, &made, &made_code), 0);
  TVMFuncFree(create);
  TVMFunctionHandle make_factory = nullptr;
  ASSERT_EQ(TVMFuncGetGlobal("tvm.aot_executor_factory.create", &make_factory), 0);
  DLTensor without_shape = *array_, negative = *array_;
  without_shape.shape = nullptr;
  negative.ndim = -1;
  for (DLTensor* const tensor : {&without_shape, &negative}) {
    for (const char* const name : {"set_input", "set_input_zero_copy", "set_output_zero_copy"}) {
      TVMFunctionHandle function = nullptr;
      ASSERT_EQ(TVMModGetFunction(made.v_handle, name, 0, &function), 0);
      TVMValue values[] = {{.v_int64 = 0}, {.v_handle = tensor}};
      int codes[] = {kTVMArgInt, kTVMDLTensorHandle};
      EXPECT_EQ(TVMFuncCall(function, values, codes, 2, &value_, &code_), -1) << name;
      EXPECT_THAT(TVMGetLastError(), AnyOf(HasSubstr(" dimensions"), HasSubstr("no shape")));
      TVMFuncFree(function);
    }
    TVMValue values[] = {
        {.v_handle = module_}, {.v_str = "add"}, {.v_str = "x"}, {.v_handle = tensor}};
    int codes[] = {kTVMModuleHandle, kTVMStr, kTVMStr, kTVMDLTensorHandle};
    EXPECT_EQ(TVMFuncCall(make_factory, values, codes, 4, &value_, &code_), -1);
    EXPECT_THAT(TVMGetLastError(), HasSubstr("argument 3: a tensor of "));
  }
  TVMFuncFree(make_factory);
  TVMModFree(made.v_handle);
}

TEST_F(CApiNull, BytesWithoutData) {
  TVMFunctionHandle load = nullptr;
  ASSERT_EQ(TVMFuncGetGlobal("runtime.ModuleLoadFromFile", &load), 0);
  TVMByteArray bytes = {.data = nullptr, .size = 5};
  TVMValue value = {.v_handle = &bytes};
  int code = kTVMBytes;
  EXPECT_EQ(TVMFuncCall(load, &value, &code, 1, &value_, &code_), -1);
  EXPECT_THAT(TVMGetLastError(), HasSubstr("argument 0: the 5 bytes are NULL"));
  const auto returns_bytes = [](TVMValue*, int*, int, TVMRetValueHandle result, void* bytes) {
    TVMValue value = {.v_handle = bytes};
    int code = kTVMBytes;
    return TVMCFuncSetReturn(result, &value, &code, 1);
  };
  TVMFunctionHandle function = nullptr;
  ASSERT_EQ(TVMFuncCreateFromCFunc(returns_bytes, &bytes, nullptr, &function), 0);
  EXPECT_EQ(TVMFuncCall(function, nullptr, nullptr, 0, &value_, &code_), -1);
  EXPECT_THAT(TVMGetLastError(), HasSubstr("the 5 bytes are NULL"));
  bytes.size = 0;
  EXPECT_EQ(TVMFuncCall(load, &value, &code, 1, &value_, &code_), -1);
  EXPECT_EQ(TVMFuncCall(function, nullptr, nullptr, 0, &value_, &code_), 0);
  TVMFuncFree(function);
  TVMFuncFree(load);
}

TEST_F(CApiNull, RefusesTypesAndAlignmentsThatThereAreNot) {
  TVMArrayHandle array = nullptr;
  struct Type {
    int code, bits, lanes;
  };
  for (const Type type : {Type{77, 32, 1}, Type{-1, 32, 1}, Type{258, 32, 1}, Type{2, 0, 1},
                          Type{2, 288, 1}, Type{2, 32, 0}, Type{2, 32, 65537}}) {
    EXPECT_EQ(TVMArrayAlloc(&extent_, 1, type.code, type.bits, type.lanes, kDLCPU, 0, &array), -1);
    EXPECT_THAT(TVMGetLastError(), HasSubstr("data type: found code "));
  }
  EXPECT_EQ(TVMArrayAlloc(&extent_, -1, kDLFloat, 32, 1, kDLCPU, 0, &array), -1);
  void* data = nullptr;
  for (const size_t alignment : {0, 3, 48}) {
    EXPECT_EQ(TVMDeviceAllocDataSpace({kDLCPU, 0}, 16, alignment, {kDLFloat, 32, 1}, &data), -1);
    EXPECT_THAT(TVMGetLastError(), HasSubstr("wanted a power of two"));
  }
}

// A function that fails or throws does not count as run: the next call runs it again.
TEST_F(CApiNull, RunOnceRunsUntilItSucceeds) {
  void* handle = nullptr;
  int calls = 0;
  const auto function = [](void* data) {
    switch (++*static_cast<int*>(data)) {
      case 1:
        throw std::runtime_error("from the first call");
      case 2:
        TVMAPISetLastError("from the second call");
        return -7;
      default:
        return 0;
    }
  };
  EXPECT_EQ(TVMBackendRunOnce(&handle, function, &calls, 0), -1);
  EXPECT_STREQ(TVMGetLastError(), "from the first call");
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(TVMBackendRunOnce(&handle, function, &calls, 0), -7);
  EXPECT_STREQ(TVMGetLastError(), "from the second call");
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(TVMBackendRunOnce(&handle, function, &calls, 0), 0);
  EXPECT_NE(handle, nullptr);
  EXPECT_EQ(TVMBackendRunOnce(&handle, function, &calls, 0), 0);
  EXPECT_EQ(calls, 3);
}

TEST_F(CApiNull, ExceptionsOfFunctionsAreErrors) {
  using kiln::runtime::Args;
  using kiln::runtime::Value;
  const kiln::runtime::PackedFunc throwing([](const Args& args) -> absl::StatusOr<Value> {
    if (args.size() == 0) throw std::runtime_error("from a function");
    throw 7;
  });
  ASSERT_TRUE(kiln::runtime::RegisterGlobalFunction("throwing", throwing, true).ok());
  TVMFunctionHandle function = nullptr;
  ASSERT_EQ(TVMFuncGetGlobal("throwing", &function), 0);
  EXPECT_EQ(TVMFuncCall(function, &value_, &code_, 0, &value_, &code_), -1);
  EXPECT_STREQ(TVMGetLastError(), "from a function");
  EXPECT_EQ(TVMFuncCall(function, &value_, &code_, 1, &value_, &code_), -1);
  EXPECT_STREQ(TVMGetLastError(), "an exception of an unknown type");
  TVMFuncFree(function);
}

}  // namespace
