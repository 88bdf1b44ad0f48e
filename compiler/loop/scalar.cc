// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/scalar.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "compiler/base/tensor.h"
#include "compiler/loop/bfloat16.h"
#include "compiler/loop/scalar_traits.h"

namespace kiln::loop {
namespace {

template <UnaryOp op, typename T>
constexpr bool HasUnary() {
  if constexpr (kIsStoredFloat<T>) return false;
  if constexpr (SaturationOf(op).has_value()) return std::is_same_v<T, int32_t>;
  if constexpr (op == UnaryOp::kNot) return !kIsFloat<T>;
  if constexpr (op == UnaryOp::kNeg || op == UnaryOp::kAbs) return !kIsBool<T>;
  return kIsFloat<T>;
}

template <UnaryOp op, typename T>
T ApplyUnary(T a) {
  if constexpr (op == UnaryOp::kNot) {
    if constexpr (kIsBool<T>) {
      return !a;
    } else {
      return static_cast<T>(~a);
    }
  } else if constexpr (op == UnaryOp::kNeg) {
    if constexpr (kIsFloat<T>) {
      return -a;
    } else {
      return static_cast<T>(-static_cast<uint64_t>(a));
    }
  } else if constexpr (op == UnaryOp::kAbs) {
    if constexpr (kIsFloat<T>) {
      return std::fabs(a);
    } else {
      return a < T{0} ? static_cast<T>(-static_cast<uint64_t>(a)) : a;
    }
  } else if constexpr (constexpr std::optional<DType> to = SaturationOf(op); to.has_value()) {
    return std::clamp(a, static_cast<T>(to->MinInt()), static_cast<T>(to->MaxInt()));
  } else if constexpr (op == UnaryOp::kSqrt) {
    return std::sqrt(a);
  } else if constexpr (op == UnaryOp::kFloor) {
    return std::floor(a);
  } else if constexpr (op == UnaryOp::kCeil) {
    return std::ceil(a);
  } else if constexpr (op == UnaryOp::kTrunc) {
    return std::trunc(a);
  } else {
    return std::nearbyint(a);  // in the default rounding mode: to nearest even
  }
}

template <BinaryOp op, typename T>
constexpr bool HasBinary() {
  if constexpr (kIsStoredFloat<T>) return false;
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return !kIsBool<T>;
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kXor:
      return !kIsFloat<T>;
    case BinaryOp::kMod:
    case BinaryOp::kShl:
    case BinaryOp::kShr:
      return kIsInteger<T>;
    case BinaryOp::kRoundingMulHigh:
    case BinaryOp::kRoundingMulTop:
    case BinaryOp::kRoundingShr:
      return std::is_same_v<T, int32_t>;
  }
}

int32_t RoundingMulHighOf(int32_t a, int32_t b) {
  return static_cast<int32_t>((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

int32_t RoundingMulTopOf(int32_t a, int32_t b) {
  return static_cast<int32_t>((int64_t{a} * b + (int64_t{1} << 31)) >> 32);
}

int32_t RoundingShrOf(int32_t a, unsigned shift) {
  const int64_t magnitude = a < 0 ? -int64_t{a} : int64_t{a};
  const int64_t rounded = (magnitude + ((int64_t{1} << shift) >> 1)) >> shift;
  return static_cast<int32_t>(a < 0 ? -rounded : rounded);
}

template <BinaryOp op, typename T>
T ApplyFloat(T a, T b) {
  if constexpr (op == BinaryOp::kAdd) return a + b;
  if constexpr (op == BinaryOp::kSub) return a - b;
  if constexpr (op == BinaryOp::kMul) return a * b;
  if constexpr (op == BinaryOp::kDiv) return a / b;
  if constexpr (op == BinaryOp::kMin) return b < a ? b : a;
  if constexpr (op == BinaryOp::kMax) return b > a ? b : a;
}

// Integers and bools. Operations that wrap use uint64_t, which cannot overflow.
template <BinaryOp op, typename T>
T ApplyInteger(T a, T b) {
  const uint64_t ua = static_cast<uint64_t>(a);
  const uint64_t ub = static_cast<uint64_t>(b);
  const unsigned shift = static_cast<unsigned>(ub % (8 * sizeof(T)));
  if constexpr (op == BinaryOp::kAdd) return static_cast<T>(ua + ub);
  if constexpr (op == BinaryOp::kSub) return static_cast<T>(ua - ub);
  if constexpr (op == BinaryOp::kMul) return static_cast<T>(ua * ub);
  if constexpr (op == BinaryOp::kDiv) {
    if (b == T{0}) return T{0};
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(-ua);
    return static_cast<T>(a / b);
  }
  if constexpr (op == BinaryOp::kMod) {
    if (b == T{0} || (std::is_signed_v<T> && b == static_cast<T>(-1))) return T{0};
    return static_cast<T>(a % b);
  }
  if constexpr (op == BinaryOp::kMin) return b < a ? b : a;
  if constexpr (op == BinaryOp::kMax) return b > a ? b : a;
  if constexpr (op == BinaryOp::kAnd) return static_cast<T>(ua & ub);
  if constexpr (op == BinaryOp::kOr) return static_cast<T>(ua | ub);
  if constexpr (op == BinaryOp::kXor) return static_cast<T>(ua ^ ub);
  if constexpr (op == BinaryOp::kShl) return static_cast<T>(ua << shift);
  if constexpr (op == BinaryOp::kShr) return static_cast<T>(a >> shift);
  if constexpr (op == BinaryOp::kRoundingMulHigh) return RoundingMulHighOf(a, b);
  if constexpr (op == BinaryOp::kRoundingMulTop) return RoundingMulTopOf(a, b);
  if constexpr (op == BinaryOp::kRoundingShr) return RoundingShrOf(a, shift);
}

template <CompareOp op, typename T>
bool ApplyCompare(T a, T b) {
  if constexpr (op == CompareOp::kEq) return a == b;
  if constexpr (op == CompareOp::kNe) return a != b;
  if constexpr (op == CompareOp::kLt) return a < b;
  if constexpr (op == CompareOp::kLe) return a <= b;
  if constexpr (op == CompareOp::kGt) return a > b;
  if constexpr (op == CompareOp::kGe) return a >= b;
}

template <UnaryOp op>
UnaryKernel UnaryKernelOf(DType dtype) {
  return DispatchDType(dtype, [](auto zero) -> UnaryKernel {
    using T = decltype(zero);
    if constexpr (!HasUnary<op, T>()) {
      return nullptr;
    } else {
      return [](int lanes, const Scalar* a, Scalar* out) {
        for (int l = 0; l < lanes; ++l) SetScalar<T>(ApplyUnary<op>(GetScalar<T>(a[l])), out[l]);
      };
    }
  });
}

template <BinaryOp op>
BinaryKernel BinaryKernelOf(DType dtype) {
  return DispatchDType(dtype, [](auto zero) -> BinaryKernel {
    using T = decltype(zero);
    if constexpr (!HasBinary<op, T>()) {
      return nullptr;
    } else {
      return [](int lanes, const Scalar* a, const Scalar* b, Scalar* out) {
        for (int l = 0; l < lanes; ++l) {
          const T x = GetScalar<T>(a[l]);
          const T y = GetScalar<T>(b[l]);
          if constexpr (kIsFloat<T>) {
            SetScalar<T>(ApplyFloat<op>(x, y), out[l]);
          } else {
            SetScalar<T>(ApplyInteger<op>(x, y), out[l]);
          }
        }
      };
    }
  });
}

template <CompareOp op>
BinaryKernel CompareKernelOf(DType dtype) {
  return DispatchDType(dtype, [](auto zero) -> BinaryKernel {
    using T = decltype(zero);
    if constexpr (kIsStoredFloat<T>) {
      return nullptr;
    } else {
      return [](int lanes, const Scalar* a, const Scalar* b, Scalar* out) {
        for (int l = 0; l < lanes; ++l) {
          SetScalar<bool>(ApplyCompare<op>(GetScalar<T>(a[l]), GetScalar<T>(b[l])), out[l]);
        }
      };
    }
  });
}

constexpr float kSmallestNormal = std::numeric_limits<float>::min();

// Replaces a subnormal by 0 of its sign.
float FlushedScalar(float value) {
  return std::fabs(value) < kSmallestNormal ? std::copysign(0.0f, value) : value;
}

float AddBFloatProduct(float sum, float x, float y) {
  const float rounded = std::fma(x, y, sum);
  // The rounding error of the fma. Just below 2^-126, half a unit of the 24th bit is 2^-151 if the
  // exponent is not limited.
  const double rest = double{sum} - double{rounded} + double{x} * double{y};
  const bool was_less =
      std::fabs(rounded) == kSmallestNormal && double{rounded} * rest < -0x1p-126 * 0x1p-151;
  return was_less ? std::copysign(0.0f, rounded) : FlushedScalar(rounded);
}

// As in Intel's Software Developer's Manual, volume 2, VDPBF16PS. The products of a group are added
// from the last to the first, each by a fused multiply-add that rounds to nearest even. Subnormals
// are 0, as operands and as results. As everywhere on x86, a result is subnormal if it is below
// 2^-126 once it is rounded to 24 bits with an unlimited exponent. TDPBF16PS sums the elements at
// even and at odd places separately, and adds both sums.
void DotOfBFloats(const DotShape& shape, const Scalar* sum, const Scalar* a, const Scalar* b,
                  Scalar* out) {
  for (int l = 0; l < shape.lanes(); ++l) {
    const auto product = [&](float total, int term, const DotShape::Product& parts) {
      const int in_a = shape.InA(l, term, parts.of_a), in_b = shape.InB(l, term, parts.of_b);
      const float x = FloatFromBFloat(static_cast<uint16_t>(a[in_a].i));
      const float y = FloatFromBFloat(static_cast<uint16_t>(b[in_b].i));
      return AddBFloatProduct(FlushedScalar(total), FlushedScalar(x), FlushedScalar(y));
    };
    const auto add = [](float total, float apart) {
      return FlushedScalar(FlushedScalar(total) + apart);
    };
    out[l].f = SumBFloatProducts(shape, sum[l].f, 0.0f, product, add);
  }
}

}  // namespace

UnaryKernel FindUnaryKernel(UnaryOp op, DType dtype) {
  switch (op) {
    case UnaryOp::kNeg:
      return UnaryKernelOf<UnaryOp::kNeg>(dtype);
    case UnaryOp::kAbs:
      return UnaryKernelOf<UnaryOp::kAbs>(dtype);
    case UnaryOp::kNot:
      return UnaryKernelOf<UnaryOp::kNot>(dtype);
    case UnaryOp::kSqrt:
      return UnaryKernelOf<UnaryOp::kSqrt>(dtype);
    case UnaryOp::kFloor:
      return UnaryKernelOf<UnaryOp::kFloor>(dtype);
    case UnaryOp::kCeil:
      return UnaryKernelOf<UnaryOp::kCeil>(dtype);
    case UnaryOp::kTrunc:
      return UnaryKernelOf<UnaryOp::kTrunc>(dtype);
    case UnaryOp::kRoundEven:
      return UnaryKernelOf<UnaryOp::kRoundEven>(dtype);
    case UnaryOp::kSaturateInt8:
      return UnaryKernelOf<UnaryOp::kSaturateInt8>(dtype);
    case UnaryOp::kSaturateUint8:
      return UnaryKernelOf<UnaryOp::kSaturateUint8>(dtype);
    case UnaryOp::kSaturateInt16:
      return UnaryKernelOf<UnaryOp::kSaturateInt16>(dtype);
    case UnaryOp::kSaturateUint16:
      return UnaryKernelOf<UnaryOp::kSaturateUint16>(dtype);
  }
  return nullptr;
}

BinaryKernel FindBinaryKernel(BinaryOp op, DType dtype) {
  switch (op) {
    case BinaryOp::kAdd:
      return BinaryKernelOf<BinaryOp::kAdd>(dtype);
    case BinaryOp::kSub:
      return BinaryKernelOf<BinaryOp::kSub>(dtype);
    case BinaryOp::kMul:
      return BinaryKernelOf<BinaryOp::kMul>(dtype);
    case BinaryOp::kDiv:
      return BinaryKernelOf<BinaryOp::kDiv>(dtype);
    case BinaryOp::kMod:
      return BinaryKernelOf<BinaryOp::kMod>(dtype);
    case BinaryOp::kMin:
      return BinaryKernelOf<BinaryOp::kMin>(dtype);
    case BinaryOp::kMax:
      return BinaryKernelOf<BinaryOp::kMax>(dtype);
    case BinaryOp::kAnd:
      return BinaryKernelOf<BinaryOp::kAnd>(dtype);
    case BinaryOp::kOr:
      return BinaryKernelOf<BinaryOp::kOr>(dtype);
    case BinaryOp::kXor:
      return BinaryKernelOf<BinaryOp::kXor>(dtype);
    case BinaryOp::kShl:
      return BinaryKernelOf<BinaryOp::kShl>(dtype);
    case BinaryOp::kShr:
      return BinaryKernelOf<BinaryOp::kShr>(dtype);
    case BinaryOp::kRoundingMulHigh:
      return BinaryKernelOf<BinaryOp::kRoundingMulHigh>(dtype);
    case BinaryOp::kRoundingMulTop:
      return BinaryKernelOf<BinaryOp::kRoundingMulTop>(dtype);
    case BinaryOp::kRoundingShr:
      return BinaryKernelOf<BinaryOp::kRoundingShr>(dtype);
  }
  return nullptr;
}

BinaryKernel FindCompareKernel(CompareOp op, DType dtype) {
  switch (op) {
    case CompareOp::kEq:
      return CompareKernelOf<CompareOp::kEq>(dtype);
    case CompareOp::kNe:
      return CompareKernelOf<CompareOp::kNe>(dtype);
    case CompareOp::kLt:
      return CompareKernelOf<CompareOp::kLt>(dtype);
    case CompareOp::kLe:
      return CompareKernelOf<CompareOp::kLe>(dtype);
    case CompareOp::kGt:
      return CompareKernelOf<CompareOp::kGt>(dtype);
    case CompareOp::kGe:
      return CompareKernelOf<CompareOp::kGe>(dtype);
  }
  return nullptr;
}

FmaKernel FindFmaKernel(DType dtype) {
  return DispatchDType(dtype, [](auto zero) -> FmaKernel {
    using T = decltype(zero);
    if constexpr (!kIsFloat<T>) {
      return nullptr;
    } else {
      return [](int lanes, const Scalar* a, const Scalar* b, const Scalar* c, Scalar* out) {
        for (int l = 0; l < lanes; ++l) {
          SetScalar<T>(std::fma(GetScalar<T>(a[l]), GetScalar<T>(b[l]), GetScalar<T>(c[l])),
                       out[l]);
        }
      };
    }
  });
}

DotKernel FindDotKernel(DType sum) {
  if (sum == DType::Float(32)) return &DotOfBFloats;
  return DispatchDType(sum, [](auto zero) -> DotKernel {
    using T = decltype(zero);
    if constexpr (!kIsInteger<T>) {
      return nullptr;
    } else {
      return [](const DotShape& shape, const Scalar* sum, const Scalar* a, const Scalar* b,
                Scalar* out) {
        for (int l = 0; l < shape.lanes(); ++l) {
          uint64_t total = static_cast<uint64_t>(sum[l].i);
          for (int k = 0; k < shape.terms(); ++k) {
            for (const DotShape::Product& parts : shape.products()) {
              total += static_cast<uint64_t>(a[shape.InA(l, k, parts.of_a)].i) *
                       static_cast<uint64_t>(b[shape.InB(l, k, parts.of_b)].i);
            }
          }
          SetScalar<T>(static_cast<T>(total), out[l]);
        }
      };
    }
  });
}

ReadKernel FindReadKernel(DType dtype) {
  return DispatchDType(dtype, [](auto zero) -> ReadKernel {
    using T = decltype(zero);
    return [](int lanes, const char* memory, Scalar* out) {
      for (int l = 0; l < lanes; ++l, memory += sizeof(T)) {
        if constexpr (kIsBool<T>) {
          SetScalar<bool>(*memory != 0, out[l]);
        } else {
          T value;
          std::memcpy(&value, memory, sizeof value);
          SetScalar<T>(value, out[l]);
        }
      }
    };
  });
}

WriteKernel FindWriteKernel(DType dtype) {
  return DispatchDType(dtype, [](auto zero) -> WriteKernel {
    using T = decltype(zero);
    return [](int lanes, const Scalar* a, char* memory) {
      for (int l = 0; l < lanes; ++l, memory += sizeof(T)) {
        const T value = GetScalar<T>(a[l]);
        std::memcpy(memory, &value, sizeof value);
      }
    };
  });
}

}  // namespace kiln::loop
