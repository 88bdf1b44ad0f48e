// SPDX-License-Identifier: Apache-2.0
// A linked model as the release's C runtime finds it: the registry's bytes, the metadata, and the
// call of its AOT executor.
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/tvm_compat/release.h"

extern "C" const tvm09::Module* TVMSystemLibEntryPoint();

namespace tvm09 {
namespace {

// Returns the names in order: a count of 16 bits in the machine's byte order, each name with its
// NUL, and one more NUL.
std::vector<std::string> Names(const FuncRegistry& registry) {
  uint16_t count = 0;
  std::memcpy(&count, registry.names, sizeof(count));
  std::vector<std::string> names;
  const char* next = registry.names + sizeof(count);
  for (; *next != '\0'; next += names.back().size() + 1) names.emplace_back(next);
  EXPECT_EQ(names.size(), count);
  return names;
}

TEST(Registry, HoldsTheModel) {
  const std::vector<std::string> names = Names(*TVMSystemLibEntryPoint()->registry);
  EXPECT_FALSE(names.empty());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(names[i].substr(0, 13), "tvmgen_chain_");
    EXPECT_NE(TVMSystemLibEntryPoint()->registry->funcs[i], nullptr);
  }
}

#if IS_AOT
PackedFunction Find(const std::string& name) {
  const FuncRegistry& registry = *TVMSystemLibEntryPoint()->registry;
  const std::vector<std::string> names = Names(registry);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return registry.funcs[i];
  }
  return nullptr;
}

const Metadata* FindMetadata() {
  const PackedFunction getter = Find("tvmgen_chain_get_c_metadata");
  EXPECT_NE(getter, nullptr);
  Value result = {.v_int64 = 0};
  int code = kNull;
  EXPECT_EQ(getter(nullptr, nullptr, 0, &result, &code, nullptr), 0);
  EXPECT_EQ(code, kHandle);
  return static_cast<const Metadata*>(result.v_handle);
}

Array Make(const TensorInfo& info) {
  return Array({info.shape, info.shape + info.num_shape}, info.dtype);
}

TEST(Registry, RunsAsTheExecutorCallsIt) {
  const Metadata& metadata = *FindMetadata();
  EXPECT_EQ(metadata.version, 1);
  EXPECT_EQ(metadata.num_constant_pools, 0) << "that executor has none";
  std::vector<Array> arrays;
  for (int64_t i = 0; i < metadata.num_inputs; ++i) arrays.push_back(Make(metadata.inputs[i]));
  for (int64_t i = 0; i < metadata.num_outputs; ++i) arrays.push_back(Make(metadata.outputs[i]));
  // Unlike the C++ executor, it passes no array of constants before the workspace.
  for (int64_t i = 0; i < metadata.num_workspace_pools; ++i) {
    arrays.push_back(Make(metadata.workspace_pools[i]));
  }
  for (int i = 0; i < 6; ++i) arrays[0].data<float>()[i] = static_cast<float>(i);
  for (int i = 0; i < 4; ++i) arrays[1].data<int32_t>()[i] = i - 2;
  std::vector<Tensor*> tensors;
  for (Array& array : arrays) tensors.push_back(array.tensor());
  const PackedFunction entry = Find(std::string(metadata.mod_name) + "___tvm_main__");
  ASSERT_NE(entry, nullptr);
  ASSERT_EQ(CallWithTensors(entry, tensors), 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(arrays[2].data<float>()[i], i < 5 ? 12.0f : 48.0f) << i;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(arrays[3].data<int32_t>()[i], 2 * (i - 2));
}
#endif

}  // namespace
}  // namespace tvm09
