// SPDX-License-Identifier: Apache-2.0
#include "mlf/sha256.h"

#include <openssl/sha.h>

#include "absl/strings/escaping.h"

namespace kiln::mlf {

std::string Sha256(absl::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return absl::BytesToHexString(digest);
}

}  // namespace kiln::mlf
