// SPDX-License-Identifier: Apache-2.0
// Slices: values that are inside of others. A concatenation costs nothing if the functions that
// make its inputs write them directly into their parts of its result.
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

// The place of a value. Its element (i, j, …) is element
// first + i * strides[0] + j * strides[1] + … of `whole`.
struct Slice {
  ValueId whole = kNoId;
  int64_t first = 0;
  Shape strides;

  bool operator==(const Slice&) const = default;
};

// An input of a concatenation that is not made in its place, and that place.
struct PartCopy {
  ValueId part;
  Slice to;
};

class Slices {
 public:
  // Initially every value is its own whole, and every concatenation is a function that copies all
  // its inputs.
  explicit Slices(const Graph& graph) : graph_(graph) {}

  // Returns the place of a value. A value that is not part of another one is its own whole.
  Slice Of(ValueId value) const;
  bool IsPart(ValueId value) const { return slice_of_.contains(value); }
  // Returns the copies that remain of the concatenation. Returns null if it is a function of its
  // own, because none of its inputs is made in its result.
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

// Finds slices for the inputs of every concatenation outside of groups. The rules for a part are:
// - It is made by a function of Kiln and only read by such functions.
// - It is not an output of the model, and is part of only one whole.
// - It has contiguous runs of at least a cache line (in firmware, a word), or is contiguous as a
//   whole. In the latter case its views are parts too.
//
// Nested concatenations place all parts in the result of the last one. On a bare-metal target, a
// value does not become a part if that would raise the peak of live bytes. The peak includes
// `scratch_bytes`, the scratch memory of functions by node; empty: none. `graph` must outlive the
// result.
Slices FindSlices(const Graph& graph, const Target& target,
                  std::vector<int64_t> scratch_bytes = {});

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_SLICES_H_
