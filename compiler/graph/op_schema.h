// SPDX-License-Identifier: Apache-2.0
// The interface of an operator to a Graph: its name, inputs and attributes. The parser, the printer
// and the verifier read it and have no code for individual operators. The operator's meaning is in
// compiler/ops (OpDef, which begins with an OpSchema).
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
  kDType,      // a dtype's spelling; "" means "as the input"
  kInts,       // list of ints; a single int becomes a list of one
  kFloats,     // list of floats
  kIntLists,   // list of lists of ints; a list of ints is accepted and kept
  kIntOrInts,  // kept as written: split's indices_or_sections
  kReference,  // reference to the metadata section; not read, stored as None. For values that the
               // inputs also give, or that Kiln does not use
};

struct AttrSchema {
  std::string name;
  AttrType type;
  AttrValue default_value;  // None: the attribute may be absent or None
  bool required = false;
  std::string doc = {};

  // Returns the default as NormalizeAttrs stores it. For example, the int default of a float
  // attribute becomes a float.
  AttrValue NormalDefault() const;
};

struct InputSchema {
  std::string name;
  std::string doc = {};
};

struct OpSchema {
  std::string name;  // Relay's name: "nn.conv2d"
  std::string doc;   // description with the formula
  std::vector<InputSchema> inputs = {};
  std::vector<AttrSchema> attrs = {};
  // True if the operator takes one tuple of one or more tensors, all described by inputs[0]:
  // concatenate((%a, %b), axis=1). If there are several `inputs` (qnn.concatenate), it takes one
  // argument for each, a tuple or a tensor, and the node's inputs are all their tensors in order.
  bool tuple_input = false;
  // Number of trailing inputs that may be omitted.
  int num_optional_inputs = 0;
  // Returns the number of outputs (split, meshgrid). Null: the operator has one output, a tensor.
  absl::StatusOr<int> (*num_outputs)(const Attrs&, size_t num_inputs) = nullptr;
  // True if the result is a tuple; otherwise the result is the only output (topk). Null: the result
  // is a tuple if num_outputs is set.
  bool (*gives_tuple)(const Attrs&) = nullptr;

  const AttrSchema* FindAttr(absl::string_view attr_name) const;
  // `node_attrs` must be normalized.
  absl::StatusOr<int> NumOutputs(const Attrs& node_attrs, size_t num_inputs) const;
  bool GivesTuple(const Attrs& node_attrs) const;
};

// Returns the operator of a Relay name, or null if there is none.
using OpLookup = std::function<const OpSchema*(absl::string_view name)>;

// InvalidArgument, such as "found 1 input, wanted 2 inputs (data, weight)", if the operator does
// not take `found` tensors.
absl::Status CheckNumInputs(const OpSchema& schema, size_t found);

// Fills in defaults, and converts ints to floats or lists if the schema requires it.
// InvalidArgument if an attribute is unknown, missing although required, or of the wrong type. The
// message names the operator and the attribute.
absl::StatusOr<Attrs> NormalizeAttrs(const OpSchema& schema, Attrs attrs);

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_OP_SCHEMA_H_
