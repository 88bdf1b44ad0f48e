// SPDX-License-Identifier: Apache-2.0
// OpTraits: properties of an operator that graph passes and the lowering query. They are data, so
// that neither knows operators by name. Every operator states how it fuses and how it follows a
// layout. The other traits are optional, and their defaults promise nothing. traits_test.cc checks
// the promises against the examples.
//
//   {.fusion = Fusion::kReduction, .layout = {LayoutRule::kAxis, "axis"}}             // softmax
//   {.fusion = Fusion::kInjective, .layout = LayoutRule::kReshape, .origin = Origin::kMoved,
//    .view = View::kReshaped}                                                     // reshape
#ifndef KILN_COMPILER_OPS_TRAITS_H_
#define KILN_COMPILER_OPS_TRAITS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"

namespace kiln {

// Ways in which an operator may join others in one function (compiler/passes/fuse.cc).
enum class Fusion {
  kElementwise,  // output at i reads every input at i (broadcast inputs included): joins anything
                 // before and after it
  kInjective,    // moves data: output at i reads each input at one place. Joins element-wise
                 // operators and their consumers
  kReduction,    // softmax, mean, pooling: absorbs cheap producers, and
                 // element-wise consumers after it
  kContraction,  // convolution, dense, batch_matmul: element-wise consumers join after it
  kOpaque,       // joins no other operator
};

// Rules by which an operator computes the same from data whose axes are in another order
// (channels_last.h). Data is input 0; `attr` is the name of an attribute.
enum class LayoutRule {
  kFixed,        // keeps the layout of the model: another one is impossible or slower
  kNamed,        // `attr` names the layout of data and output, NCHW or NHWC; NHWC is faster
  kElementwise,  // treats all axes alike; inputs of lower rank broadcast
  kAxis,         // `attr` has the axis, or the list of axes, that is treated differently
  kReduction,    // `attr` has the axes that are reduced; keepdims and exclude as in reduction.h
  kOrderedReduction,  // like kReduction, but the order of the reduced axes matters
  kPerAxis,           // `attr` has one entry per axis
  kSlice,             // `attr` lists the axes of the entries of other attributes; None: the first
  kReshape,           // a reshape
  kTranspose,         // a transpose
};

// No default: an operator that does not state its layout does not compile.
struct LayoutTrait {
  // NOLINTNEXTLINE(google-explicit-constructor): a rule reads like a value
  constexpr LayoutTrait(LayoutRule layout, const char* attribute = "")
      : rule(layout), attr(attribute) {}

  LayoutRule rule;
  const char* attr;
};

// Source of the elements of the outputs. Data is input 0, or all inputs of a tuple.
enum class Origin {
  kComputed,
  kMoved,   // each is an element of data, chosen by position only: any element-wise function may be
            // computed before or after it
  kChosen,  // each is an element of data, chosen by comparisons: any increasing element-wise
            // function may be computed before or after it
};

// Kinds of output that share the elements of data, in the same order.
enum class View {
  kNone,
  kSame,      // equal to data: the canonical graph has no such operator
  kReshaped,  // data in another shape: it needs no code. In the canonical graph all
              // such operators are reshapes
};

// Relation between inputs and outputs that are joined or split along the attribute `axis`.
enum class Parts {
  kNone,
  kConcatenated,  // the inputs follow each other in the output
  kStacked,       // each input is one place along an axis that only the output has
  kSplit,         // the outputs follow each other in the input
};

// Response of the operator to scaling its inputs by s.
// kSum: f(s·x, s·y) = s·f(x, y).
// kProduct: f(s·x, y) = f(x, s·y) = s·f(x, y).
// kQuotient: f(s·x, y) = f(x, y / s) = s·f(x, y).
enum class Arithmetic { kOther, kSum, kProduct, kQuotient };

// Axes of the output channels, so that scales per channel fold into the weight.
enum class Channels {
  kNone,
  kLayouts,            // output: C of data_layout; weight: O of kernel_layout
  kTransposedLayouts,  // the same, but a kernel_layout that begins with OI is read as IO
  kRows,               // output: the last axis; weight: the first
};

// Rewrites an operator in another form. Adds operators to `graph` that compute the same as `node`
// with `inputs`, and returns its outputs, or nothing if that is not possible. `node` has the
// attributes and the source of the replaced node; the inputs are typed values of `graph`.
using CanonicalForm = absl::StatusOr<std::vector<ValueId>> (*)(Graph& graph, const Node& node,
                                                               const std::vector<ValueId>& inputs);

// True if each row of the output (along its last axis) is computed from the row at the same place
// of data (input 0) and from no other row of it. It may read anything of the other inputs.
using RowRule = bool (*)(const Graph& graph, const Node& node);

struct OpTraits {
  Fusion fusion = Fusion::kOpaque;
  LayoutTrait layout;
  Origin origin = Origin::kComputed;
  View view = View::kNone;
  Parts parts = Parts::kNone;
  Arithmetic arithmetic = Arithmetic::kOther;
  // The input that output 0 copies, except for the elements that the operator changes; -1: none.
  // The first stage makes the copy.
  int updates = -1;
  // The input that schedules pack at compile time if it is a constant; -1: none.
  int weight = -1;
  // The weight may hold int8 or uint8 while data holds floats, if out_dtype is given.
  bool takes_byte_weights = false;
  Channels channels = Channels::kNone;
  // The operator only pads or permutes axes: a contraction may read its data through it.
  bool is_read_in_place = false;
  // Products in its stages are added by fused multiply-adds if the target has such an instruction.
  bool fuses_multiply_adds = false;
  // Null: false for every node.
  RowRule by_rows = nullptr;
  // Name of the operator that computes the same on quantized numbers, with int32 sums; null: none.
  // Its inputs are data, weight, scale and zero point of data, scale and zero point of weight. Its
  // attributes are the same.
  const char* quantized = nullptr;
  // Null: the operator has no other form.
  CanonicalForm canonical = nullptr;
  // The same for the operator together with the operators that compute its inputs.
  // These may become unused.
  CanonicalForm canonical_with_producers = nullptr;
};

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_TRAITS_H_
