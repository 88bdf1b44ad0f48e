// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/reserved_module.h"

#include <cstdio>
#include <string>

#include "metadata/model_names.h"

namespace kiln::tools {

void NoteReservedModule(const proto::Metadata& metadata) {
  if (metadata.interface_api() != "c") return;
  const std::string& name = metadata.module_name();
  const std::string model = ModelNames(metadata).model();
  if (model == name) return;
  std::fprintf(
      stderr,
      "kiln: note: the TVMModel of the module '%s' is called '%s', because C, its library or "
      "Kiln reserves the other name\n",
      name.c_str(), model.c_str());
}

}  // namespace kiln::tools
