// SPDX-License-Identifier: Apache-2.0
#include "python/kiln/runtime_stream.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "python/kiln/runtime_arrays.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::python {
namespace {

using runtime::Executor;
using runtime::NDArray;
using runtime::StateTensor;
using runtime::TensorInfo;

// An executor with its inputs and outputs that are not states.
struct StreamData {
  std::mutex mutex;  // held while the executor is used, never while waiting for the GIL
  std::shared_ptr<Executor> executor;
  std::vector<int> input_places, output_places;  // indices in the executor of `inputs`, `outputs`
  std::vector<TensorInfo> inputs, outputs, states;
  std::vector<NDArray> own_outputs;  // memory for outputs if an array is misaligned
};

struct StreamObject {
  PyObject_HEAD StreamData* data;
};

PyTypeObject* stream_type = nullptr;

StreamData& DataOf(PyObject* self) { return *reinterpret_cast<StreamObject*>(self)->data; }

// Appends the infos and indices of all tensors for which `is_state` is false.
template <typename IsState>
void TakeOthers(const std::vector<TensorInfo>& all, const IsState& is_state,
                std::vector<TensorInfo>& infos, std::vector<int>& places) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (is_state(all[i].name)) continue;
    infos.push_back(all[i]);
    places.push_back(static_cast<int>(i));
  }
}

absl::Status Prepare(const runtime::Model& model, StreamData& data) {
  KILN_ASSIGN_OR_RETURN(data.executor, model.MakeExecutor());
  Executor& executor = *data.executor;
  KILN_RETURN_IF_ERROR(executor.keep_state(true));
  const std::vector<StateTensor>& states = executor.states();
  const auto is_one = [&](std::string StateTensor::* name) {
    return [&states, name](const std::string& wanted) {
      return std::any_of(states.begin(), states.end(),
                         [&](const StateTensor& state) { return state.*name == wanted; });
    };
  };
  const auto is_param = [&](const std::string& name) {
    return executor.IsParam(*executor.GetInputIndex(name));
  };
  const auto is_input_state = is_one(&StateTensor::input);
  TakeOthers(
      executor.input_infos(),
      [&](const std::string& name) { return is_input_state(name) || is_param(name); }, data.inputs,
      data.input_places);
  TakeOthers(executor.output_infos(), is_one(&StateTensor::output), data.outputs,
             data.output_places);
  for (const int place : data.output_places) {
    KILN_ASSIGN_OR_RETURN(NDArray output, executor.GetOutput(place));
    data.own_outputs.push_back(std::move(output));
  }
  for (const StateTensor& state : states) {
    KILN_ASSIGN_OR_RETURN(const int index, executor.GetInputIndex(state.input));
    data.states.push_back(executor.input_infos()[static_cast<size_t>(index)]);
  }
  return absl::OkStatus();
}

// Runs the model once. Every run sets all tensors other than the states, so that no borrowed memory
// is used by a later run.
absl::Status RunStep(StreamData& data, const Tensors& inputs, const Tensors& outputs) {
  const std::lock_guard<std::mutex> lock(data.mutex);
  Executor& executor = *data.executor;
  const bool in_place = outputs.AreAligned(data.outputs);
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    const DLTensor& tensor = *inputs.get()[i];
    const bool is_aligned =
        runtime::IsAligned(runtime::DataOf(tensor), data.inputs[i].alignment_bytes);
    KILN_RETURN_IF_ERROR(
        is_aligned ? executor.SetInputZeroCopy(data.input_places[i], NDArray::Borrow(tensor))
                   : executor.SetInput(data.input_places[i], tensor));
  }
  for (size_t i = 0; i < data.outputs.size(); ++i) {
    KILN_RETURN_IF_ERROR(executor.SetOutputZeroCopy(
        data.output_places[i],
        in_place ? NDArray::Borrow(*outputs.get()[i]) : data.own_outputs[i]));
  }
  KILN_RETURN_IF_ERROR(executor.Run());
  for (size_t i = 0; !in_place && i < data.outputs.size(); ++i) {
    KILN_RETURN_IF_ERROR(data.own_outputs[i].CopyTo(*outputs.get()[i]));
  }
  return absl::OkStatus();
}

PyObject* RunOnArrays(StreamData& data, PyObject* input_arrays, PyObject* output_arrays) {
  Tensors inputs, outputs;
  if (!TakeTensors(input_arrays, data.inputs, output_arrays, data.outputs, inputs, outputs)) {
    return PyErr_Occurred() != nullptr ? nullptr : PyBool_FromLong(0);
  }
  return ResultOfRun(WithoutLock([&] { return RunStep(data, inputs, outputs); }));
}

PyObject* RunStream(PyObject* self, PyObject* const* args, Py_ssize_t num_args) {
  if (!CheckRunArguments(args, num_args)) return nullptr;
  return Guarded([&] { return RunOnArrays(DataOf(self), args[0], args[1]); });
}

PyObject* Reset(PyObject* self, PyObject*) {
  StreamData& data = DataOf(self);
  const absl::Status status = WithoutLock([&] {
    const std::lock_guard<std::mutex> lock(data.mutex);
    return data.executor->ResetState();
  });
  return status.ok() ? Py_BuildValue("") : Raise(status);
}

// Calls `use` with the executor, the input index of each state, and its tensor of `arrays`. Returns
// False and calls nothing if the arrays do not match the states.
template <typename Use>
PyObject* ForEachState(StreamData& data, PyObject* arrays, int flags, const Use& use) {
  if (!PyTuple_Check(arrays)) {
    PyErr_SetString(PyExc_TypeError, "wanted a tuple of arrays");
    return nullptr;
  }
  return Guarded([&]() -> PyObject* {
    Tensors tensors;
    if (!tensors.Take(arrays, flags) || !tensors.Fit(data.states)) {
      return PyErr_Occurred() != nullptr ? nullptr : PyBool_FromLong(0);
    }
    return ResultOfRun(WithoutLock([&]() -> absl::Status {
      const std::lock_guard<std::mutex> lock(data.mutex);
      for (size_t i = 0; i < data.states.size(); ++i) {
        KILN_ASSIGN_OR_RETURN(const int place, data.executor->GetInputIndex(data.states[i].name));
        KILN_RETURN_IF_ERROR(use(*data.executor, place, *tensors.get()[i]));
      }
      return absl::OkStatus();
    }));
  });
}

// Implements get_states(arrays), which copies the states to arrays.
PyObject* GetStreamStates(PyObject* self, PyObject* arrays) {
  return ForEachState(DataOf(self), arrays, kReadable | kWriteable,
                      [](Executor& executor, int place, const DLTensor& target) -> absl::Status {
                        KILN_ASSIGN_OR_RETURN(const NDArray state, executor.GetInput(place));
                        return state.CopyTo(target);
                      });
}

// Implements set_states(arrays), which sets the states for the next run.
PyObject* SetStates(PyObject* self, PyObject* arrays) {
  return ForEachState(DataOf(self), arrays, kReadable,
                      [](Executor& executor, int place, const DLTensor& source) {
                        return executor.SetInput(place, source);
                      });
}

PyObject* GetStreamInputs(PyObject* self, void*) {
  return Guarded([&] { return Describe(DataOf(self).inputs); });
}

PyObject* GetStreamOutputs(PyObject* self, void*) {
  return Guarded([&] { return Describe(DataOf(self).outputs); });
}

PyObject* GetStateInfos(PyObject* self, void*) {
  return Guarded([&] { return Describe(DataOf(self).states); });
}

void DeallocateStream(PyObject* self) {
  delete reinterpret_cast<StreamObject*>(self)->data;
  FreeObject(self);
}

}  // namespace

PyObject* MakeStreamType() {
  static PyMethodDef methods[] = {
      {"run", reinterpret_cast<PyCFunction>(SlotOf(RunStream)), METH_FASTCALL, nullptr},
      {"reset", Reset, METH_NOARGS, nullptr},
      {"get_states", GetStreamStates, METH_O, nullptr},
      {"set_states", SetStates, METH_O, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef members[] = {{"inputs", GetStreamInputs, nullptr, nullptr, nullptr},
                                  {"outputs", GetStreamOutputs, nullptr, nullptr, nullptr},
                                  {"states", GetStateInfos, nullptr, nullptr, nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};
  stream_type =
      MakeType("kiln._runtime.Stream", sizeof(StreamObject), DeallocateStream, methods, members);
  return reinterpret_cast<PyObject*>(stream_type);
}

PyObject* MakeStream(const runtime::Model& model) {
  Owned object(PyType_GenericAlloc(stream_type, 0));
  if (!object) return nullptr;
  auto data = std::make_unique<StreamData>();
  const absl::Status status = WithoutLock([&] { return Prepare(model, *data); });
  if (!status.ok()) return Raise(status);
  reinterpret_cast<StreamObject*>(object.get())->data = data.release();
  return object.release();
}

}  // namespace kiln::python
