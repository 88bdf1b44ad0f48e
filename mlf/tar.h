// SPDX-License-Identifier: Apache-2.0
// Plain tar archives of files that lie in memory: the same files give the same bytes on every
// machine and at every time.
#ifndef KILN_MLF_TAR_H_
#define KILN_MLF_TAR_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/artifacts.h"

namespace kiln::mlf {

// Most members of an archive that is read.
inline constexpr int kMaxMembers = 100'000;

// One member per file, in the order of their paths, named "./" and the path; owner and group are
// root and 0, the mode is 0644. `time` is the date of all members, in seconds since 1970.
absl::StatusOr<std::string> PackTar(const Artifacts& files, int64_t time);

// The files of an archive by their paths without "./". The bytes are not trusted: InvalidArgument,
// beginning with `name`, for what is no plain tar archive, is damaged or cut off, has a link or
// another special file, a path that leaves the folder, a path twice, or a size that is not there.
absl::StatusOr<Artifacts> UnpackTar(absl::string_view bytes, absl::string_view name);

}  // namespace kiln::mlf

#endif  // KILN_MLF_TAR_H_
