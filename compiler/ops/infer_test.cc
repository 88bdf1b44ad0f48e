// SPDX-License-Identifier: Apache-2.0
// Type inference of wrong input: the messages, and random attributes and shapes. These are the
// untrusted part of a model.
#include <random>

#include "absl/strings/str_cat.h"
#include "compiler/ops/example.h"
#include "compiler/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

InferResult Infer(const OpDef& op, const Attrs& attrs, const std::vector<TensorType>& inputs) {
  absl::StatusOr<Attrs> normalized = NormalizeAttrs(op, attrs);
  if (!normalized.ok()) return normalized.status();
  return op.infer({*normalized, inputs, std::vector<const Tensor*>(inputs.size())});
}

TEST(Infer, CitesTheConstraint) {
  struct Row {
    const char* op;
    std::vector<TensorType> inputs;
    Attrs attrs;
    const char* message;
  };
  const std::vector<Row> rows = {
      {"add", {F32({2}), I32({2})}, {}, "constraint 1: found float32 and int32, wanted one dtype"},
      {"add", {Bools({2}), Bools({2})}, {}, "constraint 2: found bool, wanted numbers"},
      {"add",
       {F32({2}), F32({3})},
       {},
       "constraint 3: found (2,) and (3,), wanted shapes that broadcast to one"},
      {"exp", {I32({2})}, {}, "constraint 1: found int32, wanted floats"},
      {"left_shift", {F32({2}), F32({2})}, {}, "constraint 2: found float32, wanted integers"},
      {"nn.softmax",
       {F32({2, 2})},
       {{"axis", 2}},
       "constraint 2: found axis 2, wanted an axis of a tensor of rank 2"},
      {"nn.softmax",
       {F32({})},
       {},
       "constraint 2: found axis -1, wanted an axis of a tensor of rank 0"},
      {"sum",
       {F32({2, 2})},
       {{"axis", List({0, -2})}},
       "constraint 2: found axis -2 twice, wanted every axis at most once"},
      {"argmax",
       {F32({0})},
       {},
       "constraint 3: found 0 elements, wanted 1 to 2^31 - 1 elements to choose from"},
      {"clip",
       {F32({2})},
       {{"a_min", 2.0}, {"a_max", 1.0}},
       "constraint 2: found a_min 2 and a_max 1, wanted a_min not above a_max, and no NaN"},
      {"nn.bias_add",
       {F32({1, 3}), F32({2})},
       {},
       "constraint 3: found bias of shape (2,), wanted (3,)"},
      {"nn.dense",
       {F32({1, 3}), F32({4, 5})},
       {},
       "constraint 5: found 3 inputs of data, wanted 5 as the weight has"},
      {"nn.dense",
       {F32({1, 3}), F32({4, 3})},
       {{"units", 5}},
       "constraint 6: found units 5, wanted 4 as the weight has"},
      {"nn.dense",
       {I8({1, 3}), U8({4, 3})},
       {},
       "constraint 2: found int8 and uint8, wanted one dtype, or an out_dtype"},
      {"nn.batch_matmul",
       {F32({2, 3, 4}), F32({3, 4, 5})},
       {},
       "constraint 6: found (2, 3, 4) and (3, 4, 5), wanted batches that broadcast"},
      {"nn.conv2d",
       {F32({1, 3, 4, 4}), F32({4, 3, 3, 3})},
       {{"data_layout", "NCHW4c"}},
       "constraint 4: found data_layout NCHW4c, wanted NCHW or NHWC"},
      {"nn.conv2d",
       {F32({1, 3, 4, 4}), F32({4, 3, 3, 3})},
       {{"kernel_layout", "OIWH"}},
       "constraint 5: found kernel_layout OIWH, wanted an order of O, I and HW"},
      {"nn.conv2d",
       {F32({1, 3, 4}), F32({4, 3, 3, 3})},
       {},
       "constraint 6: found (1, 3, 4) and (4, 3, 3, 3), wanted rank 4"},
      {"nn.conv2d",
       {F32({1, 3, 4, 4}), F32({4, 3, 3, 3})},
       {{"groups", 2}},
       "constraint 7: found groups 2, wanted a divisor of 3 channels of data"},
      {"nn.conv2d",
       {F32({1, 3, 4, 4}), F32({4, 3, 3, 3})},
       {{"groups", 0}},
       "constraint 7: found groups 0, wanted a divisor of 3 channels of data"},
      {"nn.conv2d",
       {F32({1, 3, 4, 4}), F32({4, 2, 3, 3})},
       {},
       "constraint 8: found 2 input channels of the weight, wanted 3 of data / 1 groups"},
      {"nn.conv2d",
       {F32({1, 3, 4, 4}), F32({4, 3, 3, 3})},
       {{"channels", 5}},
       "constraint 9: found channels 5, wanted 4 as the weight has"},
      {"nn.conv2d",
       {F32({1, 3, 4, 4}), F32({4, 3, 3, 3})},
       {{"strides", List({0, 1})}},
       "constraint 10: found strides [0, 1], wanted 2 from 1 to 268435456"},
      {"nn.conv2d",
       {F32({1, 3, 4, 4}), F32({4, 3, 3, 3})},
       {{"padding", List({1, 2, 3})}},
       "constraint 10: found padding [1, 2, 3], wanted 1, 2 or 4 from 0 to 268435456"},
      {"nn.conv2d",
       {F32({1, 3, 4, 4}), F32({4, 3, 5, 3})},
       {},
       "constraint 11: found a window of 5 places in 4, wanted data that a window fits in"},
      {"nn.conv2d",
       {F32({1, 3, 4, 4}), F32({4, 3, 3, 3})},
       {{"padding", 268435456}, {"strides", List({100000000, 100000000})}},
       "constraint 12: found padded data of shape (1, 3, 500000003, 500000003), wanted a tensor "
       "within the limits"},
      {"nn.conv2d_transpose",
       {F32({1, 2, 4, 4}), F32({2, 1, 3, 3})},
       {{"output_padding", List({1, 0})}},
       "constraint 13: found output_padding 1, wanted from 0 to less than the stride or the "
       "dilation"},
      {"nn.max_pool2d",
       {F32({1, 2, 4, 4})},
       {{"pool_size", List({2})}},
       "constraint 4: found window [2], wanted 2 from 1 to 268435456"},
      {"reshape",
       {F32({2, 3})},
       {{"newshape", List({4, -1})}},
       "constraint 6: found newshape [4, -1], wanted known extents that divide 6 elements"},
      {"reshape",
       {F32({2, 3})},
       {{"newshape", List({-1, -1})}},
       "constraint 3: found -1 twice, wanted -1 at most once"},
      {"reshape",
       {F32({2, 3})},
       {{"newshape", List({-5})}},
       "constraint 1: found -5, wanted an extent, or 0, -1, -2, -3, -4"},
      {"transpose",
       {F32({2, 3})},
       {{"axes", List({0})}},
       "constraint 1: found 1 axes, wanted all 2"},
      {"squeeze",
       {F32({2, 3})},
       {{"axis", 0}},
       "constraint 2: found axis 0 of extent 2, wanted an extent of 1"},
      {"concatenate",
       {F32({2, 3}), F32({3, 3})},
       {{"axis", 1}},
       "constraint 3: found (3, 3) beside (2, 3), wanted shapes that differ along the axis only"},
      {"split",
       {F32({5})},
       {{"indices_or_sections", 2}},
       "constraint 4: found 2 sections, wanted a divisor of 5"},
      {"split",
       {F32({5})},
       {{"indices_or_sections", List({3, 2})}},
       "constraint 3: found indices [3, 2], wanted a sequence that does not fall, from 0 to 5"},
      {"strided_slice",
       {F32({5})},
       {{"begin", List({0})}, {"end", List({5})}, {"strides", List({0})}},
       "constraint 4: found stride 0, wanted a stride other than 0"},
      {"take",
       {F32({5}), F32({1})},
       {{"axis", 0}},
       "constraint 1: found float32, wanted indices that are integers"},
      {"take",
       {F32({0}), I32({1})},
       {{"axis", 0}},
       "constraint 5: found no elements to take from, wanted at least one"},
      {"nn.pad",
       {F32({2}), F32({})},
       {{"pad_width", AttrValue(std::vector<AttrValue>{List({-1, 0})})}},
       "constraint 1: found pad_width [[-1, 0]], wanted 1 pairs of numbers that are not negative"},
      {"arange",
       {I32({}), I32({}), I32({})},
       {},
       "constraint 1: found input 0 that is computed, wanted a constant"},
      {"broadcast_to",
       {F32({2})},
       {{"shape", List({3})}},
       "constraint 1: found (2,) and (3,), wanted shapes that broadcast to one"},
      {"layout_transform",
       {F32({1, 2, 3, 4})},
       {{"src_layout", "NCHW"}, {"dst_layout", "NCHW4c"}},
       "constraint 1: found NCHW to NCHW4c, wanted two orders of the same letters, each once"},
      {"zeros",
       {},
       {{"shape", List({1 << 20, 1 << 20})}},
       "the result is no tensor: shape (1048576, 1048576) has more than 17179869184 elements"},
  };
  for (const Row& row : rows) {
    const OpDef* op = FindOp(row.op);
    ASSERT_NE(op, nullptr) << row.op;
    const InferResult types = Infer(*op, row.attrs, row.inputs);
    ASSERT_FALSE(types.ok()) << row.op << " has " << row.message;
    EXPECT_EQ(types.status().code(), absl::StatusCode::kInvalidArgument) << row.op;
    EXPECT_EQ(types.status().message(), row.message) << row.op;
  }
}

// Random values, often near a limit.
class RandomModel {
 public:
  explicit RandomModel(uint64_t seed) : random_(seed) {}

  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  int64_t Int() {
    static constexpr int64_t kExtremes[] = {INT64_MIN,           INT64_MIN + 1,
                                            INT64_MAX,           int64_t{1} << 31,
                                            -(int64_t{1} << 32), int64_t{1} << 28};
    return Below(8) == 0 ? kExtremes[Below(6)] : Below(9) - 4;
  }
  double Float() {
    static constexpr double kExtremes[] = {
        1e300, -1e300, __builtin_inf(), -__builtin_inf(), __builtin_nan(""), 0};
    return Below(6) == 0 ? kExtremes[Below(6)] : static_cast<double>(Below(17) - 8) / 4;
  }
  std::vector<int64_t> Ints() {
    std::vector<int64_t> ints;
    for (int64_t n = Below(5); n > 0; --n) ints.push_back(Int());
    return ints;
  }
  DType AnyDType() {
    static constexpr DType kTypes[] = {DType::Float(32), DType::Float(16), DType::Float(64),
                                       DType::Int(32),   DType::Int(64),   DType::Int(8),
                                       DType::UInt(8),   DType::UInt(64),  DType::Bool()};
    return Below(3) != 0 ? DType::Float(32) : kTypes[Below(9)];
  }
  TensorType Type(int64_t rank, DType dtype) {
    TensorType type{{}, dtype};
    for (int64_t d = 0; d < rank; ++d) type.shape.push_back(Below(12) == 0 ? 0 : 1 + Below(6));
    if (rank > 0 && Below(20) == 0) type.shape[0] = int64_t{1} << (20 + Below(14));
    return type;
  }
  // A value of the attribute: random, the default, or one of the strings that
  // the documentation names.
  AttrValue Value(const AttrSchema& attr) {
    static const char* const kStrings[] = {"NCHW",  "NHWC", "NCW",     "NWC", "OIHW",
                                           "HWIO",  "IOHW", "",        "x",   "linear",
                                           "cubic", "edge", "reflect", "size"};
    if (!attr.required && Below(2) == 0) return attr.default_value;
    switch (attr.type) {
      case AttrType::kBool:
        return Below(2) == 0;
      case AttrType::kInt:
        return Int();
      case AttrType::kFloat:
        return Float();
      case AttrType::kString:
        return kStrings[Below(14)];
      case AttrType::kDType:
        return AnyDType().ToString();
      case AttrType::kInts:
        return List(Ints());
      case AttrType::kFloats:
        return AttrValue(std::vector<AttrValue>{Float()});
      case AttrType::kIntLists: {
        std::vector<AttrValue> lists;
        for (int64_t n = Below(4); n > 0; --n)
          lists.push_back(List({Below(4), Below(8) == 0 ? Int() : Below(3)}));
        return AttrValue(std::move(lists));
      }
      case AttrType::kIntOrInts:
        return Below(2) == 0 ? AttrValue(Int()) : List(Ints());
      case AttrType::kReference:
        return AttrValue::None();
    }
    return {};
  }

 private:
  std::mt19937_64 random_;
};

struct Model {
  Attrs attrs;
  std::vector<TensorType> inputs;
  std::vector<Tensor> values = {};  // for inputs that still have the type of their value

  Tensor Value(size_t k) const {
    const bool given = k < values.size() && !values[k].empty() && values[k].type() == inputs[k];
    return given ? values[k] : RandomTensor(inputs[k], k);
  }
};

Model AnyModel(const OpDef& op, RandomModel& random) {
  Model model;
  for (const AttrSchema& attr : op.attrs) model.attrs.Set(attr.name, random.Value(attr));
  const DType dtype = random.AnyDType();
  const int64_t rank = random.Below(6);
  const int64_t count =
      op.tuple_input ? 1 + random.Below(3) : static_cast<int64_t>(op.inputs.size());
  for (int64_t k = 0; k < count; ++k) {
    const bool other = random.Below(4) == 0;
    const bool repeat = k > 0 && random.Below(3) == 0;
    model.inputs.push_back(
        repeat ? model.inputs[0]
               : random.Type(other ? random.Below(5) : rank, other ? random.AnyDType() : dtype));
  }
  return model;
}

// An example with a few random changes.
Model NearExample(const OpDef& op, RandomModel& random) {
  const OpExample& example =
      op.examples[static_cast<size_t>(random.Below(static_cast<int64_t>(op.examples.size())))];
  Model model{example.attrs, example.inputs, example.values};
  for (const AttrSchema& attr : op.attrs) {
    const bool is_ints = attr.type == AttrType::kInts && model.attrs.Get(attr.name).is_list();
    std::vector<int64_t> ints = is_ints ? model.attrs.Ints(attr.name) : std::vector<int64_t>();
    if (!ints.empty() && random.Below(3) == 0) {
      ints[static_cast<size_t>(random.Below(static_cast<int64_t>(ints.size())))] = random.Below(4);
      model.attrs.Set(attr.name, List(ints));
    } else if (random.Below(8) == 0) {
      model.attrs.Set(attr.name, random.Value(attr));
    }
  }
  for (TensorType& type : model.inputs) {
    if (type.rank() == 0 || random.Below(4) != 0) continue;
    type.shape[static_cast<size_t>(random.Below(type.rank()))] = random.Below(9);
  }
  return model;
}

// Every small model that infer accepts runs without an access out of bounds, and nothing crashes.
TEST(Infer, SurvivesRandomModels) {
  constexpr int kModelsPerOp = 1500, kRunsPerOp = 40;
  constexpr int64_t kSmall = 3000;
  uint64_t seed = 0;
  for (const OpDef* op : AllOps()) {
    RandomModel random(++seed);
    int ran = 0;
    for (int n = 0; n < kModelsPerOp; ++n) {
      Model model = n % 2 == 0 ? AnyModel(*op, random) : NearExample(*op, random);
      const absl::StatusOr<Attrs> attrs = NormalizeAttrs(*op, model.attrs);
      if (!attrs.ok()) continue;
      bool small = true;
      for (TensorType& type : model.inputs) {
        if (!CheckTensorType(type).ok()) type = F32({2});
        small = small && type.num_elements() <= kSmall;
      }
      std::vector<Tensor> values;
      for (size_t k = 0; small && k < model.inputs.size(); ++k) {
        values.push_back(model.Value(k));
      }
      InferContext context{*attrs, model.inputs, std::vector<const Tensor*>(model.inputs.size())};
      for (size_t k = 0; k < values.size(); ++k) context.constants[k] = &values[k];
      const InferResult types = op->infer(context);
      if (!types.ok()) {
        EXPECT_EQ(types.status().code(), absl::StatusCode::kInvalidArgument) << op->name;
        continue;
      }
      for (const TensorType& type : *types) {
        EXPECT_TRUE(CheckTensorType(type).ok()) << op->name << " gives " << type.ToString();
        small = small && type.num_elements() <= kSmall;
      }
      const absl::StatusOr<int> count = op->NumOutputs(*attrs, model.inputs.size());
      EXPECT_TRUE(count.ok() && static_cast<size_t>(*count) == types->size()) << op->name;
      if (!small || ran == kRunsPerOp) continue;
      const absl::StatusOr<std::vector<Tensor>> outputs =
          RunLowered(*op, *attrs, values, *types, kSmall * 10);
      if (outputs.status().code() == absl::StatusCode::kResourceExhausted) continue;
      // Operators that check their data may reject it.
      const bool refused = outputs.status().code() == absl::StatusCode::kFailedPrecondition;
      ASSERT_TRUE(outputs.ok() || refused) << op->name << ": " << outputs.status();
      ++ran;
    }
    EXPECT_EQ(ran, kRunsPerOp) << op->name;
  }
}

}  // namespace
}  // namespace kiln
