// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals. They exist only during the import: a sequence is the list of its
// tensors, so positions and lengths must be known.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/pieces.h"

namespace kiln::onnx_frontend {
namespace {

absl::Status CheckLength(int64_t length) {
  if (length <= kMaxSequenceLength) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("found a sequence of ", length,
                                               " tensors, wanted at most ", kMaxSequenceLength));
}

absl::Status SequenceConstruct(Converter& c) {
  std::vector<ValueId> values;
  for (int i = 0; i < c.num_inputs(); ++i) {
    KILN_ASSIGN_OR_RETURN(values.emplace_back(), c.Input(i));
  }
  KILN_RETURN_IF_ERROR(CheckLength(c.num_inputs()));
  return c.Output(0, Item::Sequence(std::move(values)));
}

absl::Status SequenceEmpty(Converter& c) { return c.Output(0, Item::Sequence({})); }

// Returns the position in input `i`, or `otherwise` if the input is absent.
absl::StatusOr<int64_t> Position(Converter& c, int i, int64_t otherwise) {
  if (!c.HasInput(i)) return otherwise;
  KILN_ASSIGN_OR_RETURN(const Tensor tensor, c.ConstantInput(i, "the position"));
  KILN_ASSIGN_OR_RETURN(const int64_t position, AsInt(tensor, "the position"));
  return position;
}

absl::StatusOr<int64_t> Within(int64_t position, int64_t length, int64_t last) {
  if (position >= -length && position <= last) return position < 0 ? position + length : position;
  return Wrong("the position", absl::StrCat(position), absl::StrCat(-length, " to ", last));
}

absl::Status SequenceInsert(Converter& c) {
  KILN_ASSIGN_OR_RETURN(std::vector<ValueId> values, c.SequenceInput(0));
  KILN_ASSIGN_OR_RETURN(const ValueId value, c.Input(1));
  const int64_t length = static_cast<int64_t>(values.size());
  KILN_ASSIGN_OR_RETURN(int64_t position, Position(c, 2, length));
  KILN_ASSIGN_OR_RETURN(position, Within(position, length, length));
  KILN_RETURN_IF_ERROR(CheckLength(length + 1));
  values.insert(values.begin() + position, value);
  return c.Output(0, Item::Sequence(std::move(values)));
}

absl::Status SequenceErase(Converter& c) {
  KILN_ASSIGN_OR_RETURN(std::vector<ValueId> values, c.SequenceInput(0));
  const int64_t length = static_cast<int64_t>(values.size());
  KILN_ASSIGN_OR_RETURN(int64_t position, Position(c, 1, length - 1));
  KILN_ASSIGN_OR_RETURN(position, Within(position, length, length - 1));
  values.erase(values.begin() + position);
  return c.Output(0, Item::Sequence(std::move(values)));
}

absl::Status SequenceAt(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> values, c.SequenceInput(0));
  if (!c.HasInput(1)) return c.Input(1).status();
  const int64_t length = static_cast<int64_t>(values.size());
  KILN_ASSIGN_OR_RETURN(int64_t position, Position(c, 1, 0));
  KILN_ASSIGN_OR_RETURN(position, Within(position, length, length - 1));
  return c.Output(0, values[static_cast<size_t>(position)]);
}

absl::Status SequenceLength(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> values, c.SequenceInput(0));
  const int64_t length = static_cast<int64_t>(values.size());
  return c.Output(0, c.Constant(Tensor::From<int64_t>({}, DType::Int(64), {length})));
}

// Splits into pieces of the sizes in `split`: one size for all, or one per piece. Without it, the
// pieces have the extent 1, and lose the axis if keepdims is 0.
absl::Status SplitToSequence(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", 0), c.type(x).rank()));
  const int64_t extent = c.type(x).shape[static_cast<size_t>(axis)];
  std::vector<int64_t> sizes;
  int64_t size = 1;
  if (c.HasInput(1)) {
    KILN_ASSIGN_OR_RETURN(const Tensor split, c.ConstantInput(1, "split"));
    if (split.type().rank() == 0) {
      size = split.AsInt(0);
    } else {
      sizes = split.ToInts();
      size = 0;
    }
  }
  if (size < 0 || (size == 0 && sizes.empty())) {
    return Wrong("split", absl::StrCat(size), "1 or more");
  }
  if (size > 0) {
    KILN_RETURN_IF_ERROR(CheckLength(extent / size));
    for (int64_t begin = 0; begin < extent; begin += std::min(size, extent - begin)) {
      sizes.push_back(std::min(size, extent - begin));
    }
  }
  KILN_RETURN_IF_ERROR(CheckLength(static_cast<int64_t>(sizes.size())));
  const bool keeps_axis = c.HasInput(1) || c.Int("keepdims", 1) != 0;
  std::vector<ValueId> values;
  int64_t begin = 0;
  for (int64_t n : sizes) {
    if (n < 0 || n > extent - begin) {
      return Wrong("split", AttrValue::Ints(sizes).ToString(),
                   absl::StrCat("sizes that add up to ", extent));
    }
    KILN_ASSIGN_OR_RETURN(values.emplace_back(), keeps_axis ? Piece(c, x, axis, begin, begin + n)
                                                            : PieceAt(c, x, axis, begin));
    begin += n;
  }
  if (begin != extent) {
    return Wrong("split", AttrValue::Ints(sizes).ToString(),
                 absl::StrCat("sizes that add up to ", extent));
  }
  return c.Output(0, Item::Sequence(std::move(values)));
}

absl::Status ConcatFromSequence(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> values, c.SequenceInput(0));
  if (values.empty()) return Wrong("the sequence", "no tensor in it", "at least one");
  const bool is_new = c.Int("new_axis", 0) != 0;
  if (!c.HasAttr("axis")) return Wrong("axis", "none", "an axis");
  KILN_ASSIGN_OR_RETURN(
      const int64_t axis,
      NormalAxis(c.Int("axis", 0), c.type(values.front()).rank() + (is_new ? 1 : 0)));
  return c.Output(0, is_new ? Stacked(c, values, axis) : Joined(c, values, axis));
}

// Imports the body once per tensor of the first sequence. Further inputs are sequences of the same
// length, or tensors that all iterations read.
absl::Status SequenceMap(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> first, c.SequenceInput(0));
  KILN_ASSIGN_OR_RETURN(const onnx::GraphProto* body,
                        c.Body("body", c.num_inputs(), c.node().output_size()));
  std::vector<std::vector<ValueId>> outputs(static_cast<size_t>(c.node().output_size()));
  for (size_t at = 0; at < first.size(); ++at) {
    std::vector<Item> inputs;
    for (int i = 0; i < c.num_inputs(); ++i) {
      const Item item = c.InputItem(i);
      if (item.is_sequence() && item.sequence.size() != first.size()) {
        return Wrong("sequences",
                     absl::StrCat(first.size(), " and ", item.sequence.size(), " long"),
                     "one length");
      }
      inputs.push_back(item.is_sequence() ? Item(item.sequence[at]) : item);
    }
    KILN_ASSIGN_OR_RETURN(const std::vector<Item> results, c.ImportBody(*body, inputs));
    for (size_t k = 0; k < results.size(); ++k) {
      if (results[k].is_unknown()) {
        c.SetOutputsUnknown();
        return absl::OkStatus();
      }
      if (!results[k].is_tensor()) {
        return Wrong("an output of the body", results[k].name(), "a tensor");
      }
      outputs[k].push_back(results[k].tensor);
    }
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    c.SetOutput(static_cast<int>(k), Item::Sequence(outputs[k]));
  }
  return absl::OkStatus();
}

absl::Status Optional(Converter& c) {
  return c.Output(0, c.HasInput(0) ? c.InputItem(0) : Item::Nothing());
}

absl::Status OptionalGetElement(Converter& c) {
  const Item item = c.InputItem(0);
  if (!item.is_tensor() && !item.is_sequence()) return Wrong("input 0", item.name(), "a value");
  return c.Output(0, item);
}

absl::Status OptionalHasElement(Converter& c) {
  const Item item = c.InputItem(0);
  c.SetOutput(
      0, c.Constant(Tensor::Scalar(DType::Bool(), item.is_tensor() || item.is_sequence() ? 1 : 0)));
  return absl::OkStatus();
}

constexpr OnnxOperator kSequenceRows[] = {
    {"ConcatFromSequence", ConcatFromSequence},
    {"Optional", Optional},
    {"OptionalGetElement", OptionalGetElement},
    {"OptionalHasElement", OptionalHasElement},
    {"SequenceAt", SequenceAt},
    {"SequenceConstruct", SequenceConstruct},
    {"SequenceEmpty", SequenceEmpty},
    {"SequenceErase", SequenceErase},
    {"SequenceInsert", SequenceInsert},
    {"SequenceLength", SequenceLength},
    {"SequenceMap", SequenceMap},
    {"SplitToSequence", SplitToSequence},
};

}  // namespace

absl::Span<const OnnxOperator> SequenceOperators() { return kSequenceRows; }

}  // namespace kiln::onnx_frontend
