// SPDX-License-Identifier: Apache-2.0
// Archives of the Model Library Format for the subcommands.
#ifndef KILN_TOOLS_KILN_MODEL_LIBRARY_H_
#define KILN_TOOLS_KILN_MODEL_LIBRARY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/graph/graph.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "mlf/model_library.h"

namespace kiln::tools {

// InvalidArgument, with the reason and an alternative, if an archive cannot contain the result of
// these options.
absl::Status CheckForModelLibrary(const CompileOptions& options);

// Returns the compiled `graph` as a library of one module. `with_runtime` adds the C runtime.
absl::StatusOr<mlf::ModelLibrary> ModelLibraryOf(const Graph& graph, const Compiled& compiled,
                                                 bool with_runtime);

absl::StatusOr<mlf::ModelLibrary> ReadModelLibrary(const std::string& path);
// Errors name `option`, the option with the path.
absl::Status WriteModelLibrary(absl::string_view option, const std::string& path,
                               const mlf::ModelLibrary& library);

// True if the bytes are a tar archive.
bool IsArchive(absl::string_view bytes);
// Returns the output of `kiln inspect` for an archive: its modules, its files, and the report of
// each module. It is at most `columns` wide if that is not 0.
absl::StatusOr<std::string> ReportArchive(absl::string_view bytes, const std::string& path,
                                          int columns);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MODEL_LIBRARY_H_
