// SPDX-License-Identifier: Apache-2.0
// Item: the meaning of a name of an ONNX graph during the import. Kiln's graphs have only tensors.
// Sequences and optionals exist only in the importer, and their contents must be known.
#ifndef KILN_COMPILER_FRONTEND_ONNX_ITEM_H_
#define KILN_COMPILER_FRONTEND_ONNX_ITEM_H_

#include <utility>
#include <vector>

#include "compiler/graph/graph.h"

namespace kiln::onnx_frontend {

struct Item {
  enum class Kind {
    kAbsent,   // an omitted input
    kUnknown,  // result of a node that could not be imported; its readers are skipped
    kTensor,
    kSequence,  // of tensors
    kNothing,   // an optional without a value; with a value, it is that value
  };

  Item() = default;
  Item(ValueId value)  // NOLINT: most items are tensors
      : kind(value == kNoId ? Kind::kAbsent : Kind::kTensor), tensor(value) {}
  static Item Sequence(std::vector<ValueId> values) {
    Item item;
    item.kind = Kind::kSequence;
    item.sequence = std::move(values);
    return item;
  }
  static Item Unknown() {
    Item item;
    item.kind = Kind::kUnknown;
    return item;
  }
  static Item Nothing() {
    Item item;
    item.kind = Kind::kNothing;
    return item;
  }

  bool is_tensor() const { return kind == Kind::kTensor; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool is_unknown() const { return kind == Kind::kUnknown; }
  bool is_absent() const { return kind == Kind::kAbsent; }
  // Returns "a tensor", "a sequence", ….
  const char* name() const;

  Kind kind = Kind::kAbsent;
  ValueId tensor = kNoId;
  // ONNX's data type, if it is known and Kiln computes with the values as another type
  // (storage_types.h).
  int stored_as = 0;
  std::vector<ValueId> sequence;
};

inline const char* Item::name() const {
  switch (kind) {
    case Kind::kAbsent:
      return "nothing";
    case Kind::kUnknown:
      return "unknown";
    case Kind::kTensor:
      return "a tensor";
    case Kind::kSequence:
      return "a sequence";
    case Kind::kNothing:
      return "an optional without a value";
  }
  return "";
}

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_ITEM_H_
