// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/ndarray_bytes.h"

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(NDArray, HasTheKnownLayout) {
  std::string bytes;
  AppendNDArray(Tensor::From<int16_t>({1, 2}, DType::Int(16), {1, -2}), bytes);
  EXPECT_EQ(absl::BytesToHexString(bytes),
            "3fa1b496f0405edd"  // magic
            "0000000000000000"
            "0100000000000000"  // CPU, device 0
            "02000000"          // rank
            "00100100"          // int, 16 bits, 1 lane
            "01000000000000000200000000000000"
            "0400000000000000"
            "0100feff");
}

TEST(NDArray, ReadsBackEveryDType) {
  for (const char* name : {"float16", "float32", "float64", "int8", "int16", "int32", "int64",
                           "uint8", "uint16", "uint32", "uint64", "bool"}) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0}, Shape{1, 2, 3}}) {
      const Tensor tensor = Tensor::Filled({shape, *DType::Parse(name)}, 1);
      std::string bytes;
      AppendNDArray(tensor, bytes);
      bytes += "rest";
      absl::string_view rest = bytes;
      absl::StatusOr<Tensor> again = TakeNDArray(rest);
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_TRUE(*again == tensor);
      EXPECT_EQ(rest, "rest");
    }
  }
}

TEST(NDArray, EveryCutIsAnError) {
  std::string bytes;
  AppendNDArray(Tensor::Filled({{2}, DType::Float(32)}, 1), bytes);
  for (size_t i = 0; i < bytes.size(); ++i) {
    absl::string_view cut = absl::string_view(bytes).substr(0, i);
    EXPECT_FALSE(TakeNDArray(cut).ok()) << i;
  }
}

TEST(NDArray, EveryChangedByteIsReadOrRefused) {
  std::string bytes;
  AppendNDArray(Tensor::Filled({{2}, DType::Float(32)}, 1), bytes);
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      absl::string_view rest = changed;
      absl::StatusOr<Tensor> tensor = TakeNDArray(rest);
      if (tensor.ok()) {
        EXPECT_EQ(static_cast<int64_t>(tensor->bytes().size()), tensor->type().num_bytes());
      }
    }
  }
}

}  // namespace
}  // namespace kiln
