// SPDX-License-Identifier: Apache-2.0
// Plain tar archives of files in memory. The same files always give the same bytes, on every
// machine.
#ifndef KILN_MLF_TAR_H_
#define KILN_MLF_TAR_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/artifacts.h"

namespace kiln::mlf {

// Maximum number of members in an archive that UnpackTar reads.
inline constexpr int kMaxMembers = 100'000;

// Returns an archive with one member per file, in the order of the paths. Members are named "./"
// and the path; owner and group are root with the id 0, and the mode is 0644. `time` is the date of
// all members, in seconds since 1970.
absl::StatusOr<std::string> PackTar(const Artifacts& files, int64_t time);

// Returns the files of an archive, keyed by path without "./". The bytes are not trusted.
// InvalidArgument, beginning with `name`, in these cases:
// - The bytes are not a plain tar archive, or the archive is damaged or truncated.
// - A member is a link or another special file.
// - A path leads out of the folder or occurs twice.
// - A member claims more bytes than the archive has.
absl::StatusOr<Artifacts> UnpackTar(absl::string_view bytes, absl::string_view name);

}  // namespace kiln::mlf

#endif  // KILN_MLF_TAR_H_
