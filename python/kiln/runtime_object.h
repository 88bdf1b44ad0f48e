// SPDX-License-Identifier: Apache-2.0
// Objects of CPython, and calls in both directions.
#ifndef KILN_PYTHON_KILN_RUNTIME_OBJECT_H_
#define KILN_PYTHON_KILN_RUNTIME_OBJECT_H_

// CPython's stable ABI of 3.10, so that one library serves every later version.
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <exception>
#include <new>
#include <utility>

#include "absl/status/status.h"

namespace kiln::python {

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

// The text of a lack of memory that says no more of itself.
inline constexpr char kNoMemory[] = "there is no memory for the model's workspace and tensors";

// Raises the exception of kiln.errors that fits the status. Returns NULL.
PyObject* Raise(const absl::Status& status);

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

template <typename Function>
void* SlotOf(Function* function) {
  return reinterpret_cast<void*>(function);
}

// A type of this module, which Python cannot make objects of.
PyTypeObject* MakeType(const char* name, size_t object_bytes, destructor deallocate,
                       PyMethodDef* methods, PyGetSetDef* members);

// The end of a deallocation, of an object of such a type.
void FreeObject(PyObject* object);

// True if the arguments of run() are two tuples; else a TypeError is raised.
bool CheckRunArguments(PyObject* const* args, Py_ssize_t num_args);

// True for a run that succeeded; of others the exception.
PyObject* ResultOfRun(const absl::Status& status);

}  // namespace kiln::python

#endif  // KILN_PYTHON_KILN_RUNTIME_OBJECT_H_
