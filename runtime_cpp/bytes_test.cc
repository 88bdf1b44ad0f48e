// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/bytes.h"

#include "gtest/gtest.h"

namespace kiln::runtime {
namespace {

TEST(Bytes, RoundTrip) {
  ByteWriter writer;
  writer.U8(0xfe);
  writer.U16(0xfedc);
  writer.I32(-2);
  writer.I64(-3);
  writer.U64(0xfedcba9876543210);
  writer.String("text");
  writer.Strings({"a", "", "b"});
  writer.U64s({1, 2});
  ByteReader reader(writer.bytes(), "test");
  EXPECT_EQ(*reader.U8(), 0xfe);
  EXPECT_EQ(*reader.U16(), 0xfedc);
  EXPECT_EQ(*reader.I32(), -2);
  EXPECT_EQ(*reader.I64(), -3);
  EXPECT_EQ(*reader.U64(), 0xfedcba9876543210);
  EXPECT_EQ(*reader.String(), "text");
  EXPECT_EQ(*reader.Strings(), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(*reader.U64s(), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(Bytes, IsLittleEndian) {
  ByteWriter writer;
  writer.U16(0x1234);
  EXPECT_EQ(writer.bytes(), "\x34\x12");
}

TEST(Bytes, TruncationSaysWhere) {
  ByteReader reader(absl::string_view("\1\2\3", 3), "test");
  EXPECT_EQ(reader.U64().status(),
            absl::DataLossError("test: at byte 0: needs 8 more bytes, only 3 are left"));
}

TEST(Bytes, HugeCountsAllocateNothing) {
  ByteWriter writer;
  writer.U64(0xffffffffffffffff);
  writer.U64(0);
  EXPECT_EQ(ByteReader(writer.bytes(), "test").String().status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(ByteReader(writer.bytes(), "test").Strings().status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(ByteReader(writer.bytes(), "test").U64s().status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace kiln::runtime
