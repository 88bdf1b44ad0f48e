// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/attrs.h"

#include <cassert>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/graph/literal.h"

namespace kiln {

AttrValue AttrValue::Ints(const std::vector<int64_t>& ints) {
  return AttrValue(std::vector<AttrValue>(ints.begin(), ints.end()));
}

bool operator==(const AttrValue& a, const AttrValue& b) {
  const double* x = std::get_if<double>(&a.value);
  const double* y = std::get_if<double>(&b.value);
  return a.value == b.value || (x != nullptr && y != nullptr && std::isnan(*x) && std::isnan(*y));
}

std::string AttrValue::ToString() const {
  if (const bool* v = std::get_if<bool>(&value)) return *v ? "True" : "False";
  if (const int64_t* v = std::get_if<int64_t>(&value)) return absl::StrCat(*v);
  if (const double* v = std::get_if<double>(&value)) return absl::StrCat(FloatDigits(*v), "f");
  if (const std::string* v = std::get_if<std::string>(&value)) return QuoteString(*v);
  if (const auto* list = std::get_if<std::vector<AttrValue>>(&value)) {
    return absl::StrCat("[",
                        absl::StrJoin(*list, ", ",
                                      [](std::string* out, const AttrValue& item) {
                                        absl::StrAppend(out, item.ToString());
                                      }),
                        "]");
  }
  return "None";
}

const AttrValue& Attrs::Get(absl::string_view name) const {
  static const AttrValue kNone;
  auto it = values_.find(name);
  return it == values_.end() ? kNone : it->second;
}

void Attrs::Erase(absl::string_view name) {
  if (auto it = values_.find(name); it != values_.end()) values_.erase(it);
}

bool Attrs::Bool(absl::string_view name) const {
  const bool* v = std::get_if<bool>(&Get(name).value);
  assert(v != nullptr);
  return v != nullptr && *v;
}

int64_t Attrs::Int(absl::string_view name) const {
  const int64_t* v = std::get_if<int64_t>(&Get(name).value);
  assert(v != nullptr);
  return v == nullptr ? 0 : *v;
}

double Attrs::Float(absl::string_view name) const {
  const AttrValue& attr = Get(name);
  if (const int64_t* v = std::get_if<int64_t>(&attr.value)) return static_cast<double>(*v);
  const double* v = std::get_if<double>(&attr.value);
  assert(v != nullptr);
  return v == nullptr ? 0.0 : *v;
}

const std::string& Attrs::String(absl::string_view name) const {
  static const std::string kEmpty;
  const std::string* v = std::get_if<std::string>(&Get(name).value);
  assert(v != nullptr);
  return v == nullptr ? kEmpty : *v;
}

namespace {

std::vector<int64_t> IntsOf(const AttrValue& attr) {
  if (attr.is_none()) return {};
  if (const int64_t* v = std::get_if<int64_t>(&attr.value)) return {*v};
  const auto* list = std::get_if<std::vector<AttrValue>>(&attr.value);
  assert(list != nullptr);
  std::vector<int64_t> ints;
  if (list == nullptr) return ints;
  for (const AttrValue& item : *list) {
    const int64_t* v = std::get_if<int64_t>(&item.value);
    assert(v != nullptr);
    ints.push_back(v == nullptr ? 0 : *v);
  }
  return ints;
}

}  // namespace

std::vector<int64_t> Attrs::Ints(absl::string_view name) const { return IntsOf(Get(name)); }

std::vector<std::vector<int64_t>> Attrs::IntLists(absl::string_view name) const {
  std::vector<std::vector<int64_t>> lists;
  const AttrValue& attr = Get(name);
  if (attr.is_none()) return lists;
  const auto* list = std::get_if<std::vector<AttrValue>>(&attr.value);
  assert(list != nullptr);
  if (list == nullptr) return lists;
  for (const AttrValue& item : *list) lists.push_back(IntsOf(item));
  return lists;
}

std::vector<double> Attrs::Floats(absl::string_view name) const {
  const AttrValue& attr = Get(name);
  auto as_float = [](const AttrValue& item) {
    if (const int64_t* v = std::get_if<int64_t>(&item.value)) return static_cast<double>(*v);
    const double* v = std::get_if<double>(&item.value);
    assert(v != nullptr);
    return v == nullptr ? 0.0 : *v;
  };
  std::vector<double> floats;
  if (attr.is_none()) return floats;
  const auto* list = std::get_if<std::vector<AttrValue>>(&attr.value);
  if (list == nullptr) return {as_float(attr)};
  for (const AttrValue& item : *list) floats.push_back(as_float(item));
  return floats;
}

DType Attrs::DTypeOr(absl::string_view name, DType if_empty) const {
  const AttrValue& attr = Get(name);
  if (attr.is_none()) return if_empty;
  const std::string* v = std::get_if<std::string>(&attr.value);
  assert(v != nullptr);
  if (v == nullptr || v->empty()) return if_empty;
  absl::StatusOr<DType> dtype = DType::Parse(*v);
  assert(dtype.ok());
  return dtype.value_or(if_empty);
}

}  // namespace kiln
