// SPDX-License-Identifier: Apache-2.0
// The Python class kiln._runtime.Model: a loaded model, whose runs are independent of each other.
#ifndef KILN_PYTHON_KILN_RUNTIME_MODEL_H_
#define KILN_PYTHON_KILN_RUNTIME_MODEL_H_

#include "python/kiln/runtime_object.h"

namespace kiln::python {

// Must be called once, before anything else in this file. Returns NULL with an exception if there
// is no memory.
PyObject* MakeModelType();

// Implements kiln._runtime.load(path, threads, cpus), which returns a Model. With threads = -1 and
// no CPUs, the model uses the shared threads of the process.
PyObject* Load(PyObject* module, PyObject* args);

}  // namespace kiln::python

#endif  // KILN_PYTHON_KILN_RUNTIME_MODEL_H_
