// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "compiler/loop/fingerprint.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/passes.h"

namespace kiln::loop {
namespace {

constexpr DType kFloat = DType::Float(32);

// The properties in which the functions of a program differ.
struct Made {
  float weight = 1;  // value of all elements of its constant
  BinaryOp op = BinaryOp::kMul;
  int64_t extent = 4;
  int target = 0;
  std::string failure = "found ";
};

// out[i] = (in[i] + scratch) op weights[i] in a loop, with a buffer and variables of its own.
void AddFunc(LoopProgram& program, const std::string& name, const Made& made) {
  const Buffer in = MakeBuffer("in", kFloat, {4}, BufferScope::kParam);
  const Buffer out = MakeBuffer("out", kFloat, {4}, BufferScope::kParam);
  const Buffer weights = MakeBuffer(name + "_w", kFloat, {4}, BufferScope::kConstant, 64);
  const Buffer scratch = MakeBuffer("scratch", kFloat, {1}, BufferScope::kLocal);
  const std::array<float, 4> values = {made.weight, made.weight, made.weight, made.weight};
  program.constants.push_back({weights, Tensor::From<float>({4}, kFloat, values)});
  const Var i = MakeVar(name + "_i");
  const Expr sum = MakeLoad(in, {i}) + MakeLoad(scratch, {Expr(0)});
  const Stmt loop =
      MakeFor(i, 0, made.extent, ForKind::kSerial,
              MakeBlock({MakePrefetch(weights, i + 1),
                         MakeIf(MakeLoad(in, {i}) < 0, MakeFail(made.failure, i, ", wanted more")),
                         MakeStore(out, {i}, MakeBinary(made.op, sum, MakeLoad(weights, {i})))}));
  Func func;
  func.name = name;
  func.params = {in, out};
  func.num_inputs = 1;
  func.target = made.target;
  func.body =
      MakeAllocate(scratch, MakeBlock({MakeStore(scratch, {Expr(0)}, Const(kFloat, 1)), loop}));
  program.funcs.push_back(func);
}

float RunFirst(const LoopProgram& program, const std::string& function) {
  Interpreter interpreter(program);
  std::array<float, 4> in = {1, 2, 3, 4}, out = {};
  const std::array<void*, 2> args = {in.data(), out.data()};
  EXPECT_TRUE(interpreter.Run(function, args).ok());
  return out[0];
}

TEST(ShareFunctions, TakesConstantsAsInputs) {
  LoopProgram program;
  AddFunc(program, "f", {.weight = 3});
  AddFunc(program, "g", {.weight = 5});
  ShareFunctions(program);
  ASSERT_EQ(program.funcs.size(), 3u);
  const Func& shared = program.funcs[0];
  EXPECT_EQ(shared.name, "f_shared");
  EXPECT_FALSE(shared.exported);
  EXPECT_EQ(shared.num_inputs, 2);
  ASSERT_EQ(shared.params.size(), 3u);
  EXPECT_EQ(shared.params[1]->name, "f_w");
  EXPECT_EQ(shared.params[1]->scope, BufferScope::kParam);
  EXPECT_EQ(shared.params[1]->alignment_bytes, 64);
  EXPECT_EQ(ToString(program.funcs[1].body), "call f_shared(in, f_w, out)\n");
  EXPECT_EQ(ToString(program.funcs[2].body), "call f_shared(in, g_w, out)\n");
  EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
  EXPECT_EQ(RunFirst(program, "f"), 6);
  EXPECT_EQ(RunFirst(program, "g"), 10);
}

TEST(ShareFunctions, OnlyWhatIsAlike) {
  for (const Made& other : {Made{.op = BinaryOp::kAdd}, Made{.extent = 3}, Made{.target = 1},
                            Made{.failure = "found index "}}) {
    LoopProgram program;
    AddFunc(program, "f", {});
    AddFunc(program, "g", other);
    ShareFunctions(program);
    EXPECT_EQ(program.funcs.size(), 2u);
  }
}

TEST(ShareFunctions, SeveralKinds) {
  LoopProgram program;
  AddFunc(program, "a", {.weight = 2});
  AddFunc(program, "b", {.weight = 2, .op = BinaryOp::kAdd});
  AddFunc(program, "c", {.weight = 3});
  AddFunc(program, "d", {.weight = 3, .op = BinaryOp::kAdd});
  AddFunc(program, "e", {.weight = 4, .op = BinaryOp::kSub});
  ShareFunctions(program);
  ASSERT_EQ(program.funcs.size(), 7u);
  EXPECT_EQ(program.funcs[0].name, "a_shared");
  EXPECT_EQ(program.funcs[2].name, "b_shared");
  EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
  EXPECT_EQ(RunFirst(program, "c"), 6);
  EXPECT_EQ(RunFirst(program, "d"), 5);
  EXPECT_EQ(RunFirst(program, "e"), -2);
}

// Functions with different fingerprints are not compared.
TEST(ShareFunctions, FingerprintsTellApartWhatIsNotAlike) {
  LoopProgram program;
  AddFunc(program, "f", {.weight = 3});
  AddFunc(program, "g", {.weight = 5});
  AddFunc(program, "add", {.op = BinaryOp::kAdd});
  AddFunc(program, "short", {.extent = 3});
  const uint64_t f = Fingerprint(program.funcs[0]);
  EXPECT_EQ(Fingerprint(program.funcs[1]), f);
  EXPECT_NE(Fingerprint(program.funcs[2]), f);
  EXPECT_NE(Fingerprint(program.funcs[3]), f);
  // Different places in one tensor, as the parts of a concatenation use them.
  std::set<uint64_t> fingerprints;
  for (int64_t first = 0; first < 100; ++first) {
    const Buffer out = MakeBuffer("out", kFloat, {200}, BufferScope::kParam);
    const Var i = MakeVar("i");
    Func func;
    func.params = {out};
    func.body =
        MakeFor(i, 0, 4, ForKind::kSerial, MakeStore(out, {i + Expr(first)}, Const(kFloat, 1)));
    fingerprints.insert(Fingerprint(func));
  }
  EXPECT_EQ(fingerprints.size(), 100u);
}

TEST(ShareFunctions, PassesTheWorkspaceOn) {
  LoopProgram program;
  AddFunc(program, "f", {});
  AddFunc(program, "g", {});
  for (Func& func : program.funcs) {
    func.workspace = MakeBuffer("workspace", DType::UInt(8), {64}, BufferScope::kParam);
  }
  ShareFunctions(program);
  ASSERT_EQ(program.funcs.size(), 3u);
  EXPECT_EQ(ToString(program.funcs[2].body), "call f_shared(in, g_w, out, workspace)\n");
  EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
}

// out[i] = in[i] * multiplier + (in[i] + zero), all int32.
void AddScaling(LoopProgram& program, const std::string& name, int64_t multiplier, int64_t zero) {
  const DType dtype = DType::Int(32);
  const Buffer in = MakeBuffer("in", dtype, {4}, BufferScope::kParam);
  const Buffer out = MakeBuffer("out", dtype, {4}, BufferScope::kParam);
  const Var i = MakeVar(name + "_i");
  const Expr x = MakeLoad(in, {i});
  const auto number = [&](int64_t value) { return IntConst(Type::Of(dtype), value); };
  Func func;
  func.name = name;
  func.params = {in, out};
  func.num_inputs = 1;
  func.body = MakeFor(i, 0, 4, ForKind::kSerial,
                      MakeStore(out, {i}, x * number(multiplier) + (x + number(zero))));
  program.funcs.push_back(func);
}

TEST(ShareFunctions, TakesNumbersAsScalars) {
  LoopProgram program;
  AddScaling(program, "f", 5, -3);
  AddScaling(program, "g", -7, -3);
  ShareFunctions(program, /*numbers=*/true);
  ASSERT_EQ(program.funcs.size(), 3u);
  const Func& shared = program.funcs[0];
  ASSERT_EQ(shared.scalars.size(), 1u);
  EXPECT_EQ(shared.scalars[0].type(), Type::Index());
  EXPECT_EQ(ToString(program.funcs[1].body), "call f_shared(in, out, 5)\n");
  EXPECT_EQ(ToString(program.funcs[2].body), "call f_shared(in, out, -7)\n");
  EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
  Interpreter interpreter(program);
  std::array<int32_t, 4> in = {1, 2, 3, 4}, out = {};
  const std::array<void*, 2> args = {in.data(), out.data()};
  ASSERT_TRUE(interpreter.Run("g", args).ok());
  EXPECT_EQ(out, (std::array<int32_t, 4>{-9, -15, -21, -27}));
}

TEST(ShareFunctions, NumbersStayWhereTheyAreNotAskedFor) {
  LoopProgram program;
  AddScaling(program, "f", 5, -3);
  AddScaling(program, "g", -7, -3);
  ShareFunctions(program);
  EXPECT_EQ(program.funcs.size(), 2u);
}

// A number that is equal in all functions is not passed as a scalar.
TEST(ShareFunctions, OnlyNumbersThatDifferArePassed) {
  LoopProgram program;
  AddScaling(program, "f", 5, 5);
  AddScaling(program, "g", 6, 6);
  AddScaling(program, "h", 6, 5);
  ShareFunctions(program, /*numbers=*/true);
  ASSERT_EQ(program.funcs.size(), 4u);
  EXPECT_EQ(program.funcs[0].scalars.size(), 2u);
  EXPECT_EQ(ToString(program.funcs[3].body), "call f_shared(in, out, 6, 5)\n");
}

// out[i] = in[i] * scale in float32.
void AddFloatScaling(LoopProgram& program, const std::string& name, double scale) {
  const Buffer in = MakeBuffer("in", kFloat, {4}, BufferScope::kParam);
  const Buffer out = MakeBuffer("out", kFloat, {4}, BufferScope::kParam);
  const Var i = MakeVar(name + "_i");
  Func func;
  func.name = name;
  func.params = {in, out};
  func.num_inputs = 1;
  func.body = MakeFor(i, 0, 4, ForKind::kSerial,
                      MakeStore(out, {i}, MakeLoad(in, {i}) * Const(kFloat, scale)));
  program.funcs.push_back(func);
}

TEST(ShareFunctions, FloatsArePassedByTheirBits) {
  LoopProgram program;
  AddFloatScaling(program, "f", 0.5);
  AddFloatScaling(program, "g", -3);
  ShareFunctions(program, /*numbers=*/true);
  ASSERT_EQ(program.funcs.size(), 3u);
  EXPECT_EQ(ToString(program.funcs[1].body), "call f_shared(in, out, 1056964608)\n");
  EXPECT_EQ(ToString(program.funcs[2].body), "call f_shared(in, out, -1069547520)\n");
  EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
  EXPECT_EQ(RunFirst(program, "f"), 0.5f);
  EXPECT_EQ(RunFirst(program, "g"), -3.f);
}

// A function with nine numbers that depend on `first`.
void AddManyNumbers(LoopProgram& program, const std::string& name, int64_t first) {
  const DType dtype = DType::Int(32);
  const Buffer in = MakeBuffer("in", dtype, {4}, BufferScope::kParam);
  const Buffer out = MakeBuffer("out", dtype, {4}, BufferScope::kParam);
  const Var i = MakeVar(name + "_i");
  Expr value = MakeLoad(in, {i});
  for (int64_t k = 0; k < 9; ++k) {
    value = MakeBinary(BinaryOp::kXor, value * IntConst(Type::Of(dtype), first + 2 * k), value);
  }
  Func func;
  func.name = name;
  func.params = {in, out};
  func.num_inputs = 1;
  func.body = MakeFor(i, 0, 4, ForKind::kSerial, MakeStore(out, {i}, value));
  program.funcs.push_back(func);
}

// Some functions differ in too many numbers. Functions with equal numbers still share one.
TEST(ShareFunctions, ThoseWithEqualNumbersAreSharedWhereOthersDifferInMany) {
  LoopProgram program;
  AddManyNumbers(program, "f", 100);
  AddManyNumbers(program, "g", 201);
  AddManyNumbers(program, "h", 100);
  ShareFunctions(program, /*numbers=*/true);
  ASSERT_EQ(program.funcs.size(), 4u);
  EXPECT_EQ(program.funcs[0].name, "f_shared");
  EXPECT_TRUE(program.funcs[0].scalars.empty());
  EXPECT_EQ(ToString(program.funcs[3].body), "call f_shared(in, out)\n");
}

// Functions with the same body, as in the steps of a recurrent network.
TEST(ShareFunctions, CopiesOfAFunctionAreShared) {
  for (const bool numbers : {false, true}) {
    LoopProgram program;
    AddScaling(program, "f", 5, -3);
    for (const char* name : {"g", "h"}) {
      program.funcs.push_back(program.funcs[0]);
      program.funcs.back().name = name;
    }
    AddScaling(program, "other", 6, -3);
    ShareFunctions(program, numbers);
    ASSERT_EQ(program.funcs.size(), 5u);
    EXPECT_EQ(ToString(program.funcs[3].body),
              numbers ? "call f_shared(in, out, 5)\n" : "call f_shared(in, out)\n");
    EXPECT_EQ(program.funcs[4].body.As<Call>() != nullptr, numbers);
    EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
  }
}

// main calls f and g. The call of g has an offset and a profile index.
TEST(InlineCalls, CallsSharedFunctionsDirectly) {
  LoopProgram program;
  AddScaling(program, "f", 5, -3);
  AddScaling(program, "g", -7, -3);
  const Buffer in = MakeBuffer("x", DType::Int(32), {8}, BufferScope::kParam);
  const Buffer out = MakeBuffer("y", DType::Int(32), {8}, BufferScope::kParam);
  program.profile_hook = "hook";
  Func main;
  main.name = "main";
  main.kind = Func::Kind::kMain;
  main.params = {in, out};
  main.num_inputs = 1;
  main.body = MakeBlock({MakeCall("f", {{in, Expr(0)}, {out, Expr(0)}}),
                         MakeCall("g", {{in, Expr(4)}, {out, Expr(4)}}, /*profile_index=*/2)});
  program.funcs.push_back(main);
  program.funcs[0].exported = false;
  ShareFunctions(program, /*numbers=*/true);
  InlineCalls(program);
  // An exported function stays for callers outside of the program.
  ASSERT_EQ(program.funcs.size(), 3u);
  EXPECT_EQ(program.funcs[0].name, "f_shared");
  EXPECT_EQ(program.funcs[1].name, "g");
  EXPECT_EQ(ToString(program.funcs[2].body),
            "call f_shared(x, y, 5)\ncall f_shared(x + 4, y + 4, -7) profile 2\n");
  EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
}

// out[i + first] = in[read(i)] for four elements, of tensors of `size`.
void AddPart(LoopProgram& program, const std::string& name, int64_t size, int64_t first,
             const std::function<Expr(const Var& i)>& read) {
  const DType dtype = DType::Int(8);
  const Buffer in = MakeBuffer("in", dtype, {size}, BufferScope::kParam);
  const Buffer out = MakeBuffer("out", dtype, {size}, BufferScope::kParam);
  const Var i = MakeVar(name + "_i");
  Func func;
  func.name = name;
  func.params = {in, out};
  func.num_inputs = 1;
  func.body = MakeFor(i, 0, 4, ForKind::kSerial,
                      MakeStore(out, {i + Expr(first)}, MakeLoad(in, {read(i)})));
  program.funcs.push_back(func);
}

TEST(ShareFunctions, TakesThePartsThatAreAccessed) {
  LoopProgram program;
  AddPart(program, "f", 8, 0, [](const Var& i) { return Expr(3) - i; });
  AddPart(program, "g", 12, 8, [](const Var& i) { return Expr(10) - i; });
  LoopProgram plain = program;
  ShareFunctions(plain);
  EXPECT_EQ(plain.funcs.size(), 2u);
  ShareFunctions(program, /*numbers=*/true, /*parts=*/true);
  ASSERT_EQ(program.funcs.size(), 3u);
  EXPECT_EQ(program.funcs[0].params[0]->shape, (Shape{4}));
  EXPECT_EQ(program.funcs[0].params[1]->shape, (Shape{4}));
  EXPECT_EQ(ToString(program.funcs[1].body), "call f_shared(in, out)\n");
  EXPECT_EQ(ToString(program.funcs[2].body), "call f_shared(in + 7, out + 8)\n");
  EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
  Interpreter interpreter(program);
  std::array<int8_t, 12> in = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, out = {};
  const std::array<void*, 2> args = {in.data(), out.data()};
  ASSERT_TRUE(interpreter.Run("g", args).ok());
  EXPECT_EQ(out, (std::array<int8_t, 12>{0, 0, 0, 0, 0, 0, 0, 0, 10, 9, 8, 7}));
}

// An offset into a parameter of the function may not be used for the caller's tensor, whose
// elements may have another size.
TEST(InlineCalls, LeavesFunctionsThatPassPartsOfTensors) {
  LoopProgram program;
  AddPart(program, "f", 8, 0, [](const Var& i) { return i; });
  AddPart(program, "g", 8, 4, [](const Var& i) { return i; });
  for (Func& func : program.funcs) func.exported = false;
  ShareFunctions(program, /*numbers=*/true, /*parts=*/true);
  ASSERT_EQ(ToString(program.funcs[2].body), "call f_shared(in, out + 4)\n");
  InlineCalls(program);
  ASSERT_EQ(program.funcs.size(), 2u);
  EXPECT_EQ(program.funcs[0].name, "f_shared");
  EXPECT_EQ(program.funcs[1].name, "g");
}

TEST(ShareFunctions, TakesWholeTensorsWhereThePartIsNotKnown) {
  LoopProgram program;
  const auto read = [](const Var& i) { return Min(i, Expr(2)); };
  AddPart(program, "f", 8, 0, read);
  AddPart(program, "g", 8, 4, read);
  AddPart(program, "h", 12, 0, read);
  ShareFunctions(program, /*numbers=*/true, /*parts=*/true);
  ASSERT_EQ(program.funcs.size(), 4u);
  EXPECT_EQ(program.funcs[0].params[0]->shape, (Shape{8}));
  EXPECT_EQ(ToString(program.funcs[2].body), "call f_shared(in, out + 4)\n");
  EXPECT_TRUE(VerifyProgram(program).ok()) << VerifyProgram(program);
}

TEST(ShareFunctions, StraightLineCodeStays) {
  LoopProgram program;
  for (const char* name : {"f", "g"}) {
    const Buffer out = MakeBuffer("out", kFloat, {1}, BufferScope::kParam);
    Func func;
    func.name = name;
    func.params = {out};
    func.body = MakeStore(out, {Expr(0)}, Const(kFloat, 1));
    program.funcs.push_back(func);
  }
  ShareFunctions(program);
  EXPECT_EQ(program.funcs.size(), 2u);
}

}  // namespace
}  // namespace kiln::loop
