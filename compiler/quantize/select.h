// SPDX-License-Identifier: Apache-2.0
// Select: chooses the layers of a network that become int8, and the tensors that are quantized for
// them.
#ifndef KILN_COMPILER_QUANTIZE_SELECT_H_
#define KILN_COMPILER_QUANTIZE_SELECT_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/quantize/calibrator.h"
#include "compiler/quantize/network.h"
#include "compiler/quantize/operators.h"
#include "compiler/quantize/scale.h"

namespace kiln::quantize {

struct SelectOptions {
  std::vector<std::string> op_types;    // operators to quantize; empty: all that can be
  std::vector<std::string> keep_float;  // names of nodes or of their results
};

struct Selection {
  std::vector<Role> roles;             // one per node
  std::map<int, std::string> reasons;  // reasons why nodes stay float32, keyed by node
  std::set<std::string> tensors;       // tensors to quantize
  std::set<std::string> inside;        // tensors between the operators of one layer, not quantized
};

// `types` are the types of the non-constant values that nodes read and compute.
//
// Selects all products that can be quantized. Any other operator is selected if one of its operands
// comes from an int8 layer. A kMoving operator is also selected if only int8 layers read its
// result. Except for products and pools, an int8 layer must read a result of the operator. An
// activation, or an Add of a constant to a matrix product, is one layer with the operator before
// it. InvalidArgument if an operator or node of the options does not exist.
absl::StatusOr<Selection> Select(const Network& network,
                                 const std::map<std::string, TensorType>& types,
                                 const SelectOptions& options);

// Returns the scales of the selected tensors from their ranges. The result of a kMoving operator
// has the scale of its input. An input of a Concat has the scale of the result, unless that would
// cost it more than one bit.
std::map<std::string, Scale> ShareScales(const Network& network, const Selection& selection,
                                         const std::map<std::string, Range>& ranges,
                                         bool symmetric);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_SELECT_H_
