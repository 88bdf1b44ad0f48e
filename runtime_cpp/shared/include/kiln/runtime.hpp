// SPDX-License-Identifier: Apache-2.0
// Loads and runs compiled models: header-only C++17 classes that call the C interface of
// libkiln_runtime.so.
//
//   kiln::Result<kiln::Model> model = kiln::Model::Load("digits.so");
//   if (!model.ok()) return Fail(model.status().message());
//   kiln::NDArray image = kiln::NDArray::Empty({1, 8, 8, 1}, kiln::DataTypeOf<float>()).value();
//   … image.values<float>() …
//   kiln::Result<std::vector<kiln::NDArray>> outputs = model->Run({image});
//
// The classes have the methods of runtime_cpp/model.h and executor.h, without Abseil. A program may
// therefore use another version of Abseil, or another C++ library, compiler or setting of
// exceptions. A function throws only if a container of the standard library has no memory.
#ifndef KILN_RUNTIME_HPP_
#define KILN_RUNTIME_HPP_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/runtime.h"

namespace kiln {

// A code, and the text of the error if there is one.
class Status {
 public:
  Status() = default;
  Status(KilnCode code, std::string message) : code_(code), message_(std::move(message)) {}

  // Makes the status of a C function that has returned `code`, with the text that it left.
  static Status Of(KilnCode code) {
    return code == KILN_OK ? Status() : Status(code, KilnLastError());
  }

  bool ok() const { return code_ == KILN_OK; }
  KilnCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  KilnCode code_ = KILN_OK;
  std::string message_;
};

// A value, or the error that occurred instead.
template <typename T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}             // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}     // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // Returns the value. Ends the program with the error's text if there is none.
  T& value() & { return Checked(), *value_; }
  const T& value() const& { return Checked(), *value_; }
  T&& value() && { return Checked(), *std::move(value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void Checked() const {
    if (value_.has_value()) return;
    std::fprintf(stderr, "kiln::Result without a value: %s\n", status_.message().c_str());
    std::abort();
  }

  Status status_;
  std::optional<T> value_;
};

// A view of `size` elements in memory that the view does not own.
template <typename T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  // A view of a container, such as std::vector, std::array or std::string.
  template <typename Container,
            typename = std::enable_if_t<std::is_convertible_v<
                decltype(std::declval<Container&>().data()), T*>>>
  constexpr Span(Container&& container)  // NOLINT
      : Span(container.data(), container.size()) {}
  // A view of a list. It must be used before the end of the statement.
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  constexpr Span(std::initializer_list<std::remove_const_t<T>> list)  // NOLINT
      : Span(list.begin(), list.size()) {}

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](size_t i) const { return data_[i]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

inline constexpr DLDevice kCpu = {kDLCPU, 0};

// Returns the data type of a C++ type. float16 and bfloat16 have no C++ type.
template <typename T>
constexpr DLDataType DataTypeOf() {
  using U = std::remove_cv_t<T>;
  static_assert(std::is_arithmetic_v<U>, "a tensor holds numbers");
  constexpr auto bits = static_cast<uint8_t>(8 * sizeof(U));
  if constexpr (std::is_same_v<U, bool>) {
    return {kDLUInt, 1, 1};
  } else if constexpr (std::is_floating_point_v<U>) {
    return {kDLFloat, bits, 1};
  } else if constexpr (std::is_signed_v<U>) {
    return {kDLInt, bits, 1};
  } else {
    return {kDLUInt, bits, 1};
  }
}

namespace internal {

// Frees a handle with the function for its kind.
template <typename Handle, void (*free)(Handle*)>
struct Freer {
  void operator()(Handle* handle) const { free(handle); }
};

}  // namespace internal

// A tensor that the runtime has allocated or shares. Copies of an NDArray share the memory.
class NDArray {
 public:
  // Makes an undefined array.
  NDArray() = default;
  // Takes ownership of the handle.
  explicit NDArray(KilnArray* array) : array_(array, KilnArrayFree) {}

  // Allocates an uninitialized compact array. Its memory is aligned for every model.
  static Result<NDArray> Empty(Span<const int64_t> shape, DLDataType dtype,
                               DLDevice device = kCpu) {
    KilnArray* array = nullptr;
    const KilnCode code =
        KilnArrayEmpty(shape.data(), static_cast<int32_t>(shape.size()), dtype, device, &array);
    if (code != KILN_OK) return Status::Of(code);
    return NDArray(array);
  }

  // Takes ownership of a managed tensor. Its deleter runs when the last copy is gone.
  static Result<NDArray> FromDLPack(DLManagedTensor* managed) {
    KilnArray* array = nullptr;
    const KilnCode code = KilnArrayFromDLPack(managed, &array);
    if (code != KILN_OK) return Status::Of(code);
    return NDArray(array);
  }
  // Shares the memory as a managed tensor, which the receiver must release.
  Result<DLManagedTensor*> ToDLPack() const {
    DLManagedTensor* managed = nullptr;
    const KilnCode code = KilnArrayToDLPack(array_.get(), &managed);
    if (code != KILN_OK) return Status::Of(code);
    return managed;
  }

  bool defined() const { return array_ != nullptr; }
  // The tensor, owned by the array; null if the array is undefined.
  const DLTensor* tensor() const { return KilnArrayTensor(array_.get()); }
  const DLTensor& operator*() const { return *tensor(); }
  const DLTensor* operator->() const { return tensor(); }
  KilnArray* handle() const { return array_.get(); }

  Span<const int64_t> shape() const {
    return {tensor()->shape, static_cast<size_t>(tensor()->ndim)};
  }
  DLDataType dtype() const { return tensor()->dtype; }
  DLDevice device() const { return tensor()->device; }
  void* data() const { return static_cast<char*>(tensor()->data) + tensor()->byte_offset; }
  int64_t size_bytes() const {
    int64_t elements = 1;
    for (const int64_t extent : shape()) elements *= extent;
    return elements * ((dtype().bits * dtype().lanes + 7) / 8);
  }

  // True if T is the C++ type of the elements. bool and uint8_t are interchangeable.
  template <typename T>
  bool holds() const {
    if (!defined()) return false;
    const DLDataType found = dtype(), wanted = DataTypeOf<T>();
    const bool is_byte = found.code == kDLUInt && (found.bits == 1 || found.bits == 8) &&
                         wanted.code == kDLUInt && (wanted.bits == 1 || wanted.bits == 8);
    return found.lanes == 1 &&
           (is_byte || (found.code == wanted.code && found.bits == wanted.bits));
  }

  // Returns the elements of a compact CPU array for which holds<T>(). Ends the program for another.
  template <typename T>
  Span<T> values() const {
    if (!holds<T>() || device().device_type != kDLCPU) {
      std::fprintf(stderr, "kiln::NDArray::values: the array does not hold elements of this type\n");
      std::abort();
    }
    return {static_cast<T*>(data()), static_cast<size_t>(size_bytes()) / sizeof(T)};
  }

  // Copy all elements. Shape and data type must be equal.
  Status CopyFrom(const DLTensor& source) const {
    return Status::Of(KilnArrayCopyFrom(array_.get(), &source));
  }
  Status CopyTo(DLTensor& target) const {
    return Status::Of(KilnArrayCopyTo(array_.get(), &target));
  }

 private:
  std::shared_ptr<KilnArray> array_;
};

// Quantization of a tensor: scales and zero points. Both are empty if it is not quantized.
struct Quantization {
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  int32_t axis = 0;
};

// An input or output of a model.
struct TensorInfo {
  std::string name;
  std::vector<int64_t> shape;
  DLDataType dtype = {};
  DLDevice device = kCpu;
  int64_t size_bytes = 0;
  size_t alignment_bytes = 0;  // Alignment that memory needs to be used without a copy.
  Quantization quantization;
};

// Compiler, model file and options that a library was made from. Unknown texts are empty.
struct ModelOrigin {
  std::string compiler;        // "kiln 0.1.0"
  std::string model_sha256;    // SHA-256 of the model file, 64 hexadecimal digits.
  std::string options_sha256;  // SHA-256 of all options of the compilation.
  std::vector<std::pair<std::string, std::string>> properties;  // Properties of the model file.
};

// A state: an input whose value in the next run is an output of the current run.
struct StateTensor {
  std::string input;
  std::string output;
  double initial_value = 0;  // Value of every element in the first run.
  bool is_in_place = false;  // Input and output may share memory, which a run then changes.
};

namespace internal {

inline TensorInfo InfoOf(const KilnTensorInfo& info) {
  TensorInfo result;
  result.name = info.name;
  result.shape.assign(info.shape, info.shape + info.ndim);
  result.dtype = info.dtype;
  result.device = info.device;
  result.size_bytes = info.size_bytes;
  result.alignment_bytes = info.alignment_bytes;
  result.quantization.scales.assign(info.scales, info.scales + info.num_scales);
  result.quantization.zero_points.assign(info.zero_points, info.zero_points + info.num_scales);
  result.quantization.axis = info.quantized_axis;
  return result;
}

// Calls `get(handle, index, &info)` for each index and returns the infos.
template <typename Handle>
std::vector<TensorInfo> InfosOf(const Handle* handle, int32_t count,
                                KilnCode (*get)(const Handle*, int32_t, KilnTensorInfo*)) {
  std::vector<TensorInfo> infos;
  for (int32_t i = 0; i < count; ++i) {
    KilnTensorInfo info = {};
    info.struct_size = sizeof(info);
    if (get(handle, i, &info) == KILN_OK) infos.push_back(InfoOf(info));
  }
  return infos;
}

template <typename Handle>
std::vector<StateTensor> StatesOf(const Handle* handle, int32_t count,
                                  KilnCode (*get)(const Handle*, int32_t, KilnStateInfo*)) {
  std::vector<StateTensor> states;
  for (int32_t i = 0; i < count; ++i) {
    KilnStateInfo info = {};
    info.struct_size = sizeof(info);
    if (get(handle, i, &info) == KILN_OK) {
      states.push_back({info.input, info.output, info.initial_value, info.is_in_place != 0});
    }
  }
  return states;
}

inline ModelOrigin OriginOf(const KilnModel* model) {
  ModelOrigin origin;
  KilnOrigin info = {};
  info.struct_size = sizeof(info);
  if (KilnModelGetOrigin(model, &info) != KILN_OK) return origin;
  origin.compiler = info.compiler;
  origin.model_sha256 = info.model_sha256;
  origin.options_sha256 = info.options_sha256;
  for (int32_t i = 0; i < info.num_properties; ++i) {
    const char *key = nullptr, *value = nullptr;
    if (KilnModelGetProperty(model, i, &key, &value) == KILN_OK) {
      origin.properties.emplace_back(key, value);
    }
  }
  return origin;
}

inline std::vector<const DLTensor*> TensorsOf(Span<const NDArray> arrays) {
  std::vector<const DLTensor*> tensors;
  for (const NDArray& array : arrays) tensors.push_back(array.tensor());
  return tensors;
}

}  // namespace internal

// Checks the bytes of a library before any of them is interpreted. An error refuses the library.
using LibraryVerifier = std::function<Status(const std::string& path, Span<const char> bytes)>;

struct LoadOptions {
  bool check_checksum = true;
  LibraryVerifier verify = nullptr;
};

// A flag that ends runs early. Any thread may cancel it. It must outlive the runs that use it.
class CancellationToken {
 public:
  CancellationToken() {
    KilnCancellation* cancellation = nullptr;
    if (KilnCancellationCreate(&cancellation) == KILN_OK) cancellation_.reset(cancellation);
  }

  void Cancel() { KilnCancellationCancel(cancellation_.get()); }
  // Makes the token usable for new runs.
  void Reset() { KilnCancellationReset(cancellation_.get()); }
  const KilnCancellation* handle() const { return cancellation_.get(); }

 private:
  std::unique_ptr<KilnCancellation, internal::Freer<KilnCancellation, KilnCancellationFree>>
      cancellation_;
};

struct ThreadPoolOptions {
  int num_threads = 0;  // Includes the calling thread; 0: one per CPU of `cpus`, or one per core.
  std::vector<int32_t> cpus = {};  // CPUs of the other threads; none: the system chooses.
};

// Threads that compute operators. Models and executors that use a pool keep it.
class ThreadPool {
 public:
  static Result<std::shared_ptr<ThreadPool>> Create(const ThreadPoolOptions& options) {
    KilnThreadPool* pool = nullptr;
    const KilnCode code = KilnThreadPoolCreate(options.num_threads, options.cpus.data(),
                                               static_cast<int32_t>(options.cpus.size()), &pool);
    if (code != KILN_OK) return Status::Of(code);
    return std::shared_ptr<ThreadPool>(new ThreadPool(pool));
  }
  KilnThreadPool* handle() const { return pool_.get(); }

 private:
  explicit ThreadPool(KilnThreadPool* pool) : pool_(pool) {}

  std::unique_ptr<KilnThreadPool, internal::Freer<KilnThreadPool, KilnThreadPoolFree>> pool_;
};

// Options of a run. A run checks the deadline and the token between operators. If it ends early,
// its outputs are undefined, and its code is KILN_DEADLINE_EXCEEDED or KILN_CANCELLED.
struct RunOptions {
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  const CancellationToken* cancellation = nullptr;
  ThreadPool* pool = nullptr;  // Null: the pool of the model.
};

// A run that has ended, as reported to an observer.
struct RunEvent {
  const char* model = "";
  Status status;
  double seconds = 0;  // Duration from the call to its end.
  // Number of operators whose loops are shared among threads, and of those among them that ran on
  // one thread because another run had the pool.
  int64_t parallel_operators = 0;
  int64_t without_threads = 0;
};
using RunObserver = std::function<void(const RunEvent&)>;

namespace internal {

inline KilnRunOptions OptionsOf(const RunOptions& options) {
  KilnRunOptions result = {};
  result.struct_size = sizeof(result);
  if (options.deadline.has_value()) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
        *options.deadline - std::chrono::steady_clock::now());
    result.timeout_ns = left.count() > 0 ? left.count() : 1;
  }
  if (options.cancellation != nullptr) result.cancellation = options.cancellation->handle();
  if (options.pool != nullptr) result.pool = options.pool->handle();
  return result;
}

}  // namespace internal

// Sets the function that is called at the end of every run that begins after this call. It is
// called on the thread of the run, and by several threads at the same time. An empty function
// removes it. When SetRunObserver returns, no run calls the previous observer any more. It must not
// be called from an observer, nor by two threads at the same time.
inline Status SetRunObserver(RunObserver observer) {
  static RunObserver* current = nullptr;
  RunObserver* const next = observer ? new RunObserver(std::move(observer)) : nullptr;
  const auto call = [](void* context, const KilnRunEvent* event) {
    RunEvent run;
    run.model = event->model;
    if (event->code != KILN_OK) run.status = Status(event->code, event->message);
    run.seconds = event->seconds;
    run.parallel_operators = event->parallel_operators;
    run.without_threads = event->without_threads;
    (*static_cast<RunObserver*>(context))(run);
  };
  const KilnCode code = KilnSetRunObserver(
      next == nullptr ? nullptr : static_cast<KilnRunObserver>(call), next);
  delete std::exchange(current, next);
  return Status::Of(code);
}

// A loaded library, the source of models and executors. Copies share it.
class Module {
 public:
  Module() = default;

  // Loads a shared object. KilnModuleLoad lists the errors.
  static Result<Module> LoadFromFile(const std::string& path, const LoadOptions& options = {}) {
    KilnLoadOptions given = {};
    given.struct_size = sizeof(given);
    given.skip_checksum = options.check_checksum ? 0 : 1;
    if (options.verify) {
      given.verify = &Module::Verify;
      given.verify_context = const_cast<LibraryVerifier*>(&options.verify);
    }
    KilnModule* module = nullptr;
    const KilnCode code = KilnModuleLoad(path.c_str(), &given, &module);
    if (code != KILN_OK) return Status::Of(code);
    return Module(module);
  }

  // Returns the model that is linked into this program. `module_name` selects one of several.
  static Result<Module> SystemLib(const std::string& module_name = "") {
    KilnModule* module = nullptr;
    const KilnCode code = KilnModuleSystemLib(module_name.c_str(), &module);
    if (code != KILN_OK) return Status::Of(code);
    return Module(module);
  }

  bool defined() const { return module_ != nullptr; }
  KilnModule* handle() const { return module_.get(); }

 private:
  explicit Module(KilnModule* module) : module_(module, KilnModuleFree) {}

  static KilnCode Verify(void* context, const char* path, const void* bytes, size_t size,
                         char* message) {
    const Status status = (*static_cast<const LibraryVerifier*>(context))(
        path, Span<const char>(static_cast<const char*>(bytes), size));
    std::strncpy(message, status.message().c_str(), KILN_VERIFIER_MESSAGE_BYTES - 1);
    return status.code();
  }

  std::shared_ptr<KilnModule> module_;
};

class Executor;

// A compiled model as a stateless function from inputs to outputs. Any number of threads may run
// one model at the same time. Copies share it.
class Model {
 public:
  static Result<Model> Load(const std::string& path, DLDevice device = kCpu,
                            const LoadOptions& options = {}) {
    const Result<Module> module = Module::LoadFromFile(path, options);
    if (!module.ok()) return module.status();
    return FromModule(*module, device);
  }

  static Result<Model> FromModule(const Module& factory, DLDevice device = kCpu) {
    KilnModel* model = nullptr;
    const KilnCode code = KilnModelFromModule(factory.handle(), device, &model);
    if (code != KILN_OK) return Status::Of(code);
    return Model(model);
  }

  // Alignment of the workspace in bytes, which is also sufficient for every tensor.
  static size_t Alignment() { return KilnModelAlignment(); }

  const std::string& name() const { return data_->name; }
  const std::vector<TensorInfo>& inputs() const { return data_->inputs; }
  const std::vector<TensorInfo>& outputs() const { return data_->outputs; }
  int64_t workspace_bytes() const { return KilnModelWorkspaceBytes(handle()); }
  // Size of the constants in the library.
  int64_t constant_bytes() const { return KilnModelConstantBytes(handle()); }
  // Number of threads that share a large operator, including the calling thread.
  int num_threads() const { return KilnModelNumThreads(handle()); }
  // Compiler, model file and options that the library was made from. Unknown texts are empty.
  const ModelOrigin& origin() const { return data_->origin; }
  const std::vector<StateTensor>& states() const { return data_->states; }
  KilnModel* handle() const { return data_->model.get(); }

  // Makes an executor of the model. It shares code and constants and has its own tensors.
  Result<Executor> MakeExecutor() const;

  // Returns the same model with runs that use the threads of `pool`. Null: those of the process.
  Result<Model> WithThreadPool(const std::shared_ptr<ThreadPool>& pool) const {
    KilnModel* model = nullptr;
    const KilnCode code = KilnModelWithThreadPool(
        handle(), pool == nullptr ? nullptr : pool->handle(), &model);
    if (code != KILN_OK) return Status::Of(code);
    return Model(model);
  }

  // Reads code and constants into memory, allocates a workspace and starts the threads, so that the
  // first run takes no longer than later ones.
  Status Prefault() const { return Status::Of(KilnModelPrefault(handle())); }

  // Find a tensor by name. They return KILN_NOT_FOUND, with all names, if there is none.
  Result<int> InputIndex(const std::string& input) const {
    int32_t index = 0;
    const KilnCode code = KilnModelInputIndex(handle(), input.c_str(), &index);
    if (code != KILN_OK) return Status::Of(code);
    return int{index};
  }
  Result<int> OutputIndex(const std::string& output) const {
    int32_t index = 0;
    const KilnCode code = KilnModelOutputIndex(handle(), output.c_str(), &index);
    if (code != KILN_OK) return Status::Of(code);
    return int{index};
  }

  // Runs the model on inputs in the order of inputs(). The outputs are new arrays.
  Result<std::vector<NDArray>> Run(Span<const DLTensor* const> tensors,
                                   const RunOptions& options = {}) const {
    const KilnRunOptions given = internal::OptionsOf(options);
    std::vector<KilnArray*> arrays(data_->outputs.size());
    const KilnCode code =
        KilnModelRun(handle(), tensors.data(), static_cast<int32_t>(tensors.size()),
                     arrays.data(), static_cast<int32_t>(arrays.size()), &given);
    if (code != KILN_OK) return Status::Of(code);
    return std::vector<NDArray>(arrays.begin(), arrays.end());
  }
  Result<std::vector<NDArray>> Run(Span<const NDArray> arrays,
                                   const RunOptions& options = {}) const {
    return Run(internal::TensorsOf(arrays), options);
  }

  // Runs the model in memory of the caller, without copies. The workspace must have at least
  // workspace_bytes() bytes and be aligned to Alignment(). It serves one run at a time.
  Status Run(Span<const DLTensor* const> from, Span<DLTensor* const> to,
             Span<char> workspace, const RunOptions& options = {}) const {
    const KilnRunOptions given = internal::OptionsOf(options);
    // A null address would request an allocation, so an empty workspace gets another address.
    static char none;
    void* const memory = workspace.empty() ? &none : workspace.data();
    return Status::Of(KilnModelRunInto(handle(), from.data(), static_cast<int32_t>(from.size()),
                                       to.data(), static_cast<int32_t>(to.size()), memory,
                                       workspace.size(), &given));
  }
  // Runs the model in a workspace that an earlier run has left, or in a new one.
  Status Run(Span<const DLTensor* const> from, Span<DLTensor* const> to,
             const RunOptions& options = {}) const {
    const KilnRunOptions given = internal::OptionsOf(options);
    return Status::Of(KilnModelRunInto(handle(), from.data(), static_cast<int32_t>(from.size()),
                                       to.data(), static_cast<int32_t>(to.size()), nullptr, 0,
                                       &given));
  }

 private:
  struct Data {
    std::unique_ptr<KilnModel, internal::Freer<KilnModel, KilnModelFree>> model;
    std::string name;
    ModelOrigin origin;
    std::vector<TensorInfo> inputs, outputs;
    std::vector<StateTensor> states;
  };

  explicit Model(KilnModel* model) {
    auto data = std::make_shared<Data>();
    data->model.reset(model);
    data->name = KilnModelName(model);
    data->origin = internal::OriginOf(model);
    data->inputs = internal::InfosOf(model, KilnModelNumInputs(model), KilnModelGetInput);
    data->outputs = internal::InfosOf(model, KilnModelNumOutputs(model), KilnModelGetOutput);
    data->states = internal::StatesOf(model, KilnModelNumStates(model), KilnModelGetState);
    data_ = std::move(data);
  }

  std::shared_ptr<const Data> data_;
};

struct TimeEvaluatorOptions {
  int64_t number = 10;       // Minimum number of runs per measurement.
  int64_t repeat = 1;        // Number of measurements.
  double min_repeat_ms = 0;  // Minimum duration of a measurement; more runs are made to reach it.
};

// A model with its own memory for inputs and outputs, which are set and read one by one. Use one
// executor per thread.
class Executor {
 public:
  static Result<Executor> Create(const Module& factory, DLDevice device = kCpu) {
    KilnExecutor* executor = nullptr;
    const KilnCode code = KilnExecutorCreate(factory.handle(), device, &executor);
    if (code != KILN_OK) return Status::Of(code);
    return Executor(executor);
  }

  int num_inputs() const { return KilnExecutorNumInputs(handle()); }
  int num_outputs() const { return KilnExecutorNumOutputs(handle()); }
  const std::vector<TensorInfo>& input_infos() const { return inputs_; }
  const std::vector<TensorInfo>& output_infos() const { return outputs_; }
  const std::vector<StateTensor>& states() const { return states_; }
  KilnExecutor* handle() const { return executor_.get(); }

  // Find a tensor by name. They return KILN_NOT_FOUND, with all names, if there is none.
  Result<int> GetInputIndex(const std::string& name) const {
    int32_t index = 0;
    const KilnCode code = KilnExecutorInputIndex(handle(), name.c_str(), &index);
    if (code != KILN_OK) return Status::Of(code);
    return int{index};
  }
  Result<int> GetOutputIndex(const std::string& name) const {
    int32_t index = 0;
    const KilnCode code = KilnExecutorOutputIndex(handle(), name.c_str(), &index);
    if (code != KILN_OK) return Status::Of(code);
    return int{index};
  }
  // True if the value of the input comes from parameters.
  bool IsParam(int index) const { return KilnExecutorIsParam(handle(), index) != 0; }

  // Copies the elements of `tensor` into the input.
  Status SetInput(int index, const DLTensor& tensor) {
    return Status::Of(KilnExecutorSetInput(handle(), index, &tensor));
  }
  Status SetInput(const std::string& name, const DLTensor& tensor) {
    return OfInput(name, [&](int index) { return SetInput(index, tensor); });
  }
  // Uses the memory of `array` from the next run on.
  Status SetInputZeroCopy(int index, const NDArray& array) {
    return Status::Of(KilnExecutorSetInputZeroCopy(handle(), index, array.handle()));
  }
  Status SetInputZeroCopy(const std::string& name, const NDArray& array) {
    return OfInput(name, [&](int index) { return SetInputZeroCopy(index, array); });
  }
  Status SetOutputZeroCopy(int index, const NDArray& array) {
    return Status::Of(KilnExecutorSetOutputZeroCopy(handle(), index, array.handle()));
  }
  Status SetOutputZeroCopy(const std::string& name, const NDArray& array) {
    const Result<int> index = GetOutputIndex(name);
    return index.ok() ? SetOutputZeroCopy(*index, array) : index.status();
  }

  // Return an array that shares the memory which the next run reads or the last run has written.
  Result<NDArray> GetInput(int index) {
    KilnArray* array = nullptr;
    const KilnCode code = KilnExecutorGetInput(handle(), index, &array);
    if (code != KILN_OK) return Status::Of(code);
    return NDArray(array);
  }
  Result<NDArray> GetInput(const std::string& name) {
    const Result<int> index = GetInputIndex(name);
    return index.ok() ? GetInput(*index) : index.status();
  }
  Result<NDArray> GetOutput(int index) const {
    KilnArray* array = nullptr;
    const KilnCode code = KilnExecutorGetOutput(handle(), index, &array);
    if (code != KILN_OK) return Status::Of(code);
    return NDArray(array);
  }
  Result<NDArray> GetOutput(const std::string& name) const {
    const Result<int> index = GetOutputIndex(name);
    return index.ok() ? GetOutput(*index) : index.status();
  }

  // Runs the model. Returns KILN_FAILED_PRECONDITION, with the names of the inputs, if inputs have
  // never been set.
  Status Run(const RunOptions& options = {}) {
    const KilnRunOptions given = internal::OptionsOf(options);
    return Status::Of(KilnExecutorRun(handle(), &given));
  }
  // Makes runs use the threads of `pool`. Null: those of the process.
  void SetThreadPool(const std::shared_ptr<ThreadPool>& pool) {
    KilnExecutorSetThreadPool(handle(), pool == nullptr ? nullptr : pool->handle());
  }

  // If `keep` is true, each run reads the state that the previous run wrote. KilnExecutorKeepState
  // has the details.
  Status keep_state(bool keep) {
    return Status::Of(KilnExecutorKeepState(handle(), keep ? 1 : 0));
  }
  // Sets all states to their initial values, to begin a new sequence.
  Status ResetState() { return Status::Of(KilnExecutorResetState(handle())); }

  // Sets the inputs that are named in `bytes`, the content of a parameter file.
  Status LoadParams(Span<const char> bytes) {
    return Status::Of(KilnExecutorLoadParams(handle(), bytes.data(), bytes.size()));
  }
  // Uses the memory of `other` for the inputs that are named in `bytes`, as above.
  Status ShareParams(const Executor& other, Span<const char> bytes) {
    return Status::Of(
        KilnExecutorShareParams(handle(), other.handle(), bytes.data(), bytes.size()));
  }

  // Returns the mean duration of a run in seconds for each measurement, after one warm-up run.
  Result<std::vector<double>> TimeEvaluator(const TimeEvaluatorOptions& options = {}) {
    std::vector<double> seconds(options.repeat > 0 ? static_cast<size_t>(options.repeat) : 1);
    const KilnCode code = KilnExecutorTimeEvaluator(handle(), options.number, options.repeat,
                                                    options.min_repeat_ms, seconds.data());
    if (code != KILN_OK) return Status::Of(code);
    return seconds;
  }
  // Runs the model once and returns the duration of each operator as JSON.
  Result<std::string> Profile() {
    char* json = nullptr;
    const KilnCode code = KilnExecutorProfile(handle(), &json);
    if (code != KILN_OK) return Status::Of(code);
    const std::unique_ptr<char, internal::Freer<char, KilnStringFree>> owner(json);
    return std::string(json);
  }

 private:
  friend class Model;

  explicit Executor(KilnExecutor* executor)
      : executor_(executor),
        inputs_(internal::InfosOf(executor, KilnExecutorNumInputs(executor),
                                  KilnExecutorGetInputInfo)),
        outputs_(internal::InfosOf(executor, KilnExecutorNumOutputs(executor),
                                   KilnExecutorGetOutputInfo)),
        states_(internal::StatesOf(executor, KilnExecutorNumStates(executor),
                                   KilnExecutorGetState)) {}

  template <typename Function>
  Status OfInput(const std::string& name, const Function& function) const {
    const Result<int> index = GetInputIndex(name);
    return index.ok() ? function(*index) : index.status();
  }

  std::unique_ptr<KilnExecutor, internal::Freer<KilnExecutor, KilnExecutorFree>> executor_;
  std::vector<TensorInfo> inputs_, outputs_;
  std::vector<StateTensor> states_;
};

inline Result<Executor> Model::MakeExecutor() const {
  KilnExecutor* executor = nullptr;
  const KilnCode code = KilnModelMakeExecutor(handle(), &executor);
  if (code != KILN_OK) return Status::Of(code);
  return Executor(executor);
}

// Sets the number of threads that operators run on, including the calling thread. 0: one per core.
inline Status SetNumThreads(int num_threads) { return Status::Of(KilnSetNumThreads(num_threads)); }
inline int NumThreads() { return KilnNumThreads(); }

// Returns the size of the workspaces that are kept and not used by a run.
inline uint64_t IdleWorkspaceBytes() { return KilnIdleWorkspaceBytes(); }
// Frees them and returns their size in bytes.
inline uint64_t TrimWorkspaces() { return KilnTrimWorkspaces(); }
// From now on, keeps at most `bytes` bytes of them.
inline Status SetIdleWorkspaceLimit(uint64_t bytes) {
  return Status::Of(KilnSetIdleWorkspaceLimit(bytes));
}

// Returns the version of the library, such as "0.2.0".
inline std::string RuntimeVersion() { return KilnRuntimeVersion(); }

}  // namespace kiln

#endif  // KILN_RUNTIME_HPP_
