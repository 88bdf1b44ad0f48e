// SPDX-License-Identifier: Apache-2.0
// Parameter files and serialized arrays, byte by byte.
#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/params.h"

namespace kiln::runtime {
namespace {

template <typename T>
std::string Bytes(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff));
  }
  return bytes;
}

// Returns magic number, reserved word, device, rank, type, extents, number of bytes, elements.
std::string ArrayOfTwoFloats(float a, float b) {
  uint32_t first = 0, second = 0;
  std::memcpy(&first, &a, sizeof(a));
  std::memcpy(&second, &b, sizeof(b));
  return Bytes<uint64_t>(0xDD5E40F096B4A13F) + Bytes<uint64_t>(0) + Bytes<int32_t>(1) +
         Bytes<int32_t>(0) + Bytes<int32_t>(2) + Bytes<uint8_t>(2) + Bytes<uint8_t>(32) +
         Bytes<uint16_t>(1) + Bytes<int64_t>(1) + Bytes<int64_t>(2) + Bytes<int64_t>(8) +
         Bytes(first) + Bytes(second);
}

std::string Text(const std::string& text) { return Bytes<uint64_t>(text.size()) + text; }

std::string ParamsOfTheRelease() {
  return Bytes<uint64_t>(0xF7E58D4F05049CB7) + Bytes<uint64_t>(0) + Bytes<uint64_t>(2) +
         Text("p0") + Text("weight") + Bytes<uint64_t>(2) + ArrayOfTwoFloats(1, -2) +
         ArrayOfTwoFloats(0.5f, 3);
}

TEST(Files, ParametersAreRead) {
  const Params params = LoadParams(ParamsOfTheRelease()).value();
  ASSERT_EQ(params.size(), 2u);
  EXPECT_EQ(params.at("p0").shape(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(params.at("p0").values<float>()[1], -2.0f);
  EXPECT_EQ(params.at("weight").values<float>()[0], 0.5f);
}

TEST(Files, ParametersAreWrittenAlike) {
  const Params params = LoadParams(ParamsOfTheRelease()).value();
  EXPECT_EQ(SaveParams(params).value(), ParamsOfTheRelease());
}

TEST(Files, NoParametersAre32Bytes) {
  EXPECT_EQ(SaveParams({}).value(), Bytes<uint64_t>(0xF7E58D4F05049CB7) + std::string(24, '\0'));
}

TEST(Files, AnArrayOfRankZeroHasNoExtents) {
  NDArray scalar = NDArray::Empty({}, {kDLInt, 8, 1}).value();
  ASSERT_TRUE(scalar.CopyFromBytes("\x07").ok());
  ByteWriter writer;
  ASSERT_TRUE(scalar.Save(writer).ok());
  EXPECT_EQ(writer.bytes(), Bytes<uint64_t>(0xDD5E40F096B4A13F) + Bytes<uint64_t>(0) +
                                Bytes<int32_t>(1) + Bytes<int32_t>(0) + Bytes<int32_t>(0) +
                                Bytes<uint8_t>(0) + Bytes<uint8_t>(8) + Bytes<uint16_t>(1) +
                                Bytes<int64_t>(1) + "\x07");
}

}  // namespace
}  // namespace kiln::runtime
