// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/parse_data.h"

#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/parse_expr.h"
#include "compiler/loop/parse_type.h"

namespace kiln::loop {
namespace {

// Maximum size of a constant without contents in the text, which consists of zeros.
constexpr int64_t kMaxZeroBytes = int64_t{1} << 24;
constexpr int kMaxDataAlignment = 1 << 20;

void AppendElement(const Expr& constant, std::string& bytes) {
  Scalar value;
  AsScalar(constant, &value);
  const DType dtype = constant.type().dtype;
  if (!dtype.is_float()) {
    bytes.append(reinterpret_cast<const char*>(&value.i), static_cast<size_t>(dtype.bytes()));
    return;
  }
  bytes += Tensor::Scalar(dtype, constant.As<FloatImm>()->value).bytes();
}

}  // namespace

// constant w0 "long name": float32[8] align 64 pool p = [1f32, …] or #29103aad, or zeros
absl::StatusOr<Constant> DataParser::ParseConstant() {
  const Position position = lexer_.next().position;
  KILN_ASSIGN_OR_RETURN(const std::string short_name, lexer_.ExpectName("a constant's name"));
  std::string name = short_name;
  if (lexer_.AtString()) {
    KILN_ASSIGN_OR_RETURN(name, lexer_.ExpectString("a constant's long name"));
  }
  KILN_RETURN_IF_ERROR(lexer_.Expect(":"));
  Constant constant;
  KILN_ASSIGN_OR_RETURN(constant.buffer,
                        ParseBufferType(lexer_, std::move(name), BufferScope::kConstant));
  if (!scope_.Declare(short_name, constant.buffer)) {
    return lexer_.ErrorAt(position,
                          absl::StrCat("'", short_name, "' means something else already"));
  }
  if (lexer_.Accept("pool")) {
    KILN_ASSIGN_OR_RETURN(constant.pool, lexer_.ExpectSymbol("a pool's name"));
  }
  const TensorType type{constant.buffer->shape, constant.buffer->dtype};
  std::string bytes;
  if (!lexer_.Accept("=")) {
    if (type.num_bytes() > kMaxZeroBytes) return lexer_.Unexpected("'=' and the contents");
    bytes.resize(static_cast<size_t>(type.num_bytes()));
  } else if (lexer_.AtHash()) {
    KILN_ASSIGN_OR_RETURN(bytes, ParseContents(type.num_bytes()));
  } else {
    KILN_ASSIGN_OR_RETURN(bytes, ParseElements(type));
  }
  constant.tensor = Tensor(type, std::move(bytes));
  return constant;
}

absl::StatusOr<std::string> DataParser::ParseElements(const TensorType& type) {
  KILN_RETURN_IF_ERROR(lexer_.Expect("["));
  std::string bytes;
  const Scope nothing;
  ExprParser exprs(lexer_, nothing);
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    if (i > 0) KILN_RETURN_IF_ERROR(lexer_.Expect(","));
    const Position position = lexer_.next().position;
    KILN_ASSIGN_OR_RETURN(const Expr element, exprs.ParseConstant());
    if (element.type() != Type::Of(type.dtype)) {
      return lexer_.ErrorAt(position, absl::StrCat("found a value of ", element.type().ToString(),
                                                   ", wanted ", type.dtype.ToString()));
    }
    AppendElement(element, bytes);
  }
  KILN_RETURN_IF_ERROR(lexer_.Expect("]"));
  return bytes;
}

absl::StatusOr<std::string> DataParser::ParseContents(int64_t num_bytes) {
  const Token hash = lexer_.Take();
  const std::string* bytes =
      options_.contents == nullptr ? nullptr : options_.contents(hash.text.substr(1));
  if (bytes != nullptr && static_cast<int64_t>(bytes->size()) == num_bytes) return *bytes;
  return lexer_.ErrorAt(hash.position, absl::StrCat("the ", num_bytes, " bytes of ",
                                                    hash.text.substr(0, kMaxNameBytes),
                                                    " are not known here; wanted their values"));
}

// name: "struct Pair" header "pair.h" align 8 = {…}
absl::StatusOr<DataDef> DataParser::ParseData() {
  DataDef data;
  KILN_ASSIGN_OR_RETURN(data.name, lexer_.ExpectSymbol("a name of data"));
  KILN_RETURN_IF_ERROR(lexer_.Expect(":"));
  KILN_ASSIGN_OR_RETURN(data.c_type, lexer_.ExpectString("a type of C in quotes"));
  if (lexer_.Accept("header")) {
    KILN_ASSIGN_OR_RETURN(data.c_header, lexer_.ExpectString("a header's name in quotes"));
  }
  if (lexer_.Accept("align")) {
    KILN_ASSIGN_OR_RETURN(const int64_t align,
                          lexer_.ExpectInt("an alignment", 1, kMaxDataAlignment));
    data.alignment_bytes = static_cast<int>(align);
  }
  KILN_RETURN_IF_ERROR(lexer_.Expect("="));
  KILN_ASSIGN_OR_RETURN(data.value, ParseValue(0));
  return data;
}

absl::StatusOr<DataValue> DataParser::ParseValue(int depth) {
  if (depth >= kMaxNestingDepth) {
    return lexer_.ErrorAt(lexer_.next().position,
                          absl::StrCat("data in more than ", kMaxNestingDepth, " others"));
  }
  if (lexer_.Accept("{")) return ParseAggregate(/*array=*/false, depth);
  if (lexer_.Accept("[")) return ParseAggregate(/*array=*/true, depth);
  if (lexer_.Accept("null")) return DataValue::Null();
  if (lexer_.Accept("bytes")) return ParseBytes();
  if (lexer_.AtString()) {
    KILN_ASSIGN_OR_RETURN(std::string text, lexer_.ExpectString("a text"));
    return DataValue::String(std::move(text));
  }
  if (!lexer_.Accept("&")) return ParseNumber();
  KILN_ASSIGN_OR_RETURN(std::string symbol, lexer_.ExpectSymbol("a name of data"));
  if (!lexer_.Accept("(")) return DataValue::Pointer(std::move(symbol));
  KILN_RETURN_IF_ERROR(lexer_.Expect(")"));
  return DataValue::Function(std::move(symbol));
}

absl::StatusOr<DataValue> DataParser::ParseAggregate(bool array, int depth) {
  const absl::string_view end = array ? "]" : "}";
  std::vector<DataValue> fields;
  while (!lexer_.At(end)) {
    if (!fields.empty()) KILN_RETURN_IF_ERROR(lexer_.Expect(","));
    KILN_ASSIGN_OR_RETURN(DataValue field, ParseValue(depth + 1));
    fields.push_back(std::move(field));
  }
  lexer_.Take();
  return array ? DataValue::Array(std::move(fields)) : DataValue::Struct(std::move(fields));
}

// 7i32, 0.5f64
absl::StatusOr<DataValue> DataParser::ParseNumber() {
  const Scope nothing;
  const Position position = lexer_.next().position;
  KILN_ASSIGN_OR_RETURN(const Expr constant, ExprParser(lexer_, nothing).ParseConstant());
  const DType dtype = constant.type().dtype;
  if (const FloatImm* value = constant.As<FloatImm>()) {
    return DataValue::Real(dtype.bits, value->value);
  }
  if (dtype.is_int() && !constant.type().index) {
    return DataValue::Int(dtype.bits, constant.As<IntImm>()->value);
  }
  return lexer_.ErrorAt(position, absl::StrCat("found a value of ", constant.type().ToString(),
                                               ", wanted a signed integer or a float"));
}

// (5, "x\\n"), (4096, #29103aad)
absl::StatusOr<DataValue> DataParser::ParseBytes() {
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  const Position position = lexer_.next().position;
  KILN_ASSIGN_OR_RETURN(const int64_t size,
                        lexer_.ExpectInt("a number of bytes", 0, kMaxTensorBytes));
  KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  std::string bytes;
  if (lexer_.AtHash()) {
    KILN_ASSIGN_OR_RETURN(bytes, ParseContents(size));
  } else {
    KILN_ASSIGN_OR_RETURN(bytes, lexer_.ExpectString("bytes in quotes"));
  }
  if (static_cast<int64_t>(bytes.size()) != size) {
    return lexer_.ErrorAt(position, absl::StrCat("found ", bytes.size(), " bytes, wanted ", size));
  }
  KILN_RETURN_IF_ERROR(lexer_.Expect(")"));
  return DataValue::Raw(std::move(bytes));
}

// name of data
absl::StatusOr<HandleGetter> DataParser::ParseGetter() {
  HandleGetter getter;
  KILN_ASSIGN_OR_RETURN(getter.name, lexer_.ExpectSymbol("a function's name"));
  KILN_RETURN_IF_ERROR(lexer_.Expect("of"));
  KILN_ASSIGN_OR_RETURN(getter.data_symbol, lexer_.ExpectSymbol("a name of data"));
  return getter;
}

// word ("a", "b")
absl::StatusOr<std::vector<std::string>> DataParser::ParseTexts(absl::string_view word) {
  KILN_RETURN_IF_ERROR(lexer_.Expect(word));
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  std::vector<std::string> texts;
  while (!lexer_.At(")")) {
    if (!texts.empty()) KILN_RETURN_IF_ERROR(lexer_.Expect(","));
    KILN_ASSIGN_OR_RETURN(std::string text, lexer_.ExpectString("a text in quotes"));
    texts.push_back(std::move(text));
  }
  lexer_.Take();
  return texts;
}

absl::StatusOr<CpuChoice> DataParser::ParseCpuChoice() {
  CpuChoice choice;
  const auto symbol = [&](absl::string_view word, std::string* out) -> absl::Status {
    KILN_RETURN_IF_ERROR(lexer_.Expect(word));
    KILN_ASSIGN_OR_RETURN(*out, lexer_.ExpectSymbol("a function's name"));
    return absl::OkStatus();
  };
  KILN_ASSIGN_OR_RETURN(choice.function, lexer_.ExpectSymbol("a function's name"));
  KILN_RETURN_IF_ERROR(lexer_.Expect("decided"));
  KILN_RETURN_IF_ERROR(symbol("by", &choice.decide));
  KILN_RETURN_IF_ERROR(symbol("get", &choice.get));
  KILN_RETURN_IF_ERROR(symbol("set", &choice.set));
  KILN_ASSIGN_OR_RETURN(choice.lacks, ParseTexts("lacks"));
  KILN_ASSIGN_OR_RETURN(choice.refusals, ParseTexts("refusals"));
  KILN_RETURN_IF_ERROR(lexer_.Expect("unknown"));
  KILN_ASSIGN_OR_RETURN(choice.unknown, lexer_.ExpectString("a text in quotes"));
  return choice;
}

}  // namespace kiln::loop
