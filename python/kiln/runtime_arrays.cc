// SPDX-License-Identifier: Apache-2.0
#include "python/kiln/runtime_arrays.h"

#include <cstdint>
#include <string>

#include "runtime_cpp/data_type.h"
#include "runtime_cpp/metadata.h"

namespace kiln::python {
namespace {

using runtime::ModelOrigin;
using runtime::StateTensor;
using runtime::TensorInfo;

// PyArrayInterface of version 3 of NumPy's array interface. `__array_struct__` points to it.
struct ArrayInterface {
  int two;  // always 2; marks the struct
  int ndim;
  char kind;
  int element_bytes;
  int flags;
  Py_intptr_t* shape;
  Py_intptr_t* strides;
  void* data;
  PyObject* descr;
};
static_assert(sizeof(Py_intptr_t) == sizeof(int64_t));

// The name "__array_struct__", created once: a lookup with a new string takes longer than the rest
// of a call.
PyObject* array_struct_name = nullptr;

DLDataType DataTypeOf(const ArrayInterface& array) {
  const auto bits = static_cast<uint8_t>(8 * array.element_bytes);
  switch (array.kind) {
    case 'b':
      return runtime::DataTypeOf<bool>();
    case 'f':
      return {kDLFloat, bits, 1};
    case 'i':
      return {kDLInt, bits, 1};
    case 'u':
      return {kDLUInt, bits, 1};
    default:
      return {kDLOpaqueHandle, 0, 0};
  }
}

bool Meet(const DLTensor& a, const TensorInfo& a_info, const DLTensor& b,
          const TensorInfo& b_info) {
  const auto a_begin = reinterpret_cast<uintptr_t>(a.data);
  const auto b_begin = reinterpret_cast<uintptr_t>(b.data);
  return a_begin < b_begin + static_cast<uintptr_t>(b_info.size_bytes) &&
         b_begin < a_begin + static_cast<uintptr_t>(a_info.size_bytes);
}

}  // namespace

bool InitializeArrays() {
  array_struct_name = PyUnicode_InternFromString("__array_struct__");
  return array_struct_name != nullptr;
}

bool Tensors::Take(PyObject* arrays, int flags) {
  const Py_ssize_t count = PyTuple_Size(arrays);
  tensors_.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    owners_.emplace_back(PyObject_GetAttr(PyTuple_GetItem(arrays, i), array_struct_name));
    if (!owners_.back() || !Add(owners_.back().get(), flags)) {
      if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_Exception) &&
          !PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear();
      }
      return false;
    }
  }
  for (const DLTensor& tensor : tensors_) pointers_.push_back(&tensor);
  return true;
}

bool Tensors::Fit(const std::vector<TensorInfo>& infos) const {
  if (tensors_.size() != infos.size()) return false;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (!CheckTensor(infos[i], tensors_[i], "", i).ok()) return false;
  }
  return true;
}

bool Tensors::AreAligned(const std::vector<TensorInfo>& infos) const {
  for (size_t i = 0; i < infos.size(); ++i) {
    if (!runtime::IsAligned(tensors_[i].data, infos[i].alignment_bytes)) return false;
  }
  return true;
}

bool Tensors::Overlap(const std::vector<TensorInfo>& infos, const Tensors& others,
                      const std::vector<TensorInfo>& other_infos) const {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (Meet(tensors_[i], infos[i], tensors_[k], infos[k])) return true;
    }
    for (size_t k = 0; k < others.tensors_.size(); ++k) {
      if (Meet(tensors_[i], infos[i], others.tensors_[k], other_infos[k])) return true;
    }
  }
  return false;
}

bool Tensors::Add(PyObject* capsule, int flags) {
  const auto* const array =
      static_cast<const ArrayInterface*>(PyCapsule_GetPointer(capsule, nullptr));
  if (array == nullptr || array->two != 2 || (array->flags & flags) != flags) return false;
  tensors_.push_back({.data = array->data,
                      .device = runtime::kCpu,
                      .ndim = array->ndim,
                      .dtype = DataTypeOf(*array),
                      .shape = reinterpret_cast<int64_t*>(array->shape),
                      .strides = nullptr,
                      .byte_offset = 0});
  return true;
}

bool TakeTensors(PyObject* input_arrays, const std::vector<TensorInfo>& inputs,
                 PyObject* output_arrays, const std::vector<TensorInfo>& outputs,
                 Tensors& input_tensors, Tensors& output_tensors) {
  return input_tensors.Take(input_arrays, kReadable) && input_tensors.Fit(inputs) &&
         output_tensors.Take(output_arrays, kReadable | kWriteable) &&
         output_tensors.Fit(outputs) && !output_tensors.Overlap(outputs, input_tensors, inputs);
}

PyObject* Describe(const std::vector<TensorInfo>& infos) {
  Owned list(PyList_New(0));
  for (size_t i = 0; list && i < infos.size(); ++i) {
    Owned shape(PyTuple_New(static_cast<Py_ssize_t>(infos[i].shape.size())));
    for (size_t k = 0; shape && k < infos[i].shape.size(); ++k) {
      PyObject* const extent = PyLong_FromLongLong(infos[i].shape[k]);
      if (extent == nullptr) return nullptr;
      PyTuple_SetItem(shape.get(), static_cast<Py_ssize_t>(k), extent);
    }
    if (!shape) return nullptr;
    const std::string dtype = runtime::DataTypeName(infos[i].dtype);
    const runtime::Quantization& known = infos[i].quantization;
    const bool has_scale = known.scales.size() == 1;
    const Owned scale(has_scale ? PyFloat_FromDouble(known.scales[0]) : Py_BuildValue(""));
    const Owned zero_point(has_scale ? PyLong_FromLong(known.zero_points[0]) : Py_BuildValue(""));
    if (!scale || !zero_point) return nullptr;
    const Owned row(Py_BuildValue("(ssOOO)", infos[i].name.c_str(), dtype.c_str(), shape.get(),
                                  scale.get(), zero_point.get()));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* Describe(const std::vector<StateTensor>& states) {
  Owned list(PyList_New(0));
  for (const StateTensor& state : states) {
    if (!list) return nullptr;
    const Owned row(
        Py_BuildValue("(ssd)", state.input.c_str(), state.output.c_str(), state.initial_value));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* Describe(const ModelOrigin& origin) {
  Owned properties(PyDict_New());
  for (const auto& [key, value] : origin.properties) {
    if (!properties) return nullptr;
    const Owned text(PyUnicode_FromString(value.c_str()));
    if (!text || PyDict_SetItemString(properties.get(), key.c_str(), text.get()) != 0) {
      return nullptr;
    }
  }
  if (!properties) return nullptr;
  return Py_BuildValue("(sssO)", origin.compiler.c_str(), origin.model_sha256.c_str(),
                       origin.options_sha256.c_str(), properties.get());
}

}  // namespace kiln::python
