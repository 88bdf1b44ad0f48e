// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/signature/signature.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/library_checksum.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/testdata/floats.h"

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct KeyPair {
  std::string private_pem, public_pem;
};

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

KeyPair NewKeys(const char* algorithm = "ED25519") {
  EVP_PKEY* const key = EVP_PKEY_Q_keygen(nullptr, nullptr, algorithm);
  BIO* const private_bio = BIO_new(BIO_s_mem());
  BIO* const public_bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(private_bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  PEM_write_bio_PUBKEY(public_bio, key);
  EVP_PKEY_free(key);
  return {TextOf(private_bio), TextOf(public_bio)};
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteFile(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

PublicKeys Keys(const std::string& pem) { return PublicKeys::FromPem(pem).value(); }

// RFC 8032, section 7.1, test 2.
TEST(Signature, IsThatOfTheStandard) {
  const std::string pem =
      "-----BEGIN PRIVATE KEY-----\n"
      "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
      "-----END PRIVATE KEY-----\n";
  const absl::StatusOr<std::string> signature = Sign("r", pem);
  ASSERT_TRUE(signature.ok()) << signature.status();
  ASSERT_EQ(signature->size(), kSignatureBytes);
  EXPECT_EQ(signature->substr(0, 8), "\x92\xa0\x09\xa9\xf0\xd4\xca\xb8");
}

TEST(Signature, FitsItsBytesAndItsKeyAlone) {
  const KeyPair keys = NewKeys(), others = NewKeys();
  const std::string bytes = "the bytes of a library";
  const std::string signature = Sign(bytes, keys.private_pem).value();
  EXPECT_TRUE(Keys(keys.public_pem).Verify(bytes, signature).ok());
  EXPECT_TRUE(absl::IsUnauthenticated(Keys(others.public_pem).Verify(bytes, signature)));
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_TRUE(absl::IsUnauthenticated(Keys(keys.public_pem).Verify(changed, signature)));
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Keys(keys.public_pem).Verify(bytes.substr(0, size), signature).ok());
  }
  for (size_t byte = 0; byte < signature.size(); ++byte) {
    std::string changed = signature;
    changed[byte] = static_cast<char>(changed[byte] ^ 1);
    EXPECT_FALSE(Keys(keys.public_pem).Verify(bytes, changed).ok());
  }
}

TEST(Signature, SeveralKeysAndSignaturesServeARotation) {
  const KeyPair old_keys = NewKeys(), new_keys = NewKeys();
  const std::string bytes = "bytes";
  const std::string old_signature = Sign(bytes, old_keys.private_pem).value();
  const std::string new_signature = Sign(bytes, new_keys.private_pem).value();
  // A program may accept both keys, and a library may be signed by both.
  const PublicKeys both = Keys(old_keys.public_pem + new_keys.public_pem);
  EXPECT_TRUE(both.Verify(bytes, old_signature).ok());
  EXPECT_TRUE(both.Verify(bytes, new_signature).ok());
  EXPECT_TRUE(Keys(old_keys.public_pem).Verify(bytes, old_signature + new_signature).ok());
  EXPECT_TRUE(Keys(new_keys.public_pem).Verify(bytes, old_signature + new_signature).ok());
  EXPECT_FALSE(Keys(new_keys.public_pem).Verify(bytes, old_signature).ok());
}

TEST(Signature, ThatIsNotWholeIsRefused) {
  const KeyPair keys = NewKeys();
  const std::string signature = Sign("bytes", keys.private_pem).value();
  for (const std::string& damaged :
       {std::string(), signature.substr(1), signature + "x", std::string(17 * 64, 'x')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Keys(keys.public_pem).Verify("bytes", damaged)));
  }
}

TEST(Keys, OfAnotherKindAreRefused) {
  const KeyPair keys = NewKeys(), x25519 = NewKeys("X25519");
  for (const std::string& pem :
       {std::string(), std::string("text"), keys.private_pem, x25519.public_pem,
        keys.public_pem + x25519.public_pem, keys.public_pem.substr(0, 60),
        keys.public_pem + keys.public_pem.substr(0, 60)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(PublicKeys::FromPem(pem).status())) << pem;
  }
  for (const std::string& pem : {std::string(), keys.public_pem, x25519.private_pem}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Sign("bytes", pem).status())) << pem;
  }
  EXPECT_TRUE(absl::IsNotFound(PublicKeys::FromFiles({"no_such.pem"}).status()));
  EXPECT_EQ(PublicKeys::FromFiles({"/"}).status(),
            absl::InvalidArgumentError("/: is a folder, wanted a file"));
}

// Makes allocations of OpenSSL fail, from number `failing` on.
struct OpenSslMemory {
  static void* Allocate(size_t bytes, const char*, int) {
    return IsFailing() ? nullptr : std::malloc(bytes);
  }
  static void* Reallocate(void* memory, size_t bytes, const char*, int) {
    return IsFailing() ? nullptr : std::realloc(memory, bytes);
  }
  static void Free(void* memory, const char*, int) { std::free(memory); }

  static bool IsFailing() { return failing >= 0 && count++ >= failing; }

  static inline long failing = -1, count = 0;
  // OpenSSL accepts these functions only before its first allocation.
  static inline const bool installed = CRYPTO_set_mem_functions(Allocate, Reallocate, Free) == 1;
};

TEST(Signature, ThatCannotBeVerifiedForLackOfMemoryIsNotWrong) {
  ASSERT_TRUE(OpenSslMemory::installed);
  const KeyPair keys = NewKeys();
  const PublicKeys public_keys = Keys(keys.public_pem);
  const std::string signature = Sign("bytes", keys.private_pem).value();
  ASSERT_TRUE(public_keys.Verify("bytes", signature).ok());
  int failures = 0;
  absl::Status status;
  do {
    OpenSslMemory::count = 0;
    OpenSslMemory::failing = failures;
    status = public_keys.Verify("bytes", signature);
    OpenSslMemory::failing = -1;
    // OpenSSL reports other reasons for some of these errors.
    EXPECT_TRUE(status.ok() || absl::IsResourceExhausted(status) || absl::IsInternal(status))
        << failures << ": " << status;
  } while (!status.ok() && ++failures < 1000);
  EXPECT_GT(failures, 0);
  EXPECT_TRUE(public_keys.Verify("bytes", signature).ok());
}

// Returns the result for x = 1 and y = 10: (x + y) + x, or (x + y) + (x + y) of the other library.
float Result(const Model& model) {
  const absl::StatusOr<std::vector<NDArray>> outputs =
      model.Run({Floats({1, 1, 1, 1}), Floats({10, 10, 10, 10})});
  return outputs.ok() ? outputs->front().values<float>()[3] : -1;
}

class SignedLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "signed_library";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = folder_ / "model.so";
    fs::copy_file(kLibrary, path_);
    WriteFile(path_.string() + ".sig", Sign(ReadFile(path_), keys_.private_pem).value());
  }

  absl::Status Load(const PublicKeys& keys) {
    return Model::Load(path_, kCpu, {.verify = RequireSignature(keys)}).status();
  }

  static constexpr char kLibrary[] = "runtime_cpp/testdata/add_aot.so";
  static constexpr char kOther[] = "runtime_cpp/testdata/add_aot_next.so";

  const KeyPair keys_ = NewKeys();
  fs::path folder_, path_;
};

TEST_F(SignedLibrary, IsLoaded) {
  EXPECT_TRUE(Load(Keys(keys_.public_pem)).ok());
  EXPECT_TRUE(Load(Keys(NewKeys().public_pem + keys_.public_pem)).ok());
}

TEST_F(SignedLibrary, ByAnotherKeyIsRefused) {
  const absl::Status status = Load(Keys(NewKeys().public_pem));
  EXPECT_TRUE(absl::IsUnauthenticated(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("model.so: found no signature of the 1"));
}

TEST_F(SignedLibrary, WithoutASignatureIsRefused) {
  fs::remove(path_.string() + ".sig");
  const absl::Status status = Load(Keys(keys_.public_pem));
  EXPECT_TRUE(absl::IsUnauthenticated(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("model.so: is not signed: found no "));
}

TEST_F(SignedLibrary, ThatWasChangedIsRefused) {
  const std::string bytes = ReadFile(path_);
  for (const std::string& changed :
       {bytes + '\0', bytes.substr(0, bytes.size() - 1), std::string(), ReadFile(kOther)}) {
    fs::remove(path_);
    WriteFile(path_, changed);
    EXPECT_FALSE(Load(Keys(keys_.public_pem)).ok());
  }
}

// The checksum would also detect the change, but it is part of the file.
TEST_F(SignedLibrary, WithAChecksumThatWasChangedIsNotAuthentic) {
  std::string bytes = ReadFile(path_);
  AppendLibraryChecksum(bytes);
  WriteFile(path_, bytes);
  WriteFile(path_.string() + ".sig", Sign(bytes, keys_.private_pem).value());
  EXPECT_TRUE(Load(Keys(keys_.public_pem)).ok());
  for (const size_t at : {size_t{0}, size_t{16}, bytes.size() / 2, bytes.size() - 1}) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    WriteFile(path_, changed);
    const absl::Status status = Load(Keys(keys_.public_pem));
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << at << ": " << status;
  }
}

TEST_F(SignedLibrary, IsTheFileThatWasVerifiedEvenIfItsPathIsReplaced) {
  const LibraryVerifier required = RequireSignature(Keys(keys_.public_pem));
  const absl::StatusOr<Model> model =
      Model::Load(path_, kCpu, {.verify = [&](const std::string& path, absl::string_view bytes) {
                    const absl::Status status = required(path, bytes);
                    const fs::path next = folder_ / "next.so";
                    fs::copy_file(kOther, next);
                    fs::rename(next, path);
                    return status;
                  }});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(Result(*model), 12);
  EXPECT_EQ(Result(Model::Load(path_).value()), 22);
}

TEST_F(SignedLibrary, IsNotLoadedIfTheCallbackRefusesIt) {
  const absl::Status refusal = absl::PermissionDeniedError("not today");
  const auto refuse = [&](const std::string&, absl::string_view) { return refusal; };
  EXPECT_EQ(Model::Load(path_, kCpu, {.verify = refuse}).status(), refusal);
}

}  // namespace
}  // namespace kiln::runtime
