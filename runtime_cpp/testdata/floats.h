// SPDX-License-Identifier: Apache-2.0
//
// Arrays of float32 for tests.
#ifndef KILN_RUNTIME_CPP_TESTDATA_FLOATS_H_
#define KILN_RUNTIME_CPP_TESTDATA_FLOATS_H_

#include <algorithm>
#include <vector>

#include "runtime_cpp/ndarray.h"

namespace kiln::runtime {

inline constexpr DLDataType kFloat32 = {kDLFloat, 32, 1};

inline NDArray Floats(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  NDArray array = NDArray::Empty(shape, kFloat32).value();
  std::copy(values.begin(), values.end(), array.values<float>().begin());
  return array;
}

inline NDArray Floats(const std::vector<float>& values) {
  return Floats({static_cast<int64_t>(values.size())}, values);
}

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_TESTDATA_FLOATS_H_
