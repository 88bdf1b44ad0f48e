// SPDX-License-Identifier: Apache-2.0
// The Python class kiln._runtime.Stream: a sequence of runs of one model, which passes its states on.
#ifndef KILN_PYTHON_KILN_RUNTIME_STREAM_H_
#define KILN_PYTHON_KILN_RUNTIME_STREAM_H_

#include "python/kiln/runtime_object.h"
#include "runtime_cpp/model.h"

namespace kiln::python {

// Called once, before all else of this file. NULL with an exception if there is no memory.
PyObject* MakeStreamType();

// A new stream of the model, at the initial values of its states.
PyObject* MakeStream(const runtime::Model& model);

}  // namespace kiln::python

#endif  // KILN_PYTHON_KILN_RUNTIME_STREAM_H_
