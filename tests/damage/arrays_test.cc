// SPDX-License-Identifier: Apache-2.0
// Damaged arrays: parameter files, single arrays as read by the runtime and by the compiler, and
// .npy files.
#include <string>

#include "compiler/base/ndarray_bytes.h"
#include "compiler/base/tensor.h"
#include "gtest/gtest.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/params.h"
#include "tests/damage/damage.h"
#include "tools/kiln/npy.h"

namespace kiln::testing {
namespace {

using runtime::ByteReader;
using runtime::ByteWriter;
using runtime::NDArray;

NDArray Array(const std::vector<int64_t>& shape, DLDataType dtype) {
  NDArray array = NDArray::Empty(shape, dtype).value();
  EXPECT_TRUE(
      array.CopyFromBytes(std::string(static_cast<size_t>(array.size_bytes()), '\x2a')).ok());
  return array;
}

std::string ParamsFile() {
  return runtime::SaveParams({{"p0", Array({2, 3}, {kDLFloat, 32, 1})},
                              {"p1", Array({}, {kDLInt, 64, 1})},
                              {"p2", Array({0, 5}, {kDLUInt, 1, 1})}})
      .value();
}

absl::Status ReadParams(absl::string_view bytes) {
  const absl::StatusOr<runtime::Params> params = runtime::LoadParams(bytes);
  if (!params.ok()) return params.status();
  const absl::StatusOr<std::string> saved = runtime::SaveParams(*params);
  EXPECT_TRUE(saved.ok()) << saved.status();
  EXPECT_TRUE(runtime::LoadParams(*saved).ok());
  return absl::OkStatus();
}

TEST(ArrayDamage, ParameterFiles) {
  ExpectCutsFail(ParamsFile(), ReadParams);
  ExpectFlipsAreHarmless(ParamsFile(), ReadParams);
  EXPECT_FALSE(ReadParams(ParamsFile() + "x").ok());
}

std::string OneArray() {
  ByteWriter writer;
  EXPECT_TRUE(Array({2, 3}, {kDLFloat, 32, 1}).Save(writer).ok());
  return writer.bytes();
}

absl::Status ReadArray(absl::string_view bytes) {
  ByteReader reader(bytes, "an array");
  const absl::StatusOr<NDArray> array = NDArray::Load(reader);
  if (!array.ok()) return array.status();
  EXPECT_EQ(runtime::TensorBytes(array->shape(), array->dtype()).value_or(-1), array->size_bytes());
  ByteWriter writer;
  EXPECT_TRUE(array->Save(writer).ok());
  return absl::OkStatus();
}

TEST(ArrayDamage, SerialisedArrays) {
  ExpectCutsFail(OneArray(), ReadArray);
  ExpectFlipsAreHarmless(OneArray(), ReadArray);
}

absl::Status ReadCompilersArray(absl::string_view bytes) {
  const absl::StatusOr<Tensor> tensor = TakeNDArray(bytes);
  if (!tensor.ok()) return tensor.status();
  EXPECT_EQ(static_cast<int64_t>(tensor->bytes().size()), tensor->type().num_bytes());
  return absl::OkStatus();
}

TEST(ArrayDamage, SerialisedArraysOfTheCompiler) {
  ExpectCutsFail(OneArray(), ReadCompilersArray);
  ExpectFlipsAreHarmless(OneArray(), ReadCompilersArray);
}

absl::Status ReadNpy(absl::string_view bytes) {
  const absl::StatusOr<Tensor> tensor = tools::ParseNpy(bytes);
  if (!tensor.ok()) return tensor.status();
  EXPECT_EQ(static_cast<int64_t>(tensor->bytes().size()), tensor->type().num_bytes());
  EXPECT_TRUE(tools::ParseNpy(tools::ToNpy(*tensor)).ok());
  return absl::OkStatus();
}

TEST(ArrayDamage, NumpyFiles) {
  const std::string bytes =
      tools::ToNpy(Tensor({{2, 3}, DType::Float(32)}, std::string(24, '\x2a')));
  ExpectCutsFail(bytes, ReadNpy);
  ExpectFlipsAreHarmless(bytes, ReadNpy);
}

}  // namespace
}  // namespace kiln::testing
