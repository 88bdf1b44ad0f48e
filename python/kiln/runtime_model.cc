// SPDX-License-Identifier: Apache-2.0
#include "python/kiln/runtime_model.h"

#include <sched.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "python/kiln/runtime_arrays.h"
#include "python/kiln/runtime_stream.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/status/macros.h"
#include "runtime_cpp/thread_pool.h"

namespace kiln::python {
namespace {

using runtime::Model;
using runtime::NDArray;
using runtime::ThreadPool;
using runtime::ThreadPoolOptions;

// Passed as the number of threads for a model that uses the shared threads of the process.
constexpr int kThreadsOfTheProcess = -1;

struct ModelObject {
  PyObject_HEAD Model* model;  // NULL after close()
};

PyTypeObject* model_type = nullptr;

Model* OpenModel(PyObject* self) {
  Model* const model = reinterpret_cast<ModelObject*>(self)->model;
  if (model == nullptr) Raise(absl::FailedPreconditionError("the model is closed; load it again"));
  return model;
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

PyObject* GetStates(PyObject* self, void*) {
  const Model* const model = OpenModel(self);
  return model == nullptr ? nullptr : Guarded([&] { return Describe(model->states()); });
}

PyObject* GetOrigin(PyObject* self, void*) {
  const Model* const model = OpenModel(self);
  return model == nullptr ? nullptr : Guarded([&] { return Describe(model->origin()); });
}

// Returns the bytes of the library's constants and of the workspace of a run.
PyObject* GetBytes(PyObject* self, void*) {
  const Model* const model = OpenModel(self);
  if (model == nullptr) return nullptr;
  return PyLong_FromLongLong(model->constant_bytes() + model->workspace_bytes());
}

PyObject* GetNumThreads(PyObject* self, void*) {
  const Model* const model = OpenModel(self);
  return model == nullptr ? nullptr
                          : Guarded([&] { return PyLong_FromLong(model->num_threads()); });
}

// Runs the model on copies of tensors that are not aligned as the model's code requires.
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
  const Model model = *open;  // a copy, since another thread or an array's code may close it
  Tensors inputs, outputs;
  if (!TakeTensors(input_arrays, model.inputs(), output_arrays, model.outputs(), inputs, outputs)) {
    return PyErr_Occurred() != nullptr ? nullptr : PyBool_FromLong(0);
  }
  const bool in_place = inputs.AreAligned(model.inputs()) && outputs.AreAligned(model.outputs());
  return ResultOfRun(WithoutLock([&] {
    return in_place ? model.Run(inputs.get(), outputs.get())
                    : RunOnCopies(model, inputs.get(), outputs.get());
  }));
}

PyObject* Run(PyObject* self, PyObject* const* args, Py_ssize_t num_args) {
  const Model* const model = OpenModel(self);
  if (model == nullptr || !CheckRunArguments(args, num_args)) return nullptr;
  return Guarded([&] { return RunModel(model, args[0], args[1]); });
}

PyObject* Stream(PyObject* self, PyObject*) {
  const Model* const model = OpenModel(self);
  return model == nullptr ? nullptr : Guarded([&] { return MakeStream(*model); });
}

PyObject* Close(PyObject* self, PyObject*) {
  delete std::exchange(reinterpret_cast<ModelObject*>(self)->model, nullptr);
  return Py_BuildValue("");
}

void Deallocate(PyObject* self) {
  delete reinterpret_cast<ModelObject*>(self)->model;
  FreeObject(self);
}

// If `pool` is empty, the model uses the shared threads of the process.
PyObject* LoadModel(PyObject* path, const std::optional<ThreadPoolOptions>& pool) {
  Owned object(PyType_GenericAlloc(model_type, 0));
  if (!object) return nullptr;
  Model*& model = reinterpret_cast<ModelObject*>(object.get())->model;
  const std::string text = PyBytes_AsString(path);
  const absl::Status status = WithoutLock([&]() -> absl::Status {
    std::shared_ptr<ThreadPool> own;
    if (pool.has_value()) {
      KILN_ASSIGN_OR_RETURN(own, ThreadPool::Create(*pool));
    }
    KILN_ASSIGN_OR_RETURN(const Model loaded, Model::Load(text));
    model = new Model(loaded.WithThreadPool(std::move(own)));
    return absl::OkStatus();
  });
  return status.ok() ? object.release() : Raise(status);
}

}  // namespace

PyObject* MakeModelType() {
  static PyMethodDef methods[] = {
      {"run", reinterpret_cast<PyCFunction>(SlotOf(Run)), METH_FASTCALL, nullptr},
      {"stream", Stream, METH_NOARGS, nullptr},
      {"close", Close, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef members[] = {{"name", GetName, nullptr, nullptr, nullptr},
                                  {"inputs", GetInputs, nullptr, nullptr, nullptr},
                                  {"outputs", GetOutputs, nullptr, nullptr, nullptr},
                                  {"states", GetStates, nullptr, nullptr, nullptr},
                                  {"origin", GetOrigin, nullptr, nullptr, nullptr},
                                  {"nbytes", GetBytes, nullptr, nullptr, nullptr},
                                  {"num_threads", GetNumThreads, nullptr, nullptr, nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};
  model_type = MakeType("kiln._runtime.Model", sizeof(ModelObject), Deallocate, methods, members);
  return reinterpret_cast<PyObject*>(model_type);
}

PyObject* Load(PyObject*, PyObject* args) {
  PyObject* encoded = nullptr;
  int threads = kThreadsOfTheProcess;
  PyObject* cpus = nullptr;
  if (!PyArg_ParseTuple(args, "O&iO!:load", PyUnicode_FSConverter, &encoded, &threads,
                        &PyTuple_Type, &cpus)) {
    return nullptr;
  }
  const Owned path(encoded);
  return Guarded([&]() -> PyObject* {
    std::optional<ThreadPoolOptions> pool;
    if (threads != kThreadsOfTheProcess) pool.emplace().num_threads = threads;
    for (Py_ssize_t i = 0; i < PyTuple_Size(cpus); ++i) {
      if (!pool.has_value()) pool.emplace();
      const long cpu = PyLong_AsLong(PyTuple_GetItem(cpus, i));
      if (cpu == -1 && PyErr_Occurred() != nullptr) return nullptr;
      pool->cpus.push_back(cpu >= 0 && cpu < CPU_SETSIZE ? static_cast<int>(cpu) : -1);
    }
    return LoadModel(path.get(), pool);
  });
}

}  // namespace kiln::python
