// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/module_blob.h"

#include <cstdint>
#include <vector>

namespace kiln {
namespace {

// Little-endian, with 64-bit lengths before strings and lists.
class BlobWriter {
 public:
  void Number(uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  }
  void String(const std::string& text) {
    Number(text.size());
    bytes_ += text;
  }
  void Numbers(const std::vector<uint64_t>& values) {
    Number(values.size());
    for (uint64_t value : values) Number(value);
  }
  // No parameters travel in the blob: they are linked into the operator functions.
  void NoParameters() {
    Number(0);
    Number(0);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// The whole blob: its length, the number of entries, the entries.
std::string Framed(uint64_t entries, const BlobWriter& body) {
  BlobWriter framed;
  framed.Number(body.bytes().size() + 8);
  framed.Number(entries);
  return framed.bytes() + body.bytes();
}

}  // namespace

std::string AotModuleBlob(const std::string& module_name) {
  BlobWriter body;
  body.String("AotExecutorFactory");
  body.NoParameters();
  body.String(module_name);
  body.String("metadata_module");
  body.String("_lib");
  body.String("_import_tree");
  body.Numbers({0, 1, 2, 2});
  body.Numbers({1, 2});
  return Framed(4, body);
}

std::string GraphModuleBlob(const std::string& module_name, const std::string& graph_json) {
  BlobWriter body;
  body.String("GraphExecutorFactory");
  body.String(graph_json);
  body.NoParameters();
  body.String(module_name);
  body.String("_lib");
  body.String("_import_tree");
  body.Numbers({0, 1, 1});
  body.Numbers({1});
  return Framed(3, body);
}

}  // namespace kiln
