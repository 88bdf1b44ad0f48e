// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/params.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

constexpr uint64_t kParamsMagic = 0xF7E58D4F05049CB7;

}  // namespace

absl::StatusOr<Params> LoadArrays(const std::vector<std::string>& names, ByteReader& reader) {
  Params params;
  for (const std::string& name : names) {
    KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Load(reader));
    if (!params.emplace(name, std::move(array)).second) {
      return reader.Error(absl::StrCat("parameter '", name, "' comes twice"));
    }
  }
  return params;
}

absl::StatusOr<Params> LoadNamedArrays(ByteReader& reader) {
  KILN_ASSIGN_OR_RETURN(const std::vector<std::string> names, reader.Strings());
  KILN_ASSIGN_OR_RETURN(const uint64_t count, reader.U64());
  if (count != names.size()) {
    return reader.Error(absl::StrCat(count, " arrays for ", names.size(), " names"));
  }
  return LoadArrays(names, reader);
}

absl::StatusOr<std::string> SaveParams(const Params& params) {
  std::vector<std::string> names;
  for (const auto& [name, array] : params) names.push_back(name);
  ByteWriter writer;
  writer.U64(kParamsMagic);
  writer.U64(0);
  writer.Strings(names);
  writer.U64(names.size());
  for (const auto& [name, array] : params) KILN_RETURN_IF_ERROR(array.Save(writer));
  return writer.bytes();
}

absl::StatusOr<Params> LoadParams(absl::string_view bytes) {
  ByteReader reader(bytes, "params file");
  KILN_ASSIGN_OR_RETURN(const uint64_t magic, reader.U64());
  if (magic != kParamsMagic) {
    return reader.Error(absl::StrCat("0x", absl::Hex(magic), " is not the start of a params file"));
  }
  KILN_RETURN_IF_ERROR(reader.U64().status());
  KILN_ASSIGN_OR_RETURN(Params params, LoadNamedArrays(reader));
  if (reader.remaining() == 0) return params;
  return reader.Error(absl::StrCat(reader.remaining(), " bytes after the last array"));
}

}  // namespace kiln::runtime
