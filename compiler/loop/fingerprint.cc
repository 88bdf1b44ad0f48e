// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/fingerprint.h"

#include <bit>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "compiler/loop/expr_node.h"
#include "compiler/loop/mutate.h"

namespace kiln::loop {
namespace {

class Fingerprinter {
 public:
  explicit Fingerprinter(bool shapes) : shapes_(shapes) {}

  uint64_t Of(const Func& func) {
    for (const Buffer& param : func.params) Add(NumberOf(param));
    if (func.workspace != nullptr) Add(NumberOf(func.workspace));
    VisitStmt(func.body, nullptr, [this](const Stmt& s) {
      Add(s->value.index());
      std::visit([this](const auto& node) { AddNode(node); }, s->value);
    });
    return state_;
  }

 private:
  static void Mix(uint64_t& state, uint64_t value) {
    state ^= value + 0x9e3779b97f4a7c15u + (state << 6) + (state >> 2);
    state *= 0xff51afd7ed558ccdu;
    state ^= state >> 32;
  }

  void Add(uint64_t value) { Mix(state_, value); }

  void Add(const Expr& root) {
    if (root.get() == nullptr) return Add(uint64_t{0});
    WalkPostOrder(root, visited_, [this](const Expr& e) { hashes_[e.get()] = HashOf(e); });
    Add(hashes_.at(root.get()));
  }

  // Number of a buffer: depends on the order of first occurrence and on all but its name.
  uint64_t NumberOf(const Buffer& buffer) {
    const auto [it, is_new] = buffers_.try_emplace(buffer.get(), buffers_.size());
    if (is_new) {
      Mix(it->second, static_cast<uint64_t>(buffer->scope));
      Mix(it->second, static_cast<uint64_t>(buffer->dtype.bits));
      if (!shapes_) return it->second;
      for (int64_t extent : buffer->shape) Mix(it->second, static_cast<uint64_t>(extent));
    }
    return it->second;
  }

  uint64_t NumberOf(const Expr& var) {
    return vars_.try_emplace(var.get(), vars_.size()).first->second;
  }

  uint64_t HashOf(const Expr& e) {
    uint64_t hash = e->value.index();
    Mix(hash, static_cast<uint64_t>(e.type().dtype.bits));
    Mix(hash, static_cast<uint64_t>(e.type().lanes));
    std::visit(Overloaded{[&](const IntImm& n) { Mix(hash, static_cast<uint64_t>(n.value)); },
                          [&](const FloatImm& n) { Mix(hash, std::bit_cast<uint64_t>(n.value)); },
                          [&](const VarNode&) { Mix(hash, NumberOf(e)); },
                          [&](const Unary& n) { Mix(hash, static_cast<uint64_t>(n.op)); },
                          [&](const Binary& n) { Mix(hash, static_cast<uint64_t>(n.op)); },
                          [&](const Dot& n) { Mix(hash, static_cast<uint64_t>(n.kind.group)); },
                          [&](const Compare& n) { Mix(hash, static_cast<uint64_t>(n.op)); },
                          [&](const Load& n) { Mix(hash, NumberOf(n.buffer)); },
                          [&](const Ramp& n) { Mix(hash, static_cast<uint64_t>(n.stride)); },
                          [](const auto&) {}},
               e->value);
    ForEachOperand(*e, [&](const Expr& operand) { Mix(hash, hashes_.at(operand.get())); });
    return hash;
  }

  void AddNode(const For& n) {
    Add(NumberOf(n.var));
    Add(static_cast<uint64_t>(n.kind));
    Add(n.begin);
    Add(n.extent);
  }
  void AddNode(const Store& n) {
    Add(NumberOf(n.buffer));
    for (const Expr& index : n.index) Add(index);
    Add(n.value);
  }
  void AddNode(const Prefetch& n) {
    Add(NumberOf(n.buffer));
    Add(n.offset);
  }
  void AddNode(const Block& n) { Add(n.stmts.size()); }
  void AddNode(const If& n) { Add(n.condition); }
  void AddNode(const Allocate& n) {
    Add(NumberOf(n.buffer));
    Add(static_cast<uint64_t>(n.workspace_offset));
  }
  // Functions that call others are compared by their callers, if at all.
  void AddNode(const Call& n) { Add(n.args.size()); }
  void AddNode(const Launch& n) { Add(n.args.size()); }
  void AddNode(const Fail& n) {
    for (char c : n.before) Add(static_cast<uint64_t>(c));
    Add(n.number);
  }

  const bool shapes_;
  uint64_t state_ = 0;
  std::unordered_map<const BufferNode*, uint64_t> buffers_;
  std::unordered_map<const ExprNode*, uint64_t> vars_;
  std::unordered_set<const ExprNode*> visited_;
  std::unordered_map<const ExprNode*, uint64_t> hashes_;  // of visited_
};

}  // namespace

uint64_t Fingerprint(const Func& func, bool shapes) { return Fingerprinter(shapes).Of(func); }

}  // namespace kiln::loop
