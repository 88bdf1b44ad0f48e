// SPDX-License-Identifier: Apache-2.0
//
// The Python module kiln._runtime: loads a model and runs it on the memory of NumPy arrays.
//
//   model = _runtime.load("digits.so")
//   assert model.run((image,), (probabilities,))
//
// It uses CPython's stable ABI of 3.10, so that one library serves every later version, and knows
// NumPy by its array interface alone. What run() cannot use it leaves to model.py, which converts it
// or says what is wrong with it.
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime_cpp/data_type.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/program.h"
#include "runtime_cpp/thread_pool.h"
#include "runtime_cpp/workspaces.h"
#include "tools/kiln/version.h"

namespace {

using kiln::runtime::Model;
using kiln::runtime::NDArray;
using kiln::runtime::TensorInfo;
using kiln::runtime::ThreadPool;

// A reference that is given back at the end of the scope.
class Owned {
 public:
  explicit Owned(PyObject* object = nullptr) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

// PyArrayInterface of NumPy's array interface, version 3: what `__array_struct__` points to.
struct ArrayInterface {
  enum Flag { kContiguous = 0x1, kNotSwapped = 0x200, kWriteable = 0x400 };

  int two;  // A mark of the struct.
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

// "__array_struct__", made once, since a lookup by a new string takes longer than all the rest.
PyObject* array_struct_name = nullptr;

constexpr char kNoMemory[] = "there is no memory for the model's workspace and tensors";

// Raises the exception of kiln.errors that fits the status.
PyObject* Raise(const absl::Status& status) {
  if (absl::IsResourceExhausted(status)) {
    PyErr_SetString(PyExc_MemoryError,
                    status.message().empty() ? kNoMemory : std::string(status.message()).c_str());
    return nullptr;
  }
  if (absl::IsPermissionDenied(status)) {
    const Owned args(Py_BuildValue("(is)", EACCES, std::string(status.message()).c_str()));
    if (args) PyErr_SetObject(PyExc_PermissionError, args.get());
    return nullptr;
  }
  const bool internal = absl::IsInternal(status) || absl::IsUnknown(status);
  const Owned errors(PyImport_ImportModule("kiln.errors"));
  if (!errors) return nullptr;
  const Owned type(PyObject_GetAttrString(errors.get(), internal ? "CompilerError" : "ModelError"));
  if (type) PyErr_SetString(type.get(), std::string(status.message()).c_str());
  return nullptr;
}

// Calls a function for Python, which knows no exceptions of C++.
template <typename Function>
PyObject* Guarded(const Function& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, kNoMemory);
    return nullptr;
  }
}

// Calls a function that returns a status while other threads may run Python.
template <typename Function>
absl::Status WithoutLock(const Function& function) {
  PyThreadState* const thread = PyEval_SaveThread();
  absl::Status status;
  try {
    status = function();
  } catch (const std::bad_alloc&) {
    // A status without a text takes no memory.
    status = absl::Status(absl::StatusCode::kResourceExhausted, "");
  } catch (const std::exception& error) {
    status = absl::InternalError(error.what());
  }
  PyEval_RestoreThread(thread);
  return status;
}

DLDataType DataTypeOf(const ArrayInterface& array) {
  const auto bits = static_cast<uint8_t>(8 * array.element_bytes);
  switch (array.kind) {
    case 'b':
      return kiln::runtime::DataTypeOf<bool>();
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

// Tensors on the memory of arrays, which live as long as this object.
class Tensors {
 public:
  // Whether all of `arrays`, a tuple, are arrays with these flags. The only exceptions that are left
  // behind are those that say nothing about the array.
  bool Take(PyObject* arrays, int flags) {
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

  // Whether they are of the number, types and shapes of `infos`.
  bool Fit(const std::vector<TensorInfo>& infos) const {
    if (tensors_.size() != infos.size()) return false;
    for (size_t i = 0; i < infos.size(); ++i) {
      if (!CheckTensor(infos[i], tensors_[i], "", i).ok()) return false;
    }
    return true;
  }

  // Whether tensors that fit can be used without a copy.
  bool AreAligned(const std::vector<TensorInfo>& infos) const {
    for (size_t i = 0; i < infos.size(); ++i) {
      if (!kiln::runtime::IsAligned(tensors_[i].data, infos[i].alignment_bytes)) return false;
    }
    return true;
  }

  // Whether one of them, which fit `infos`, has memory in common with one of `others` or of these.
  bool Overlap(const std::vector<TensorInfo>& infos, const Tensors& others,
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

  absl::Span<const DLTensor* const> get() const { return pointers_; }

 private:
  static bool Meet(const DLTensor& a, const TensorInfo& a_info, const DLTensor& b,
                   const TensorInfo& b_info) {
    const auto a_begin = reinterpret_cast<uintptr_t>(a.data);
    const auto b_begin = reinterpret_cast<uintptr_t>(b.data);
    return a_begin < b_begin + static_cast<uintptr_t>(b_info.size_bytes) &&
           b_begin < a_begin + static_cast<uintptr_t>(a_info.size_bytes);
  }

  bool Add(PyObject* capsule, int flags) {
    const auto* const array =
        static_cast<const ArrayInterface*>(PyCapsule_GetPointer(capsule, nullptr));
    if (array == nullptr || array->two != 2 || (array->flags & flags) != flags) return false;
    tensors_.push_back({.data = array->data,
                        .device = kiln::runtime::kCpu,
                        .ndim = array->ndim,
                        .dtype = DataTypeOf(*array),
                        .shape = reinterpret_cast<int64_t*>(array->shape),
                        .strides = nullptr,
                        .byte_offset = 0});
    return true;
  }

  absl::InlinedVector<Owned, 4> owners_;
  absl::InlinedVector<DLTensor, 4> tensors_;
  absl::InlinedVector<const DLTensor*, 4> pointers_;
};

struct ModelObject {
  PyObject_HEAD Model* model;  // NULL when it is closed.
};

PyTypeObject* model_type = nullptr;

Model* OpenModel(PyObject* self) {
  Model* const model = reinterpret_cast<ModelObject*>(self)->model;
  if (model == nullptr) Raise(absl::FailedPreconditionError("the model is closed; load it again"));
  return model;
}

// A list of (name, dtype, shape).
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
    const Owned row(Py_BuildValue("(ssO)", infos[i].name.c_str(),
                                  kiln::runtime::DataTypeName(infos[i].dtype).c_str(),
                                  shape.get()));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* GetName(PyObject* self, void*) {
  const Model* const model = OpenModel(self);
  return model == nullptr ? nullptr : PyUnicode_FromString(model->name().c_str());
}

PyObject* GetInputs(PyObject* self, void*) {
  const Model* const model = OpenModel(self);
  return model == nullptr ? nullptr : Guarded([&] { return Describe(model->inputs()); });
}

PyObject* GetOutputs(PyObject* self, void*) {
  const Model* const model = OpenModel(self);
  return model == nullptr ? nullptr : Guarded([&] { return Describe(model->outputs()); });
}

// For memory that is not aligned as the model's code wants it.
absl::Status RunOnCopies(const Model& model, absl::Span<const DLTensor* const> inputs,
                         absl::Span<const DLTensor* const> outputs) {
  const absl::StatusOr<std::vector<NDArray>> computed = model.Run(inputs);
  if (!computed.ok()) return computed.status();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const absl::Status status = (*computed)[i].CopyTo(*outputs[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

PyObject* RunModel(const Model* open, PyObject* input_arrays, PyObject* output_arrays) {
  const Model model = *open;  // Another thread may close it, or the code of an array below.
  constexpr int kReadable = ArrayInterface::kContiguous | ArrayInterface::kNotSwapped;
  Tensors inputs, outputs;
  if (!inputs.Take(input_arrays, kReadable) || !inputs.Fit(model.inputs()) ||
      !outputs.Take(output_arrays, kReadable | ArrayInterface::kWriteable) ||
      !outputs.Fit(model.outputs()) || outputs.Overlap(model.outputs(), inputs, model.inputs())) {
    return PyErr_Occurred() != nullptr ? nullptr : PyBool_FromLong(0);
  }
  const bool in_place = inputs.AreAligned(model.inputs()) && outputs.AreAligned(model.outputs());
  const absl::Status status = WithoutLock([&] {
    return in_place ? model.Run(inputs.get(), outputs.get())
                    : RunOnCopies(model, inputs.get(), outputs.get());
  });
  // The model's own code fails on values that it was given.
  if (absl::IsInternal(status)) return Raise(absl::InvalidArgumentError(status.message()));
  return status.ok() ? PyBool_FromLong(1) : Raise(status);
}

PyObject* Run(PyObject* self, PyObject* const* args, Py_ssize_t num_args) {
  const Model* const model = OpenModel(self);
  if (model == nullptr) return nullptr;
  if (num_args != 2 || !PyTuple_Check(args[0]) || !PyTuple_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, "run() takes a tuple of inputs and one of outputs");
    return nullptr;
  }
  return Guarded([&] { return RunModel(model, args[0], args[1]); });
}

PyObject* Close(PyObject* self, PyObject*) {
  delete std::exchange(reinterpret_cast<ModelObject*>(self)->model, nullptr);
  return Py_BuildValue("");
}

void Deallocate(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  delete reinterpret_cast<ModelObject*>(self)->model;
  auto* const free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(self);
  Py_DECREF(type);
}

PyObject* LoadModel(PyObject* path) {
  Owned object(PyType_GenericAlloc(model_type, 0));
  if (!object) return nullptr;
  Model*& model = reinterpret_cast<ModelObject*>(object.get())->model;
  const std::string text = PyBytes_AsString(path);
  const absl::Status status = WithoutLock([&] {
    const absl::StatusOr<Model> loaded = Model::Load(text);
    if (loaded.ok()) model = new Model(*loaded);
    return loaded.status();
  });
  return status.ok() ? object.release() : Raise(status);
}

PyObject* Load(PyObject*, PyObject* args) {
  PyObject* encoded = nullptr;
  if (!PyArg_ParseTuple(args, "O&:load", PyUnicode_FSConverter, &encoded)) return nullptr;
  const Owned path(encoded);
  return Guarded([&] { return LoadModel(path.get()); });
}

PyObject* SetNumThreads(PyObject*, PyObject* args) {
  int num_threads = 0;
  if (!PyArg_ParseTuple(args, "i:set_num_threads", &num_threads)) return nullptr;
  const absl::Status status =
      WithoutLock([&] { return ThreadPool::Global().SetNumThreads(num_threads); });
  return status.ok() ? Py_BuildValue("") : Raise(status);
}

PyObject* TrimWorkspaces(PyObject*, PyObject*) {
  uint64_t bytes = 0;
  const absl::Status status = WithoutLock([&] {
    bytes = kiln::runtime::TrimWorkspaces();
    return absl::OkStatus();
  });
  return status.ok() ? PyLong_FromUnsignedLongLong(bytes) : Raise(status);
}

template <typename Function>
void* SlotOf(Function* function) {
  return reinterpret_cast<void*>(function);
}

PyTypeObject* MakeModelType() {
  static PyMethodDef methods[] = {
      {"run", reinterpret_cast<PyCFunction>(SlotOf(Run)), METH_FASTCALL, nullptr},
      {"close", Close, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef members[] = {{"name", GetName, nullptr, nullptr, nullptr},
                                  {"inputs", GetInputs, nullptr, nullptr, nullptr},
                                  {"outputs", GetOutputs, nullptr, nullptr, nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, SlotOf(Deallocate)},
                                {Py_tp_methods, methods},
                                {Py_tp_getset, members},
                                {0, nullptr}};
  static PyType_Spec spec = {.name = "kiln._runtime.Model",
                             .basicsize = sizeof(ModelObject),
                             .itemsize = 0,
                             .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             .slots = slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

PyMethodDef module_functions[] = {{"load", Load, METH_VARARGS, nullptr},
                                  {"set_num_threads", SetNumThreads, METH_VARARGS, nullptr},
                                  {"trim_workspaces", TrimWorkspaces, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyMODINIT_FUNC PyInit__runtime() {
  static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                   .m_name = "kiln._runtime",
                                   .m_doc = nullptr,
                                   .m_size = -1,
                                   .m_methods = module_functions};
  array_struct_name = PyUnicode_InternFromString("__array_struct__");
  model_type = MakeModelType();
  if (array_struct_name == nullptr || model_type == nullptr) return nullptr;
  Owned module(PyModule_Create(&definition));
  if (!module || PyModule_AddStringConstant(module.get(), "version", kiln::tools::kVersion) != 0 ||
      PyModule_AddObjectRef(module.get(), "Model", reinterpret_cast<PyObject*>(model_type)) != 0) {
    return nullptr;
  }
  return module.release();
}
