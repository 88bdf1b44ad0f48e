// SPDX-License-Identifier: Apache-2.0
// Signatures of libraries, by Ed25519 (RFC 8032).
//
// A signature file is next to the library and has its name plus ".sig". It has one or more
// signatures of 64 bytes, one after the other. Each one is a signature of all bytes of the library,
// as `openssl pkeyutl -sign -rawin` writes it. Keys are PEM, as `openssl genpkey -algorithm
// ed25519` and `openssl pkey -pubout` write them.
//
//   absl::StatusOr<PublicKeys> keys = PublicKeys::FromFiles({"current.pem", "next.pem"});
//   absl::StatusOr<Model> model =
//       Model::Load("my_mod.so", kCpu, {.verify = RequireSignature(*keys)});
#ifndef KILN_RUNTIME_CPP_SIGNATURE_SIGNATURE_H_
#define KILN_RUNTIME_CPP_SIGNATURE_SIGNATURE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/module.h"

namespace kiln::runtime {

inline constexpr size_t kSignatureBytes = 64;

// Maximum number of signatures in a signature file.
inline constexpr size_t kMaxSignatures = 16;
inline constexpr char kSignatureSuffix[] = ".sig";

// Accepted keys. There may be several while keys are replaced. Copies share the keys, and any
// number of threads may use them.
class PublicKeys {
 public:
  // Reads all keys of a PEM text. Returns InvalidArgument if it has none, or one that is not a
  // public key of Ed25519.
  static absl::StatusOr<PublicKeys> FromPem(absl::string_view pem);
  // Reads the keys of several files. Errors name the file: NotFound if it does not exist,
  // PermissionDenied if it may not be read. InvalidArgument also if it is a folder, a FIFO or a
  // device, or has more than 1 MiB.
  static absl::StatusOr<PublicKeys> FromFiles(const std::vector<std::string>& paths);

  // Returns OK if one of the signatures was made by one of the keys, and Unauthenticated if none
  // was. InvalidArgument: `signatures` is empty, has an incomplete signature or more than 16.
  // ResourceExhausted: OpenSSL has not enough memory. Internal: OpenSSL failed for another reason.
  absl::Status Verify(absl::string_view bytes, absl::string_view signatures) const;

 private:
  struct Keys;
  explicit PublicKeys(std::shared_ptr<const Keys> keys) : keys_(std::move(keys)) {}

  std::shared_ptr<const Keys> keys_;
};

// Returns a callback that refuses a library unless its signature file has a signature by one of the
// keys. Unauthenticated: the file does not exist, or none of its signatures matches.
// InvalidArgument: it is not a regular file, or does not have 1 to 16 complete signatures. Other
// errors are those of reading the file and of PublicKeys::Verify.
LibraryVerifier RequireSignature(PublicKeys keys);

// Signs the bytes by a private key, whose PEM text has no password. Returns InvalidArgument if it
// is not a private key of Ed25519.
absl::StatusOr<std::string> Sign(absl::string_view bytes, absl::string_view private_key_pem);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_SIGNATURE_SIGNATURE_H_
