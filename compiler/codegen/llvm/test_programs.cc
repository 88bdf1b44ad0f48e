// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/llvm/test_programs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <utility>

#include "compiler/loop/float16_values.h"
#include "compiler/loop/interpret.h"

namespace kiln::codegen {
namespace {

template <typename T>
void Append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
std::vector<T> FloatEdges() {
  using Limits = std::numeric_limits<T>;
  const T half_ulp_whole = std::ldexp(T{1}, Limits::digits - 1);
  std::vector<T> values;
  for (T v : {T{0},
              T{1},
              T{0.5},
              T{1.5},
              T{2.5},
              T{0.49999997},
              T{3.7},
              T{127.5},
              T{255.9},
              T{32768},
              T{2147483648.0},
              T{4294967296.0},
              T{9223372036854775808.0},
              T{18446744073709551616.0},
              half_ulp_whole,
              half_ulp_whole - T{0.5},
              Limits::min(),
              Limits::denorm_min(),
              Limits::max(),
              Limits::epsilon(),
              Limits::infinity()}) {
    values.push_back(v);
    values.push_back(-v);
  }
  values.push_back(Limits::quiet_NaN());
  return values;
}

template <typename T>
std::vector<T> IntEdges() {
  using Limits = std::numeric_limits<T>;
  return {0,
          1,
          2,
          3,
          7,
          8,
          31,
          33,
          63,
          64,
          100,
          static_cast<T>(-1),
          static_cast<T>(-2),
          static_cast<T>(-7),
          Limits::min(),
          Limits::max(),
          static_cast<T>(Limits::min() + 1),
          static_cast<T>(Limits::max() - 1),
          static_cast<T>(Limits::max() / 2 + 1)};
}

template <typename T>
std::string Bytes(std::vector<T> values, int count, uint32_t seed) {
  std::mt19937 random(seed);
  while (values.size() < static_cast<size_t>(count)) {
    if constexpr (std::is_floating_point_v<T>) {
      const double mantissa = static_cast<double>(static_cast<int32_t>(random()));
      values.push_back(static_cast<T>(std::ldexp(mantissa, static_cast<int>(random() % 64) - 50)));
    } else {
      const uint64_t word = static_cast<uint64_t>(random()) << 32 | random();
      values.push_back(static_cast<T>(word >> (random() % 64)));
    }
  }
  std::string bytes;
  for (int i = 0; i < count; ++i) Append(bytes, values[i]);
  return bytes;
}

// Replaces every NaN of the type in `bytes` by the same one.
std::string WithOneNan(DType dtype, std::string bytes) {
  auto replace = [&bytes](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + i, sizeof value);
      if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
      std::memcpy(bytes.data() + i, &value, sizeof value);
    }
  };
  if (dtype == DType::Float(16)) return loop::WithOneHalfNan(std::move(bytes));
  if (dtype == DType::Float(32)) replace(0.0f);
  if (dtype == DType::Float(64)) replace(0.0);
  return bytes;
}

// Copies of memory with the alignment of constants and workspaces.
class AlignedCopies {
 public:
  explicit AlignedCopies(const std::vector<std::string>& args) {
    for (const std::string& bytes : args) {
      storage_.emplace_back(bytes.size() + 64);
      const auto address = reinterpret_cast<uintptr_t>(storage_.back().data());
      char* aligned = storage_.back().data() + (64 - address % 64) % 64;
      std::memcpy(aligned, bytes.data(), bytes.size());
      pointers_.push_back(aligned);
    }
  }
  absl::Span<void* const> pointers() const { return pointers_; }

 private:
  std::vector<std::vector<char>> storage_;
  std::vector<void*> pointers_;
};

// Position and hex digits of the first element that differs.
std::string FirstDifference(DType dtype, const std::string& want, const std::string& got) {
  const size_t size = dtype.bytes();
  for (size_t i = 0; i + size <= want.size(); i += size) {
    if (std::memcmp(want.data() + i, got.data() + i, size) == 0) continue;
    uint64_t a = 0, b = 0;
    std::memcpy(&a, want.data() + i, size);
    std::memcpy(&b, got.data() + i, size);
    char text[96];
    std::snprintf(text, sizeof text, "element %zu: interpreter %llx, machine %llx", i / size,
                  static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
    return text;
  }
  return "none";
}

}  // namespace

std::vector<DType> AllDtypes() {
  return {DType::Int(8),    DType::Int(16),   DType::Int(32),  DType::Int(64),
          DType::UInt(8),   DType::UInt(16),  DType::UInt(32), DType::UInt(64),
          DType::Float(32), DType::Float(64), DType::Bool()};
}

std::string EdgeValues(DType dtype, int count, uint32_t seed) {
  switch (dtype.kind) {
    case DTypeKind::kBool: {
      std::string bytes = Bytes(IntEdges<uint8_t>(), count, seed);
      for (char& c : bytes) c &= 1;
      return bytes;
    }
    case DTypeKind::kBFloat:
      return loop::BFloats(count, seed, /*finite=*/true);
    case DTypeKind::kFloat:
      return dtype.bits == 32 ? Bytes(FloatEdges<float>(), count, seed)
                              : Bytes(FloatEdges<double>(), count, seed);
    case DTypeKind::kInt:
      if (dtype.bits == 8) return Bytes(IntEdges<int8_t>(), count, seed);
      if (dtype.bits == 16) return Bytes(IntEdges<int16_t>(), count, seed);
      if (dtype.bits == 32) return Bytes(IntEdges<int32_t>(), count, seed);
      return Bytes(IntEdges<int64_t>(), count, seed);
    case DTypeKind::kUInt:
      break;
  }
  if (dtype.bits == 8) return Bytes(IntEdges<uint8_t>(), count, seed);
  if (dtype.bits == 16) return Bytes(IntEdges<uint16_t>(), count, seed);
  if (dtype.bits == 32) return Bytes(IntEdges<uint32_t>(), count, seed);
  return Bytes(IntEdges<uint64_t>(), count, seed);
}

OperandPairs EdgePairs(DType dtype) {
  constexpr int kValues = 48;
  const std::string values = EdgeValues(dtype, kValues);
  const size_t size = dtype.bytes();
  OperandPairs pairs{"", "", kValues * kValues};
  for (int i = 0; i < kValues; ++i) {
    for (int j = 0; j < kValues; ++j) {
      pairs.left.append(values, i * size, size);
      pairs.right.append(values, j * size, size);
    }
  }
  return pairs;
}

loop::Buffer Param(std::string name, DType dtype, Shape shape) {
  return loop::MakeBuffer(std::move(name), dtype, std::move(shape), loop::BufferScope::kParam);
}

loop::LoopProgram OneFunc(std::vector<loop::Buffer> params, int num_inputs, loop::Stmt body) {
  loop::LoopProgram program;
  loop::Func func;
  func.name = "f";
  func.params = std::move(params);
  func.num_inputs = num_inputs;
  func.body = std::move(body);
  program.funcs.push_back(std::move(func));
  return program;
}

void ExpectSameBits(const loop::LoopProgram& program, const std::string& name,
                    const std::vector<std::string>& args, const Target& target) {
  absl::StatusOr<std::unique_ptr<Jit>> jit = Jit::Create(program, target);
  ASSERT_TRUE(jit.ok()) << jit.status();
  ExpectSameBits(program, name, args, **jit, target.name);
}

void ExpectSameBits(const loop::LoopProgram& program, const std::string& name,
                    const std::vector<std::string>& args, const Jit& jit,
                    const std::string& target_name) {
  const loop::Func* func = program.FindFunc(name);
  ASSERT_NE(func, nullptr);
  const AlignedCopies expected(args), actual(args);
  const absl::Status interpreted = loop::Interpreter(program).Run(name, expected.pointers());
  ASSERT_TRUE(interpreted.ok()) << interpreted;
  const absl::Status run = jit.Run(name, actual.pointers());
  ASSERT_TRUE(run.ok()) << run;
  for (size_t i = 0; i < func->params.size(); ++i) {
    const DType dtype = func->params[i]->dtype;
    auto bytes = [&](const AlignedCopies& copies) {
      return WithOneNan(
          dtype, std::string(static_cast<const char*>(copies.pointers()[i]), args[i].size()));
    };
    const std::string want = bytes(expected), got = bytes(actual);
    EXPECT_TRUE(want == got) << "parameter " << func->params[i]->name << " on " << target_name
                             << ": " << FirstDifference(dtype, want, got);
  }
}

std::vector<Target> RunnableTargets() {
  std::vector<Target> targets;
#if defined(__x86_64__)
  targets.push_back(*Target::Parse("x86-64"));
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    targets.push_back(*Target::Parse("x86-64-v3"));
  }
#endif
  targets.push_back(Target::Host());
  return targets;
}

}  // namespace kiln::codegen
