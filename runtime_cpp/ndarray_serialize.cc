// SPDX-License-Identifier: Apache-2.0
//
// The byte form of an array, all little-endian:
//   u64 magic, u64 0, i32 device type, i32 device id, i32 rank, u8 code, u8 bits, u16 lanes,
//   i64 extents[rank], i64 bytes, the elements.
#include <bit>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are stored little-endian");

constexpr uint64_t kArrayMagic = 0xDD5E40F096B4A13F;

}  // namespace

absl::Status NDArray::Save(ByteWriter& writer) const {
  if (!IsCompact(*tensor())) {
    return absl::InvalidArgumentError("cannot save an array whose strides are not compact");
  }
  std::string bytes(static_cast<size_t>(size_bytes()), '\0');
  KILN_RETURN_IF_ERROR(CopyToBytes(absl::MakeSpan(bytes)));
  writer.U64(kArrayMagic);
  writer.U64(0);
  writer.I32(kDLCPU);
  writer.I32(0);
  writer.I32(tensor()->ndim);
  writer.U8(dtype().code);
  writer.U8(dtype().bits);
  writer.U16(dtype().lanes);
  for (const int64_t extent : shape()) writer.I64(extent);
  writer.I64(size_bytes());
  writer.Bytes(bytes);
  return absl::OkStatus();
}

absl::StatusOr<NDArray> NDArray::Load(ByteReader& reader) {
  KILN_ASSIGN_OR_RETURN(const uint64_t magic, reader.U64());
  if (magic != kArrayMagic) {
    return reader.Error(absl::StrCat("0x", absl::Hex(magic), " is not the start of an array"));
  }
  KILN_RETURN_IF_ERROR(reader.Bytes(sizeof(uint64_t) + 2 * sizeof(int32_t)).status());
  KILN_ASSIGN_OR_RETURN(const int32_t ndim, reader.I32());
  if (ndim < 0 || ndim > kMaxNdim) {
    return reader.Error(absl::StrCat("an array of rank ", ndim, "; 0 to ", kMaxNdim, " work"));
  }
  DLDataType dtype;
  KILN_ASSIGN_OR_RETURN(dtype.code, reader.U8());
  KILN_ASSIGN_OR_RETURN(dtype.bits, reader.U8());
  KILN_ASSIGN_OR_RETURN(dtype.lanes, reader.U16());
  if (dtype.bits == 0 || dtype.lanes == 0) return reader.Error("an element of 0 bits");
  std::vector<int64_t> shape(static_cast<size_t>(ndim));
  for (int64_t& extent : shape) {
    KILN_ASSIGN_OR_RETURN(extent, reader.I64());
  }
  KILN_ASSIGN_OR_RETURN(const int64_t stored_bytes, reader.I64());
  KILN_ASSIGN_OR_RETURN(const int64_t bytes, TensorBytes(shape, dtype));
  if (stored_bytes != bytes) {
    return reader.Error(absl::StrCat("an array of ", DataTypeName(dtype), " ", ShapeName(shape),
                                     " has ", bytes, " bytes, not ", stored_bytes));
  }
  // Reading before allocating limits the allocation to the number of available bytes.
  KILN_ASSIGN_OR_RETURN(const absl::string_view data, reader.Bytes(static_cast<uint64_t>(bytes)));
  KILN_ASSIGN_OR_RETURN(NDArray array, Empty(shape, dtype));
  KILN_RETURN_IF_ERROR(array.CopyFromBytes(data));
  return array;
}

}  // namespace kiln::runtime
