// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/advice.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kiln::onnx_frontend {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";

constexpr char kQuantizer[] =
    "ONNX Runtime's quantizer of weights writes it; MatMulNBitsQuantizer with quant_format="
    "QuantFormat.QDQ writes DequantizeLinear instead, which Kiln compiles, as float32 weights";
constexpr char kLanguageModel[] =
    "ONNX Runtime's builder and optimizer of language models write it; export the model from its "
    "framework (torch.onnx.export), with a cache of fixed length";
constexpr char kChannelsLast[] =
    "ONNX Runtime writes it for channels that are last; save the model with "
    "graph_optimization_level ORT_ENABLE_EXTENDED or lower";

// Operators that need other advice than their domain.
struct AdviceRow {
  const char* domain;
  const char* op;
  const char* advice;
};
constexpr AdviceRow kAdviceRows[] = {
    {"", "RegexFullMatch", kAdviceOnStrings},
    {"", "StringConcat", kAdviceOnStrings},
    {"", "StringNormalizer", kAdviceOnStrings},
    {"", "StringSplit", kAdviceOnStrings},
    {"", "TfIdfVectorizer", kAdviceOnStrings},
    {kMicrosoft, "GroupQueryAttention", kLanguageModel},
    {kMicrosoft, "MatMulBnb4", kQuantizer},
    {kMicrosoft, "MatMulNBits", kQuantizer},
    {kMicrosoft, "NhwcMaxPool", kChannelsLast},
    {kMicrosoft, "QLinearConv", kChannelsLast},
    {kMicrosoft, "RotaryEmbedding", kLanguageModel},
    {kMicrosoft, "SparseAttention", kLanguageModel},
    {kMicrosoft, "Tokenizer", kAdviceOnStrings},
};

std::string OnDomain(absl::string_view domain) {
  if (domain.empty()) return "";
  if (domain == "ai.onnx.ml") {
    return absl::StrCat("operators of strings and maps are not compiled: ", kAdviceOnStrings);
  }
  if (domain == "ai.onnx.contrib" || domain == "com.microsoft.extensions") {
    return absl::StrCat("operators of onnxruntime-extensions are not compiled; ", kAdviceOnStrings);
  }
  if (absl::StrContains(domain, "training")) return "export the model for inference";
  if (domain == kMicrosoft) {
    return "if an optimization of ONNX Runtime made it, save the model without, or with "
           "graph_optimization_level ORT_ENABLE_BASIC";
  }
  return "the model may define it as a function of its own";
}

}  // namespace

std::string AdviceOn(absl::string_view domain, absl::string_view op) {
  const auto* const row =
      std::find_if(std::begin(kAdviceRows), std::end(kAdviceRows),
                   [&](const AdviceRow& r) { return domain == r.domain && op == r.op; });
  const std::string advice = row != std::end(kAdviceRows) ? row->advice : OnDomain(domain);
  return advice.empty() ? "" : absl::StrCat("; ", advice);
}

}  // namespace kiln::onnx_frontend
