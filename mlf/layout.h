// SPDX-License-Identifier: Apache-2.0
// Paths of the files in an archive.
#ifndef KILN_MLF_LAYOUT_H_
#define KILN_MLF_LAYOUT_H_

#include <cstddef>
#include <string>

namespace kiln::mlf {

inline constexpr char kMetadataPath[] = "metadata.json";
inline constexpr char kChecksumsPath[] = "SHA256SUMS";
inline constexpr char kCentralMetadataFolder[] = "metadata/";
inline constexpr char kRuntimeFolder[] = "runtime/";
// A folder of the sources, which include these headers as "kiln/…".
inline constexpr char kHeadersFolder[] = "codegen/host/src/kiln/";

// Paths for the module `name`. Sources and objects are each numbered from 0.
std::string SourcePath(const std::string& name, size_t number);
std::string ObjectPath(const std::string& name, size_t number);
std::string HeaderPath(const std::string& name);
std::string ParamsPath(const std::string& name);
std::string RelayPath(const std::string& name);
std::string GraphPath(const std::string& name);
std::string CentralMetadataPath(const std::string& name);

}  // namespace kiln::mlf

#endif  // KILN_MLF_LAYOUT_H_
