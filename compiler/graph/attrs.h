// SPDX-License-Identifier: Apache-2.0
// Attributes of a node or a function: a map from names to values, ordered by name. A dtype is
// stored as its spelling in Relay text ("float32").
#ifndef KILN_COMPILER_GRAPH_ATTRS_H_
#define KILN_COMPILER_GRAPH_ATTRS_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/base/dtype.h"

namespace kiln {

// None, bool, int, float, string or list. The order of the alternatives is the order of AttrType.
struct AttrValue {
  std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<AttrValue>> value;

  AttrValue() = default;
  AttrValue(bool v) : value(v) {}                      // NOLINT: attributes read like literals
  AttrValue(int v) : value(int64_t{v}) {}              // NOLINT
  AttrValue(int64_t v) : value(v) {}                   // NOLINT
  AttrValue(double v) : value(v) {}                    // NOLINT
  AttrValue(const char* v) : value(std::string(v)) {}  // NOLINT
  AttrValue(std::string v) : value(std::move(v)) {}    // NOLINT
  AttrValue(std::vector<AttrValue> v) : value(std::move(v)) {}  // NOLINT
  static AttrValue Ints(const std::vector<int64_t>& ints);
  static AttrValue None() { return AttrValue(); }

  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
  bool is_list() const { return std::holds_alternative<std::vector<AttrValue>>(value); }

  // Returns Relay's spelling: None, True, 3, 0.25f, "NCHW", [1, 2].
  std::string ToString() const;

  // NaN equals NaN, so a value equals its copy.
  friend bool operator==(const AttrValue& a, const AttrValue& b);
};

// The attributes of one node or function. The typed getters (Bool, Int, …) are for attributes that
// a schema has normalized (NormalizeAttrs in op_schema.h): the name exists and its value has the
// schema's type. Reading anything else is a programming error and aborts in debug builds.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<const std::string, AttrValue>> values) : values_(values) {}

  bool Has(absl::string_view name) const { return values_.find(name) != values_.end(); }
  // Returns None if there is no attribute of this name.
  const AttrValue& Get(absl::string_view name) const;
  void Set(absl::string_view name, AttrValue value) {
    values_[std::string(name)] = std::move(value);
  }
  void Erase(absl::string_view name);

  bool IsNone(absl::string_view name) const { return Get(name).is_none(); }
  bool Bool(absl::string_view name) const;
  int64_t Int(absl::string_view name) const;
  double Float(absl::string_view name) const;  // an int is widened
  const std::string& String(absl::string_view name) const;
  // Returns a list of ints. A single int yields a list of one, None an empty list.
  std::vector<int64_t> Ints(absl::string_view name) const;
  // Returns a list of lists of ints, such as pad_width.
  std::vector<std::vector<int64_t>> IntLists(absl::string_view name) const;
  std::vector<double> Floats(absl::string_view name) const;
  // Returns the dtype that the attribute spells, or `if_empty` if it is "" or None.
  DType DTypeOr(absl::string_view name, DType if_empty) const;

  const std::map<std::string, AttrValue, std::less<>>& values() const { return values_; }
  friend bool operator==(const Attrs&, const Attrs&) = default;

 private:
  std::map<std::string, AttrValue, std::less<>> values_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_ATTRS_H_
