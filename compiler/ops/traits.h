// SPDX-License-Identifier: Apache-2.0
// OpTraits: what graph passes and the lowering ask of an operator, as data, so that neither knows
// operators by name. Every operator says how it fuses and how it follows a layout; what it does not
// say of the rest, it does not promise. traits_test.cc holds the promises against the examples.
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

// How an operator may join others in one function (compiler/passes/fuse.cc).
enum class Fusion {
  kElementwise,  // output at i reads every input at i (broadcast inputs included): joins anything
                 // before and after it
  kInjective,    // moves data: output at i reads each input at one place. Joins element-wise
                 // operators and their consumers
  kReduction,    // softmax, mean, pooling: takes cheap producers in, and element-wise consumers
                 // behind it
  kContraction,  // convolution, dense, batch_matmul: element-wise consumers join behind it
  kOpaque,       // stands alone
};

// How an operator computes the same of data whose axes stand in another order (channels_last.h).
// Data is input 0; `attr` is the name of an attribute.
enum class LayoutRule {
  kFixed,        // not at all, or slower: it reads data as the model lays it out
  kNamed,        // `attr` names the layout of data and output, NCHW or NHWC; NHWC is faster
  kElementwise,  // no axis differs from another; inputs of lower rank broadcast
  kAxis,         // `attr` has the axis, or a list of them, that differs from the others
  kReduction,    // `attr` has the axes that are reduced; keepdims and exclude as in reduction.h
  kOrderedReduction,  // the same, of axes whose order counts
  kPerAxis,           // `attr` has one entry per axis
  kSlice,             // `attr` has the axes that other attributes have entries for; None: the first
  kReshape,           // a reshape
  kTranspose,         // a transpose
};

// No default: an operator that does not say its layout does not compile.
struct LayoutTrait {
  // NOLINTNEXTLINE(google-explicit-constructor): a rule reads like a value
  constexpr LayoutTrait(LayoutRule layout, const char* attribute = "")
      : rule(layout), attr(attribute) {}

  LayoutRule rule;
  const char* attr;
};

// Where the elements of the outputs come from. Data is input 0, or all inputs of a tuple.
enum class Origin {
  kComputed,
  kMoved,   // each is an element of data, whatever the elements of data are: any function of single
            // elements may be computed before or behind
  kChosen,  // each is an element of data that comparisons choose: any increasing function of single
            // elements may be computed before or behind
};

// Whether the output is data under another description.
enum class View {
  kNone,
  kSame,      // it is data: the canonical graph does without the operator
  kReshaped,  // its elements are those of data in the same order: it needs no code. The canonical
              // graph has reshapes only
};

// Whether inputs are parts of the output, or outputs of the input, along the attribute `axis`.
enum class Parts {
  kNone,
  kConcatenated,  // the inputs lie behind each other in the output
  kStacked,       // each input is one place along an axis that only the output has
  kSplit,         // the outputs lie behind each other in the input
};

// What a factor of the inputs does: f(s x, s y) is s f(x, y); or f(s x, y) and f(x, s y) are; or
// f(s x, y) is, and so is f(x, y / s).
enum class Arithmetic { kOther, kSum, kProduct, kQuotient };

// Where output channels are, so that scales per channel fold into the weight.
enum class Channels {
  kNone,
  kLayouts,            // C of data_layout in the output, O of kernel_layout in the weight
  kTransposedLayouts,  // the same, where a kernel_layout that begins with OI is read as IO
  kRows,               // the last axis of the output, the first of the weight
};

// The operator in other words: adds operators to the graph that compute what `node` does of
// `inputs`, and returns its outputs, or nothing where that is not possible. `node` has attributes
// and source of what is replaced; the inputs are typed values of `graph`.
using CanonicalForm = absl::StatusOr<std::vector<ValueId>> (*)(Graph& graph, const Node& node,
                                                               const std::vector<ValueId>& inputs);

// Whether each row of the output, along its last axis, is computed of the row at the same place of
// data, input 0, and of no other; of other inputs it may be anything.
using RowRule = bool (*)(const Graph& graph, const Node& node);

struct OpTraits {
  Fusion fusion = Fusion::kOpaque;
  LayoutTrait layout;
  Origin origin = Origin::kComputed;
  View view = View::kNone;
  Parts parts = Parts::kNone;
  Arithmetic arithmetic = Arithmetic::kOther;
  // The input whose elements output 0 has, but for some that the operator changes; -1: none. The first
  // stage copies it.
  int updates = -1;
  // The input that schedules pack when the model is compiled if it is a constant; -1: none.
  int weight = -1;
  // The weight may hold int8 or uint8 beside data of floats, with out_dtype given.
  bool takes_byte_weights = false;
  Channels channels = Channels::kNone;
  // Pads or permutes axes only: a contraction may read its data through it.
  bool is_read_in_place = false;
  // Products in its stages are added by fused multiply-adds where the target has such an instruction.
  bool fuses_multiply_adds = false;
  // Null: never.
  RowRule by_rows = nullptr;
  // The operator that computes the same of quantized numbers, int32 sums: its inputs are data,
  // weight, scale and zero point of data, scale and zero point of weight, its attributes the same.
  const char* quantized = nullptr;
  // Null: there are no other words.
  CanonicalForm canonical = nullptr;
  // The same for the operator together with those that compute its inputs, so that these may fall
  // away.
  CanonicalForm canonical_with_producers = nullptr;
};

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_TRAITS_H_
