// SPDX-License-Identifier: Apache-2.0
// The Python class kiln._runtime.Model: a loaded model, which keeps nothing from one run to the next.
#ifndef KILN_PYTHON_KILN_RUNTIME_MODEL_H_
#define KILN_PYTHON_KILN_RUNTIME_MODEL_H_

#include "python/kiln/runtime_object.h"

namespace kiln::python {

// Called once, before all else of this file. NULL with an exception if there is no memory.
PyObject* MakeModelType();

// kiln._runtime.load(path, threads, cpus): a Model. -1 threads and no CPUs: it computes on the threads of
// the process.
PyObject* Load(PyObject* module, PyObject* args);

}  // namespace kiln::python

#endif  // KILN_PYTHON_KILN_RUNTIME_MODEL_H_
