// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/ndarray.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/params.h"

namespace kiln::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr DLDataType kFloat = {kDLFloat, 32, 1};
constexpr DLDataType kBool = {kDLUInt, 1, 1};

NDArray Floats(absl::Span<const int64_t> shape, absl::Span<const float> values) {
  NDArray array = NDArray::Empty(shape, kFloat).value();
  std::copy(values.begin(), values.end(), array.values<float>().begin());
  return array;
}

TEST(DataType, NamesAndBack) {
  const struct {
    const char* name;
    DLDataType dtype;
    int64_t bytes;
  } kCases[] = {{"float32", kFloat, 4},
                {"bool", kBool, 1},
                {"int8", {kDLInt, 8, 1}, 1},
                {"uint8x4", {kDLUInt, 8, 4}, 4},
                {"bfloat16", {kDLBfloat, 16, 1}, 2},
                {"int4", {kDLInt, 4, 1}, 1},
                {"complex128", {kDLComplex, 128, 1}, 16}};
  for (const auto& c : kCases) {
    EXPECT_EQ(DataTypeName(c.dtype), c.name);
    EXPECT_TRUE(SameDataType(ParseDataType(c.name).value(), c.dtype)) << c.name;
    EXPECT_EQ(ElementBytes(c.dtype), c.bytes) << c.name;
  }
  for (const char* const wrong : {"", "float", "float32x", "float32x0", "int999", "tensor8", "8"}) {
    EXPECT_FALSE(ParseDataType(wrong).ok()) << wrong;
  }
}

TEST(DataType, SizesDoNotOverflow) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(TensorBytes({}, kFloat).value(), 4);
  EXPECT_EQ(TensorBytes({2, 3}, kFloat).value(), 24);
  EXPECT_EQ(TensorBytes({0, 3}, kFloat).value(), 0);
  EXPECT_FALSE(TensorBytes({-1}, kFloat).ok());
  EXPECT_FALSE(TensorBytes({kHuge}, kFloat).ok());
  EXPECT_FALSE(TensorBytes({int64_t{1} << 32, int64_t{1} << 32}, kBool).ok());
  EXPECT_FALSE(TensorBytes(std::vector<int64_t>(kMaxNdim + 1, 1), kFloat).ok());
}

TEST(NDArray, EmptyIsAlignedAndShared) {
  NDArray array = NDArray::Empty({2, 3}, kFloat).value();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % kAllocationAlignment, 0u);
  EXPECT_THAT(array.shape(), ElementsAre(2, 3));
  EXPECT_EQ(array.size_bytes(), 24);
  const NDArray copy = array;
  copy.values<float>()[5] = 7;
  array = NDArray();
  EXPECT_FALSE(array.defined());
  EXPECT_EQ(copy.values<float>()[5], 7);
}

TEST(NDArray, DeviceWithoutBackEndIsNamed) {
  const absl::Status status = NDArray::Empty({1}, kFloat, {kDLCUDA, 1}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cuda:1 has no back end"));
  EXPECT_FALSE(NDArray::Empty({1}, kFloat, {kDLCPU, 1}).ok());
}

TEST(NDArray, CopyChecksShapeAndType) {
  const NDArray from = Floats({2}, {1, 2});
  const NDArray to = NDArray::Empty({2}, kFloat).value();
  ASSERT_TRUE(to.CopyFrom(*from).ok());
  EXPECT_THAT(to.values<float>(), ElementsAre(1, 2));
  EXPECT_EQ(NDArray::Empty({1, 2}, kFloat)->CopyFrom(*from).message(),
            "cannot copy float32 (2) on cpu:0 to float32 (1, 2) on cpu:0");
  EXPECT_FALSE(NDArray::Empty({2}, {kDLInt, 32, 1})->CopyFrom(*from).ok());
}

TEST(NDArray, DLPackRoundTripKeepsMemoryAlive) {
  NDArray array = Floats({2}, {1, 2});
  DLManagedTensor* const managed = array.ToDLPack();
  array = NDArray();
  const NDArray back = NDArray::FromDLPack(managed).value();
  EXPECT_THAT(back.values<float>(), ElementsAre(1, 2));
}

TEST(NDArray, SavesTheDocumentedBytes) {
  ByteWriter writer;
  ASSERT_TRUE(Floats({1, 2}, {0, 1}).Save(writer).ok());
  const unsigned char expected[] = {
      0x3f, 0xa1, 0xb4, 0x96, 0xf0, 0x40, 0x5e, 0xdd,
      0,    0,    0,    0,    0,    0,    0,    0,  // magic, reserved
      1,    0,    0,    0,    0,    0,    0,    0,
      2,    0,    0,    0,    2,    32,   1,    0,  // device, rank, data type
      1,    0,    0,    0,    0,    0,    0,    0,
      2,    0,    0,    0,    0,    0,    0,    0,  // shape
      8,    0,    0,    0,    0,    0,    0,    0,
      0,    0,    0,    0,    0,    0,    0x80, 0x3f};
  EXPECT_EQ(writer.bytes(), std::string(reinterpret_cast<const char*>(expected), sizeof(expected)));
}

TEST(NDArray, LoadRefusesEveryTruncation) {
  ByteWriter writer;
  ASSERT_TRUE(Floats({2, 2}, {1, 2, 3, 4}).Save(writer).ok());
  ByteReader whole(writer.bytes(), "test");
  EXPECT_THAT(NDArray::Load(whole)->values<float>(), ElementsAre(1, 2, 3, 4));
  for (size_t size = 0; size < writer.bytes().size(); ++size) {
    ByteReader reader(absl::string_view(writer.bytes()).substr(0, size), "test");
    EXPECT_EQ(NDArray::Load(reader).status().code(), absl::StatusCode::kDataLoss) << size;
  }
}

TEST(NDArray, LoadRefusesLies) {
  ByteWriter writer;
  ASSERT_TRUE(Floats({2}, {1, 2}).Save(writer).ok());
  const auto with = [&](size_t offset, char byte) {
    std::string bytes = writer.bytes();
    bytes[offset] = byte;
    ByteReader reader(bytes, "test");
    return NDArray::Load(reader).status();
  };
  EXPECT_FALSE(with(0, 0).ok());        // magic
  EXPECT_FALSE(with(24, 99).ok());      // rank
  EXPECT_FALSE(with(29, 0).ok());       // bits
  EXPECT_FALSE(with(30, 0).ok());       // lanes
  EXPECT_FALSE(with(39, '\x80').ok());  // negative extent
  EXPECT_FALSE(with(38, 1).ok());       // huge extent
  EXPECT_FALSE(with(40, 9).ok());       // bytes
}

template <typename T>
NDArray Of() {
  return NDArray::Empty({2}, DataTypeOf<T>()).value();
}

TEST(NDArray, ValuesAreOfTheArraysType) {
  EXPECT_EQ(Of<float>().values<const float>().size(), 2u);
  EXPECT_EQ(Of<double>().values<double>().size(), 2u);
  EXPECT_EQ(Of<int8_t>().values<int8_t>().size(), 2u);
  EXPECT_EQ(Of<int64_t>().values<long long>().size(), 2u);  // NOLINT(google-runtime-int)
  EXPECT_EQ(Of<bool>().values<bool>().size(), 2u);
  EXPECT_EQ(Of<bool>().values<uint8_t>().size(), 2u);
  for (const DLDataType half : {DLDataType{kDLFloat, 16, 1}, DLDataType{kDLBfloat, 16, 1}}) {
    const NDArray array = NDArray::Empty({2}, half).value();
    EXPECT_TRUE(array.holds<uint16_t>());
    EXPECT_FALSE(array.holds<int16_t>());
  }
  EXPECT_EQ(Of<float>().values<char>().size(), 8u);
  EXPECT_EQ(Of<float>().values<const std::byte>().size(), 8u);
  EXPECT_FALSE(Of<int8_t>().holds<float>());
  EXPECT_FALSE(Of<int8_t>().holds<uint8_t>());
  EXPECT_FALSE(Of<uint8_t>().holds<bool>());
  EXPECT_FALSE(NDArray().holds<float>());
}

TEST(NDArrayDeathTest, ValuesOfAnotherTypeEndTheProgram) {
  EXPECT_DEATH(Of<int8_t>().values<float>(),
               R"(NDArray::values: found int8 \(2\) on cpu:0, wanted an array of float32)");
  EXPECT_DEATH(Of<float>().values<double>(), "found float32 .*, wanted an array of float64");
  EXPECT_DEATH(Of<float>().values<uint8_t>(), "found float32 .*, wanted an array of uint8");
  EXPECT_DEATH(NDArray().values<float>(), "found no array, wanted an array of float32");
}

TEST(NDArrayDeathTest, ValuesWithGapsEndTheProgram) {
  float values[4] = {};
  int64_t shape = 2, stride = 2;
  const NDArray array = NDArray::Borrow({.data = values,
                                         .device = kCpu,
                                         .ndim = 1,
                                         .dtype = kFloat,
                                         .shape = &shape,
                                         .strides = &stride,
                                         .byte_offset = 0});
  EXPECT_DEATH(array.values<float>(), "found float32 .* with gaps, wanted an array of float32");
  EXPECT_DEATH(array.values<char>(), "with gaps, wanted an array of any type without gaps");
}

TEST(NDArray, ScalarsAndEmptyArraysRoundTrip) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, std::vector<int64_t>{0, 5}}) {
    const NDArray array = NDArray::Empty(shape, kBool).value();
    if (array.size_bytes() > 0) array.values<char>()[0] = 1;
    ByteWriter writer;
    ASSERT_TRUE(array.Save(writer).ok());
    ByteReader reader(writer.bytes(), "test");
    const NDArray back = NDArray::Load(reader).value();
    EXPECT_EQ(back.shape(), absl::MakeConstSpan(shape));
    EXPECT_EQ(reader.remaining(), 0u);
  }
}

TEST(Params, RoundTripAndTruncation) {
  const Params params = {{"p0", Floats({2}, {1, 2})}, {"weight", Floats({}, {3})}};
  const std::string bytes = SaveParams(params).value();
  const Params back = LoadParams(bytes).value();
  ASSERT_EQ(back.size(), 2u);
  EXPECT_THAT(back.at("p0").values<float>(), ElementsAre(1, 2));
  EXPECT_THAT(back.at("weight").values<float>(), ElementsAre(3));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(LoadParams(absl::string_view(bytes).substr(0, size)).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(Params, RefusesWhatIsNoParamsFile) {
  EXPECT_THAT(std::string(LoadParams("0123456789abcdef").status().message()),
              HasSubstr("is not the start of a params file"));
}

TEST(DeviceApi, SecondBackEndIsRefused) {
  DeviceApi* const cpu = GetDeviceApi(kCpu).value();
  EXPECT_EQ(RegisterDeviceApi(kDLCPU, cpu).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(CopyBetweenDevices(nullptr, {kDLCUDA, 0}, nullptr, {kDLROCM, 0}, 0).code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace kiln::runtime
