// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions, independent of the number type of their factors.
#ifndef KILN_COMPILER_FRONTEND_ONNX_PRODUCTS_H_
#define KILN_COMPILER_FRONTEND_ONNX_PRODUCTS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

// Creates nn.dense, nn.batch_matmul, nn.conv2d or nn.conv3d of two factors, or a replacement of it.
using MakeProduct =
    std::function<absl::StatusOr<ValueId>(absl::string_view op, ValueId x, ValueId y, Attrs attrs)>;

// Swaps the last two dimensions. Wrong if x has fewer.
absl::StatusOr<ValueId> Transposed(Converter& c, ValueId x);
// ONNX's MatMul: matrix products in the last two dimensions. The other dimensions broadcast.
absl::StatusOr<ValueId> MatrixProduct(Converter& c, ValueId a, ValueId b, const MakeProduct& make);
// ONNX's Conv with the node's attributes, without a bias.
absl::StatusOr<ValueId> ConvolutionProduct(Converter& c, ValueId x, ValueId w,
                                           const MakeProduct& make);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_PRODUCTS_H_
