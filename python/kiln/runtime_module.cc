// SPDX-License-Identifier: Apache-2.0
//
// The Python module kiln._runtime: loads a model and runs it on the memory of NumPy arrays.
//
//   model = _runtime.load("digits.so")
//   assert model.run((image,), (probabilities,))
//
// If run() cannot use an array, it returns False. model.py then converts the array or raises an
// exception.
#include <cstdint>

#include "absl/status/status.h"
#include "compiler/base/kiln_version.h"
#include "python/kiln/runtime_arrays.h"
#include "python/kiln/runtime_model.h"
#include "python/kiln/runtime_object.h"
#include "python/kiln/runtime_stream.h"
#include "runtime_cpp/workspaces.h"

namespace {

using kiln::python::Owned;
using kiln::python::Raise;
using kiln::python::WithoutLock;

PyObject* TrimWorkspaces(PyObject*, PyObject*) {
  uint64_t bytes = 0;
  const absl::Status status = WithoutLock([&] {
    bytes = kiln::runtime::TrimWorkspaces();
    return absl::OkStatus();
  });
  return status.ok() ? PyLong_FromUnsignedLongLong(bytes) : Raise(status);
}

PyMethodDef module_functions[] = {{"load", kiln::python::Load, METH_VARARGS, nullptr},
                                  {"trim_workspaces", TrimWorkspaces, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyMODINIT_FUNC PyInit__runtime() {
  static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                   .m_name = "kiln._runtime",
                                   .m_doc = nullptr,
                                   .m_size = -1,
                                   .m_methods = module_functions};
  PyObject* const model_type = kiln::python::MakeModelType();
  PyObject* const stream_type = kiln::python::MakeStreamType();
  if (!kiln::python::InitializeArrays() || model_type == nullptr || stream_type == nullptr) {
    return nullptr;
  }
  Owned module(PyModule_Create(&definition));
  if (!module || PyModule_AddStringConstant(module.get(), "version", kiln::kKilnVersion) != 0 ||
      PyModule_AddObjectRef(module.get(), "Model", model_type) != 0 ||
      PyModule_AddObjectRef(module.get(), "Stream", stream_type) != 0) {
    return nullptr;
  }
  return module.release();
}
