// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "absl/strings/str_split.h"
#include "compiler/base/limits.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

// A parsed equation: the label of every dimension of every operand and of the result. A letter is
// its own label. The dimensions of "..." have the labels -1, -2, …, counted from the last.
struct Equation {
  std::vector<std::vector<int>> operands;
  std::vector<int> result;
};

// The labels of a term of `rank` dimensions. If rank is -1, "..." stands for `ellipsis` dimensions.
absl::StatusOr<std::vector<int>> Labels(absl::string_view term, int rank, int ellipsis) {
  std::vector<int> labels;
  const size_t dots = term.find("...");
  const auto letters = static_cast<int>(term.size()) - (dots == term.npos ? 0 : 3);
  const int hidden = dots == term.npos ? 0 : rank < 0 ? ellipsis : rank - letters;
  KILN_CONSTRAINT(2, hidden >= 0 && (rank < 0 || letters + hidden == rank),
                  absl::StrCat("\"", term, "\" for rank ", rank), "a letter per dimension");
  for (size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      for (int d = hidden; d >= 1; --d) labels.push_back(-d);
      i += 2;
      continue;
    }
    const bool is_letter = (term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z');
    KILN_CONSTRAINT(1, is_letter, absl::StrCat("\"", term, "\""), "letters, or ...");
    labels.push_back(term[i]);
  }
  return labels;
}

// The result of an equation without "->": the dimensions of "...", then the letters that occur
// once, in ascending order.
std::vector<int> ImplicitResult(const Equation& e) {
  std::map<int, int> count;
  for (const auto& labels : e.operands) {
    for (int label : labels) ++count[label];
  }
  std::vector<int> result;
  for (const auto& [label, n] : count) {
    if (label < 0 || n == 1) result.push_back(label);
  }
  return result;
}

absl::StatusOr<Equation> ParseEquation(const std::string& text, const std::vector<Shape>& shapes) {
  std::string compact = text;
  std::erase(compact, ' ');
  const std::vector<std::string> sides = absl::StrSplit(compact, "->");
  KILN_CONSTRAINT(1, sides.size() <= 2 && compact.size() <= static_cast<size_t>(kMaxNameBytes),
                  absl::StrCat("equation \"", text, "\""), "terms, or terms->term");
  const std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  KILN_CONSTRAINT(2, terms.size() == shapes.size(), absl::StrCat(terms.size(), " terms"),
                  absl::StrCat(shapes.size(), ", one per operand"));
  Equation e;
  int ellipsis = 0;
  for (size_t k = 0; k < terms.size(); ++k) {
    KILN_ASSIGN_OR_RETURN(std::vector<int> labels,
                          Labels(terms[k], static_cast<int>(shapes[k].size()), 0));
    for (int label : labels) ellipsis = std::max(ellipsis, -label);
    e.operands.push_back(std::move(labels));
  }
  if (sides.size() == 1) {
    e.result = ImplicitResult(e);
  } else {
    KILN_ASSIGN_OR_RETURN(e.result, Labels(sides[1], -1, ellipsis));
  }
  return e;
}

// The extent of every label. An extent of 1 fits every other.
absl::StatusOr<std::map<int, int64_t>> Extents(const Equation& e,
                                               const std::vector<Shape>& shapes) {
  std::map<int, int64_t> extents;
  for (size_t k = 0; k < shapes.size(); ++k) {
    for (size_t d = 0; d < shapes[k].size(); ++d) {
      const auto [it, is_new] = extents.emplace(e.operands[k][d], shapes[k][d]);
      if (is_new || it->second == shapes[k][d] || shapes[k][d] == 1) continue;
      KILN_CONSTRAINT(3, it->second == 1, absl::StrCat(it->second, " and ", shapes[k][d]),
                      "one extent per letter");
      it->second = shapes[k][d];
    }
  }
  std::map<int, int> seen;
  for (int label : e.result) {
    KILN_CONSTRAINT(4, extents.contains(label) && ++seen[label] == 1,
                    "another letter in the result, or one twice", "letters of the operands, once");
  }
  return extents;
}

InferResult InferEinsum(const InferContext& c) {
  std::vector<Shape> shapes;
  KILN_CONSTRAINT(5, !c.inputs.empty(), "no operands", "at least one");
  for (const TensorType& type : c.inputs) {
    KILN_CONSTRAINT(5, IsNumeric(type.dtype) && type.dtype == c.inputs[0].dtype,
                    type.dtype.ToString(), "numbers of one dtype");
    shapes.push_back(type.shape);
  }
  KILN_ASSIGN_OR_RETURN(const Equation e, ParseEquation(c.attrs.String("equation"), shapes));
  KILN_ASSIGN_OR_RETURN(const auto extents, Extents(e, shapes));
  Shape shape;
  for (int label : e.result) shape.push_back(extents.at(label));
  return OutputTypes({{std::move(shape), c.inputs[0].dtype}});
}

absl::Status LowerEinsum(StageBuilder& b) {
  std::vector<Shape> shapes;
  for (int k = 0; k < b.num_inputs(); ++k) shapes.push_back(b.input_shape(k));
  KILN_ASSIGN_OR_RETURN(const Equation e, ParseEquation(b.attrs().String("equation"), shapes));
  KILN_ASSIGN_OR_RETURN(const auto extents, Extents(e, shapes));
  std::vector<int> summed;
  Shape summed_extents;
  for (const auto& [label, extent] : extents) {
    if (std::find(e.result.begin(), e.result.end(), label) != e.result.end()) continue;
    summed.push_back(label);
    summed_extents.push_back(extent);
  }
  const auto product = [&](const Indices& i, const Indices& r) {
    std::map<int, Expr> at;
    for (size_t d = 0; d < e.result.size(); ++d) at[e.result[d]] = i[d];
    for (size_t d = 0; d < summed.size(); ++d) at[summed[d]] = r[d];
    Expr value;
    for (size_t k = 0; k < shapes.size(); ++k) {
      Indices index;
      for (size_t d = 0; d < shapes[k].size(); ++d) {
        index.push_back(shapes[k][d] == 1 ? Expr(0) : at.at(e.operands[k][d]));
      }
      const Expr factor = b.Input(static_cast<int>(k))(index);
      value = value ? value * factor : factor;
    }
    return value;
  };
  if (summed.empty()) {
    b.Output(0, [&](const Indices& i) { return product(i, {}); });
  } else {
    b.Output(0, b.Reduce("sum", b.output_shape(0), summed_extents, loop::Combine::kSum, product));
  }
  return absl::OkStatus();
}

const OpDef kEinsum = {
    {.name = "einsum",
     .doc = "Sums of products of elements of the operands. Every dimension has a letter, and "
            "dimensions with the same letter share one index. Letters that are not in the result "
            "are summed over. \"...\" stands for dimensions that broadcast.",
     .inputs = {{"data", "numbers"}},
     .attrs = {{"equation",
                AttrType::kString,
                {},
                true,
                "terms of letters; \"ij,jk->ik\" is the product of two matrices"}},
     .tuple_input = true},
    {"equation consists of terms of letters, with at most one result after ->",
     "equation has one term per operand, with one letter per dimension",
     "dimensions with the same letter have the same extent, or 1",
     "the result has letters of the operands, each at most once",
     "the operands hold numbers of the same dtype"},
    {.fusion = Fusion::kContraction, .layout = LayoutRule::kFixed},
    InferEinsum,
    LowerEinsum,
    {Case({Values(F32({2, 2}), {1, 2, 3, 4}), Values(F32({2, 2}), {5, 6, 7, 8})},
          {{"equation", "ij,jk->ik"}}, {Values(F32({2, 2}), {19, 22, 43, 50})}),
     Case({Values(F32({2, 2}), {1, 2, 3, 4})}, {{"equation", "ii->i"}}, {Values(F32({2}), {1, 4})}),
     Case({Values(I32({2, 2}), {1, 2, 3, 4})}, {{"equation", "ji"}},
          {Values(I32({2, 2}), {1, 3, 2, 4})}),
     {.inputs = {F32({3, 4, 5}), F32({3, 5, 6})}, .attrs = {{"equation", "...ij, ...jk -> ...ik"}}},
     {.inputs = {F32({4}), F32({5}), F32({4, 5})}, .attrs = {{"equation", "i,j,ij->"}}}},
};
KILN_REGISTER_OP(kEinsum);

}  // namespace
}  // namespace kiln
