// SPDX-License-Identifier: Apache-2.0
// Signatures of libraries, by Ed25519 (RFC 8032).
//
// A signature file lies beside the library, under its name and ".sig". It holds one or more
// signatures of 64 bytes, one after the other, of all bytes of the library: what
// `openssl pkeyutl -sign -rawin` writes. Keys are PEM, as `openssl genpkey -algorithm ed25519` and
// `openssl pkey -pubout` write them.
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

// Signatures that a file of them may have.
inline constexpr size_t kMaxSignatures = 16;
inline constexpr char kSignatureSuffix[] = ".sig";

// Keys that are accepted: several while keys are replaced. Copies share the keys, and any number of
// threads may use them.
class PublicKeys {
 public:
  // Reads all keys of a PEM text. InvalidArgument if it has none, or one that is no public key of
  // Ed25519.
  static absl::StatusOr<PublicKeys> FromPem(absl::string_view pem);
  // The same of files, whose keys are put together. Errors name the file: NotFound if there is none,
  // PermissionDenied if it may not be read, InvalidArgument also if it is a folder, a FIFO or a
  // device, or has more than 1 MiB.
  static absl::StatusOr<PublicKeys> FromFiles(const std::vector<std::string>& paths);

  // OK if one of the signatures is that of one of the keys. Unauthenticated if none is;
  // InvalidArgument if `signatures` are not whole, or none, or more than 16; ResourceExhausted if
  // OpenSSL lacks memory, Internal if it fails otherwise.
  absl::Status Verify(absl::string_view bytes, absl::string_view signatures) const;

 private:
  struct Keys;
  explicit PublicKeys(std::shared_ptr<const Keys> keys) : keys_(std::move(keys)) {}

  std::shared_ptr<const Keys> keys_;
};

// The callback that refuses a library unless the signature file beside it has a signature of one of
// the keys. Unauthenticated if there is no such file, or none of its signatures fits;
// InvalidArgument if the file is damaged: it is no regular file, or does not hold 1 to 16 whole
// signatures. Other errors are those of reading the file and of PublicKeys::Verify.
LibraryVerifier RequireSignature(PublicKeys keys);

// The signature of the bytes by a private key, whose PEM text has no password. InvalidArgument if it
// is no private key of Ed25519.
absl::StatusOr<std::string> Sign(absl::string_view bytes, absl::string_view private_key_pem);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_SIGNATURE_SIGNATURE_H_
