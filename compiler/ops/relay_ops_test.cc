// SPDX-License-Identifier: Apache-2.0
// The operators of Relay text have the number of inputs, the attributes and the defaults that Relay
// declares, so that models written by other programs keep their meaning.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

struct RelayOp {
  const char* name;
  size_t num_inputs;  // a tuple counts as one
  const char* attrs;  // name=default, or name! without a default
};

// The declarations of Relay 0.9.
const RelayOp kRelayOps[] = {
    {"abs", 1, ""},
    {"acos", 1, ""},
    {"acosh", 1, ""},
    {"add", 2, ""},
    {"all", 1, "axis=None keepdims=False exclude=False"},
    {"annotation.cast_hint", 1, ""},
    {"annotation.compiler_begin", 1, "compiler!"},
    {"annotation.compiler_end", 1, "compiler!"},
    {"annotation.stop_fusion", 1, ""},
    {"any", 1, "axis=None keepdims=False exclude=False"},
    {"arange", 3, "start! stop! step! dtype!"},
    {"argmax", 1, "axis=None keepdims=False select_last_index=False exclude=False"},
    {"argmin", 1, "axis=None keepdims=False select_last_index=False exclude=False"},
    {"argsort", 1, R"(axis=-1 is_ascend=True dtype="")"},
    {"argwhere", 1, ""},
    {"asin", 1, ""},
    {"asinh", 1, ""},
    {"atan", 1, ""},
    {"atanh", 1, ""},
    {"bitwise_and", 2, ""},
    {"bitwise_not", 1, ""},
    {"bitwise_or", 2, ""},
    {"bitwise_xor", 2, ""},
    {"broadcast_to", 1, ""},
    {"broadcast_to_like", 2, ""},
    {"cast", 1, "dtype!"},
    {"cast_like", 2, ""},
    {"ceil", 1, ""},
    {"clip", 1, "a_min! a_max!"},
    {"concatenate", 1, "axis=0"},
    {"copy", 1, ""},
    {"cos", 1, ""},
    {"cosh", 1, ""},
    {"cumprod", 1, R"(axis=None dtype="" exclusive=False)"},
    {"cumsum", 1, R"(axis=None dtype="" exclusive=False)"},
    {"device_copy", 1, "src_virtual_device! dst_virtual_device!"},
    {"divide", 2, ""},
    {"einsum", 1, "equation!"},
    {"equal", 2, ""},
    {"erf", 1, ""},
    {"exp", 1, ""},
    {"expand_dims", 1, "axis! num_newaxis=1"},
    {"fast_erf", 1, ""},
    {"fast_exp", 1, ""},
    {"fast_tanh", 1, ""},
    {"fixed_point_multiply", 1, "multiplier! shift!"},
    {"floor", 1, ""},
    {"floor_divide", 2, ""},
    {"floor_mod", 2, ""},
    {"full", 1, R"(shape=None dtype="")"},
    {"full_like", 2, ""},
    {"gather", 2, "axis=None"},
    {"gather_nd", 2, "batch_dims=0 index_rank=None"},
    {"greater", 2, ""},
    {"greater_equal", 2, ""},
    {"image.affine_grid", 1, "target_shape!"},
    {"image.crop_and_resize", 3,
     R"(crop_size=None layout="NCHW" method="bilinear" extrapolation_value=0f out_dtype="")"},
    {"image.dilation2d", 2,
     R"(strides=[1,1] padding=[0,0] dilations=[1,1] data_layout="NCHW" kernel_layout="IHW" out_dtype="")"},
    {"image.grid_sample", 2,
     R"(method="bilinear" layout="NCHW" padding_mode="zeros" align_corners=True)"},
    {"image.resize1d", 1,
     R"(size=None roi=None layout="NCW" method="linear" coordinate_transformation_mode="half_pixel" rounding_method="round" cubic_alpha=-0.5f cubic_exclude=0 extrapolation_value=0f out_dtype="")"},
    {"image.resize2d", 1,
     R"(size=None roi=None layout="NCHW" method="linear" coordinate_transformation_mode="half_pixel" rounding_method="round" cubic_alpha=-0.5f cubic_exclude=0 extrapolation_value=0f out_dtype="")"},
    {"image.resize3d", 1,
     R"(size=None roi=None layout="NCDHW" method="linear" coordinate_transformation_mode="half_pixel" rounding_method="round" cubic_alpha=-0.5f cubic_exclude=0 extrapolation_value=0f out_dtype="")"},
    {"isfinite", 1, ""},
    {"isinf", 1, ""},
    {"isnan", 1, ""},
    {"layout_transform", 1, "src_layout! dst_layout!"},
    {"left_shift", 2, ""},
    {"less", 2, ""},
    {"less_equal", 2, ""},
    {"log", 1, ""},
    {"log10", 1, ""},
    {"log2", 1, ""},
    {"logical_and", 2, ""},
    {"logical_not", 1, ""},
    {"logical_or", 2, ""},
    {"logical_xor", 2, ""},
    {"matrix_set_diag", 2, "k1=0 k2=0 super_diag_right_align=True sub_diag_right_align=False"},
    {"max", 1, "axis=None keepdims=False exclude=False"},
    {"maximum", 2, ""},
    {"mean", 1, "axis=None keepdims=False exclude=False"},
    {"meshgrid", 1, R"(indexing="ij")"},
    {"min", 1, "axis=None keepdims=False exclude=False"},
    {"minimum", 2, ""},
    {"mod", 2, ""},
    {"multiply", 2, ""},
    {"negative", 1, ""},
    {"nn.adaptive_avg_pool1d", 1, R"(output_size=[] layout="NCW" out_layout="")"},
    {"nn.adaptive_avg_pool2d", 1, R"(output_size=[] layout="NCHW" out_layout="")"},
    {"nn.adaptive_avg_pool3d", 1, R"(output_size=[] layout="NCDHW" out_layout="")"},
    {"nn.adaptive_max_pool1d", 1, R"(output_size=[] layout="NCW" out_layout="")"},
    {"nn.adaptive_max_pool2d", 1, R"(output_size=[] layout="NCHW" out_layout="")"},
    {"nn.adaptive_max_pool3d", 1, R"(output_size=[] layout="NCDHW" out_layout="")"},
    {"nn.avg_pool1d", 1,
     R"(pool_size! strides=[1] dilation=[1] padding=[0] layout="NCW" out_layout="" ceil_mode=False count_include_pad=False)"},
    {"nn.avg_pool2d", 1,
     R"(pool_size! strides=[1,1] dilation=[1,1] padding=[0,0] layout="NCHW" out_layout="" ceil_mode=False count_include_pad=False)"},
    {"nn.avg_pool3d", 1,
     R"(pool_size! strides=[1,1,1] dilation=[1,1,1] padding=[0,0,0] layout="NCDHW" out_layout="" ceil_mode=False count_include_pad=False)"},
    {"nn.batch_flatten", 1, ""},
    {"nn.batch_matmul", 2, R"(out_dtype="" transpose_a=False transpose_b=False)"},
    {"nn.batch_norm", 5, "axis=1 epsilon=1e-05f center=True scale=True"},
    {"nn.batch_to_space_nd", 1, "block_shape=[1,1] crops!"},
    {"nn.bias_add", 2, "axis=1"},
    {"nn.conv1d", 2,
     R"(strides=[1] padding=[0,0] dilation=[1] groups=1 channels=None kernel_size=None data_layout="NCW" kernel_layout="OIW" out_layout="" out_dtype="")"},
    {"nn.conv1d_transpose", 2,
     R"(channels=None kernel_size=None strides=[1] output_padding=[0] padding=[0] dilation=[1] groups=1 data_layout="NCW" kernel_layout="OIW" out_layout="" out_dtype="")"},
    {"nn.conv2d", 2,
     R"(strides=[1,1] padding=[0,0] dilation=[1,1] groups=1 channels=None kernel_size=None data_layout="NCHW" kernel_layout="OIHW" out_layout="" out_dtype="")"},
    {"nn.conv2d_transpose", 2,
     R"(channels=None kernel_size=None strides=[1,1] output_padding=[0,0] padding=[0,0] dilation=[1,1] groups=1 data_layout="NCHW" kernel_layout="OIHW" out_layout="" out_dtype="")"},
    {"nn.conv3d", 2,
     R"(strides=[1,1,1] padding=[0,0,0] dilation=[1,1,1] groups=1 channels=None kernel_size=None data_layout="NCDHW" kernel_layout="OIDHW" out_layout="" out_dtype="")"},
    {"nn.conv3d_transpose", 2,
     R"(channels=None kernel_size=None strides=[1,1,1] output_padding=[0,0,0] padding=[0,0,0] dilation=[1,1,1] groups=1 data_layout="NCDHW" kernel_layout="OIDHW" out_layout="" out_dtype="")"},
    {"nn.cross_entropy", 2, ""},
    {"nn.cross_entropy_with_logits", 2, ""},
    {"nn.deformable_conv2d", 3,
     R"(strides=[1,1] padding=[0,0] dilation=[1,1] deformable_groups=1 groups=1 channels=None kernel_size=None data_layout="NCHW" kernel_layout="OIHW" out_layout="" out_dtype="")"},
    {"nn.dense", 2, R"(units! out_dtype="")"},
    {"nn.depth_to_space", 1, R"(block_size=1 layout="NCHW" mode="DCR")"},
    {"nn.dilate", 1, "strides=[1,1] dilation_value=0f"},
    {"nn.dropout", 1, "rate=0.5f"},
    {"nn.fast_softmax", 1, "axis=-1"},
    {"nn.global_avg_pool2d", 1, R"(layout="NCHW" out_layout="")"},
    {"nn.global_max_pool2d", 1, R"(layout="NCHW" out_layout="")"},
    {"nn.group_norm", 3, "num_groups=0 axis=1 epsilon=1e-05f center=True scale=True"},
    {"nn.instance_norm", 3, "axis=1 epsilon=1e-05f center=True scale=True"},
    {"nn.l2_normalize", 1, "eps! axis!"},
    {"nn.layer_norm", 3, "axis=-1 epsilon=1e-05f center=True scale=True"},
    {"nn.leaky_relu", 1, "alpha=0.25f"},
    {"nn.log_softmax", 1, "axis=-1"},
    {"nn.lrn", 1, "size=5 axis=1 bias=2f alpha=1e-04f beta=0.75f"},
    {"nn.matmul", 2, R"(units! out_dtype="" transpose_a=False transpose_b=False)"},
    {"nn.max_pool1d", 1,
     R"(pool_size! strides=[1] dilation=[1] padding=[0] layout="NCW" out_layout="" ceil_mode=False)"},
    {"nn.max_pool2d", 1,
     R"(pool_size! strides=[1,1] dilation=[1,1] padding=[0,0] layout="NCHW" out_layout="" ceil_mode=False)"},
    {"nn.max_pool3d", 1,
     R"(pool_size! strides=[1,1,1] dilation=[1,1,1] padding=[0,0,0] layout="NCDHW" out_layout="" ceil_mode=False)"},
    {"nn.mirror_pad", 1, R"(mode="SYMMETRIC" pad_width!)"},
    {"nn.pad", 2, R"(pad_width! pad_mode="constant")"},
    {"nn.prelu", 2, "axis=1"},
    {"nn.relu", 1, ""},
    {"nn.softmax", 1, "axis=-1"},
    {"nn.space_to_batch_nd", 1, "block_shape=[1,1] paddings! pad_value=0f"},
    {"nn.space_to_depth", 1, R"(block_size=1 layout="NCHW" mode="DCR")"},
    {"nn.upsampling", 1,
     R"(scale_h! scale_w! layout="NCHW" method="nearest_neighbor" align_corners=False)"},
    {"nn.upsampling3d", 1,
     R"(scale_d! scale_h! scale_w! layout="NCDHW" method="nearest_neighbor" coordinate_transformation_mode="half_pixel")"},
    {"not_equal", 2, ""},
    {"one_hot", 3, R"(depth=1 axis=-1 dtype="")"},
    {"ones", 0, R"(shape=None dtype="")"},
    {"ones_like", 1, ""},
    {"power", 2, ""},
    {"prod", 1, "axis=None keepdims=False exclude=False"},
    {"qnn.add", 8, "lhs_axis=-1 rhs_axis=-1"},
    {"qnn.batch_matmul", 6, R"(out_dtype="" transpose_a=False transpose_b=False)"},
    {"qnn.concatenate", 5, "axis=0"},
    {"qnn.conv2d", 6,
     R"(strides=[1,1] padding=[0,0] dilation=[1,1] groups=1 channels=None kernel_size=None data_layout="NCHW" kernel_layout="OIHW" out_layout="" out_dtype="")"},
    {"qnn.conv2d_transpose", 6,
     R"(channels=None kernel_size=None strides=[1,1] output_padding=[0,0] padding=[0,0] dilation=[1,1] groups=1 data_layout="NCHW" kernel_layout="OIHW" out_layout="" out_dtype="")"},
    {"qnn.dense", 6, R"(units! out_dtype="")"},
    {"qnn.dequantize", 3, "axis=-1"},
    {"qnn.erf", 5, ""},
    {"qnn.exp", 5, ""},
    {"qnn.hardswish", 5, ""},
    {"qnn.leaky_relu", 3, "alpha=0.25f"},
    {"qnn.log", 5, ""},
    {"qnn.mul", 8, "lhs_axis=-1 rhs_axis=-1"},
    {"qnn.quantize", 3, "out_dtype! axis=-1"},
    {"qnn.requantize", 5, R"(axis=-1 rounding="None" compute_dtype="None" out_dtype="")"},
    {"qnn.rsqrt", 5, ""},
    {"qnn.sigmoid", 5, ""},
    {"qnn.simulated_dequantize", 4, "axis=-1"},
    {"qnn.simulated_quantize", 4, "axis=-1"},
    {"qnn.sqrt", 5, ""},
    {"qnn.subtract", 8, "lhs_axis=-1 rhs_axis=-1"},
    {"qnn.tanh", 5, ""},
    {"reinterpret", 1, "dtype!"},
    {"repeat", 1, "repeats! axis=None"},
    {"reshape", 1, "newshape! allowzero=False"},
    {"reshape_like", 2, "lhs_begin=0 lhs_end=None rhs_begin=0 rhs_end=None"},
    {"reverse", 1, "axis=None"},
    {"reverse_sequence", 2, "seq_axis=1 batch_axis=0"},
    {"right_shift", 2, ""},
    {"round", 1, ""},
    {"rsqrt", 1, ""},
    {"scatter", 3, "axis=0"},
    {"scatter_add", 3, "axis=0"},
    {"scatter_nd", 3, "mode!"},
    {"searchsorted", 2, R"(right=False dtype="int32")"},
    {"sequence_mask", 2, "mask_value=0f axis=0"},
    {"sigmoid", 1, ""},
    {"sign", 1, ""},
    {"sin", 1, ""},
    {"sinh", 1, ""},
    {"slice_like", 2, "axes!"},
    {"sliding_window", 1, "axis! window_shape! strides!"},
    {"sort", 1, R"(axis=-1 is_ascend=True dtype="")"},
    {"split", 1, "indices_or_sections! axis=0"},
    {"sqrt", 1, ""},
    {"squeeze", 1, "axis=None"},
    {"stack", 1, "axis=0"},
    {"strided_set", 5, R"(begin=None end=None strides=None slice_mode="end" axes=None)"},
    {"strided_slice", 1, R"(begin=None end=None strides=None slice_mode="end" axes=None)"},
    {"subtract", 2, ""},
    {"sum", 1, "axis=None keepdims=False exclude=False"},
    {"take", 2, R"(batch_dims=0 axis=None mode="clip")"},
    {"tan", 1, ""},
    {"tanh", 1, ""},
    {"tile", 1, "reps!"},
    {"topk", 1, R"(k=None axis=-1 ret_type="both" is_ascend=False dtype="")"},
    {"transpose", 1, "axes!"},
    {"trunc", 1, ""},
    {"trunc_divide", 2, ""},
    {"trunc_mod", 2, ""},
    {"unique", 1, "sorted=True return_counts=False"},
    {"variance", 2, "axis=None keepdims=False exclude=False unbiased=False"},
    {"vision.get_valid_counts", 2, "score_threshold=None id_index=0 score_index=1"},
    {"vision.multibox_prior", 1,
     "sizes=[1f] ratios=[1f] steps=[-1f,-1f] offsets=[0.5f,0.5f] clip=False"},
    {"vision.multibox_transform_loc", 3,
     "clip=True threshold=0.01f variances=[0.1f,0.1f,0.2f,0.2f]"},
    {"vision.non_max_suppression", 5,
     "force_suppress=False top_k=-1 coord_start=2 score_index=1 id_index=0 return_indices=True "
     "invalid_to_bottom=False"},
    {"vision.roi_align", 2,
     R"(pooled_size! spatial_scale! sample_ratio=-1 layout="NCHW" mode="avg")"},
    {"vision.roi_pool", 2, R"(pooled_size! spatial_scale! layout="NCHW")"},
    {"where", 3, ""},
    {"zeros", 0, R"(shape=None dtype="")"},
    {"zeros_like", 1, ""},
};

// Operators of Relay that are missing here, and the reasons.
const std::map<std::string, std::string> kLeftOut = {
    {"annotation.compiler_begin", "marks that partitioning leaves between its own passes"},
    {"annotation.compiler_end", "marks that partitioning leaves between its own passes"},
    {"argwhere", "the shape of the result depends on the elements of data"},
    {"unique", "the shape of the result depends on the elements of data"},
    {"strided_set", "begin, end and strides are inputs, not attributes"},
    {"vision.get_valid_counts", "its attribute score_threshold may be an expression"},
    {"vision.non_max_suppression", "how many boxes stay is computed"},
};

// Attributes that are optional in Relay but required here. Without them the result has no shape,
// or Relay itself refuses.
const std::set<std::string> kNeeded = {
    "full.shape",
    "ones.shape",
    "zeros.shape",
    "image.resize1d.size",
    "image.resize2d.size",
    "image.resize3d.size",
    "image.crop_and_resize.crop_size",
    "gather.axis",
    "reverse.axis",
};

std::string Spelling(const AttrValue& value) {
  return absl::StrReplaceAll(value.ToString(), {{" ", ""}});
}

TEST(RelayOps, AreThere) {
  for (const RelayOp& relay : kRelayOps) {
    const OpDef* op = FindOp(relay.name);
    if (kLeftOut.contains(relay.name)) {
      EXPECT_EQ(op, nullptr) << relay.name << " is there; strike it from the list";
      continue;
    }
    ASSERT_NE(op, nullptr) << relay.name;
    EXPECT_LE(relay.num_inputs, op->inputs.size()) << relay.name;
    EXPECT_GE(relay.num_inputs + static_cast<size_t>(op->num_optional_inputs), op->inputs.size())
        << relay.name;
  }
}

TEST(RelayOps, HaveAttributesWithTheirDefaults) {
  for (const RelayOp& relay : kRelayOps) {
    const OpDef* op = FindOp(relay.name);
    if (op == nullptr) continue;
    for (absl::string_view attr : absl::StrSplit(relay.attrs, ' ', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(attr, absl::MaxSplits('=', 1));
      const bool is_required = absl::EndsWith(attr, "!");
      const std::string name = is_required ? parts.first.substr(0, attr.size() - 1) : parts.first;
      const AttrSchema* schema = op->FindAttr(name);
      ASSERT_NE(schema, nullptr) << relay.name << ": " << name;
      if (is_required) continue;  // an additional default does no harm
      if (kNeeded.contains(absl::StrCat(relay.name, ".", name))) {
        EXPECT_TRUE(schema->required) << relay.name << ": " << name << ": strike it from the list";
        continue;
      }
      EXPECT_FALSE(schema->required) << relay.name << ": " << name;
      EXPECT_EQ(Spelling(schema->NormalDefault()), parts.second) << relay.name << ": " << name;
    }
  }
}

// Attributes that Relay does not have are optional.
TEST(RelayOps, NeedNoOtherAttributes) {
  for (const RelayOp& relay : kRelayOps) {
    const OpDef* op = FindOp(relay.name);
    if (op == nullptr) continue;
    const std::string known = absl::StrCat(" ", relay.attrs);
    for (const AttrSchema& attr : op->attrs) {
      const bool is_relays = absl::StrContains(known, absl::StrCat(" ", attr.name, "!")) ||
                             absl::StrContains(known, absl::StrCat(" ", attr.name, "="));
      // The table has no name for Relay's attributes type of this operator.
      if (op->name == "broadcast_to" && attr.name == "shape") continue;
      EXPECT_TRUE(is_relays || !attr.required) << relay.name << ": " << attr.name;
    }
  }
}

// Some operators have a special form in Relay's printer, which is read and printed.
TEST(RelayOps, AreReadAsPrinted) {
  struct Row {
    const char* body;
    const char* printed;
  };
  const Row rows[] = {
      {"arange(0, 6, 2, start=meta[relay.Constant][0], stop=meta[relay.Constant][1], "
       "step=meta[relay.Constant][2], dtype=\"int32\")",
       "arange(0, 6, 2, dtype=\"int32\")"},
      {"device_copy(%x, src_virtual_device=meta[VirtualDevice][0], "
       "dst_virtual_device=meta[VirtualDevice][1])",
       "device_copy(%x)"},
      {"cumsum(%x, axis=0, attrs_type_key=\"relay.attrs.ScanopAttrs\")", "cumsum(%x, axis=0)"},
      {"add(topk(%x, k=1, ret_type=\"values\"), 1f)", "add(%0, 1f)"},
      {"%0 = topk(%x, k=1); %0.0", "%0 = topk(%x, k=1);"},
      {"%0 = meshgrid((%x, %x, %x)); %0.2", "%0 = meshgrid((%x, %x, %x));"},
      {"qnn.concatenate((%x, %x), (1f, 2f), (0, 0), 1f, 0, axis=1)",
       "qnn.concatenate((%x, %x, 1f, 2f, 0, 0, 1f, 0), axis=1)"},
  };
  for (const Row& row : rows) {
    const absl::StatusOr<Graph> graph =
        ParseRelay(absl::StrCat("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(4), float32]) { ",
                                row.body, " }"),
                   "t.relay", FindOpSchema);
    ASSERT_TRUE(graph.ok()) << row.body << ": " << graph.status();
    EXPECT_TRUE(absl::StrContains(PrintRelay(*graph), row.printed)) << PrintRelay(*graph);
  }
}

}  // namespace
}  // namespace kiln
