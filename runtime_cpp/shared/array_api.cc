// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kiln/runtime.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/shared/handles.h"
#include "tvm/runtime/c_runtime_api.h"

using kiln::runtime::NDArray;
using kiln::runtime::c_api::Call;
using kiln::runtime::c_api::Return;

KilnCode KilnArrayEmpty(const int64_t* shape, int32_t ndim, DLDataType dtype, DLDevice device,
                        KilnArray** array) {
  return Call(__func__, {{"array", array}}, [&]() -> absl::Status {
    if (ndim < 0 || (ndim > 0 && shape == nullptr)) {
      return absl::InvalidArgumentError(absl::StrCat("found a shape of ", ndim, " dimensions",
                                                     shape == nullptr ? " at NULL" : ""));
    }
    return Return(
        NDArray::Empty(absl::MakeConstSpan(shape, static_cast<size_t>(ndim)), dtype, device),
        array);
  });
}

const DLTensor* KilnArrayTensor(const KilnArray* array) {
  return array == nullptr ? nullptr : array->array.tensor();
}

KilnCode KilnArrayCopyFrom(KilnArray* array, const DLTensor* source) {
  return Call(__func__, {{"array", array}, {"source", source}},
              [&] { return array->array.CopyFrom(*source); });
}

KilnCode KilnArrayCopyTo(const KilnArray* array, DLTensor* target) {
  return Call(__func__, {{"array", array}, {"target", target}},
              [&] { return array->array.CopyTo(*target); });
}

KilnCode KilnArrayFromDLPack(DLManagedTensor* managed, KilnArray** array) {
  return Call(__func__, {{"managed", managed}, {"array", array}},
              [&] { return Return(NDArray::FromDLPack(managed), array); });
}

KilnCode KilnArrayToDLPack(const KilnArray* array, DLManagedTensor** managed) {
  return Call(__func__, {{"array", array}, {"managed", managed}}, [&] {
    *managed = array->array.ToDLPack();
    return absl::OkStatus();
  });
}

void KilnArrayFree(KilnArray* array) { delete array; }
