// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/random_program.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "compiler/loop/interpret.h"

namespace kiln::loop {
namespace {

constexpr DType kFloat = DType::Float(32);

struct LoopSpec {
  Var var;
  int64_t begin;
  int64_t extent;
  ForKind kind;
};

class Generator {
 public:
  explicit Generator(uint32_t seed) : rng_(seed) {}

  Func Make() {
    for (DType dtype : {kFloat, DType::Int(8), DType::Int(32), DType::Float(64), DType::Bool()}) {
      Shape shape;
      for (int i = 1 + Pick(3); i > 0; --i) shape.push_back(1 + Pick(7));
      inputs_.push_back(
          MakeBuffer("in" + std::to_string(inputs_.size()), dtype, shape, BufferScope::kParam));
    }
    std::vector<Stmt> nests;
    Func func;
    for (int i = 1 + Pick(2); i > 0; --i) nests.push_back(Nest());
    func.name = "f";
    func.params = inputs_;
    func.num_inputs = static_cast<int>(inputs_.size());
    func.params.insert(func.params.end(), outputs_.begin(), outputs_.end());
    func.body = MakeBlock(std::move(nests));
    return func;
  }

 private:
  int Pick(int n) { return static_cast<int>(rng_() % static_cast<uint32_t>(n)); }
  bool Chance(int percent) { return Pick(100) < percent; }

  // Makes loops over a space of one to three dimensions, each possibly split in two, around the
  // stores of one output.
  Stmt Nest() {
    Shape shape;
    std::vector<Expr> index;
    std::vector<LoopSpec> loops;
    const int rank = 1 + Pick(3);
    for (int d = 0; d < rank; ++d) {
      const Var outer = MakeVar("i" + std::to_string(d));
      if (Chance(40)) {
        const Var inner = MakeVar("t" + std::to_string(d));
        const int64_t tile = 1 + Pick(6), tiles = 1 + Pick(5);
        shape.push_back(tile * tiles);
        index.push_back(outer * Expr(tile) + inner);
        loops.push_back({outer, 0, tiles, ForKind::kSerial});
        loops.push_back({inner, 0, tile, Kind()});
      } else {
        const int64_t begin = Chance(25) ? Pick(3) : 0;
        const int64_t extent = 1 + (d == rank - 1 ? Pick(40) : Pick(9));
        shape.push_back(extent);
        index.push_back(outer - Expr(begin));
        loops.push_back({outer, begin, extent, Kind()});
      }
    }
    std::shuffle(loops.begin(), loops.end(), rng_);
    if (Chance(50)) loops[0].kind = ForKind::kParallel;
    const DType dtype = inputs_[Pick(4)]->dtype;
    const Buffer out =
        MakeBuffer("out" + std::to_string(outputs_.size()), dtype, shape, BufferScope::kParam);
    outputs_.push_back(out);
    const size_t split =
        Chance(50) ? loops.size() : static_cast<size_t>(Pick(static_cast<int>(loops.size()) + 1));
    scope_ = loops;
    Stmt body = Chance(50) ? Pointwise(out, index) : Reduction(out, index, loops, split);
    for (size_t i = reduced_inside_ ? split : loops.size(); i-- > 0;) {
      body =
          MakeFor(loops[i].var, Expr(loops[i].begin), Expr(loops[i].extent), loops[i].kind, body);
    }
    return body;
  }

  ForKind Kind() {
    const ForKind kinds[] = {ForKind::kSerial, ForKind::kVectorized, ForKind::kUnrolled,
                             ForKind::kVectorized};
    return kinds[Pick(4)];
  }

  Stmt Pointwise(const Buffer& out, const std::vector<Expr>& index) {
    reduced_inside_ = false;
    Stmt store = MakeStore(out, index, Value(out->dtype, 3));
    if (Chance(25)) {
      store = MakeIf(Condition(), store,
                     Chance(50) ? MakeStore(out, index, Value(out->dtype, 2)) : Stmt());
    }
    return store;
  }

  // Makes an accumulator over the loops from `split` on. It is cleared, summed up in the reduction
  // loops, and stored.
  Stmt Reduction(const Buffer& out, const std::vector<Expr>& index,
                 const std::vector<LoopSpec>& loops, size_t split) {
    reduced_inside_ = true;
    int64_t size = 1;
    Expr at = 0;
    for (size_t i = split; i < loops.size(); ++i) {
      at = at * Expr(loops[i].extent) + (loops[i].var - Expr(loops[i].begin));
      size *= loops[i].extent;
    }
    const Buffer acc = MakeBuffer("acc", out->dtype, {size}, BufferScope::kLocal);
    auto within = [&](Stmt s) {
      for (size_t i = loops.size(); i-- > split;) {
        s = MakeFor(loops[i].var, Expr(loops[i].begin), Expr(loops[i].extent), loops[i].kind, s);
      }
      return s;
    };
    const LoopSpec reduce{MakeVar("r"), 0, 1 + Pick(5),
                          Chance(30) ? ForKind::kUnrolled : ForKind::kSerial};
    const Stmt init = within(MakeStore(acc, {at}, Const(out->dtype, 0)));
    scope_.push_back(reduce);
    const Expr term = Value(out->dtype, 2);
    scope_.pop_back();
    const Expr old = MakeLoad(acc, {at});
    Expr sum = old + term;
    if (out->dtype == kFloat && Chance(50)) sum = MakeFma(term, Value(kFloat, 1), old);
    const Stmt update = MakeFor(reduce.var, Expr(reduce.begin), Expr(reduce.extent), reduce.kind,
                                within(MakeStore(acc, {at}, sum)));
    const Stmt finish = within(MakeStore(out, index, MakeLoad(acc, {at})));
    return MakeAllocate(acc, MakeBlock({init, update, finish}));
  }

  Expr AnyVar() { return scope_[Pick(static_cast<int>(scope_.size()))].var; }

  // Returns a linear expression of loop variables.
  Expr Affine() {
    Expr sum = AnyVar() * Expr(1 + Pick(3));
    if (Chance(60)) sum = sum + AnyVar() * Expr(Pick(5) - 2);
    return sum + Expr(Pick(7) - 3);
  }

  Expr Condition() {
    const Expr bound = Expr(Pick(12) - 2);
    const Expr a = Affine();
    Expr c = MakeCompare(static_cast<CompareOp>(Pick(6)), a, bound);
    if (Chance(40)) c = c && Affine() < Expr(Pick(12));
    return c;
  }

  // Returns a load in bounds. Its index is clamped, or taken from one number by division.
  Expr LoadSomewhere(const Buffer& buffer) {
    std::vector<Expr> index;
    if (Chance(30)) {
      Expr flat = Max(Affine(), Expr(0));
      for (size_t d = buffer->shape.size(); d-- > 0;) {
        index.insert(index.begin(), flat % Expr(buffer->shape[d]));
        flat = flat / Expr(buffer->shape[d]);
      }
      return MakeLoad(buffer, index);
    }
    Expr inside = IntConst(Type::Of(DType::Bool()), 1);
    for (int64_t extent : buffer->shape) {
      const Expr i = Chance(30) ? Expr(AnyVar()) : Affine();
      index.push_back(Max(Min(i, Expr(extent - 1)), Expr(0)));
      inside = inside && i >= Expr(0) && i < Expr(extent);
    }
    const Expr value = MakeLoad(buffer, index);
    return Chance(60) ? MakeSelect(inside, value, Const(buffer->dtype, 0)) : value;
  }

  Expr Value(DType dtype, int depth) {
    if (depth == 0 || Chance(25)) {
      if (Chance(15)) return Const(dtype, Pick(9) - 4);
      const Buffer& buffer = inputs_[Pick(static_cast<int>(inputs_.size()))];
      Expr value = LoadSomewhere(buffer);
      if (dtype.is_integral() && Chance(15)) value = Affine();
      return MakeCast(dtype, value);
    }
    const Expr a = Value(dtype, depth - 1);
    const Expr b = Value(dtype, depth - 1);
    switch (Pick(7)) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return a * b;
      case 3:
        return Min(a, b);
      case 4:
        return Max(a, b);
      case 5:
        return MakeSelect(Chance(50) ? Condition() : a < b, a, b);
      default:
        return MakeCast(dtype, MakeCast(Chance(50) ? DType::Int(32) : DType::Int(8), a));
    }
  }

  std::mt19937 rng_;
  std::vector<Buffer> inputs_;
  std::vector<Buffer> outputs_;
  std::vector<LoopSpec> scope_;
  bool reduced_inside_ = false;
};

}  // namespace

Func RandomFunc(uint32_t seed) { return Generator(seed).Make(); }

std::vector<std::string> RunOnRandomInputs(const LoopProgram& program, const std::string& name,
                                           uint32_t seed) {
  const Func* func = program.FindFunc(name);
  std::mt19937 rng(seed);
  std::vector<std::string> memory;
  for (const Buffer& param : func->params) {
    std::string bytes(static_cast<size_t>(param->num_bytes()), '\0');
    for (int64_t i = 0; i < param->num_elements(); ++i) {
      char* at = bytes.data() + i * param->dtype.bytes();
      const int value = static_cast<int>(rng() % 32) - 16;
      if (param->dtype == kFloat) {
        const float f = value == 3 ? -0.0f : static_cast<float>(value) * 0.37f;
        std::memcpy(at, &f, sizeof f);
      } else if (param->dtype == DType::Float(64)) {
        const double f = value * 0.37;
        std::memcpy(at, &f, sizeof f);
      } else if (param->dtype.is_bool()) {
        *at = static_cast<char>(value & 1);
      } else {
        const int64_t wide = value;
        std::memcpy(at, &wide, static_cast<size_t>(param->dtype.bytes()));
      }
    }
    memory.push_back(std::move(bytes));
  }
  std::vector<void*> args;
  for (std::string& bytes : memory) args.push_back(bytes.data());
  const absl::Status status = Interpreter(program).Run(name, args);
  if (!status.ok()) return {std::string(status.message())};
  return memory;
}

}  // namespace kiln::loop
