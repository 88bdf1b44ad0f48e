// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/file_kind.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

struct Kind {
  size_t offset;
  absl::string_view magic;
  absl::string_view is;
};

// The text after "wanted Relay text, ONNX or TFLite" explains how to get such a file.
constexpr Kind kKinds[] = {
    {0,
     {"\x1f\x8b", 2},
     "is compressed by gzip, wanted Relay text, ONNX or TFLite: unpack it first"},
    {257,
     {"ustar", 5},
     "is a tar archive, wanted Relay text, ONNX or TFLite: unpack it first; inspect and mlf merge "
     "take "
     "archives of --mlf"},
    {0,
     {"PK\x03\x04", 4},
     "is a zip archive, as .npz, .keras and PyTorch's .pt are, wanted Relay text, ONNX or TFLite: "
     "unpack "
     "it, or export the model as ONNX"},
    {0,
     {"\x89HDF", 4},
     "is an HDF5 file, wanted Relay text, ONNX or TFLite: export the model as ONNX"},
    {0, {"\x93NUMPY", 6}, "is a NumPy array, wanted a model: Relay text, ONNX or TFLite"},
    {0,
     {"\x7f\x45LF", 4},
     "is an object or a library, wanted a model: Relay text, ONNX or TFLite; run, bench and "
     "inspect take "
     "libraries"},
};

}  // namespace

absl::Status CheckMayBeModel(absl::string_view bytes) {
  for (const Kind& kind : kKinds) {
    if (bytes.size() > kind.offset && absl::StartsWith(bytes.substr(kind.offset), kind.magic)) {
      return absl::InvalidArgumentError(kind.is);
    }
  }
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(bytes);
  if (absl::StartsWith(text, "{") || absl::StartsWith(text, "[")) {
    return absl::InvalidArgumentError("is JSON, wanted a model: Relay text, ONNX or TFLite");
  }
  if (absl::StartsWith(text, "def @") || absl::StartsWith(text, "fn (")) {
    return absl::InvalidArgumentError(
        "is Relay text without its version, wanted '#[version = \"0.0.5\"]' as the first line");
  }
  return absl::OkStatus();
}

}  // namespace kiln
