// SPDX-License-Identifier: Apache-2.0
// Two models of the C++ runtime in one program, with different code generators and executors.
#include <cstring>
#include <vector>

#include "First.h"
#include "gtest/gtest.h"
#include "kiln/metadata.h"
#include "runtime_cpp/model.h"
#include "second.h"

extern "C" {
// Linked symbols, as used by programs without the runtime's lookup.
int32_t tvmgen_First_get_model_metadata(TVMValue*, int*, int, TVMValue*, int*, void*);
int32_t tvmgen_second_get_model_metadata(TVMValue*, int*, int, TVMValue*, int*, void*);
}

namespace kiln::runtime {
namespace {

static_assert(TVMGEN_FIRST_NUM_INPUTS == 2 && TVMGEN_SECOND_NUM_INPUTS == 2);

Model Load(const std::string& name) {
  absl::StatusOr<Module> factory = Module::SystemLib(name);
  EXPECT_TRUE(factory.ok()) << factory.status();
  absl::StatusOr<Model> model = Model::FromModule(*factory);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

template <typename T>
NDArray Array(DLDataType dtype, const std::vector<int64_t>& shape, const std::vector<T>& values) {
  NDArray array = NDArray::Empty(shape, dtype, {kDLCPU, 0}).value();
  std::memcpy(array.data(), values.data(), values.size() * sizeof(T));
  return array;
}

template <typename T>
std::vector<T> Values(const NDArray& array, size_t n) {
  std::vector<T> values(n);
  std::memcpy(values.data(), array.data(), n * sizeof(T));
  return values;
}

TEST(TwoModels, RunSideBySide) {
  const Model first = Load("First");
  const Model second = Load("second");
  const auto sum = first.Run({Array<uint8_t>({kDLUInt, 8, 1}, {1, 2}, {1, 2}),
                              Array<uint8_t>({kDLUInt, 8, 1}, {1, 2}, {3, 4})});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(Values<uint8_t>((*sum)[0], 2), (std::vector<uint8_t>{4, 6}));
  const auto both = second.Run({Array<int8_t>({kDLInt, 8, 1}, {2, 3}, {1, 2, 3, 4, 5, 6}),
                                Array<float>({kDLFloat, 32, 1}, {2, 3}, {0, 0, 0, 0, 0, 0.5f})});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(Values<float>((*both)[0], 6), (std::vector<float>{1, 2, 3, 4, 5, 6.5f}));
  EXPECT_EQ(Values<int8_t>((*both)[1], 6), (std::vector<int8_t>{-1, -2, -3, -4, -5, -6}));
}

TEST(TwoModels, HaveMetadataOfTheirOwn) {
  const auto name_of = [](auto* getter) {
    TVMValue value = {.v_int64 = 0};
    int code = 0;
    EXPECT_EQ(getter(nullptr, nullptr, 0, &value, &code, nullptr), 0);
    return std::string(static_cast<const struct ::Metadata*>(value.v_handle)->module_name);
  };
  EXPECT_EQ(name_of(tvmgen_First_get_model_metadata), "First");
  EXPECT_EQ(name_of(tvmgen_second_get_model_metadata), "second");
}

TEST(TwoModels, NeedTheirNames) {
  for (const char* const name : {"", "third"}) {
    const absl::Status status = Module::SystemLib(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  }
}

}  // namespace
}  // namespace kiln::runtime
