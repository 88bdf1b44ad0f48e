// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/workspace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "compiler/base/align.h"
#include "compiler/loop/mutate.h"

namespace kiln::schedule {
namespace {

using loop::Buffer;
using loop::BufferNode;
using loop::Stmt;

// The first and the last statement of a body that uses a buffer.
struct Uses {
  size_t first, last;
};

std::unordered_map<const BufferNode*, Uses> UsesOf(const std::vector<Stmt>& stmts) {
  std::unordered_map<const BufferNode*, Uses> uses;
  for (size_t i = 0; i < stmts.size(); ++i) {
    const auto see = [&](const Buffer& buffer) {
      uses.try_emplace(buffer.get(), Uses{i, i}).first->second.last = i;
    };
    loop::VisitStmt(
        stmts[i],
        [&](const loop::Expr& e) {
          if (const auto* load = e.As<loop::Load>()) see(load->buffer);
        },
        [&](const Stmt& s) {
          if (const auto* store = s.As<loop::Store>()) see(store->buffer);
          if (const auto* prefetch = s.As<loop::Prefetch>()) see(prefetch->buffer);
        });
  }
  return uses;
}

bool AreAlike(const BufferNode& a, const BufferNode& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.alignment_bytes == b.alignment_bytes;
}

// Keeps one of several buffers that can share memory, and replaces the others by it in the body.
// Removes buffers that the body does not use.
void ShareBuffers(std::vector<Buffer>& buffers, Stmt& body) {
  const auto* block = body.As<loop::Block>();
  const auto uses = UsesOf(block == nullptr ? std::vector<Stmt>{body} : block->stmts);
  std::erase_if(buffers, [&](const Buffer& buffer) { return !uses.contains(buffer.get()); });
  std::stable_sort(buffers.begin(), buffers.end(), [&](const Buffer& a, const Buffer& b) {
    return uses.at(a.get()).first < uses.at(b.get()).first;
  });
  loop::BufferReplacement replacement;
  std::vector<Buffer> kept;
  std::vector<size_t> last;  // last use of each kept buffer, including the buffers that it replaces
  for (const Buffer& buffer : buffers) {
    const Uses used = uses.at(buffer.get());
    size_t i = 0;
    while (i < kept.size() && (last[i] >= used.first || !AreAlike(*kept[i], *buffer))) ++i;
    if (i == kept.size()) {
      kept.push_back(buffer);
      last.push_back(used.last);
    } else {
      replacement[buffer.get()] = kept[i];
      last[i] = used.last;
    }
  }
  buffers = std::move(kept);
  if (!replacement.empty()) body = loop::ReplaceBuffers(body, replacement);
}

}  // namespace

void PlaceWorkspace(std::vector<Buffer> buffers, int alignment, loop::Func& func) {
  ShareBuffers(buffers, func.body);
  int64_t offset = 0;
  for (const Buffer& buffer : buffers) {
    func.body = loop::MakeAllocate(buffer, func.body, offset);
    offset += AlignUp(buffer->num_bytes(), alignment);
  }
  if (offset > 0) {
    func.workspace = loop::MakeBuffer("workspace", DType::UInt(8), {offset},
                                      loop::BufferScope::kParam, alignment);
  }
}

}  // namespace kiln::schedule
