// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/validation.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/terminal/table.h"
#include "tools/terminal/text.h"

namespace kiln::tools {
namespace {

constexpr int64_t kBarColumns = 40;

std::string FourDigits(double value) { return absl::StrFormat("%.4g", value); }

// Numbers of all elements, which are infinite or NaN if an element is.
struct AllElements {
  explicit AllElements(const Agreement& a)
      : largest(a.not_finite > 0 ? HUGE_VAL : a.largest),
        mean(a.not_finite > 0 ? HUGE_VAL : a.Mean()),
        rms(a.not_finite > 0 ? HUGE_VAL : a.Rms()),
        cosine(a.finite < a.elements ? NAN : a.Cosine()) {}

  double largest, mean, rms, cosine;
};

const char* UnitOf(const TensorType& type) { return type.dtype.is_float() ? "ULP" : "quanta"; }

uint64_t FirstStep(size_t bin) { return bin == 0 ? 0 : uint64_t{1} << (bin - 1); }
uint64_t LastStep(size_t bin) { return bin == 0 ? 0 : FirstStep(bin) + (FirstStep(bin) - 1); }

std::string Steps(size_t bin) {
  if (bin < 2) return absl::StrCat(bin);
  // Larger numbers are clearer as powers of 2 than as digits.
  if (bin > 20) return absl::StrCat("from 2^", bin - 1);
  return absl::StrCat(FirstStep(bin), " to ", LastStep(bin));
}

std::string Outputs(const Validation& validation, int columns) {
  Table table({"output", "type", ">samples", ">equal", ">largest", ">mean", ">RMS", ">cosine",
               ">steps", ">same argmax"});
  for (const ValidatedOutput& output : validation.outputs) {
    const Agreement& a = output.agreement;
    const AllElements all(a);
    table.Add({output.name, output.type.ToString(), absl::StrCat(a.samples),
               absl::StrCat(a.equal_samples), FourDigits(all.largest), FourDigits(all.mean),
               FourDigits(all.rms), absl::StrFormat("%.6f", all.cosine),
               absl::StrCat(a.largest_steps, " ", UnitOf(output.type)),
               a.same_argmax ? absl::StrCat(*a.same_argmax) : ""});
  }
  return table.ToString(columns);
}

std::string Histogram(const ValidatedOutput& output) {
  const std::vector<int64_t>& bins = output.agreement.histogram;
  const int64_t most = *std::max_element(bins.begin(), bins.end());
  Table table({absl::StrCat(">", UnitOf(output.type)), ">values", "share"});
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    const int64_t length = (bins[bin] * kBarColumns + most - 1) / most;
    table.Add({Steps(bin), absl::StrCat(bins[bin]), std::string(static_cast<size_t>(length), '#')});
  }
  return absl::StrCat("\ndifferences of ", output.name, ":\n", table.ToString());
}

nlohmann::ordered_json JsonOf(const ValidatedOutput& output) {
  const Agreement& a = output.agreement;
  const AllElements all(a);
  nlohmann::ordered_json histogram = nlohmann::ordered_json::array();
  for (size_t bin = 0; bin < a.histogram.size(); ++bin) {
    histogram.push_back(
        {{"from", FirstStep(bin)}, {"to", LastStep(bin)}, {"values", a.histogram[bin]}});
  }
  nlohmann::ordered_json json = {{"name", output.name},
                                 {"type", output.type.ToString()},
                                 {"samples", a.samples},
                                 {"values", a.elements},
                                 {"equal_samples", a.equal_samples},
                                 {"samples_beyond_bounds", a.samples_beyond},
                                 {"values_beyond_bounds", a.elements_beyond},
                                 {"largest_difference", all.largest},
                                 {"mean_difference", all.mean},
                                 {"rms_difference", all.rms},
                                 {"cosine", all.cosine},
                                 {"unit", UnitOf(output.type)},
                                 {"largest_steps", a.largest_steps},
                                 {"same_argmax", nullptr},
                                 {"worst_sample", a.worst_sample},
                                 {"histogram", std::move(histogram)}};
  if (a.same_argmax) json["same_argmax"] = *a.same_argmax;
  return json;
}

}  // namespace

bool IsWithinBounds(const Validation& validation) {
  return std::all_of(validation.outputs.begin(), validation.outputs.end(),
                     [](const auto& output) { return output.agreement.elements_beyond == 0; });
}

std::string Verdict(const ValidatedOutput& output) {
  const Agreement& a = output.agreement;
  std::string text = absl::StrCat(output.name, ": ", a.equal_samples, " of ",
                                  Counted(static_cast<size_t>(a.samples), "sample"), " equal");
  if (a.equal_samples < a.samples) {
    absl::StrAppend(&text, ", worst sample: ", a.worst_sample, " (counted from 0)");
  }
  if (a.elements_beyond == 0) return absl::StrCat(text, ", agrees\n");
  return absl::StrCat(
      text, ", DIFFERENT: ", Counted(static_cast<size_t>(a.elements_beyond), "value"), " of ",
      Counted(static_cast<size_t>(a.samples_beyond), "sample"), " beyond the tolerance\n");
}

std::string ValidationText(const Validation& validation, int columns) {
  const int64_t samples = validation.outputs.front().agreement.samples;
  std::string text = absl::StrCat(validation.model, ", ", validation.where, ": ",
                                  Counted(static_cast<size_t>(samples), "sample"), "\n\n",
                                  Outputs(validation, columns));
  for (const ValidatedOutput& output : validation.outputs) {
    if (output.agreement.largest_steps > 0) absl::StrAppend(&text, Histogram(output));
  }
  if (!validation.instructions.empty()) {
    const auto [least, most] =
        std::minmax_element(validation.instructions.begin(), validation.instructions.end());
    absl::StrAppend(&text, "\ninstructions of an inference: ", *least);
    if (*least != *most) absl::StrAppend(&text, " to ", *most);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

nlohmann::ordered_json ValidationJson(const Validation& validation) {
  nlohmann::ordered_json json = {{"model", validation.model},
                                 {"where", validation.where},
                                 {"within_bounds", IsWithinBounds(validation)},
                                 {"outputs", nlohmann::ordered_json::array()}};
  for (const ValidatedOutput& output : validation.outputs) {
    json["outputs"].push_back(JsonOf(output));
  }
  if (!validation.instructions.empty()) {
    const auto [least, most] =
        std::minmax_element(validation.instructions.begin(), validation.instructions.end());
    json["least_instructions"] = *least;
    json["largest_instructions"] = *most;
  }
  return json;
}

}  // namespace kiln::tools
