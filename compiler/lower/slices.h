// SPDX-License-Identifier: Apache-2.0
// Slices: which values lie inside of others. A concatenation costs nothing where the functions that
// make its inputs write them right into their parts of its result.
//
//   const Slices slices = FindSlices(graph, target);
//   slices.Of(value).whole     // the value whose memory it is in, itself for most
//   slices.copies(concatenation)
#ifndef KILN_COMPILER_LOWER_SLICES_H_
#define KILN_COMPILER_LOWER_SLICES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/target/target.h"

namespace kiln {

// Where the elements of a value lie: element (i, j, …) is element
// first + i * strides[0] + j * strides[1] + … of `whole`.
struct Slice {
  ValueId whole = kNoId;
  int64_t first = 0;
  Shape strides;

  bool operator==(const Slice&) const = default;
};

// An input of a concatenation that is not made where it belongs, and where that is.
struct PartCopy {
  ValueId part;
  Slice to;
};

class Slices {
 public:
  // Every value is its own whole, every concatenation a function that copies all its inputs.
  explicit Slices(const Graph& graph) : graph_(graph) {}

  // Of a value that is part of no other: all of itself.
  Slice Of(ValueId value) const;
  bool IsPart(ValueId value) const { return slice_of_.contains(value); }
  // The copies that are left of the concatenation; null if it is a function of its own, because
  // none of its inputs is made in its result.
  const std::vector<PartCopy>* copies(NodeId concatenation) const;

  void SetPart(ValueId value, Slice slice) { slice_of_[value] = std::move(slice); }
  void Erase(ValueId value) { slice_of_.erase(value); }
  void SetCopies(NodeId concatenation, std::vector<PartCopy> copies) {
    copies_[concatenation] = std::move(copies);
  }

 private:
  const Graph& graph_;
  std::map<ValueId, Slice> slice_of_;
  std::map<NodeId, std::vector<PartCopy>> copies_;
};

// Slices of the inputs of every concatenation that is no part of a group. A part is made by a
// function of Kiln's, read by such only, no output of the model, and in one whole only. It is a
// cache line of contiguous memory at least (in firmware a word), or all of it contiguous; where it
// is, views of it lie there too. With concatenations of concatenations, all is in the last one's
// result. On a bare-metal target nothing becomes a part that would raise the most bytes alive at
// once, with the scratch memory that functions need, by node; none: they need none. `graph` must
// outlive the result.
Slices FindSlices(const Graph& graph, const Target& target,
                  std::vector<int64_t> scratch_bytes = {});

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_SLICES_H_
