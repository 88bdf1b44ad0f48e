// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/sha256.h"

#include <openssl/evp.h>

#include <fstream>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }

  void Add(const char* bytes, size_t size) { EVP_DigestUpdate(context_.get(), bytes, size); }

  std::string Finish() {
    std::string digest(EVP_MD_size(EVP_sha256()), '\0');
    EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr);
    return absl::BytesToHexString(digest);
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string Sha256(absl::string_view bytes) {
  Digest digest;
  digest.Add(bytes.data(), bytes.size());
  return digest.Finish();
}

absl::StatusOr<std::string> Sha256OfFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  Digest digest;
  std::vector<char> piece(kPieceBytes);
  while (stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    digest.Add(piece.data(), static_cast<size_t>(stream.gcount()));
  }
  if (!stream.eof()) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  return digest.Finish();
}

}  // namespace kiln
