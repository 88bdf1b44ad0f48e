// SPDX-License-Identifier: Apache-2.0
// Checksums of an archive's files. They are stored in a file of the archive in the format of
// `sha256sum`, so that `sha256sum --check` verifies an unpacked archive.
#ifndef KILN_MLF_CHECKSUMS_H_
#define KILN_MLF_CHECKSUMS_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/base/artifacts.h"

namespace kiln::mlf {

// Returns one line per file, in the order of the paths: 64 hexadecimal digits, two blanks, the
// path.
std::string ChecksumLines(const Artifacts& files);

// Compares all files with the lines of the checksum file. OK if there is no checksum file, as in
// archives of other programs. InvalidArgument if a file differs, is missing or has no checksum, or
// if a line is malformed.
absl::Status CheckChecksums(const Artifacts& files);

}  // namespace kiln::mlf

#endif  // KILN_MLF_CHECKSUMS_H_
