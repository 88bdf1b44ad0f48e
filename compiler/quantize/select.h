// SPDX-License-Identifier: Apache-2.0
// Select: which layers of a network become int8, and which tensors are quantized for them.
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
  std::vector<std::string> op_types;    // to quantize; none: all that can be
  std::vector<std::string> keep_float;  // names of nodes, or of what they compute
};

struct Selection {
  std::vector<Role> roles;             // of each node
  std::map<int, std::string> reasons;  // why float32 nodes stay as they are
  std::set<std::string> tensors;       // that are quantized
  std::set<std::string> inside;        // between the operators of one layer: they are not
};

// `types`: of what the nodes read and compute, if it is not constant.
//
// All products are selected that can be; other operators where what they read comes from an int8
// layer, or all that they compute goes to int8 layers, and some of it does; pools need no reader.
// An activation, or a constant that is added to a matrix product, is one layer with the operator in
// front of it. InvalidArgument for an operator or a node of the options that there is not.
absl::StatusOr<Selection> Select(const Network& network,
                                 const std::map<std::string, TensorType>& types,
                                 const SelectOptions& options);

// The scales of the selected tensors from their ranges. What is moved has the scale of where it
// comes from; so has an input of a Concat, unless that would cost it more than a bit.
std::map<std::string, Scale> ShareScales(const Network& network, const Selection& selection,
                                         const std::map<std::string, Range>& ranges,
                                         bool symmetric);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_SELECT_H_
