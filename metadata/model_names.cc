// SPDX-License-Identifier: Apache-2.0
#include "metadata/model_names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "metadata/member_name.h"

namespace kiln {

ModelNames::ModelNames(const proto::Metadata& metadata)
    : metadata_(metadata),
      prefix_(absl::StrCat("tvmgen_", metadata.module_name())),
      macro_(absl::AsciiStrToUpper(prefix_)) {
  for (const proto::Device& device : metadata.devices()) {
    if (!device.name().empty() && device.name() != "cpu") devices_.push_back(device.name());
  }
  for (const proto::Pool& pool : metadata.pools()) {
    if (pool.kind() != proto::Pool::WORKSPACE) continue;
    if (pool.external()) {
      pools_.push_back(&pool);
    } else if (pool.size_bytes() > 0) {
      static_workspace_ = &pool;
    }
  }
}

std::string ModelNames::model() const {
  const std::string& name = metadata_.module_name();
  return name == "main" ? "main_" : MemberName(name);
}

std::string ModelNames::member(int i) const {
  return MemberName(main().parameters(i).relay_name_hint());
}

std::string ModelNames::function_with_workspace() const {
  return static_workspace_ == nullptr ? main().name() : prefix_ + "_run_with_workspace";
}

}  // namespace kiln
