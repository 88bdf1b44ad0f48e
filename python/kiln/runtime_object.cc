// SPDX-License-Identifier: Apache-2.0
#include "python/kiln/runtime_object.h"

#include <cerrno>
#include <string>

namespace kiln::python {

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

PyTypeObject* MakeType(const char* name, size_t object_bytes, destructor deallocate,
                       PyMethodDef* methods, PyGetSetDef* members) {
  PyType_Slot slots[] = {{Py_tp_dealloc, SlotOf(deallocate)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, members},
                         {0, nullptr}};
  PyType_Spec spec = {.name = name,
                      .basicsize = static_cast<int>(object_bytes),
                      .itemsize = 0,
                      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      .slots = slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

void FreeObject(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  auto* const free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(object);
  Py_DECREF(type);
}

bool CheckRunArguments(PyObject* const* args, Py_ssize_t num_args) {
  if (num_args == 2 && PyTuple_Check(args[0]) && PyTuple_Check(args[1])) return true;
  PyErr_SetString(PyExc_TypeError, "run() takes a tuple of inputs and one of outputs");
  return false;
}

PyObject* ResultOfRun(const absl::Status& status) {
  // An internal error of a run means that the model's code refused the values of its inputs.
  if (absl::IsInternal(status)) return Raise(absl::InvalidArgumentError(status.message()));
  return status.ok() ? PyBool_FromLong(1) : Raise(status);
}

}  // namespace kiln::python
