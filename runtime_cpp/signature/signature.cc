// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/signature/signature.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/library_file.h"
#include "runtime_cpp/status/annotate.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

constexpr absl::string_view kBegin = "-----BEGIN ";
constexpr size_t kMaxKeyFileBytes = size_t{1} << 20;

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Bio = std::unique_ptr<BIO, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Context = std::unique_ptr<EVP_MD_CTX, Free>;

const unsigned char* Unsigned(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

absl::StatusOr<Bio> Open(absl::string_view text) {
  if (text.size() > kMaxKeyFileBytes) return absl::InvalidArgumentError("a key is too long");
  Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (bio == nullptr) return absl::ResourceExhaustedError("no memory for a key");
  return bio;
}

// Refuses a key with a password, because there is no user who could enter it.
int NoPassword(char*, int, int, void*) { return -1; }

absl::Status CheckKind(const Key& key) {
  if (EVP_PKEY_get_id(key.get()) == EVP_PKEY_ED25519) return absl::OkStatus();
  const char* const name = EVP_PKEY_get0_type_name(key.get());
  return absl::InvalidArgumentError(absl::StrCat("found a key of ",
                                                 name == nullptr ? "an unknown algorithm" : name,
                                                 ", wanted one of Ed25519"));
}

// Reads a whole file. Does not block if it is not a regular file.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t max_bytes) {
  KILN_ASSIGN_OR_RETURN(const LibraryFile file, LibraryFile::Open(path));
  if (file.size() > max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found ", file.size(), " bytes, wanted at most ", max_bytes));
  }
  std::string bytes(static_cast<size_t>(file.size()), '\0');
  KILN_RETURN_IF_ERROR(file.Read(0, absl::MakeSpan(bytes)));
  return bytes;
}

// Returns the error of a function of OpenSSL that has failed.
absl::Status FailureTo(absl::string_view what) {
  bool no_memory = false;
  while (const unsigned long error = ERR_get_error()) {
    no_memory |= ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
  }
  if (no_memory) return absl::ResourceExhaustedError(absl::StrCat("no memory to ", what));
  return absl::InternalError(absl::StrCat("OpenSSL cannot ", what));
}

// True if there is memory for the hash function of Ed25519.
bool CanHash() {
  const Context context(EVP_MD_CTX_new());
  const bool can =
      context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha512(), nullptr) == 1;
  ERR_clear_error();
  return can;
}

absl::StatusOr<bool> IsSignatureOf(EVP_PKEY* key, absl::string_view signature,
                                   absl::string_view bytes) {
  ERR_clear_error();
  const Context context(EVP_MD_CTX_new());
  if (context == nullptr) return absl::ResourceExhaustedError("no memory to verify a signature");
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key) != 1) {
    return FailureTo("verify a signature");
  }
  const int result = EVP_DigestVerify(context.get(), Unsigned(signature), signature.size(),
                                      Unsigned(bytes), bytes.size());
  if (result == 1) return true;
  if (result != 0 || ERR_peek_error() != 0) return FailureTo("verify a signature");
  // A result of 0 means another signature, or lack of memory to hash the bytes.
  if (CanHash()) return false;
  return absl::ResourceExhaustedError("no memory to verify a signature");
}

}  // namespace

struct PublicKeys::Keys {
  std::vector<Key> keys;
};

absl::StatusOr<PublicKeys> PublicKeys::FromPem(absl::string_view pem) {
  KILN_ASSIGN_OR_RETURN(const Bio bio, Open(pem));
  auto keys = std::make_shared<Keys>();
  while (Key key{PEM_read_bio_PUBKEY(bio.get(), nullptr, NoPassword, nullptr)}) {
    KILN_RETURN_IF_ERROR(CheckKind(key));
    keys->keys.push_back(std::move(key));
  }
  // The loop ends at the end of the text, or at a block that is not a public key.
  size_t blocks = 0;
  for (size_t at = pem.find(kBegin); at != pem.npos; at = pem.find(kBegin, at + 1)) ++blocks;
  const bool ended = blocks == keys->keys.size();
  ERR_clear_error();
  if (keys->keys.empty() || !ended) {
    return absl::InvalidArgumentError("wanted public keys in PEM (-----BEGIN PUBLIC KEY-----)");
  }
  return PublicKeys(std::move(keys));
}

absl::StatusOr<PublicKeys> PublicKeys::FromFiles(const std::vector<std::string>& paths) {
  std::string pem;
  for (const std::string& path : paths) {
    KILN_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path, kMaxKeyFileBytes));
    KILN_RETURN_IF_ERROR(Annotate(FromPem(text).status(), path + ": "));
    absl::StrAppend(&pem, text, "\n");
  }
  return FromPem(pem);
}

absl::Status PublicKeys::Verify(absl::string_view bytes, absl::string_view signatures) const {
  if (signatures.empty() || signatures.size() % kSignatureBytes != 0 ||
      signatures.size() > kMaxSignatures * kSignatureBytes) {
    return absl::InvalidArgumentError(absl::StrCat("found ", signatures.size(),
                                                   " bytes of signatures, wanted 1 to ",
                                                   kMaxSignatures, " of ", kSignatureBytes));
  }
  for (size_t at = 0; at < signatures.size(); at += kSignatureBytes) {
    for (const Key& key : keys_->keys) {
      KILN_ASSIGN_OR_RETURN(
          const bool fits, IsSignatureOf(key.get(), signatures.substr(at, kSignatureBytes), bytes));
      if (fits) return absl::OkStatus();
    }
  }
  return absl::UnauthenticatedError(absl::StrCat("found no signature of the ", keys_->keys.size(),
                                                 " accepted keys: the library was changed after it "
                                                 "was signed, or signed by another key"));
}

LibraryVerifier RequireSignature(PublicKeys keys) {
  return [keys = std::move(keys)](const std::string& path, absl::string_view bytes) {
    const std::string beside = absl::StrCat(path, kSignatureSuffix);
    const absl::StatusOr<std::string> signatures =
        ReadSmallFile(beside, kMaxSignatures * kSignatureBytes);
    if (absl::IsNotFound(signatures.status())) {
      return absl::UnauthenticatedError(absl::StrCat(path, ": is not signed: found no ", beside));
    }
    if (!signatures.ok()) return signatures.status();
    return Annotate(keys.Verify(bytes, *signatures), path + ": ");
  };
}

absl::StatusOr<std::string> Sign(absl::string_view bytes, absl::string_view private_key_pem) {
  KILN_ASSIGN_OR_RETURN(const Bio bio, Open(private_key_pem));
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
  ERR_clear_error();
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        "wanted a private key in PEM without a password (-----BEGIN PRIVATE KEY-----)");
  }
  KILN_RETURN_IF_ERROR(CheckKind(key));
  const Context context(EVP_MD_CTX_new());
  std::string signature(kSignatureBytes, '\0');
  size_t size = signature.size();
  if (context == nullptr ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     Unsigned(bytes), bytes.size()) != 1 ||
      size != kSignatureBytes) {
    ERR_clear_error();
    return absl::InternalError("OpenSSL cannot sign with the key");
  }
  return signature;
}

}  // namespace kiln::runtime
