// SPDX-License-Identifier: Apache-2.0
// Helpers for CPython objects and for calls between Python and C++.
#ifndef KILN_PYTHON_KILN_RUNTIME_OBJECT_H_
#define KILN_PYTHON_KILN_RUNTIME_OBJECT_H_

// Uses the stable ABI of CPython 3.10, so that one library works with every later version.
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <exception>
#include <new>
#include <utility>

#include "absl/status/status.h"

namespace kiln::python {

// Owns a reference and releases it at the end of the scope.
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

// Message for a lack of memory whose error has no text.
inline constexpr char kNoMemory[] = "there is no memory for the model's workspace and tensors";

// Raises the exception of kiln.errors that corresponds to the status. Returns NULL.
PyObject* Raise(const absl::Status& status);

// Calls a function on behalf of Python and turns std::bad_alloc into MemoryError, because C++
// exceptions must not reach Python.
template <typename Function>
PyObject* Guarded(const Function& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, kNoMemory);
    return nullptr;
  }
}

// Releases the GIL, calls a function that returns a status, and takes the GIL again.
template <typename Function>
absl::Status WithoutLock(const Function& function) {
  PyThreadState* const thread = PyEval_SaveThread();
  absl::Status status;
  try {
    status = function();
  } catch (const std::bad_alloc&) {
    // A status without a text allocates no memory.
    status = absl::Status(absl::StatusCode::kResourceExhausted, "");
  } catch (const std::exception& error) {
    status = absl::InternalError(error.what());
  }
  PyEval_RestoreThread(thread);
  return status;
}

template <typename Function>
void* SlotOf(Function* function) {
  return reinterpret_cast<void*>(function);
}

// Creates a type of this module. Python code cannot instantiate it.
PyTypeObject* MakeType(const char* name, size_t object_bytes, destructor deallocate,
                       PyMethodDef* methods, PyGetSetDef* members);

// Ends the deallocation of an object of such a type.
void FreeObject(PyObject* object);

// True if the arguments of run() are two tuples. Otherwise raises TypeError.
bool CheckRunArguments(PyObject* const* args, Py_ssize_t num_args);

// Returns True for a successful run. Otherwise raises the exception for `status`.
PyObject* ResultOfRun(const absl::Status& status);

}  // namespace kiln::python

#endif  // KILN_PYTHON_KILN_RUNTIME_OBJECT_H_
