// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/shared/arguments.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/shared/handles.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime::c_api {
namespace {

// Returns the options with the members that this version of the library knows. Bytes after them
// must be 0.
template <typename Options>
absl::StatusOr<Options> KnownOptions(const Options* given, absl::string_view type) {
  Options options = {};
  if (given == nullptr) return options;
  if (given->struct_size < sizeof(given->struct_size)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found options of struct_size ", given->struct_size, ", wanted sizeof(", type, ")"));
  }
  const auto* bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(options); i < given->struct_size; ++i) {
    if (bytes[i] != 0) {
      return absl::UnimplementedError(absl::StrCat(
          "found ", type, " of a newer version of libkiln_runtime, wanted that of this one"));
    }
  }
  std::memcpy(&options, given, std::min(sizeof(options), given->struct_size));
  return options;
}

}  // namespace

absl::StatusOr<LoadOptions> LoadOptionsOf(const KilnLoadOptions* given) {
  KILN_ASSIGN_OR_RETURN(const KilnLoadOptions known, KnownOptions(given, "KilnLoadOptions"));
  LoadOptions options;
  options.check_checksum = known.skip_checksum == 0;
  if (known.verify != nullptr) {
    options.verify = [known](const std::string& path, absl::string_view bytes) -> absl::Status {
      char message[KILN_VERIFIER_MESSAGE_BYTES] = "";
      const KilnCode code =
          known.verify(known.verify_context, path.c_str(), bytes.data(), bytes.size(), message);
      message[sizeof(message) - 1] = '\0';
      return absl::Status(static_cast<absl::StatusCode>(code), message);
    };
  }
  return options;
}

absl::StatusOr<RunOptions> RunOptionsOf(const KilnRunOptions* given) {
  KILN_ASSIGN_OR_RETURN(const KilnRunOptions known, KnownOptions(given, "KilnRunOptions"));
  RunOptions options;
  if (known.timeout_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("found a timeout of ", known.timeout_ns, " ns, wanted 0 or more"));
  }
  if (known.timeout_ns > 0) {
    options.deadline =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(known.timeout_ns);
  }
  if (known.cancellation != nullptr) options.cancellation = &known.cancellation->token;
  if (known.pool != nullptr) options.pool = known.pool->pool.get();
  return options;
}

std::shared_ptr<ThreadPool> PoolOf(const KilnThreadPool* pool) {
  return pool == nullptr ? nullptr : pool->pool;
}

absl::StatusOr<absl::Span<const DLTensor* const>> TensorsOf(const DLTensor* const* tensors,
                                                            int32_t count, const char* what) {
  if (count < 0 || (count > 0 && tensors == nullptr)) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", count, " ", what, tensors == nullptr ? " at NULL" : ""));
  }
  for (int32_t i = 0; i < count; ++i) {
    if (tensors[i] == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(what, "[", i, "] is NULL"));
    }
  }
  return absl::MakeConstSpan(tensors, static_cast<size_t>(count));
}

}  // namespace kiln::runtime::c_api
