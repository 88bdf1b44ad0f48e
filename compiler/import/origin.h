// SPDX-License-Identifier: Apache-2.0
// The parts of a ModelOrigin.
#ifndef KILN_COMPILER_IMPORT_ORIGIN_H_
#define KILN_COMPILER_IMPORT_ORIGIN_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/frontend/common/import_options.h"

namespace kiln {

using Properties = std::vector<std::pair<std::string, std::string>>;

// ModelOrigin::sha256 of a model and its other files, of which `files` has the paths by their names in
// the model. A file that cannot be read has no line.
std::string ModelDigest(absl::string_view bytes, const std::map<std::string, std::string>& files);

// ModelOrigin::import_options: a line for each option; of constants the digest of their bytes.
std::string ImportOptionsText(const frontend::ImportOptions& options);

// Those of `properties` that metadata can hold: texts in UTF-8 without a character 0, as long as they
// have at most kMaxPropertyBytes together, keys included.
inline constexpr size_t kMaxPropertyBytes = size_t{256} << 10;
Properties TextProperties(const Properties& properties);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_ORIGIN_H_
