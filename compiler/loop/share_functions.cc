// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/loop/dot_tile.h"
#include "compiler/loop/expr_pool.h"
#include "compiler/loop/fingerprint.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/narrow_parameters.h"
#include "compiler/loop/numbers.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/same_statement.h"
#include "compiler/loop/tile_slides.h"

namespace kiln::loop {
namespace {

// Declarations and constants of a function, in the order in which they occur. The parts of
// functions that differ only in their constants correspond to each other in this order.
struct Parts {
  std::vector<Buffer> constants;
  std::vector<Buffer> own;  // buffers that it allocates
  std::vector<Var> vars;    // variables of its loops
  bool calls = false;
};

Parts PartsOf(const Func& func) {
  Parts parts;
  std::set<const BufferNode*> seen;
  const auto see = [&](const Buffer& buffer) {
    const bool is_constant = buffer->scope == BufferScope::kConstant;
    if (is_constant && seen.insert(buffer.get()).second) parts.constants.push_back(buffer);
  };
  VisitStmt(
      func.body,
      [&](const Expr& e) {
        if (const auto* load = e.As<Load>()) see(load->buffer);
      },
      [&](const Stmt& s) {
        if (const auto* n = s.As<For>()) parts.vars.push_back(n->var);
        if (const auto* n = s.As<Allocate>()) parts.own.push_back(n->buffer);
        if (const auto* n = s.As<Prefetch>()) see(n->buffer);
        if (s.As<Call>() != nullptr || s.As<Launch>() != nullptr) parts.calls = true;
      });
  return parts;
}

// A function without loops is hardly worth sharing.
bool CanBeShared(const Func& func, const Parts& parts) {
  return func.kind == Func::Kind::kOperator && func.body && !func.is_copy && !parts.vars.empty() &&
         !parts.calls && func.scalars.empty();
}

// True if the functions have the same body and differ only in their names.
bool IsCopy(const Func& func, const Func& other) {
  return func.body && func.body.get() == other.body.get() && func.kind == other.kind &&
         func.params == other.params && func.num_inputs == other.num_inputs &&
         func.workspace == other.workspace && func.in_place == other.in_place &&
         func.is_copy == other.is_copy && func.target == other.target;
}

// Differences between functions that share one: only constants (kNot), also numbers in values
// (kInValues), or also extents, and therefore the sizes of buffers (kInExtents).
enum class Differ { kNot, kInValues, kInExtents };

bool AreAlike(const std::vector<Buffer>& a, const std::vector<Buffer>& b, Differ differ) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same_shape = differ == Differ::kInExtents || a[i]->shape == b[i]->shape;
    if (a[i]->dtype != b[i]->dtype || !same_shape || a[i]->scope != b[i]->scope ||
        a[i]->alignment_bytes != b[i]->alignment_bytes) {
      return false;
    }
  }
  return true;
}

// Maximum number of scalars. More cost as much to pass as they save.
constexpr size_t kMaxNumbers = 8;
// Functions that differ in extents are larger, because each has loops around others.
constexpr size_t kMaxExtents = 12;

// Placeholder for every number while functions are compared.
Expr AnyNumber(const Type& type) {
  static const Var any = MakeVar("number");
  return FromScalar(type, any);
}

int64_t WorkspaceBytes(const Func& func) {
  return func.workspace == nullptr ? -1 : func.workspace->num_bytes();
}

// Returns the buffer with another number of elements.
Buffer Resized(const Buffer& buffer, int64_t elements) {
  if (buffer->num_elements() == elements) return buffer;
  return MakeBuffer(buffer->name, buffer->dtype, {elements}, buffer->scope,
                    buffer->alignment_bytes);
}

// Number of elements of a buffer that stands for both. Memory of callers has at least the smaller
// size. Memory of the function itself needs the larger size.
int64_t CommonElements(const Buffer& a, const Buffer& b) {
  const bool own = a->scope == BufferScope::kLocal || a->scope == BufferScope::kStatic;
  return own ? std::max(a->num_elements(), b->num_elements())
             : std::min(a->num_elements(), b->num_elements());
}
void MakeCommon(std::vector<Buffer>& common, const std::vector<Buffer>& other) {
  for (size_t i = 0; i < common.size(); ++i) {
    common[i] = Resized(common[i], CommonElements(common[i], other[i]));
  }
}

// A function that takes the constants of its members as inputs, after their own inputs. It is made
// once there are two members.
struct SharedFunc {
  std::vector<size_t> members = {};
  Parts first_parts = {};  // of the first member
  Func func = {};
  Parts parts = {};  // of `func`
  // The scalars of `func` that each member passes, keyed by the member.
  std::map<size_t, std::vector<int64_t>> numbers = {};
};

class Sharing {
 public:
  Sharing(LoopProgram& program, Differ differ, bool parts)
      : program_(program), differ_(differ), parts_(parts) {}

  void Run() {
    std::vector<size_t> candidates;
    std::map<const StmtNode*, size_t> by_body;
    for (size_t i = 0; i < program_.funcs.size(); ++i) {
      const Func& func = program_.funcs[i];
      const auto [same, is_new] = by_body.try_emplace(func.body.get(), i);
      if (!is_new && IsCopy(func, program_.funcs[same->second])) {
        if (candidates_.contains(same->second)) copies_[same->second].push_back(i);
      } else if (CanBeShared(func, PartsOf(func))) {
        candidates_[i] = parts_ ? NarrowParameters(func) : Unchanged(func);
        if (differ_ == Differ::kInExtents) {
          candidates_[i].func.body = RollDotTiles(candidates_[i].func.body);
        }
        slides_[i] = SlidesOf(candidates_[i].func.body);
        candidates.push_back(i);
      }
    }
    const std::vector<SharedFunc> all = Group(candidates, differ_);
    std::map<size_t, const SharedFunc*> first, of;
    for (const SharedFunc& shared : all) {
      first[shared.members.front()] = &shared;
      for (size_t i : shared.members) of[i] = &shared;
    }
    std::vector<Func> funcs;
    for (size_t i = 0; i < program_.funcs.size(); ++i) {
      if (const auto shared = first.find(i); shared != first.end()) {
        funcs.push_back(shared->second->func);
      }
      funcs.push_back(std::move(program_.funcs[i]));
      const auto shared = of.find(i);
      if (shared != of.end()) CallShared(*shared->second, i, funcs.back());
    }
    program_.funcs = std::move(funcs);
  }

 private:
  // The fingerprint, the CPU variant, the bytes of the workspace, and the result of SlidesOf.
  using Key = std::tuple<uint64_t, int, int64_t, std::vector<int>>;

  static NarrowedFunc Unchanged(const Func& func) {
    return {func, std::vector<int64_t>(func.params.size(), 0)};
  }

  // Returns groups of two or more candidates that share a function. Candidates that differ in too
  // many numbers are grouped again, by fewer kinds of differences.
  std::vector<SharedFunc> Group(const std::vector<size_t>& candidates, Differ differ) {
    std::map<Key, std::vector<SharedFunc>> buckets;
    for (size_t i : candidates) {
      const Func func = Compared(i, differ);
      const int64_t workspace = differ == Differ::kInExtents
                                    ? std::min<int64_t>(WorkspaceBytes(func), 0)
                                    : WorkspaceBytes(func);
      const uint64_t fingerprint = Fingerprint(func, /*shapes=*/differ != Differ::kInExtents);
      Add(i, func, differ, buckets[{fingerprint, func.target, workspace, slides_.at(i)}]);
    }
    std::vector<SharedFunc> groups;
    for (auto& [key, bucket] : buckets) {
      for (SharedFunc& shared : bucket) {
        if (shared.members.size() + NumCopies(shared.members.front()) < 2) continue;
        MakeShared(differ, shared);
        if (differ == Differ::kNot || TakeNumbers(differ, shared)) {
          AddCopies(shared);
          groups.push_back(std::move(shared));
          continue;
        }
        std::vector<SharedFunc> less = Group(shared.members, Less(differ));
        std::move(less.begin(), less.end(), std::back_inserter(groups));
      }
    }
    return groups;
  }

  static Differ Less(Differ differ) {
    return differ == Differ::kInExtents ? Differ::kInValues : Differ::kNot;
  }
  static Numbers NumbersOf(Differ differ) {
    return differ == Differ::kInExtents ? Numbers::kOfValuesAndIndices : Numbers::kOfValues;
  }

  size_t NumCopies(size_t i) const {
    const auto it = copies_.find(i);
    return it == copies_.end() ? 0 : it->second.size();
  }

  // Adds the copies of the members to the members.
  void AddCopies(SharedFunc& shared) {
    const std::vector<size_t> members = shared.members;
    for (size_t member : members) {
      const auto copies = copies_.find(member);
      if (copies == copies_.end()) continue;
      const auto numbers = shared.numbers.find(member);
      for (size_t copy : copies->second) {
        candidates_[copy] = candidates_.at(member);
        shared.members.push_back(copy);
        if (numbers != shared.numbers.end()) shared.numbers[copy] = numbers->second;
      }
    }
  }

  // Returns function i in the form in which functions are compared.
  Func Compared(size_t i, Differ differ) const {
    Func func = candidates_.at(i).func;
    if (differ == Differ::kNot) return func;
    func.body = ReplaceNumbers(func.body, NumbersOf(differ),
                               [](const Expr& e) { return AnyNumber(e.type()); });
    return func;
  }

  // Adds function i to the bucket. `func` is its compared form.
  void Add(size_t i, const Func& func, Differ differ, std::vector<SharedFunc>& bucket) {
    Parts parts = PartsOf(func);
    for (SharedFunc& shared : bucket) {
      if (IsAlike(func, parts, differ, shared)) {
        shared.members.push_back(i);
        return;
      }
    }
    bucket.push_back({.members = {i}, .first_parts = std::move(parts)});
  }

  // Sets `func` and `parts` from the present members.
  void MakeShared(Differ differ, SharedFunc& shared) const {
    const Func first = Compared(shared.members.front(), differ);
    Func& func = shared.func = first;
    func.name = absl::StrCat(func.name, "_shared");
    func.convention = Convention::kUnpacked;
    func.by_name = false;
    func.exported = false;
    func.allocate_workspace = false;
    shared.parts = shared.first_parts;
    for (size_t member : shared.members) {
      const Func& other = candidates_.at(member).func;
      const Parts others = PartsOf(other);
      MakeCommon(func.params, other.params);
      MakeCommon(shared.parts.constants, others.constants);
      MakeCommon(shared.parts.own, others.own);
      if (func.workspace != nullptr && WorkspaceBytes(other) < WorkspaceBytes(func)) {
        func.workspace = other.workspace;
      }
      func.in_place = func.in_place || other.in_place;
    }
    for (Buffer& constant : shared.parts.constants) {
      constant = MakeBuffer(constant->name, constant->dtype, constant->shape, BufferScope::kParam,
                            constant->alignment_bytes);
    }
    func.params.insert(func.params.begin() + func.num_inputs, shared.parts.constants.begin(),
                       shared.parts.constants.end());
    func.num_inputs += static_cast<int>(shared.parts.constants.size());
    func.body = Rewritten(first, shared.first_parts, shared);
  }

  // Replaces the numbers in which members differ by scalars of the function. Returns false if they
  // are too many, or if a dot tile would not be one with scalars in its addresses.
  bool TakeNumbers(Differ differ, SharedFunc& shared) {
    std::vector<Stmt> bodies;
    for (size_t i : shared.members) bodies.push_back(candidates_.at(i).func.body);
    std::optional<CommonNumbers> common = FindCommonNumbers(
        bodies, NumbersOf(differ), differ == Differ::kInExtents ? kMaxExtents : kMaxNumbers);
    if (!common.has_value()) return false;
    for (size_t m = 0; m < bodies.size(); ++m) {
      Func func = candidates_.at(shared.members[m]).func;
      func.body = common->Apply(func.body);
      const Stmt body = Rewritten(func, PartsOf(func), shared);
      if (m == 0) shared.func.body = body;
      if (!IsSame(body, shared.func.body, pool_)) return false;
      shared.numbers[shared.members[m]] = common->values[m];
    }
    if (SlidesOf(shared.func.body) != slides_.at(shared.members.front())) return false;
    shared.func.scalars = std::move(common->scalars);
    return true;
  }

  // Returns the body of `func` with the variables and buffers of `shared`.
  static Stmt Rewritten(const Func& func, const Parts& parts, const SharedFunc& shared) {
    BufferReplacement buffers;
    const std::vector<Buffer>& params = shared.func.params;
    const size_t num_constants = parts.constants.size();
    const size_t inputs = static_cast<size_t>(func.num_inputs);
    for (size_t k = 0; k < func.params.size(); ++k) {
      buffers[func.params[k].get()] = params[k < inputs ? k : k + num_constants];
    }
    for (size_t k = 0; k < num_constants; ++k) {
      buffers[parts.constants[k].get()] = shared.parts.constants[k];
    }
    for (size_t k = 0; k < parts.own.size(); ++k) {
      buffers[parts.own[k].get()] = shared.parts.own[k];
    }
    Substitution vars;
    for (size_t k = 0; k < parts.vars.size(); ++k) {
      vars[parts.vars[k].get()] = shared.parts.vars[k];
    }
    return MutateStmt(ReplaceBuffers(Substitute(func.body, vars), buffers), [&](const Stmt& s) {
      const auto* n = s.As<For>();
      if (n == nullptr) return s;
      return MakeFor(vars.at(n->var.get()), n->begin, n->extent, n->kind, n->body);
    });
  }

  bool IsAlike(const Func& func, const Parts& parts, Differ differ, SharedFunc& shared) {
    const Func& other = candidates_.at(shared.members.front()).func;
    const Parts& others = shared.first_parts;
    const bool same_place = func.in_place == other.in_place || differ == Differ::kInExtents;
    if (func.num_inputs != other.num_inputs || !same_place ||
        parts.vars.size() != others.vars.size() || !AreAlike(func.params, other.params, differ) ||
        !AreAlike(parts.constants, others.constants, differ) ||
        !AreAlike(parts.own, others.own, differ)) {
      return false;
    }
    if (!shared.func.body) MakeShared(differ, shared);
    return IsSame(Rewritten(func, parts, shared), shared.func.body, pool_);
  }

  // Replaces the body of a member by a call with its own constants.
  void CallShared(const SharedFunc& shared, size_t member, Func& func) const {
    std::vector<Argument> args;
    const std::vector<int64_t>& first = candidates_.at(member).first;
    const auto pass = [&](const Buffer& buffer) { args.push_back({buffer, Expr(0)}); };
    const auto pass_param = [&](size_t i) { args.push_back({func.params[i], Expr(first[i])}); };
    const size_t inputs = static_cast<size_t>(func.num_inputs);
    for (size_t i = 0; i < inputs; ++i) pass_param(i);
    for (const Buffer& constant : PartsOf(func).constants) pass(constant);
    for (size_t i = inputs; i < func.params.size(); ++i) pass_param(i);
    if (func.workspace != nullptr) pass(func.workspace);
    if (const auto numbers = shared.numbers.find(member); numbers != shared.numbers.end()) {
      for (int64_t number : numbers->second) args.push_back({nullptr, Expr(number)});
    }
    func.body = MakeCall(shared.func.name, std::move(args));
  }

  LoopProgram& program_;
  const Differ differ_;
  const bool parts_;
  std::map<size_t, NarrowedFunc> candidates_;
  std::map<size_t, std::vector<int>> slides_;     // of candidates
  std::map<size_t, std::vector<size_t>> copies_;  // of candidates, which precede them
  ExprPool pool_;
};

}  // namespace

void ShareFunctions(LoopProgram& program, bool numbers, bool parts, bool extents) {
  const Differ differ = extents ? Differ::kInExtents : numbers ? Differ::kInValues : Differ::kNot;
  Sharing(program, differ, parts).Run();
}

}  // namespace kiln::loop
