// SPDX-License-Identifier: Apache-2.0
#include "compiler/variants/merge_constants.h"

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/base/identifier.h"
#include "compiler/loop/mutate.h"

namespace kiln {
namespace {

// Key of constants that may be merged. `bytes` refers to the bytes of a constant and is not a copy.
struct Contents {
  DType dtype;
  Shape shape;
  int alignment_bytes;
  absl::string_view bytes;

  friend bool operator==(const Contents&, const Contents&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Contents& c) {
    return H::combine(std::move(h), c.dtype.bits, c.shape, c.alignment_bytes, c.bytes);
  }
};

// Index of the first function that reads each constant.
using Readers = std::unordered_map<const loop::BufferNode*, size_t>;

Readers ReadersIn(const loop::LoopProgram& program) {
  Readers readers;
  std::unordered_set<const loop::StmtNode*> seen;  // functions may share a body
  for (size_t i = 0; i < program.funcs.size(); ++i) {
    if (!program.funcs[i].body || !seen.insert(program.funcs[i].body.get()).second) continue;
    loop::VisitStmt(program.funcs[i].body, [&](const loop::Expr& e) {
      const auto* load = e.As<loop::Load>();
      if (load != nullptr && load->buffer->scope == loop::BufferScope::kConstant) {
        readers.try_emplace(load->buffer.get(), i);
      }
    });
  }
  return readers;
}

class Merger {
 public:
  void Add(const std::string& variant, loop::LoopProgram& program) {
    const Readers readers = ReadersIn(program);
    loop::BufferReplacement replacement;
    // Number of constants seen so far, by reader and number of the contents.
    std::map<std::pair<size_t, size_t>, size_t> seen;
    for (const loop::Constant& constant : program.constants) {
      const auto reader = readers.find(constant.buffer.get());
      if (reader == readers.end()) continue;
      const loop::BufferNode& buffer = *constant.buffer;
      const auto [it, is_new] = numbers_.try_emplace(
          {buffer.dtype, buffer.shape, buffer.alignment_bytes, constant.tensor.bytes()},
          alike_.size());
      if (is_new) alike_.emplace_back();
      std::vector<loop::Buffer>& alike = alike_[it->second];
      const size_t nth = seen[{reader->second, it->second}]++;
      if (nth == alike.size()) alike.push_back(Keep(variant, constant));
      if (alike[nth] != constant.buffer) replacement[constant.buffer.get()] = alike[nth];
    }
    program.constants.clear();
    if (replacement.empty()) return;
    // Functions that share a body still share it, so that ShareFunctions need not compare them.
    std::unordered_map<const loop::StmtNode*, loop::Stmt> bodies;
    for (loop::Func& func : program.funcs) {
      if (!func.body) continue;
      const auto [it, is_new] = bodies.try_emplace(func.body.get());
      if (is_new) it->second = loop::ReplaceBuffers(func.body, replacement);
      func.body = it->second;
    }
  }

  std::vector<loop::Constant> Finish() && { return std::move(kept_); }

 private:
  const loop::Buffer& Keep(const std::string& variant, loop::Constant constant) {
    const loop::BufferNode& old = *constant.buffer;
    if (!names_.insert(old.name).second) {
      constant.buffer = loop::MakeBuffer(VariantName(old.name, variant), old.dtype, old.shape,
                                         old.scope, old.alignment_bytes);
    }
    return kept_.emplace_back(std::move(constant)).buffer;
  }

  std::vector<loop::Constant> kept_;
  std::set<std::string> names_;
  // Maps contents to their number. The bytes belong to constants in kept_. alike_[number][n]
  // replaces the constant that is the (n + 1)-th of a function with these contents.
  absl::flat_hash_map<Contents, size_t> numbers_;
  std::vector<std::vector<loop::Buffer>> alike_;
};

}  // namespace

std::vector<loop::Constant> MergeConstants(const std::vector<std::string>& variants,
                                           const std::vector<loop::LoopProgram*>& programs) {
  Merger merger;
  for (size_t k = 0; k < programs.size(); ++k) merger.Add(variants[k], *programs[k]);
  return std::move(merger).Finish();
}

std::string VariantName(const std::string& function, const std::string& variant) {
  return WithIdentifierCharacters(absl::StrCat(function, "_", variant));
}

}  // namespace kiln
