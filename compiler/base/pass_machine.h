// SPDX-License-Identifier: Apache-2.0
// The pass machine runs a table of passes over a program of either IR, and verifies the result.
//
// A pass declares the properties of the program that it needs, gives and keeps. A property that it
// does not declare as kept is lost. The verifier of a property runs after passes that give or keep
// it; `Verified` selects which ones. The order of the table is checked at compile time:
//
//   constexpr std::array kPasses = {MyPass{…}, …};
//   static_assert(OrderIsValid(kPasses, /*start=*/0, /*goal=*/kFused));
//
// A pass that is switched off gives nothing, and the properties that it would give are not
// verified. Later passes therefore have to work without them: `needs` holds only if all passes run.
#ifndef KILN_COMPILER_BASE_PASS_MACHINE_H_
#define KILN_COMPILER_BASE_PASS_MACHINE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/base/nearest.h"
#include "compiler/base/status.h"

namespace kiln {

// A set of properties, one bit each.
using Properties = uint32_t;

template <typename Ir, typename Context>
struct PassOf {
  const char* name;  // "fold-constants"
  const char* doc;
  Properties needs;
  Properties gives;
  Properties keeps;
  bool optional;  // true if it may be switched off
  absl::Status (*run)(Ir&, const Context&);
};

// The point at which every compilation verifies a property. PassRun::thorough verifies all
// properties after each pass instead.
enum class Verified {
  kAfterEachPass,  // after each pass that gives or keeps it
  kAfterTheLast,   // after the last pass of a run
  kWhereAsked,     // only if PassRun::thorough: the verifier costs as much as a pass
};

template <typename Ir, typename Context>
struct PropertyOf {
  Properties bit;
  const char* name;  // "the index of every access is flat"
  Verified verified;
  // Returns an error that says where the property does not hold.
  absl::Status (*verify)(const Ir&, const Context&);
};

template <typename Ir>
struct PassRun {
  std::vector<std::string> disabled;  // names of optional passes
  bool thorough = false;              // verifies all known properties after each pass
  // Called with the program after each pass that runs.
  std::function<void(absl::string_view name, const Ir&)> after;
};

// Returns the properties that hold after the passes if `known` hold before them.
template <typename Passes>
constexpr Properties KnownAfter(const Passes& passes, Properties known) {
  for (const auto& pass : passes) known = (known & pass.keeps) | pass.gives;
  return known;
}

// True if every pass finds what it needs when all of them run, and the goal holds after the last.
template <typename Passes>
constexpr bool OrderIsValid(const Passes& passes, Properties start, Properties goal) {
  Properties known = start;
  for (const auto& pass : passes) {
    if ((known & pass.needs) != pass.needs) return false;
    known = (known & pass.keeps) | pass.gives;
  }
  return (known & goal) == goal;
}

// Returns the table with passes `first` and `first + 1` swapped.
template <typename Pass, size_t n>
constexpr std::array<Pass, n> WithSwapped(std::array<Pass, n> passes, size_t first) {
  std::swap(passes[first], passes[first + 1]);
  return passes;
}

// InvalidArgument if a name is not that of an optional pass. The message lists the optional passes.
template <typename Pass>
absl::Status CheckDisabled(absl::Span<const Pass> passes,
                           const std::vector<std::string>& disabled) {
  for (const std::string& name : disabled) {
    const auto it = std::find_if(passes.begin(), passes.end(),
                                 [&](const Pass& pass) { return name == pass.name; });
    if (it != passes.end() && it->optional) continue;
    std::vector<std::string> optional;
    for (const Pass& pass : passes) {
      if (pass.optional) optional.emplace_back(pass.name);
    }
    const bool is_known = it != passes.end();
    return absl::InvalidArgumentError(
        absl::StrCat(is_known ? "cannot switch off pass '" : "unknown pass '", name, "'",
                     is_known ? "" : Perhaps(name, optional), "; optional passes are ",
                     absl::StrJoin(optional, ", ")));
  }
  return absl::OkStatus();
}

// Runs the passes over `ir`, which has the properties `known`. Internal, with the name of the pass,
// if a verifier rejects the result of a pass.
template <typename Ir, typename Context>
absl::Status RunPassTable(absl::Span<const PassOf<Ir, Context>> passes,
                          absl::Span<const PropertyOf<Ir, Context>> properties, Properties known,
                          const PassRun<Ir>& run, const Context& context, Ir& ir) {
  const auto runs = [&run](const PassOf<Ir, Context>& pass) {
    return std::find(run.disabled.begin(), run.disabled.end(), pass.name) == run.disabled.end();
  };
  const PassOf<Ir, Context>* last = nullptr;
  for (const PassOf<Ir, Context>& pass : passes) last = runs(pass) ? &pass : last;
  for (const PassOf<Ir, Context>& pass : passes) {
    if (!runs(pass)) continue;
    KILN_RETURN_IF_ERROR(pass.run(ir, context));
    known = (known & pass.keeps) | pass.gives;
    for (const PropertyOf<Ir, Context>& property : properties) {
      const bool asked = run.thorough || property.verified == Verified::kAfterEachPass ||
                         (property.verified == Verified::kAfterTheLast && &pass == last);
      if ((known & property.bit) == 0 || !asked) continue;
      if (const absl::Status status = property.verify(ir, context); !status.ok()) {
        return absl::InternalError(absl::StrCat("after pass ", pass.name, " it is wrong that ",
                                                property.name, ": ", status.message()));
      }
    }
    if (run.after) run.after(pass.name, ir);
  }
  return absl::OkStatus();
}

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_PASS_MACHINE_H_
