// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/mutate.h"

#include "gtest/gtest.h"

namespace kiln::loop {
namespace {

// 2^levels leaves as a tree, `levels` nodes as a DAG.
Expr Doubled(Expr e, int levels) {
  for (int i = 0; i < levels; ++i) e = e * e;
  return e;
}

TEST(VisitTest, SeesEachNodeOnceOperandsFirst) {
  const Var x = MakeVar("x", Type::Of(kF32));
  const Expr e = Doubled(x + 1, 100);
  int count = 0;
  std::unordered_set<const ExprNode*> seen;
  VisitExpr(e, [&](const Expr& node) {
    ++count;
    if (const Binary* binary = node.As<Binary>()) {
      EXPECT_TRUE(seen.contains(binary->a.get()) && seen.contains(binary->b.get()));
    }
    seen.insert(node.get());
  });
  EXPECT_EQ(count, 103);
}

TEST(MutateTest, KeepsSharing) {
  const Var x = MakeVar("x", Type::Of(kF32)), y = MakeVar("y", Type::Of(kF32));
  int calls = 0;
  const Expr out = MutateExpr(Doubled(x + 1, 100), [&](const Expr& node) {
    ++calls;
    return node.get() == x.get() ? y : Expr();
  });
  EXPECT_EQ(calls, 103);
  EXPECT_TRUE(Uses(out, y));
  EXPECT_FALSE(Uses(out, x));
  int nodes = 0;
  VisitExpr(out, [&](const Expr&) { ++nodes; });
  EXPECT_EQ(nodes, 103);
}

TEST(MutateTest, UnchangedPartsAreTheSameNodes) {
  const Var i = MakeVar("i"), j = MakeVar("j");
  const Expr untouched = i * 4 + 1;
  const Expr out = Substitute(untouched * (j + 2), {{j.get(), Expr(3)}});
  EXPECT_EQ(ToString(out), "(i * 4 + 1) * 5");
  EXPECT_EQ(out.As<Binary>()->a.get(), untouched.get());
  EXPECT_EQ(Substitute(untouched, {{j.get(), Expr(3)}}).get(), untouched.get());
}

TEST(MutateTest, BodiesAreThoseOneLevelBelow) {
  const Var i = MakeVar("i"), j = MakeVar("j");
  const Buffer a = MakeBuffer("a", kF32, {64}, BufferScope::kParam);
  const Stmt store = MakeStore(a, {i}, FloatConst(Type::Of(kF32), 1));
  const Stmt loop = MakeFor(j, 0, 4, ForKind::kSerial, store);
  const Stmt s = MakeIf(i < 8, loop);
  std::vector<const StmtNode*> seen;
  const Stmt same = MutateBodies(s, [&](const Stmt& body) {
    seen.push_back(body.get());
    return body;
  });
  EXPECT_EQ(same.get(), s.get());
  // A missing branch is an empty statement.
  EXPECT_EQ(seen, (std::vector<const StmtNode*>{loop.get(), nullptr}));
  const Stmt other = MutateBodies(s, [&](const Stmt& body) { return body ? store : body; });
  EXPECT_EQ(other.As<If>()->then_body.get(), store.get());
  EXPECT_EQ(MutateBodies(Stmt(), [](const Stmt& body) { return body; }).get(), nullptr);
}

TEST(MutateTest, VectorsForScalarsSpread) {
  const Var i = MakeVar("i");
  const Buffer a = MakeBuffer("a", kF32, {64}, BufferScope::kParam);
  const Expr e = MakeLoad(a, {i}) * 2 + MakeCast(kF32, i);
  EXPECT_EQ(ToString(Substitute(e, {{i.get(), MakeRamp(8, 1, 4)}})),
            "a[ramp(8, 1, 4)] * broadcast(2f32, 4) + float32x4(ramp(8, 1, 4))");
}

TEST(MutateTest, DeepExpressions) {
  const Var x = MakeVar("x", Type::Of(kF32)), y = MakeVar("y", Type::Of(kF32));
  Expr sum = x;
  for (int i = 0; i < 200'000; ++i) sum = sum + x;
  const Expr out = Substitute(sum, {{x.get(), y}});
  EXPECT_FALSE(Uses(out, x));
  EXPECT_EQ(VarsOf(out).size(), 1u);
}

TEST(MutateTest, Statements) {
  const Var i = MakeVar("i"), j = MakeVar("j"), n = MakeVar("n");
  const Buffer a = MakeBuffer("a", kF32, {8, 8}, BufferScope::kParam);
  const Stmt store = MakeStore(a, {i, j}, MakeLoad(a, {j, i}) + 1);
  const Stmt nest = MakeFor(i, 0, n, ForKind::kSerial,
                            MakeFor(j, 0, 8, ForKind::kParallel, MakeBlock({store, store})));
  const Stmt fixed = Substitute(nest, {{n.get(), Expr(4)}});
  EXPECT_EQ(ToString(fixed),
            "for i in 0..4 {\n"
            "  for j in 0..8 parallel {\n"
            "    a[i, j] = a[j, i] + 1f32\n"
            "    a[i, j] = a[j, i] + 1f32\n"
            "  }\n"
            "}\n");
  EXPECT_EQ(fixed.As<For>()->body.get(), nest.As<For>()->body.get());

  const Stmt serial = MutateStmt(fixed, [](const Stmt& s) {
    const For* loop = s.As<For>();
    if (loop == nullptr || loop->kind != ForKind::kParallel) return s;
    return MakeFor(loop->var, loop->begin, loop->extent, ForKind::kSerial, loop->body);
  });
  EXPECT_EQ(ToString(serial).find("parallel"), std::string::npos);

  int stmts = 0;
  std::vector<std::string> exprs;
  VisitStmt(
      nest, [&](const Expr& e) { exprs.push_back(ToString(e)); }, [&](const Stmt&) { ++stmts; });
  EXPECT_EQ(stmts, 5);
  EXPECT_EQ(exprs, (std::vector<std::string>{"0", "n", "0", "8", "i", "j", "a[j, i]", "1f32",
                                             "a[j, i] + 1f32"}));
}

TEST(StmtTest, BuildersDropWhatDoesNothing) {
  const Var i = MakeVar("i");
  const Buffer a = MakeBuffer("a", kF32, {8}, BufferScope::kParam);
  const Stmt store = MakeStore(a, {i}, Expr(1));
  EXPECT_FALSE(MakeFor(i, 0, 0, ForKind::kSerial, store));
  EXPECT_FALSE(MakeFor(i, 0, 8, ForKind::kSerial, {}));
  EXPECT_FALSE(MakeBlock({{}, MakeBlock({})}));
  EXPECT_EQ(MakeBlock({{}, store}).get(), store.get());
  EXPECT_EQ(MakeIf(Expr(1) < 2, store).get(), store.get());
  EXPECT_EQ(ToString(MakeIf(i < 4, {}, store)), "if !(i < 4) {\n  a[i] = 1f32\n}\n");
}

}  // namespace
}  // namespace kiln::loop
