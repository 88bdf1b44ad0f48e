// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/describe_module.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/kiln_version.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status.h"
#include "compiler/executor/describe.h"
#include "compiler/executor/describe_quantization.h"
#include "compiler/executor/external_functions.h"
#include "compiler/target/cpu_variants.h"

namespace kiln {
namespace {

proto::Origin OriginOf(const CompileOptions& options) {
  proto::Origin origin;
  origin.set_compiler(absl::StrCat("kiln ", kKilnVersion));
  origin.set_model_sha256(options.origin.sha256);
  origin.set_options_sha256(Sha256(OptionsText(options)));
  for (const auto& [key, value] : options.origin.properties) {
    proto::Property& property = *origin.add_properties();
    property.set_key(key);
    property.set_value(value);
  }
  return origin;
}

ModuleInfo InfoOf(const ModuleInterface& interface, const CompileOptions& options) {
  std::vector<std::string> variants;
  for (const Target& variant : options.cpu_variants) variants.push_back(variant.name);
  return {.module_name = options.module_name,
          .executor = SpellingOf(options.executor),
          .runtime = SpellingOf(options.runtime),
          .interface_api = SpellingOf(options.interface),
          .calling_convention = SpellingOf(options.calling_convention),
          .target = options.target.name,
          .cpu = options.target.cpu,
          .cpu_features = RequiredFeatures(options.target),
          .main_function = interface.main_function,
          .cpu_variants = std::move(variants),
          .origin = OriginOf(options)};
}

}  // namespace

absl::StatusOr<proto::Metadata> DescribeModule(const Planned& planned, const Ports& ports,
                                               const ModuleInterface& interface,
                                               const std::vector<ExternalModule>& modules,
                                               const CompileOptions& options) {
  const Plan& plan = planned.plan;
  proto::Metadata metadata =
      Describe(plan, planned.program(), InfoOf(interface, options), planned.variants.funcs);
  KILN_RETURN_IF_ERROR(DescribeQuantization(ports.attrs, plan, metadata));
  if (ports.kept.empty()) DescribeStatePairs(ports.states, plan, planned.program(), metadata);
  DescribeExternals(modules, metadata);
  return metadata;
}

}  // namespace kiln
