// SPDX-License-Identifier: Apache-2.0
#include "metadata/model_names.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "metadata/member_name.h"
#include "metadata/reserved_names.h"

namespace kiln {
namespace {

// True if a global object in generated C and C++ cannot have this name. Reserved are names of the
// language, of the C library, of the headers that generated headers include, and names that
// generated headers use themselves.
bool IsReserved(absl::string_view name) {
  if (IsKeyword(name) || IsCompilerMacro(name) || IsLibraryName(name)) return true;
  if (IsLibraryName(absl::StripPrefix(name, "_"))) return true;  // newlib has _write
  for (absl::string_view prefix : {"TVM", "tvmgen_", "kTVM", "DL", "kDL", "KILN_"}) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  if (absl::EndsWith(name, "_t")) return true;
  for (absl::string_view own : {"kiln", "std", "inputs", "outputs", "workspace", "workspaces",
                                "workspace_pools", "pools", "devices", "elements"}) {
    if (name == own) return true;
  }
  return false;
}

// Appends the members of the tensors `begin` to `end`. A member that gets a number never equals the
// plain member of another tensor.
void AddMembers(const proto::Function& function, int begin, int end,
                std::vector<std::string>& members) {
  std::set<std::string> own, taken;
  for (int i = begin; i < end; ++i) {
    own.insert(absl::AsciiStrToUpper(MemberName(function.parameters(i).relay_name_hint())));
  }
  for (int i = begin; i < end; ++i) {
    const std::string base = MemberName(function.parameters(i).relay_name_hint());
    std::string member = base;
    const auto is_free = [&] {
      const std::string upper = absl::AsciiStrToUpper(member);
      return taken.count(upper) == 0 && (member == base || own.count(upper) == 0);
    };
    for (int number = 2; !is_free(); ++number) member = absl::StrCat(base, "_", number);
    taken.insert(absl::AsciiStrToUpper(member));
    members.push_back(std::move(member));
  }
}

}  // namespace

ModelNames::ModelNames(const proto::Metadata& metadata)
    : metadata_(metadata),
      prefix_(absl::StrCat("tvmgen_", metadata.module_name())),
      macro_(absl::AsciiStrToUpper(prefix_)) {
  AddMembers(main(), 0, main().num_inputs(), members_);
  AddMembers(main(), main().num_inputs(), main().parameters_size(), members_);
  for (const proto::Device& device : metadata.devices()) {
    if (!device.name().empty() && device.name() != "cpu") devices_.push_back(device.name());
  }
  for (const proto::Pool& pool : metadata.pools()) {
    if (pool.kind() == proto::Pool::CONSTANT) continue;
    if (pool.kind() == proto::Pool::STATE) state_ = &pool;
    if (pool.external()) {
      pools_.push_back(&pool);
    } else if (pool.kind() == proto::Pool::WORKSPACE && pool.size_bytes() > 0) {
      static_workspace_ = &pool;
    }
  }
}

std::string ModelNames::model() const {
  const std::string& name = metadata_.module_name();
  return IsReserved(name) ? name + "_" : name;
}

std::string ModelNames::element_type(int i) const {
  const std::string& dtype = main().parameters(i).dtype();
  if (dtype == "float32") return "float";
  if (dtype == "float64") return "double";
  if (dtype == "float16") return "uint16_t";
  return dtype == "bool" ? "bool" : dtype + "_t";
}

int64_t ModelNames::element_bytes(int i) const {
  const proto::Parameter& p = main().parameters(i);
  int64_t elements = 1;
  for (int64_t extent : p.shape()) elements *= extent;
  return elements > 0 ? p.size_bytes() / elements : 0;
}

std::string ModelNames::tensor_macro(int i) const {
  return absl::StrCat(is_input(i) ? "INPUT_" : "OUTPUT_", absl::AsciiStrToUpper(member(i)));
}

std::string ModelNames::pool_macro(const proto::Pool& pool) const {
  return absl::StrCat(macro_, "_", absl::AsciiStrToUpper(pool.name()), "_WORKSPACE_POOL");
}

bool ModelNames::workspace_io() const {
  return main().parameters_size() > 0 && main().parameters(0).has_place();
}

size_t ModelNames::pool_of(int i) const {
  const proto::Pool* const pool = &metadata_.pools(main().parameters(i).place().pool());
  return static_cast<size_t>(std::find(pools_.begin(), pools_.end(), pool) - pools_.begin());
}

std::string ModelNames::offset_in_pool(int i) const {
  const int64_t offset = main().parameters(i).place().offset_bytes();
  return offset == 0 ? "" : absl::StrCat(" + ", offset);
}

std::string ModelNames::function_with_workspace() const {
  return static_workspace_ == nullptr ? main().name() : prefix_ + "_run_with_workspace";
}

}  // namespace kiln
