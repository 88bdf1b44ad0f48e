// SPDX-License-Identifier: Apache-2.0
// The memory of NumPy's arrays as tensors. NumPy is known by its array interface alone.
#ifndef KILN_PYTHON_KILN_RUNTIME_ARRAYS_H_
#define KILN_PYTHON_KILN_RUNTIME_ARRAYS_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "dlpack/dlpack.h"
#include "python/kiln/runtime_object.h"
#include "runtime_cpp/program.h"

namespace kiln::python {

// Called once, before all else of this file. False with an exception if there is no memory.
bool InitializeArrays();

// Flags of ArrayInterface that inputs and outputs have.
inline constexpr int kContiguous = 0x1, kNotSwapped = 0x200, kWriteable = 0x400;
inline constexpr int kReadable = kContiguous | kNotSwapped;

// Tensors on the memory of arrays, which live as long as this object.
class Tensors {
 public:
  // True if all of `arrays`, a tuple, are arrays with these flags. The only exceptions that are left
  // behind are those that say nothing about the array.
  bool Take(PyObject* arrays, int flags);

  // True if they are of the number, types and shapes of `infos`.
  bool Fit(const std::vector<runtime::TensorInfo>& infos) const;

  // True if tensors that fit can be used without a copy.
  bool AreAligned(const std::vector<runtime::TensorInfo>& infos) const;

  // True if one of them, which fit `infos`, has memory in common with one of `others` or of these.
  bool Overlap(const std::vector<runtime::TensorInfo>& infos, const Tensors& others,
               const std::vector<runtime::TensorInfo>& other_infos) const;

  absl::Span<const DLTensor* const> get() const { return pointers_; }

 private:
  bool Add(PyObject* capsule, int flags);

  absl::InlinedVector<Owned, 4> owners_;
  absl::InlinedVector<DLTensor, 4> tensors_;
  absl::InlinedVector<const DLTensor*, 4> pointers_;
};

// Takes the tensors of a run. Returns false, perhaps with an exception, if one of them does not fit, or
// an output shares memory with another tensor: model.py then says what is wrong.
bool TakeTensors(PyObject* input_arrays, const std::vector<runtime::TensorInfo>& inputs,
                 PyObject* output_arrays, const std::vector<runtime::TensorInfo>& outputs,
                 Tensors& input_tensors, Tensors& output_tensors);

// A list of (name, dtype, shape).
PyObject* Describe(const std::vector<runtime::TensorInfo>& infos);
// A list of (input, output, initial value).
PyObject* Describe(const std::vector<runtime::StateTensor>& states);
PyObject* Describe(const runtime::ModelOrigin& origin);

}  // namespace kiln::python

#endif  // KILN_PYTHON_KILN_RUNTIME_ARRAYS_H_
