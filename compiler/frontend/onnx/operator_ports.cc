// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/operator_ports.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {
namespace {

// Operators with the same ports. `versions` lists the operator sets in which the ports change: the
// set, the maximum number of inputs, the maximum number of outputs. "*" is any number.
struct PortRow {
  const char* domain;  // "" for ONNX's own
  const char* versions;
  const char* names;
};

// From the schemas of ONNX 1.23, for operator sets up to 26 (ONNX 1.21), and those of ONNX Runtime.
constexpr PortRow kPortRows[] = {
    {"", "1 * *", "Loop Scan SequenceMap"},
    {"", "1 * 1", "Concat Einsum Max Mean Min SequenceConstruct Sum"},
    {"", "1 0 1", "Constant RandomNormal RandomUniform SequenceEmpty"},
    {"", "1 1 *", "If"},
    {"", "1 1 1",
     "Abs Acos Acosh ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BitCast BitwiseNot "
     "BlackmanWindow Cast Ceil Celu ConcatFromSequence ConstantOfShape Cos Cosh DepthToSpace "
     "Det Elu Erf Exp EyeLike Flatten Floor Gelu GlobalAveragePool GlobalLpPool GlobalMaxPool "
     "HammingWindow HannWindow HardSigmoid HardSwish Hardmax Identity IsInf IsNaN LRN "
     "LeakyRelu Log LogSoftmax LpNormalization LpPool MeanVarianceNormalization Mish Neg "
     "NonZero Not Optional OptionalGetElement OptionalHasElement RandomNormalLike "
     "RandomUniformLike Reciprocal Relu Round Selu "
     "SequenceLength Shape Shrink Sigmoid Sign Sin Sinh Size Softmax Softplus Softsign "
     "SpaceToDepth Sqrt Swish Tan Tanh ThresholdedRelu Transpose"},
    {"", "1 1 3", "DynamicQuantizeLinear"},
    {"", "1 1 4", "Unique"},
    {"", "1 2 1",
     "Add AffineGrid And BitShift BitwiseAnd BitwiseOr BitwiseXor CastLike CenterCropPad "
     "Compress CumProd CumSum Div Equal Expand Gather GatherElements GatherND Greater "
     "GreaterOrEqual GridSample Less LessOrEqual MatMul MaxRoiPool Mod Mul Or PRelu Pow "
     "RMSNormalization ReverseSequence SequenceAt SequenceErase SplitToSequence Sub Trilu Xor"},
    {"", "1 2 2", "SimplifiedLayerNormalization"},
    {"", "1 3 1",
     "Col2Im Conv ConvTranspose DequantizeLinear Gemm GroupNormalization InstanceNormalization "
     "MaxUnpool NegativeLogLikelihoodLoss OneHot QuantizeLinear Range RoiAlign Scatter "
     "ScatterElements ScatterND SequenceInsert Where"},
    {"", "1 3 2", "SoftmaxCrossEntropyLoss"},
    {"", "1 3 3", "LayerNormalization"},
    {"", "1 4 1", "ConvInteger MatMulInteger RotaryEmbedding STFT"},
    {"", "1 5 1", "DeformConv MelWeightMatrix NonMaxSuppression"},
    {"", "1 6 2", "GRU RNN"},
    {"", "1 8 1", "QLinearMatMul"},
    {"", "1 8 3", "LSTM"},
    {"", "1 9 1", "QLinearConv"},
    {"ai.onnx.ml", "1 * 1", "FeatureVectorizer"},
    {"ai.onnx.ml", "1 1 1",
     "Binarizer Imputer LabelEncoder LinearRegressor Normalizer OneHotEncoder SVMRegressor "
     "Scaler TreeEnsemble TreeEnsembleRegressor ZipMap"},
    {"ai.onnx.ml", "1 1 2", "LinearClassifier SVMClassifier TreeEnsembleClassifier"},
    {"ai.onnx.ml", "1 2 1", "ArrayFeatureExtractor"},
    {"com.microsoft", "1 * 1", "QLinearConcat"},
    {"com.microsoft", "1 1 1", "Gelu QuickGelu"},
    {"com.microsoft", "1 10 4", "MultiHeadAttention"},
    {"com.microsoft", "1 12 3", "DynamicQuantizeLSTM"},
    {"com.microsoft", "1 18 2", "QEmbedLayerNormalization"},
    {"com.microsoft", "1 2 1", "BiasGelu FastGelu FusedMatMul"},
    {"com.microsoft", "1 2 2", "SimplifiedLayerNormalization"},
    {"com.microsoft", "1 3 1", "DequantizeLinear FusedGemm QuantizeLinear"},
    {"com.microsoft", "1 3 3", "LayerNormalization"},
    {"com.microsoft", "1 4 1", "FusedConv"},
    {"com.microsoft", "1 4 4", "SkipSimplifiedLayerNormalization"},
    {"com.microsoft", "1 5 1",
     "DynamicQuantizeMatMul QLinearAveragePool QLinearGlobalAveragePool QLinearLeakyRelu "
     "QLinearSigmoid QLinearSoftmax"},
    {"com.microsoft", "1 5 4", "SkipLayerNormalization"},
    {"com.microsoft", "1 7 1", "MatMulIntegerToFloat"},
    {"com.microsoft", "1 7 2", "Attention"},
    {"com.microsoft", "1 8 1", "QLinearAdd QLinearMul"},
    {"com.microsoft", "1 9 1", "QGemm QLinearWhere"},
    {"com.microsoft", "1 9 2", "QAttention"},
    {"com.microsoft", "1 9 3", "EmbedLayerNormalization"},
    {"", "23 6 4; 24 7 4", "Attention"},
    {"", "1 5 5; 14 5 3", "BatchNormalization"},
    {"", "1 1 1; 11 3 1", "Clip"},
    {"", "17 2 1; 20 3 1", "DFT"},
    {"", "1 1 2; 12 3 2", "Dropout"},
    {"", "1 1 1; 8 1 2", "MaxPool"},
    {"", "1 1 1; 11 3 1; 18 4 1", "Pad"},
    {"", "1 1 1; 18 2 1",
     "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSumSquare"},
    {"", "1 1 1; 13 2 1", "ReduceSum Squeeze Unsqueeze"},
    {"", "1 1 1; 5 2 1", "Reshape"},
    {"", "10 2 1; 11 4 1", "Resize"},
    {"", "1 1 1; 10 5 1", "Slice"},
    {"", "1 2 *; 2 1 *; 13 2 *", "Split"},
    {"", "1 3 1; 6 2 1", "Tile"},
    {"", "1 1 2; 10 2 2", "TopK"},
    {"", "1 1 1; 9 2 1", "Upsample"},
};

struct PortVersion {
  int since = 0;
  Ports ports = {0, 0};
};
using PortVersions = std::vector<PortVersion>;  // oldest first

int ParseNumber(absl::string_view text) {
  int number = kAnyNumber;
  return absl::SimpleAtoi(text, &number) ? number : kAnyNumber;
}

PortVersions ParsePortVersions(absl::string_view text) {
  PortVersions versions;
  for (const absl::string_view part : absl::StrSplit(text, "; ")) {
    const std::vector<absl::string_view> words = absl::StrSplit(part, ' ');
    versions.push_back({ParseNumber(words[0]), {ParseNumber(words[1]), ParseNumber(words[2])}});
  }
  return versions;
}

using Key = std::pair<absl::string_view, absl::string_view>;

const std::map<Key, PortVersions>& Table() {
  static const auto& table = *[] {
    auto* const rows = new std::map<Key, PortVersions>;
    for (const PortRow& row : kPortRows) {
      for (const absl::string_view name : absl::StrSplit(row.names, ' ')) {
        rows->emplace(Key(row.domain, name), ParsePortVersions(row.versions));
      }
    }
    return rows;
  }();
  return table;
}

// Returns the number of names up to the last one that is not empty.
template <typename Names>
int CountOf(const Names& names) {
  int count = names.size();
  while (count > 0 && names[count - 1].empty()) --count;
  return count;
}

absl::Status CheckCount(absl::string_view what, int found, int most, const onnx::NodeProto& node,
                        int version) {
  if (most == kAnyNumber || found <= most) return absl::OkStatus();
  return Wrong(what, absl::StrCat(found),
               absl::StrCat("at most ", most, ", as ", node.op_type(), " of operator set ", version,
                            " has"));
}

}  // namespace

std::optional<Ports> PortsOf(absl::string_view domain, absl::string_view op, int version) {
  const auto it = Table().find(Key(NormalDomain(domain), op));
  if (it == Table().end()) return std::nullopt;
  Ports ports = it->second.front().ports;
  for (const PortVersion& candidate : it->second) {
    if (candidate.since <= version) ports = candidate.ports;
  }
  return ports;
}

absl::Status CheckPorts(const onnx::NodeProto& node, int version) {
  const std::optional<Ports> ports = PortsOf(node.domain(), node.op_type(), version);
  if (!ports.has_value()) return absl::OkStatus();
  const absl::Status inputs =
      CheckCount("inputs", CountOf(node.input()), ports->max_inputs, node, version);
  if (!inputs.ok()) return inputs;
  return CheckCount("outputs", CountOf(node.output()), ports->max_outputs, node, version);
}

}  // namespace kiln::onnx_frontend
