// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/file_kind.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace kiln::tools {
namespace {

struct Kind {
  size_t offset;
  absl::string_view magic;
  absl::string_view is;
};

// What follows "wanted Relay text or ONNX" says how to come to one of them.
constexpr Kind kKinds[] = {
    {0, {"\x1f\x8b", 2}, "is compressed by gzip, wanted Relay text or ONNX: unpack it first"},
    {257,
     {"ustar", 5},
     "is a tar archive, wanted Relay text or ONNX: unpack it first; inspect and mlf merge take "
     "archives of --mlf"},
    {0,
     {"PK\x03\x04", 4},
     "is a zip archive, as .npz, .keras and PyTorch's .pt are, wanted Relay text or ONNX: unpack "
     "it, or export the model as ONNX"},
    {0, {"\x89HDF", 4}, "is an HDF5 file, wanted Relay text or ONNX: export the model as ONNX"},
    {0, {"\x93NUMPY", 6}, "is a NumPy array, wanted a model: Relay text or ONNX"},
    {0,
     {"\x7f\x45LF", 4},
     "is an object or a library, wanted a model: Relay text or ONNX; run, bench and inspect take "
     "libraries"},
};

}  // namespace

absl::Status CheckMayBeModel(absl::string_view bytes) {
  // A FlatBuffer: the offset of its root, which is small, and then what it holds.
  if (bytes.size() > 8 && bytes.substr(2, 2) == absl::string_view("\0\0", 2) &&
      bytes.substr(4, 4) == "TFL3") {
    return absl::UnimplementedError(
        "is a TFLite model, which is not supported yet; wanted Relay text or ONNX: convert it to "
        "ONNX, for example with tf2onnx");
  }
  for (const Kind& kind : kKinds) {
    if (bytes.size() > kind.offset && absl::StartsWith(bytes.substr(kind.offset), kind.magic)) {
      return absl::InvalidArgumentError(kind.is);
    }
  }
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(bytes);
  if (absl::StartsWith(text, "{") || absl::StartsWith(text, "[")) {
    return absl::InvalidArgumentError("is JSON, wanted a model: Relay text or ONNX");
  }
  if (absl::StartsWith(text, "def @") || absl::StartsWith(text, "fn (")) {
    return absl::InvalidArgumentError(
        "is Relay text without its version, wanted '#[version = \"0.0.5\"]' as the first line");
  }
  return absl::OkStatus();
}

}  // namespace kiln::tools
