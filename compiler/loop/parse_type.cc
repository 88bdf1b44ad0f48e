// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/parse_type.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"

namespace kiln::loop {
namespace {

constexpr int kMaxAlignment = 1 << 20;

}  // namespace

absl::StatusOr<DType> ParseDType(absl::string_view name) {
  return name == DType::BFloat().ToString() ? DType::BFloat() : DType::Parse(name);
}

bool TypeOfName(absl::string_view name, Type* type) {
  int lanes = 1;
  const size_t x = name.rfind('x');
  if (x != absl::string_view::npos && x + 1 < name.size()) {
    if (!absl::SimpleAtoi(name.substr(x + 1), &lanes) || lanes < 2 || lanes > kMaxLanes) {
      return false;
    }
    name = name.substr(0, x);
  }
  if (name == "index") {
    *type = Type::Index(lanes);
    return true;
  }
  const absl::StatusOr<DType> dtype = ParseDType(name);
  if (dtype.ok()) *type = Type::Of(*dtype, lanes);
  return dtype.ok();
}

absl::StatusOr<Type> ParseType(Lexer& lexer) {
  Type type;
  if (!TypeOfName(lexer.next().text, &type)) return lexer.Unexpected("a type");
  lexer.Take();
  return type;
}

absl::StatusOr<Buffer> ParseBufferType(Lexer& lexer, std::string name, BufferScope scope) {
  const Position position = lexer.next().position;
  KILN_ASSIGN_OR_RETURN(const Type type, ParseType(lexer));
  if (type.index || type.is_vector()) return lexer.ErrorAt(position, "wanted an element type");
  TensorType tensor{.shape = {}, .dtype = type.dtype};
  KILN_RETURN_IF_ERROR(lexer.Expect("["));
  while (!lexer.At("]")) {
    if (!tensor.shape.empty()) KILN_RETURN_IF_ERROR(lexer.Expect(","));
    KILN_ASSIGN_OR_RETURN(const int64_t extent,
                          lexer.ExpectInt("an extent", 0, kMaxTensorElements));
    tensor.shape.push_back(extent);
  }
  lexer.Take();
  if (const absl::Status status = CheckTensorType(tensor); !status.ok()) {
    return lexer.ErrorAt(position, status.message());
  }
  int64_t alignment = 0;
  if (lexer.Accept("align")) {
    KILN_ASSIGN_OR_RETURN(alignment, lexer.ExpectInt("an alignment", 1, kMaxAlignment));
  }
  return MakeBuffer(std::move(name), type.dtype, std::move(tensor.shape), scope,
                    static_cast<int>(alignment));
}

}  // namespace kiln::loop
