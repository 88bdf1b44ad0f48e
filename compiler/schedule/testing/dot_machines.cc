// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/testing/dot_machines.h"

#include <utility>

namespace kiln::schedule {

Target WithFeatures(int vector_bits, std::string triple, std::string features) {
  Target target = VectorTarget(vector_bits);
  target.triple = std::move(triple);
  target.features = std::move(features);
  return target;
}

Target DotTarget() {
  return WithFeatures(512, "x86_64-pc-linux-gnu", "+avx512bw,+avx512vl,+avx512vnni");
}

Target DspTarget() {
  Target target = WithFeatures(0, "thumbv7em-none-eabihf", "+dsp");
  target.SetBaremetal();
  target.pointer_bits = 32;
  return target;
}

std::vector<DotMachine> DotMachines() {
  const std::string x86 = "x86_64-pc-linux-gnu", arm = "aarch64-unknown-linux-gnu";
  Target helium = WithFeatures(128, "thumbv8.1m.main-none-eabihf", "+mve");
  helium.SetBaremetal();
  helium.pointer_bits = 32;
  return {{"vpdpbusd", DotTarget()},
          {"vpdpbusd", WithFeatures(256, x86, "+avx2,+avxvnni")},
          {"vpmaddwd", WithFeatures(512, x86, "+avx512bw,+avx512vl")},
          {"vpmaddwd", WithFeatures(256, x86, "+avx2")},
          {"vpmaddwd", WithFeatures(128, x86, "")},
          {"sdot", WithFeatures(128, arm, "+dotprod")},
          {"smlal", WithFeatures(128, arm, "")},
          {"vwmacc", WithFeatures(128, "riscv64-unknown-linux-gnu", "+v")},
          {"vmlava.s8", helium},
          {"smlad", DspTarget()}};
}

loop::Constant Numbers(DType dtype, const Shape& shape, int64_t least, int64_t most) {
  std::vector<int16_t> values = {static_cast<int16_t>(least), static_cast<int16_t>(most)};
  for (int64_t i = 2; i < NumElements(shape); ++i) {
    values.push_back(static_cast<int16_t>(least + i * 67 % (most - least + 1)));
  }
  const std::vector<uint8_t> bytes(values.begin(), values.end());
  return {loop::MakeBuffer("w", dtype, shape, loop::BufferScope::kConstant),
          dtype == kI16  ? Tensor::From<int16_t>(shape, dtype, values)
          : dtype == kU8 ? Tensor::From<uint8_t>(shape, dtype, bytes)
                         : Tensor::From<int8_t>(shape, dtype,
                                                std::vector<int8_t>(values.begin(), values.end()))};
}

Expr Product(const Expr& x, const Expr& y) {
  return loop::MakeCast(kI32, x) * loop::MakeCast(kI32, y);
}

loop::Stage Pad(const Buffer& data, const Buffer& padded, int64_t pad) {
  const int64_t height = data->shape[0], width = data->shape[1];
  return Pointwise(padded, [&](const Index& i) {
    const Expr row = i[0] - Expr(pad), column = i[1] - Expr(pad);
    const Expr inside =
        row >= Expr(0) && row < Expr(height) && column >= Expr(0) && column < Expr(width);
    const auto clamped = [](const Expr& e, int64_t extent) {
      return loop::Max(loop::Min(e, Expr(extent - 1)), Expr(0));
    };
    return loop::MakeSelect(inside,
                            MakeLoad(data, {clamped(row, height), clamped(column, width), i[2]}),
                            loop::Const(data->dtype, 7));
  });
}

}  // namespace kiln::schedule
