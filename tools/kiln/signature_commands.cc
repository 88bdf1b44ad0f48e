// SPDX-License-Identifier: Apache-2.0
// kiln sign and kiln verify
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "runtime_cpp/signature/signature.h"
#include "tools/kiln/commands.h"
#include "tools/kiln/files.h"
#include "tools/kiln/standard_output.h"

namespace kiln::tools {
namespace {

constexpr int64_t kMaxKeyBytes = 1 << 20;

// Returns the existing signatures of FILE.sig. Error if no further one can be added.
absl::StatusOr<std::string> SignaturesSoFar(const std::string& path) {
  if (!std::filesystem::exists(path)) return std::string();
  constexpr size_t kMost = runtime::kMaxSignatures * runtime::kSignatureBytes;
  KILN_ASSIGN_OR_RETURN(std::string signatures, ReadFile(path, kMost));
  if (signatures.size() % runtime::kSignatureBytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found ", signatures.size(), " bytes, wanted signatures of ",
                     runtime::kSignatureBytes, "; sign without --add to replace them"));
  }
  if (signatures.size() == kMost) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has ", runtime::kMaxSignatures,
                     " signatures, and more are not accepted; sign without --add to replace them"));
  }
  return signatures;
}

struct SignFlags {
  std::string file, key;
  bool add = false;
};

absl::Status Sign(const SignFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(flags.file, kMaxFileBytes));
  KILN_ASSIGN_OR_RETURN(const std::string key, ReadFile(flags.key, kMaxKeyBytes));
  const absl::StatusOr<std::string> signature = runtime::Sign(bytes, key);
  if (!signature.ok()) return Annotate(signature.status(), flags.key + ": ");
  const std::string path = flags.file + runtime::kSignatureSuffix;
  std::string signatures;
  if (flags.add) {
    KILN_ASSIGN_OR_RETURN(signatures, SignaturesSoFar(path));
  }
  return Apply({.files = {{path, signatures + *signature}}, .inputs = {flags.file, flags.key}});
}

struct VerifyFlags {
  std::string file;
  std::vector<std::string> keys;
};

absl::Status Verify(const VerifyFlags& flags) {
  KILN_ASSIGN_OR_RETURN(const runtime::PublicKeys keys, runtime::PublicKeys::FromFiles(flags.keys));
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(flags.file, kMaxFileBytes));
  KILN_RETURN_IF_ERROR(runtime::RequireSignature(keys)(flags.file, bytes));
  return Print(absl::StrCat(flags.file, ": is signed by an accepted key\n"));
}

}  // namespace

void AddSignatureCommands(CLI::App& app, Action& action) {
  CLI::App* sign = app.add_subcommand("sign", "Sign a library, by Ed25519");
  auto sign_flags = std::make_shared<SignFlags>();
  sign->add_option("file", sign_flags->file, "Library (.so); the signature goes to FILE.sig")
      ->required();
  sign->add_option("--key", sign_flags->key, "Private key (PEM, without a password)")->required();
  sign->add_flag("--add", sign_flags->add,
                 "Keep the signatures that FILE.sig has, such as that of the key before");
  sign->footer(
      "Examples:\n  openssl genpkey -algorithm ed25519 -out private.pem\n"
      "  openssl pkey -in private.pem -pubout -out public.pem\n"
      "  kiln sign out/my_mod.so --key private.pem");
  sign->callback([sign_flags, &action] { action = [sign_flags] { return Sign(*sign_flags); }; });

  CLI::App* verify = app.add_subcommand("verify", "Check the signature of a library");
  auto verify_flags = std::make_shared<VerifyFlags>();
  verify->add_option("file", verify_flags->file, "Library (.so), with FILE.sig beside it")
      ->required();
  verify
      ->add_option("--public-key", verify_flags->keys,
                   "Accepted key (PEM); given several times, any of them")
      ->required()
      ->allow_extra_args(false);
  verify->footer("Examples:\n  kiln verify out/my_mod.so --public-key public.pem");
  verify->callback(
      [verify_flags, &action] { action = [verify_flags] { return Verify(*verify_flags); }; });
}

}  // namespace kiln::tools
