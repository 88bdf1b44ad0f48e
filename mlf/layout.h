// SPDX-License-Identifier: Apache-2.0
// Where the files of an archive lie.
#ifndef KILN_MLF_LAYOUT_H_
#define KILN_MLF_LAYOUT_H_

#include <cstddef>
#include <string>

namespace kiln::mlf {

inline constexpr char kMetadataPath[] = "metadata.json";
inline constexpr char kChecksumsPath[] = "SHA256SUMS";
inline constexpr char kCentralMetadataFolder[] = "metadata/";
inline constexpr char kRuntimeFolder[] = "runtime/";
// Beside the sources, which include "kiln/…".
inline constexpr char kHeadersFolder[] = "codegen/host/src/kiln/";

// Of the module `name`. Sources and objects are numbered from 0, each by themselves.
std::string SourcePath(const std::string& name, size_t number);
std::string ObjectPath(const std::string& name, size_t number);
std::string HeaderPath(const std::string& name);
std::string ParamsPath(const std::string& name);
std::string RelayPath(const std::string& name);
std::string GraphPath(const std::string& name);
std::string CentralMetadataPath(const std::string& name);

}  // namespace kiln::mlf

#endif  // KILN_MLF_LAYOUT_H_
