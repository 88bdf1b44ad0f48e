// SPDX-License-Identifier: Apache-2.0
// The Python class kiln._runtime.Stream: a sequence of runs of one model in which states are passed
// on.
#ifndef KILN_PYTHON_KILN_RUNTIME_STREAM_H_
#define KILN_PYTHON_KILN_RUNTIME_STREAM_H_

#include "python/kiln/runtime_object.h"
#include "runtime_cpp/model.h"

namespace kiln::python {

// Must be called once, before anything else in this file. Returns NULL with an exception if there
// is no memory.
PyObject* MakeStreamType();

// Returns a new stream of the model. Its states have their initial values.
PyObject* MakeStream(const runtime::Model& model);

}  // namespace kiln::python

#endif  // KILN_PYTHON_KILN_RUNTIME_STREAM_H_
