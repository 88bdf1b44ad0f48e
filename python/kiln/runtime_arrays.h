// SPDX-License-Identifier: Apache-2.0
// The memory of NumPy arrays as tensors. It uses only NumPy's array interface, no header of NumPy.
#ifndef KILN_PYTHON_KILN_RUNTIME_ARRAYS_H_
#define KILN_PYTHON_KILN_RUNTIME_ARRAYS_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "dlpack/dlpack.h"
#include "python/kiln/runtime_object.h"
#include "runtime_cpp/program.h"

namespace kiln::python {

// Must be called once, before anything else in this file. Returns false with an exception if there
// is no memory.
bool InitializeArrays();

// Flags of ArrayInterface that inputs and outputs need.
inline constexpr int kContiguous = 0x1, kNotSwapped = 0x200, kWriteable = 0x400;
inline constexpr int kReadable = kContiguous | kNotSwapped;

// Tensors on the memory of arrays. The arrays live as long as this object.
class Tensors {
 public:
  // True if all elements of the tuple `arrays` are arrays with these flags. If it returns false, an
  // exception remains set only if it does not concern the arrays: MemoryError, or one such as
  // KeyboardInterrupt.
  bool Take(PyObject* arrays, int flags);

  // True if the tensors match `infos` in number, type and shape.
  bool Fit(const std::vector<runtime::TensorInfo>& infos) const;

  // True if the tensors, which match `infos`, are aligned for use without a copy.
  bool AreAligned(const std::vector<runtime::TensorInfo>& infos) const;

  // True if one of the tensors, which match `infos`, overlaps another one of them or one of
  // `others`.
  bool Overlap(const std::vector<runtime::TensorInfo>& infos, const Tensors& others,
               const std::vector<runtime::TensorInfo>& other_infos) const;

  absl::Span<const DLTensor* const> get() const { return pointers_; }

 private:
  bool Add(PyObject* capsule, int flags);

  absl::InlinedVector<Owned, 4> owners_;
  absl::InlinedVector<DLTensor, 4> tensors_;
  absl::InlinedVector<const DLTensor*, 4> pointers_;
};

// Takes the tensors of a run. Returns false, possibly with an exception, if an array does not match
// or an output overlaps another tensor. model.py then finds the reason.
bool TakeTensors(PyObject* input_arrays, const std::vector<runtime::TensorInfo>& inputs,
                 PyObject* output_arrays, const std::vector<runtime::TensorInfo>& outputs,
                 Tensors& input_tensors, Tensors& output_tensors);

// Returns a list of (name, dtype, shape, scale, zero point). The last two are None unless one scale
// is for the whole tensor.
PyObject* Describe(const std::vector<runtime::TensorInfo>& infos);
// Returns a list of (input, output, initial value).
PyObject* Describe(const std::vector<runtime::StateTensor>& states);
PyObject* Describe(const runtime::ModelOrigin& origin);

}  // namespace kiln::python

#endif  // KILN_PYTHON_KILN_RUNTIME_ARRAYS_H_
