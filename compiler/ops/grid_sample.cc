// SPDX-License-Identifier: Apache-2.0
// image.grid_sample. Coordinates are floats, from -1 to 1 between the borders of data.
#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/resize.h"

namespace kiln {
namespace {

InferResult InferGridSample(const InferContext& c) {
  const TensorType &data = c.inputs[0], &grid = c.inputs[1];
  KILN_CONSTRAINT(1, data.dtype.is_float() && grid.dtype.is_float(),
                  absl::StrCat(data.dtype.ToString(), " and ", grid.dtype.ToString()), "floats");
  const std::string &layout = c.attrs.String("layout"), &method = c.attrs.String("method"),
                    &padding = c.attrs.String("padding_mode");
  KILN_CONSTRAINT(2, layout == "NCHW" || layout == "NCDHW", layout, "NCHW or NCDHW");
  const int rank = layout == "NCHW" ? 4 : 5;
  KILN_CONSTRAINT(3,
                  data.rank() == rank && grid.rank() == rank && data.shape[0] == grid.shape[0] &&
                      grid.shape[1] == rank - 2,
                  absl::StrCat(ShapeToString(data.shape), " and ", ShapeToString(grid.shape)),
                  absl::StrCat("rank ", rank, ", one batch, and ", rank - 2, " coordinates"));
  const bool cubic = method == "bicubic" && rank == 4;
  KILN_CONSTRAINT(4, method == "bilinear" || method == "nearest" || cubic, method,
                  "bilinear, nearest, or of images bicubic");
  KILN_CONSTRAINT(5, padding == "zeros" || padding == "border" || padding == "reflection", padding,
                  "zeros, border or reflection");
  for (int d = 2; d < rank; ++d) {
    KILN_CONSTRAINT(6, data.shape[static_cast<size_t>(d)] >= 1, ShapeToString(data.shape),
                    "at least one place");
  }
  Shape shape = grid.shape;
  shape[1] = data.shape[1];
  return OutputTypes({{std::move(shape), data.dtype}});
}

// Coordinates and padding along one dimension.
struct Dim {
  int64_t extent;
  bool align_corners;
  std::string padding;

  Expr Number(const Expr& like, double value) const { return loop::Const(like.type(), value); }

  // The place, as a float, of a coordinate from -1 to 1.
  Expr Place(const Expr& g) const {
    const auto n = static_cast<double>(extent);
    const Expr half = Number(g, 0.5), one = Number(g, 1);
    return align_corners ? (g + one) * half * Number(g, n - 1)
                         : ((g + one) * Number(g, n) - one) * half;
  }
  // Brings a place beyond the data into the data, except with the padding mode zeros.
  Expr Inside(const Expr& x) const {
    if (padding == "zeros") return x;
    const double last = static_cast<double>(extent) - 1;
    const Expr clamped_to = Number(x, last), zero = Number(x, 0);
    Expr place = x;
    if (padding == "reflection") {
      // The place moves back and forth over `span` places, beginning at `first`.
      const double first = align_corners ? 0 : -0.5;
      const double span = align_corners ? last : last + 1;
      if (span == 0) return zero;
      const Expr from = loop::Abs(x - Number(x, first)), whole = Number(x, span);
      const Expr turns = loop::Floor(from / whole);
      const Expr rest = from - turns * whole;
      const Expr odd = turns - loop::Floor(turns * Number(x, 0.5)) * Number(x, 2);
      place = loop::MakeSelect(odd == Number(x, 1), whole - rest, rest) + Number(x, first);
    }
    return Max(Min(place, clamped_to), zero);
  }
  Expr Index(const Expr& whole) const {
    return ClampIndex(loop::ToIndex(loop::MakeCast(DType::Int(32), whole)), extent);
  }
};

struct Neighbour {
  Expr place, weight;  // the place is an integral float; without a weight: 1
};

std::vector<Neighbour> Neighbours(const Dim& dim, const std::string& method, const Expr& g) {
  const Expr x = dim.Place(g);
  if (method == "bicubic") {
    const Expr floor = loop::Floor(x);
    std::vector<Neighbour> all;
    const std::vector<Expr> weights = CubicWeights(x - floor, -0.75);
    for (size_t j = 0; j < weights.size(); ++j) {
      const Expr place = floor + dim.Number(x, static_cast<double>(j) - 1);
      all.push_back({dim.Inside(place), weights[j]});
    }
    return all;
  }
  const Expr inside = dim.Inside(x);
  if (method == "nearest") return {{loop::RoundEven(inside), Expr()}};
  const Expr floor = loop::Floor(inside), one = dim.Number(x, 1), rest = inside - floor;
  return {{floor, one - rest}, {floor + one, rest}};
}

absl::Status LowerGridSample(StageBuilder& b) {
  const Shape& data = b.input_shape(0);
  const size_t dims = data.size() - 2;
  const std::string& method = b.attrs().String("method");
  std::vector<Dim> all;
  for (size_t k = 0; k < dims; ++k) {
    all.push_back({data[k + 2], b.attrs().Bool("align_corners"), b.attrs().String("padding_mode")});
  }
  const bool zeros = all[0].padding == "zeros";
  b.Output(0, [&, x = b.Input(0), grid = b.Input(1)](const Indices& i) {
    std::vector<std::vector<Neighbour>> along;
    for (size_t k = 0; k < dims; ++k) {
      Indices at = i;
      at[1] = Expr(static_cast<int64_t>(dims - 1 - k));  // the grid has x first
      along.push_back(Neighbours(all[k], method, grid(at)));
    }
    Expr sum;
    std::vector<size_t> choice(dims, 0);
    for (bool more = true; more;) {
      Indices at = {i[0], i[1]};
      Expr weight, inside;
      for (size_t k = 0; k < dims; ++k) {
        const Neighbour& n = along[k][choice[k]];
        at.push_back(all[k].Index(n.place));
        if (n.weight) weight = weight ? weight * n.weight : n.weight;
        const Expr own = n.place >= all[k].Number(n.place, 0) &&
                         n.place <= all[k].Number(n.place, static_cast<double>(data[k + 2]) - 1);
        inside = inside ? inside && own : own;
      }
      Expr value = x(at);
      if (zeros) value = loop::MakeSelect(inside, value, loop::Const(value.type(), 0));
      if (weight) {
        const DType dtype = value.type().dtype;
        value = value * (weight.type().dtype == dtype ? weight : loop::MakeCast(dtype, weight));
      }
      sum = sum ? sum + value : value;
      more = false;
      for (size_t k = dims; k-- > 0 && !more;) {
        more = ++choice[k] < along[k].size();
        if (!more) choice[k] = 0;
      }
    }
    return sum;
  });
  return absl::OkStatus();
}

const OpDef kGridSample = {
    {.name = "image.grid_sample",
     .doc = "The values of data at the positions that grid gives. Coordinates x, y (, z) run from "
            "-1 to 1: between the centers of the outer positions with align_corners, otherwise "
            "between their borders. A value is that of the nearest position, or the weighted mean "
            "of the positions around it.",
     .inputs = {{"data", "floats, as layout says"},
                {"grid",
                 "floats, (n, 2, h, w) or (n, 3, d, h, w), with the extents of the result"}},
     .attrs = {{"method", AttrType::kString, "bilinear", false, "bilinear, nearest or bicubic"},
               {"layout", AttrType::kString, "NCHW", false, "NCHW or NCDHW"},
               {"padding_mode", AttrType::kString, "zeros", false,
                "values beyond data: zeros, border or reflection"},
               {"align_corners", AttrType::kBool, true, false,
                "true if -1 and 1 are the centers of the outer positions"}}},
    {"data and grid hold floats", "layout is NCHW or NCDHW",
     "data and grid have the rank of the layout and the same batch, and grid has one coordinate "
     "per dimension",
     "method is bilinear, nearest, or bicubic with NCHW",
     "padding_mode is zeros, border or reflection", "data has at least one position"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
    InferGridSample,
    LowerGridSample,
    {Case({Values(F32({1, 1, 1, 3}), {0, 4, 8}),
           Values(F32({1, 2, 1, 4}), {-1, -0.5, 1, 3, 0, 0, 0, 0})},
          {}, {Values(F32({1, 1, 1, 4}), {0, 2, 8, 0})}),
     Case({Values(F32({1, 1, 1, 2}), {1, 5}), Values(F32({1, 2, 1, 3}), {-0.5, 0, 2, 0, 0, 0})},
          {{"align_corners", false}, {"padding_mode", "border"}},
          {Values(F32({1, 1, 1, 3}), {1, 3, 5})}),
     {.inputs = {F32({2, 3, 4, 5}), F32({2, 2, 3, 3})},
      .attrs = {{"method", "bicubic"}, {"padding_mode", "reflection"}}},
     {.inputs = {F32({1, 2, 3, 4, 5}), F32({1, 3, 2, 3, 2})},
      .attrs = {{"layout", "NCDHW"}, {"align_corners", false}}},
     {.inputs = {F16({1, 2, 4, 4}), F32({1, 2, 3, 3})}, .attrs = {{"method", "nearest"}}}},
};
KILN_REGISTER_OP(kGridSample);

}  // namespace
}  // namespace kiln
