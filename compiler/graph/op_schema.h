// SPDX-License-Identifier: Apache-2.0
// What a Graph needs to know of an operator: its name, its inputs and its attributes. The parser,
// the printer and the verifier have no code of their own per operator: they read this. The
// operator's meaning is in compiler/ops (OpDef, which begins with an OpSchema).
#ifndef KILN_COMPILER_GRAPH_OP_SCHEMA_H_
#define KILN_COMPILER_GRAPH_OP_SCHEMA_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/graph/attrs.h"

namespace kiln {

enum class AttrType {
  kBool,
  kInt,
  kFloat,
  kString,
  kDType,      // a dtype's spelling; "" stands for "as the input"
  kInts,       // list of ints; a single int is accepted where Relay does
  kFloats,     // list of floats
  kIntLists,   // list of lists of ints; a list of ints is accepted and kept
  kIntOrInts,  // kept as it was written: split's indices_or_sections
  kReference,  // to the metadata section, for what inputs say too or what is of no use here: not
               // read, and kept as None
};

struct AttrSchema {
  std::string name;
  AttrType type;
  AttrValue default_value;  // None: the attribute may be absent or None
  bool required = false;
  std::string doc = {};

  // The default in the form that NormalizeAttrs gives it: an int default of a float attribute as a
  // float.
  AttrValue NormalDefault() const;
};

struct InputSchema {
  std::string name;
  std::string doc = {};
};

struct OpSchema {
  std::string name;  // Relay's: "nn.conv2d"
  std::string doc;   // what it computes, with the formula
  std::vector<InputSchema> inputs = {};
  std::vector<AttrSchema> attrs = {};
  // The operator takes one tuple of any number (at least one) of tensors, all described by
  // inputs[0]: concatenate((%a, %b), axis=1). With several inputs, tuples and tensors that are put
  // one behind the other: qnn.concatenate.
  bool tuple_input = false;
  // Trailing inputs that may be left out.
  int num_optional_inputs = 0;
  // Null: one output that is a tensor. Otherwise the number of outputs: split, meshgrid.
  absl::StatusOr<int> (*num_outputs)(const Attrs&, size_t num_inputs) = nullptr;
  // Null: the result is a tuple where num_outputs is given. Otherwise whether it is; if not, it is
  // the only output: topk.
  bool (*gives_tuple)(const Attrs&) = nullptr;

  const AttrSchema* FindAttr(absl::string_view attr_name) const;
  // Of normalized attributes.
  absl::StatusOr<int> NumOutputs(const Attrs& node_attrs, size_t num_inputs) const;
  bool GivesTuple(const Attrs& node_attrs) const;
};

// Finds an operator by its Relay name; null if there is none.
using OpLookup = std::function<const OpSchema*(absl::string_view name)>;

// InvalidArgument, "found 1 input, wanted 2 inputs (data, weight)", if the operator does not take
// so many tensors.
absl::Status CheckNumInputs(const OpSchema& schema, size_t found);

// Fills in defaults, widens ints to floats and lists where the schema says so. InvalidArgument that
// names the operator and the attribute if one is unknown, required and missing, or of the wrong
// type (found, wanted).
absl::StatusOr<Attrs> NormalizeAttrs(const OpSchema& schema, Attrs attrs);

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_OP_SCHEMA_H_
