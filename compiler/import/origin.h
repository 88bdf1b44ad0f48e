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

// Returns ModelOrigin::sha256 of a model and its other files. `files` maps their names in the model
// to paths. A file that cannot be read gets no line.
std::string ModelDigest(absl::string_view bytes, const std::map<std::string, std::string>& files);

// Returns ModelOrigin::import_options: a line per option. A constant is given by its type and the
// digest of its bytes.
std::string ImportOptionsText(const frontend::ImportOptions& options);

// Returns the properties that metadata can hold: UTF-8 texts without a null character. Properties
// that would exceed kMaxPropertyBytes in total, keys included, are omitted.
inline constexpr size_t kMaxPropertyBytes = size_t{256} << 10;
Properties TextProperties(const Properties& properties);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_ORIGIN_H_
