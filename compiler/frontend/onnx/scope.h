// SPDX-License-Identifier: Apache-2.0
// Scope: the names that the nodes of an ONNX graph may read. The body of an If, a Loop or a Scan
// sees the names of the outer graphs. The body of a function sees only its own.
#ifndef KILN_COMPILER_FRONTEND_ONNX_SCOPE_H_
#define KILN_COMPILER_FRONTEND_ONNX_SCOPE_H_

#include <map>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "compiler/frontend/onnx/item.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

// Operator set versions, keyed by domain. ONNX's own domain is "".
using Opsets = std::map<std::string, int, std::less<>>;
// The attributes of a function call, keyed by the names that the function's nodes refer to.
using AttributeBindings = std::map<std::string, const onnx::AttributeProto*, std::less<>>;

class Scope {
 public:
  // Creates the scope of a model or a function.
  Scope(Opsets opsets, std::string prefix, AttributeBindings bindings, int depth)
      : opsets_(std::move(opsets)),
        bindings_(std::move(bindings)),
        prefix_(std::move(prefix)),
        depth_(depth) {}
  // Creates the scope of a graph inside of another. `outer` must outlive it.
  Scope(const Scope& outer, std::string prefix)
      : outer_(&outer), prefix_(std::move(prefix)), depth_(outer.depth_ + 1) {}

  // Returns null if neither this graph nor an outer one has the name.
  const Item* Find(const std::string& name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer_) {
      const auto it = scope->items_.find(name);
      if (it != scope->items_.end()) return &it->second;
    }
    return nullptr;
  }
  // Returns false if this graph already has the name.
  bool Define(const std::string& name, Item item) {
    return items_.emplace(name, std::move(item)).second;
  }
  bool Has(const std::string& name) const { return items_.contains(name); }

  // Returns 0 if the model does not import the domain.
  int Opset(absl::string_view domain) const {
    const auto it = root().opsets_.find(domain);
    return it == root().opsets_.end() ? 0 : it->second;
  }
  const Opsets& opsets() const { return root().opsets_; }
  const AttributeBindings& bindings() const { return root().bindings_; }
  // Returns the prefix for names of nodes: "loop/" in the body of the node 'loop'.
  const std::string& prefix() const { return prefix_; }
  int depth() const { return depth_; }

 private:
  const Scope& root() const {
    const Scope* scope = this;
    while (scope->outer_ != nullptr) scope = scope->outer_;
    return *scope;
  }

  const Scope* outer_ = nullptr;
  std::map<std::string, Item> items_;
  Opsets opsets_;
  AttributeBindings bindings_;
  std::string prefix_;
  int depth_ = 0;
};

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_SCOPE_H_
