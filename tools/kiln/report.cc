// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/report.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/tensor.h"
#include "metadata/form.h"
#include "runtime_cpp/cpu/this_cpu.h"
#include "tools/kiln/allowances.h"
#include "tools/terminal/table.h"

namespace kiln::tools {
namespace {

constexpr int32_t kMaxBarWidth = 40;

std::string Type(const proto::Parameter& p) {
  const Shape shape(p.shape().begin(), p.shape().end());
  return shape.empty() ? p.dtype()
                       : absl::StrCat("Tensor[", ShapeToString(shape), ", ", p.dtype(), "]");
}

// Returns the number that all elements share, or the count of numbers if channels have different
// ones.
template <typename Numbers>
std::string NumbersText(const Numbers& numbers) {
  if (numbers.empty()) return "";
  if (numbers.size() == 1) return absl::StrCat(numbers[0]);
  return absl::StrCat(numbers.size(), " by channel");
}

std::string Tensors(const proto::Metadata& metadata, int begin, int end, int columns) {
  const proto::Function& main = metadata.functions(0);
  const bool placed = begin < end && main.parameters(begin).has_place();
  bool quantized = false;
  for (int i = begin; i < end; ++i) quantized |= main.parameters(i).has_quantization();
  std::vector<std::string> header = {"name", "type", ">bytes"};
  if (quantized) header.insert(header.end(), {">scale", ">zero point"});
  if (placed) header.push_back("place");
  Table table(header);
  for (int i = begin; i < end; ++i) {
    const proto::Parameter& p = main.parameters(i);
    std::vector<std::string> row = {p.relay_name_hint(), Type(p), absl::StrCat(p.size_bytes())};
    if (quantized) {
      row.push_back(NumbersText(p.quantization().scales()));
      row.push_back(NumbersText(p.quantization().zero_points()));
    }
    if (placed) {
      row.push_back(
          absl::StrCat(metadata.pools(p.place().pool()).name(), " + ", p.place().offset_bytes()));
    }
    table.Add(std::move(row));
  }
  return table.ToString(columns);
}

// Returns a table of the states, which the model or the caller keeps.
std::string States(const proto::Metadata& metadata, int columns) {
  Table table({"name", "type", ">bytes", ">at first", "place", "in a run"});
  for (const proto::State& state : metadata.states()) {
    const proto::Parameter& p = state.tensor();
    const bool kept = p.has_place();
    table.Add({p.relay_name_hint(), Type(p), absl::StrCat(p.size_bytes()),
               absl::StrCat(state.initial_value()),
               kept ? absl::StrCat(metadata.pools(p.place().pool()).name(), " + ",
                                   p.place().offset_bytes())
                    : "an input",
               !kept               ? absl::StrCat("passed on from the output ", state.output())
               : state.is_copied() ? "copied at the end"
                                   : "changed in place"});
  }
  return table.ToString(columns);
}

std::string Operators(const proto::Metadata& metadata, int columns) {
  Table table(
      {">call", ">operations", ">constant bytes", ">scratch bytes", "schedule", "operators"});
  for (int i = 1; i < metadata.functions_size(); ++i) {
    const proto::Function& f = metadata.functions(i);
    // Libraries of other compilers have only the function's name.
    const std::string& names = f.op_names().empty() ? f.name() : f.op_names();
    table.Add({absl::StrCat(i - 1), f.has_cost() ? absl::StrCat(f.cost().operations()) : "",
               absl::StrCat(f.constant_size_bytes()), absl::StrCat(f.workspace_size_bytes()),
               f.schedule(),
               f.source().empty() ? names : absl::StrCat(names, " (", f.source(), ")")});
  }
  return table.ToString(columns);
}

// Returns a bar with one character per call, or per group of calls if there are many. '#' means
// that the buffer is alive.
std::string LifetimeBar(const proto::PoolBuffer& buffer, int32_t calls) {
  const int32_t per_character = (calls + kMaxBarWidth - 1) / kMaxBarWidth;
  std::string bar;
  for (int32_t begin = 0; begin < calls; begin += per_character) {
    const bool alive = buffer.first_call() < begin + per_character && begin <= buffer.last_call();
    bar.push_back(alive ? '#' : '.');
  }
  return bar;
}

std::string PoolBuffers(const proto::Pool& pool, int32_t calls, int columns) {
  std::vector<const proto::PoolBuffer*> buffers;
  for (const proto::PoolBuffer& buffer : pool.buffers()) buffers.push_back(&buffer);
  std::stable_sort(buffers.begin(), buffers.end(), [](const auto* a, const auto* b) {
    return a->offset_bytes() < b->offset_bytes();
  });
  Table table({">offset", ">bytes", ">calls", "alive", "buffer"});
  for (const proto::PoolBuffer* b : buffers) {
    table.Add({absl::StrCat(b->offset_bytes()), absl::StrCat(b->size_bytes()),
               absl::StrCat(b->first_call(), "-", b->last_call()), LifetimeBar(*b, calls),
               b->name()});
  }
  return table.ToString(columns);
}

// Returns the origin as lines. Long values and values with several lines are shortened.
std::string OriginText(const proto::Origin& origin) {
  constexpr size_t kMaxValueBytes = 60;
  std::string text;
  if (!origin.compiler().empty()) absl::StrAppend(&text, "compiled by ", origin.compiler(), "\n");
  if (!origin.model_sha256().empty()) {
    absl::StrAppend(&text, "SHA-256 model   ", origin.model_sha256(), "\n");
  }
  if (!origin.options_sha256().empty()) {
    absl::StrAppend(&text, "SHA-256 options ", origin.options_sha256(), "\n");
  }
  for (const proto::Property& property : origin.properties()) {
    const absl::string_view value = property.value();
    const absl::string_view line = value.substr(0, value.find('\n'));
    const bool is_cut = line.size() < value.size() || line.size() > kMaxValueBytes;
    absl::StrAppend(&text, "  ", absl::Utf8SafeCEscape(property.key()), ": ",
                    absl::CHexEscape(line.substr(0, kMaxValueBytes)), is_cut ? " …" : "", "\n");
  }
  return text;
}

}  // namespace

std::string Report(const proto::Metadata& metadata, int columns) {
  const proto::Function& main = metadata.functions(0);
  const int32_t calls = metadata.functions_size() - 1;
  std::string text = absl::StrCat("module ", metadata.module_name(), " for ", metadata.target(),
                                  ": called from ", CallersOf(metadata), "\n");
  if (metadata.cpu_variants_size() > 0) {
    absl::StrAppend(&text, "CPU variants: ", absl::StrJoin(metadata.cpu_variants(), ", "), "\n");
  }
  const std::vector<std::string> features(metadata.cpu_features().begin(),
                                          metadata.cpu_features().end());
  const std::string cpu = CpuText(metadata.cpu(), features);
  // Only loaders of libraries compare the CPU. Firmware is linked for one chip.
  if (metadata.runtime() == "cpp" && !cpu.empty()) {
    absl::StrAppend(&text, "CPU: ", cpu, "\n");
  }
  absl::StrAppend(&text, FormOf(metadata), "\n", OriginText(metadata.origin()));
  absl::StrAppend(&text, "\ninputs:\n", Tensors(metadata, 0, main.num_inputs(), columns));
  absl::StrAppend(&text, "\noutputs:\n",
                  Tensors(metadata, main.num_inputs(), main.parameters_size(), columns));
  if (metadata.states_size() > 0) {
    absl::StrAppend(&text, "\nstate:\n", States(metadata, columns));
  }
  absl::StrAppend(&text, "\noperators:\n", Operators(metadata, columns));
  if (const int products = CountBFloat16Products(metadata); products > 0) {
    absl::StrAppend(&text, "\nproducts of bfloat16: in ", products, " of ", calls, " operators\n");
  }
  absl::StrAppend(&text, "\nconstants: ", main.constant_size_bytes(), " bytes\n");
  for (const proto::Pool& pool : metadata.pools()) {
    const bool constants = pool.kind() == proto::Pool::CONSTANT;
    absl::StrAppend(&text,
                    constants                           ? "\nread-only data: "
                    : pool.kind() == proto::Pool::STATE ? "\nkept between runs: "
                                                        : "\nmemory plan: ",
                    pool.name(), " ", pool.size_bytes(), " bytes");
    if (!constants) {
      const int64_t bound = pool.lower_bound_bytes();
      absl::StrAppend(&text, pool.size_bytes() < bound
                                 ? absl::StrCat(", ", bound, " without overlap")
                                 : absl::StrCat(", lower bound ", bound, " bytes"));
    }
    absl::StrAppend(&text, ", aligned to ", pool.alignment_bytes());
    if (pool.external()) {
      absl::StrAppend(
          &text, ", of the application's ",
          pool.limit_bytes() < 0 ? "as many as are needed" : absl::StrCat(pool.limit_bytes()),
          ", speed ", pool.speed());
    }
    absl::StrAppend(&text, "\n", PoolBuffers(pool, calls, columns));
  }
  return text;
}

}  // namespace kiln::tools
