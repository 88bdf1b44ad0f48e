// SPDX-License-Identifier: Apache-2.0
// Archives of the Model Library Format, as the subcommands use them.
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

// InvalidArgument, with the reason and what to use instead, if an archive cannot hold what these
// options make.
absl::Status CheckForModelLibrary(const CompileOptions& options);

// What `graph` has been compiled to, as a library of one module, with the C runtime on request.
absl::StatusOr<mlf::ModelLibrary> ModelLibraryOf(const Graph& graph, const Compiled& compiled,
                                                 bool with_runtime);

absl::StatusOr<mlf::ModelLibrary> ReadModelLibrary(const std::string& path);
// Errors name `option`, by which the path was given.
absl::Status WriteModelLibrary(absl::string_view option, const std::string& path,
                               const mlf::ModelLibrary& library);

// Whether the bytes are those of a tar archive.
bool IsArchive(absl::string_view bytes);
// What `kiln inspect` shows of an archive, at most `columns` wide if that is not 0: its modules, its
// files, and the report of each module.
absl::StatusOr<std::string> ReportArchive(absl::string_view bytes, const std::string& path,
                                          int columns);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_MODEL_LIBRARY_H_
