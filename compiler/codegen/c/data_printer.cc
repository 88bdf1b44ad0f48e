// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/data_printer.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/literals.h"

namespace kiln::codegen {
namespace {

using loop::DataDef;
using loop::DataValue;

constexpr size_t kMaxInline = 96;

// Other files declare the data with its type, so it cannot be wrapped in an aligned union.
constexpr char kNeedsAlignment[] =
    "#if defined(KILN_UNALIGNED)\n"
    "#error \"nothing says how to align data: compile as C11, or define KILN_ALIGNED(bytes)\"\n"
    "#endif\n";

// Appends the symbols of data and constants that a value refers to.
void CollectAddresses(const DataValue& value, std::vector<std::string>* out) {
  if (const auto* address = std::get_if<DataValue::Address>(&value.value)) {
    if (!address->symbol.empty()) out->push_back(address->symbol);
  } else if (const auto* aggregate = std::get_if<DataValue::Aggregate>(&value.value)) {
    for (const DataValue& field : aggregate->fields) CollectAddresses(field, out);
  }
}

bool IsArray(const DataValue& value) {
  const auto* aggregate = std::get_if<DataValue::Aggregate>(&value.value);
  return std::holds_alternative<DataValue::Bytes>(value.value) ||
         (aggregate != nullptr && aggregate->array);
}

// Characters as elements of an array of char, whose signedness depends on the target.
std::string CharElements(const std::string& bytes, absl::string_view indent) {
  std::string result(indent);
  size_t line_start = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(bytes[i]);
    const bool plain = c >= ' ' && c <= '~' && c != '\'' && c != '\\';
    if (i > 0) result.push_back(',');
    if (result.size() - line_start > 100) {
      line_start = result.size();
      absl::StrAppend(&result, "\n", indent);
    }
    result.push_back('\'');
    if (plain) {
      result.push_back(static_cast<char>(c));
    } else {
      result.append({'\\', static_cast<char>('0' + (c >> 6)),
                     static_cast<char>('0' + ((c >> 3) & 7)), static_cast<char>('0' + (c & 7))});
    }
    result.push_back('\'');
  }
  return result;
}

}  // namespace

DataPrinter::DataPrinter(CContext& context) : context_(context) {
  for (const DataDef& def : context.program.data) defs_.emplace(def.name, &def);
}

absl::Status DataPrinter::Print(std::string* out) {
  out_ = out;
  for (const DataDef& def : context_.program.data) {
    if (def.exported) KILN_RETURN_IF_ERROR(PrintDef(def.name));
  }
  for (const loop::HandleGetter& getter : context_.program.getters) {
    if (defs_.find(getter.data_symbol) == defs_.end()) {
      return absl::InternalError(absl::StrCat("C code generator: ", getter.name,
                                              " returns the unknown data ", getter.data_symbol));
    }
    KILN_RETURN_IF_ERROR(PrintDef(getter.data_symbol));
  }
  for (const loop::HandleGetter& getter : context_.program.getters) PrintGetter(getter);
  return status_;
}

absl::Status DataPrinter::PrintDef(const std::string& name) {
  if (printed_.count(name) != 0) return absl::OkStatus();
  if (!in_progress_.insert(name).second) {
    return absl::InternalError(absl::StrCat("C code generator: data ", name, " refers to itself"));
  }
  const DataDef& def = *defs_.at(name);
  std::vector<std::string> addresses;
  CollectAddresses(def.value, &addresses);
  for (const std::string& symbol : addresses) {
    if (symbol != name && defs_.count(symbol) != 0) KILN_RETURN_IF_ERROR(PrintDef(symbol));
  }
  if (!def.c_header.empty()) headers_.insert(def.c_header);

  const std::string& type = def.c_type;
  const std::string constant = def.writable ? "" : "const ";
  std::string declarator = absl::EndsWith(type, "*") ? absl::StrCat(type, " ", constant, name)
                                                     : absl::StrCat(constant, type, " ", name);
  if (IsArray(def.value)) {
    const auto* bytes = std::get_if<DataValue::Bytes>(&def.value.value);
    const size_t n = bytes != nullptr
                         ? bytes->bytes.size()
                         : std::get<DataValue::Aggregate>(def.value.value).fields.size();
    absl::StrAppend(&declarator, "[", std::max<size_t>(1, n), "]");
  }
  const std::string aligned = AlignmentPrefix(context_, def.alignment_bytes, 1);
  const std::string value = Value(def.value, type, 0);
  if (!aligned.empty()) out_->append(kNeedsAlignment);
  if (def.exported) absl::StrAppend(out_, "extern ", declarator, ";\n");
  absl::StrAppend(out_, aligned, def.exported ? "" : "static ", declarator, " = ", value, ";\n\n");
  printed_.insert(name);
  return status_;
}

std::string DataPrinter::AddressOf(const std::string& symbol) {
  if (symbol.empty()) return "0";
  if (auto def = defs_.find(symbol); def != defs_.end())
    return absl::StrCat(IsArray(def->second->value) ? "" : "&", symbol);
  for (const loop::Constant& constant : context_.program.constants) {
    if (constant.buffer->name != symbol) continue;
    context_.used_constants.insert(constant.buffer.get());
    return context_.constants.at(constant.buffer.get());
  }
  if (status_.ok())
    status_ = absl::InternalError(
        absl::StrCat("C code generator: data refers to the unknown symbol ", symbol));
  return "0";
}

std::string DataPrinter::FuncAddressOf(const std::string& symbol) {
  context_.uses_tvm_headers = true;
  const bool is_getter =
      std::any_of(context_.program.getters.begin(), context_.program.getters.end(),
                  [&symbol](const loop::HandleGetter& getter) { return getter.name == symbol; });
  const auto& choice = context_.program.cpu_choice;
  const bool is_access = choice && (choice->get == symbol || choice->set == symbol);
  if (context_.funcs.find(symbol) == context_.funcs.end() && !is_getter && !is_access)
    external_functions_.insert(symbol);
  return symbol;
}

std::string DataPrinter::LongText(const std::string& bytes) {
  const std::string name = context_.names.AddGlobal("long_text");
  absl::StrAppend(out_, "static const char ", name, "[", bytes.size() + 1, "] = {\n",
                  CharElements(bytes + '\0', "  "), "};\n\n");
  return name;
}

std::string DataPrinter::Value(const DataValue& value, absl::string_view c_type, int depth) {
  if (const auto* v = std::get_if<DataValue::Integer>(&value.value))
    return IntLiteral(DType::Int(v->bits), v->value);
  if (const auto* v = std::get_if<DataValue::Float>(&value.value))
    return FloatLiteral(DType::Float(v->bits), v->value);
  if (const auto* v = std::get_if<DataValue::Text>(&value.value)) {
    const std::string literal = StringLiteral(v->bytes);
    return literal.size() > kMaxStringLiteral ? LongText(v->bytes) : literal;
  }
  if (const auto* v = std::get_if<DataValue::Address>(&value.value)) return AddressOf(v->symbol);
  if (const auto* v = std::get_if<DataValue::FuncAddress>(&value.value))
    return FuncAddressOf(v->symbol);
  const std::string indent(static_cast<size_t>(2 * depth + 2), ' ');
  if (const auto* v = std::get_if<DataValue::Bytes>(&value.value)) {
    if (v->bytes.empty()) return "{0}";
    if (c_type == "char") return absl::StrCat("{\n", CharElements(v->bytes, indent), "}");
    std::string result = "{\n";
    AppendBytes(v->bytes, indent, &result);
    return absl::StrCat(result, "}");
  }
  const auto& aggregate = std::get<DataValue::Aggregate>(value.value);
  if (aggregate.fields.empty()) return "{0}";
  std::vector<std::string> fields;
  size_t width = 0;
  bool lines = false;
  for (const DataValue& field : aggregate.fields) {
    fields.push_back(Value(field, "", depth + 1));
    width += fields.back().size() + 2;
    lines = lines || absl::StrContains(fields.back(), '\n');
  }
  if (!lines && width <= kMaxInline) return absl::StrCat("{", absl::StrJoin(fields, ", "), "}");
  return absl::StrCat("{\n", indent, absl::StrJoin(fields, absl::StrCat(",\n", indent)), "}");
}

void DataPrinter::PrintGetter(const loop::HandleGetter& getter) {
  const DataDef& def = *defs_.at(getter.data_symbol);
  const std::string address = AddressOf(getter.data_symbol);
  if (!getter.packed) {
    const std::string signature = absl::StrCat("const ", def.c_type, "* ", getter.name, "(void)");
    if (getter.weak) {
      absl::StrAppend(out_, "#if defined(__GNUC__)\n__attribute__((weak))\n#endif\n");
    }
    absl::StrAppend(out_, signature, ";\n", signature, " {\n  return ", address, ";\n}\n\n");
    return;
  }
  context_.uses_tvm_headers = true;
  absl::StrAppend(out_, "TVM_DLL int ", getter.name, "(", kPackedParameters,
                  ") {\n"
                  "  (void)args;\n"
                  "  (void)type_codes;\n"
                  "  (void)num_args;\n"
                  "  (void)resource_handle;\n"
                  "  ret_value->v_handle = (void*)",
                  address,
                  ";\n"
                  "  *ret_type_code = kTVMOpaqueHandle;\n"
                  "  return 0;\n"
                  "}\n\n");
}

}  // namespace kiln::codegen
