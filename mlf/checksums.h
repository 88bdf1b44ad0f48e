// SPDX-License-Identifier: Apache-2.0
// The checksums of an archive's files, in a file of the archive: lines of `sha256sum`, which with
// `sha256sum --check` checks an unpacked archive.
#ifndef KILN_MLF_CHECKSUMS_H_
#define KILN_MLF_CHECKSUMS_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/base/artifacts.h"

namespace kiln::mlf {

// A line per file, in the order of their paths: 64 hexadecimal digits, two blanks, the path.
std::string ChecksumLines(const Artifacts& files);

// Compares all files with the lines of the one that holds their checksums; OK if there is none, as
// in archives of other programs. InvalidArgument for a file with other bytes, one that is missing,
// one without a checksum, or a line that is none.
absl::Status CheckChecksums(const Artifacts& files);

}  // namespace kiln::mlf

#endif  // KILN_MLF_CHECKSUMS_H_
