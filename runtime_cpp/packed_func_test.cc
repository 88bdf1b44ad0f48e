// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/packed_func.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/registry.h"

namespace kiln::runtime {
namespace {

using ::testing::HasSubstr;

// Returns its only argument.
PackedFunc Identity() {
  return PackedFunc([](const Args& args) -> absl::StatusOr<Value> {
    return Value::Copy(args.values()[0], args.code(0));
  });
}

TEST(PackedFunc, CarriesEveryType) {
  const PackedFunc identity = Identity();
  EXPECT_EQ(identity(7)->Int().value(), 7);
  EXPECT_EQ(identity(true)->Int().value(), 1);
  EXPECT_EQ(identity(kDLInt)->Int().value(), 0);
  EXPECT_EQ(identity(1.5f)->Float().value(), 1.5);
  EXPECT_EQ(identity("text")->String().value(), "text");
  EXPECT_EQ(identity(std::string("text"))->code(), kTVMStr);
  EXPECT_EQ(identity(std::string("a\0b", 3))->String().value(), std::string("a\0b", 3));
  EXPECT_EQ(identity(Bytes{"raw"})->code(), kTVMBytes);
  EXPECT_TRUE(identity(nullptr)->empty());
  EXPECT_EQ(identity(DLDevice{kDLCPU, 0})->code(), kDLDevice);
  EXPECT_EQ(identity(DLDataType{kDLInt, 8, 1})->code(), kTVMDataType);
  int target = 0;
  EXPECT_EQ(identity(static_cast<void*>(&target))->OpaqueHandle().value(), &target);
  const NDArray array = NDArray::Empty({1}, {kDLInt, 32, 1}).value();
  EXPECT_EQ(identity(array)->Array()->data(), array.data());
  EXPECT_EQ(identity(array.tensor())->code(), kTVMDLTensorHandle);
  EXPECT_EQ(identity(identity)->Function().value(), identity.body());
}

TEST(PackedFunc, WrongTypesAreNamed) {
  const PackedFunc function([](const Args& args) -> absl::StatusOr<Value> {
    absl::StatusOr<int64_t> value = args.Int(1);
    if (!value.ok()) return value.status();
    return Value(*value);
  });
  EXPECT_EQ(function(0, "text").status().message(), "argument 1: found string, wanted int");
  EXPECT_EQ(function(0).status().message(), "argument 1: found none, wanted int");
  EXPECT_EQ(function(0, 5)->Array().status().message(), "found int, wanted array");
}

TEST(PackedFunc, UndefinedAndFailing) {
  EXPECT_FALSE(PackedFunc()().ok());
  EXPECT_EQ(PackedFunc::Failing(absl::NotFoundError("gone"))().status().message(), "gone");
}

int BackendSum(TVMValue* args, int* codes, int num_args, TVMValue* ret, int* ret_code, void*) {
  int64_t sum = 0;
  for (int i = 0; i < num_args; ++i) {
    if (codes[i] != kTVMArgInt) {
      TVMAPISetLastError("Expect arg to be int");
      return -1;
    }
    sum += args[i].v_int64;
  }
  if (num_args == 0) return 0;
  ret->v_int64 = sum;
  *ret_code = kTVMArgInt;
  return 0;
}

TEST(PackedFunc, WrapsCompiledFunctions) {
  const PackedFunc sum = PackedFunc::FromBackend(BackendSum, nullptr, "sum");
  EXPECT_EQ(sum(1, 2, 3)->Int().value(), 6);
  EXPECT_TRUE(sum()->empty());
  EXPECT_EQ(sum("x").status().message(), "sum: Expect arg to be int");
}

TEST(Registry, AddsFindsReplacesRemoves) {
  ASSERT_TRUE(RegisterGlobalFunction("test.identity", Identity()).ok());
  EXPECT_EQ(RegisterGlobalFunction("test.identity", Identity()).code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(RegisterGlobalFunction("test.identity", PackedFunc(), /*replace=*/true).ok());
  EXPECT_FALSE(GetGlobalFunction("test.identity")->defined());
  EXPECT_THAT(GlobalFunctionNames(), testing::Contains("test.identity"));
  EXPECT_TRUE(RemoveGlobalFunction("test.identity").ok());
  EXPECT_THAT(std::string(GetGlobalFunction("test.identity").status().message()),
              HasSubstr("no global function 'test.identity'"));
}

}  // namespace
}  // namespace kiln::runtime
