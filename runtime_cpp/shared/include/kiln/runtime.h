/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and runs compiled models: the C interface of libkiln_runtime.so.
 *
 *   KilnModel* model = NULL;
 *   const DLDevice cpu = {kDLCPU, 0};
 *   if (KilnModelLoad("digits.so", cpu, NULL, &model) != KILN_OK) puts(KilnLastError());
 *   const DLTensor* inputs[] = {&image};
 *   KilnArray* probabilities = NULL;
 *   if (KilnModelRun(model, inputs, 1, &probabilities, 1, NULL) != KILN_OK) puts(KilnLastError());
 *   KilnModelFree(model);
 *
 * C++ programs use kiln/runtime.hpp, classes over these functions.
 *
 * Functions that can fail return a code. If it is not KILN_OK, KilnLastError() has a text that says
 * what was found and what was wanted, and nothing is written to the function's results. No pointer
 * may be NULL unless a comment says so; a function refuses NULL with KILN_INVALID_ARGUMENT, or gives
 * 0 or NULL if it has no code. Texts are UTF-8. Handles are freed by the function of their kind, which takes NULL too.
 *
 * A KilnModel may be used by any number of threads at once, a KilnExecutor and a KilnArray by one at
 * a time. The library starts no thread before a model runs in parallel.
 *
 * The interface is stable within one soname: functions and enumerators are added, structs that
 * begin with struct_size grow at their end, and nothing else changes.
 */
#ifndef KILN_RUNTIME_H_
#define KILN_RUNTIME_H_

#include <stddef.h>
#include <stdint.h>

#include "dlpack/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_API __attribute__((visibility("default")))

/* The codes of gRPC and Abseil, by number. */
typedef enum KilnCode {
  KILN_OK = 0,
  KILN_CANCELLED = 1,
  KILN_UNKNOWN = 2,
  KILN_INVALID_ARGUMENT = 3,
  KILN_DEADLINE_EXCEEDED = 4,
  KILN_NOT_FOUND = 5,
  KILN_ALREADY_EXISTS = 6,
  KILN_PERMISSION_DENIED = 7,
  KILN_RESOURCE_EXHAUSTED = 8,
  KILN_FAILED_PRECONDITION = 9,
  KILN_ABORTED = 10,
  KILN_OUT_OF_RANGE = 11,
  KILN_UNIMPLEMENTED = 12,
  KILN_INTERNAL = 13,
  KILN_UNAVAILABLE = 14,
  KILN_DATA_LOSS = 15,
  KILN_UNAUTHENTICATED = 16
} KilnCode;

/* The text of the last function on this thread that failed; owned by the library, until the next
 * failure on this thread. */
KILN_API const char* KilnLastError(void);

/* The version of the library, such as "0.2.0". */
KILN_API const char* KilnRuntimeVersion(void);

/* ---- Libraries ---------------------------------------------------------------------------- */

/* A compiled library, from which models and executors are made. They keep it loaded. */
typedef struct KilnModule KilnModule;

/* Sees the bytes of a library before any of them is interpreted. Another result than KILN_OK refuses
 * the library with that code and the text that the function put into `message`, an array of
 * KILN_VERIFIER_MESSAGE_BYTES. The function must not throw. */
#define KILN_VERIFIER_MESSAGE_BYTES 256
typedef KilnCode (*KilnVerifier)(void* context, const char* path, const void* bytes, size_t size,
                                 char* message);

typedef struct KilnLoadOptions {
  size_t struct_size; /* sizeof(KilnLoadOptions) */
  /* Nonzero: the checksum in the file is not compared, so that a large library is read only as far
   * as it is used. */
  int skip_checksum;
  KilnVerifier verify; /* or NULL */
  void* verify_context;
} KilnLoadOptions;

/* Loads a shared object that Kiln has made, which runs code of it. `options` may be NULL. Codes:
 * KILN_NOT_FOUND (no such file), KILN_PERMISSION_DENIED, KILN_INVALID_ARGUMENT (no model),
 * KILN_DATA_LOSS (damaged), KILN_FAILED_PRECONDITION (this CPU lacks what the code needs, or the file
 * changed under a loaded model), KILN_RESOURCE_EXHAUSTED (memory, file descriptors). */
KILN_API KilnCode KilnModuleLoad(const char* path, const KilnLoadOptions* options,
                                 KilnModule** module);
/* The model that is linked into this program. If there are several, `name` says which; else it may be
 * NULL. */
KILN_API KilnCode KilnModuleSystemLib(const char* name, KilnModule** module);
KILN_API void KilnModuleFree(KilnModule* module);

/* ---- Runs --------------------------------------------------------------------------------- */

/* Tells runs to end. It may be cancelled by any thread, and outlives the runs that it is given to. */
typedef struct KilnCancellation KilnCancellation;
KILN_API KilnCode KilnCancellationCreate(KilnCancellation** cancellation);
KILN_API void KilnCancellationCancel(KilnCancellation* cancellation);
/* It serves new runs. */
KILN_API void KilnCancellationReset(KilnCancellation* cancellation);
KILN_API void KilnCancellationFree(KilnCancellation* cancellation);

/* Threads on which operators compute. */
typedef struct KilnThreadPool KilnThreadPool;
/* `num_threads` counts the calling thread; 0: one per CPU. `cpus`, `num_cpus` numbers, are the CPUs on
 * which the others run; none: the operating system's choice. Threads start with the first run. */
KILN_API KilnCode KilnThreadPoolCreate(int32_t num_threads, const int32_t* cpus, int32_t num_cpus,
                                       KilnThreadPool** pool);
/* Models and executors that have the pool keep it. */
KILN_API void KilnThreadPoolFree(KilnThreadPool* pool);

typedef struct KilnRunOptions {
  size_t struct_size; /* sizeof(KilnRunOptions) */
  /* The run ends with KILN_DEADLINE_EXCEEDED after so many nanoseconds; 0: when it is done. It looks at
   * the clock between operators. */
  int64_t timeout_ns;
  const KilnCancellation* cancellation; /* or NULL; ends the run with KILN_CANCELLED */
  KilnThreadPool* pool;                 /* or NULL: that of the model */
} KilnRunOptions;

/* A run that has ended, for an observer. Pointers are valid during the call. */
typedef struct KilnRunEvent {
  size_t struct_size; /* as the library knows it */
  const char* model;  /* the name of its module */
  KilnCode code;
  const char* message;        /* of an error; else empty */
  double seconds;             /* from the call to its end */
  int64_t parallel_operators; /* whose loops are shared among threads */
  int64_t without_threads;    /* those of them that found the threads taken by another run */
} KilnRunEvent;
typedef void (*KilnRunObserver)(void* context, const KilnRunEvent* event);

/* `observer` is called at the end of each run that begins from now on, on the thread of the run, by any
 * number of threads at once. NULL ends that; then no run calls the one before any more. */
KILN_API KilnCode KilnSetRunObserver(KilnRunObserver observer, void* context);

/* ---- Models ------------------------------------------------------------------------------- */

/* A compiled model as a function: outputs from inputs, without state. */
typedef struct KilnModel KilnModel;

/* A tensor that a model takes or gives. All pointers belong to the model. The caller sets struct_size
 * before it asks. */
typedef struct KilnTensorInfo {
  size_t struct_size; /* sizeof(KilnTensorInfo) */
  const char* name;
  const int64_t* shape; /* ndim extents */
  int32_t ndim;
  DLDataType dtype;
  DLDevice device;
  int64_t size_bytes;
  size_t alignment_bytes;     /* of memory that is used in place */
  const float* scales;        /* num_scales; none: the tensor is not quantized */
  const int32_t* zero_points; /* num_scales */
  int32_t num_scales;
  int32_t quantized_axis; /* that scales and zero points belong to, if there are several */
} KilnTensorInfo;

/* An input whose value in the next run is what a run gives as an output. Names belong to the model. */
typedef struct KilnStateInfo {
  size_t struct_size; /* sizeof(KilnStateInfo) */
  const char* input;
  const char* output;
  double initial_value; /* of every element, in the first run */
  int32_t is_in_place;  /* 1: input and output may be one memory, which a run then changes */
} KilnStateInfo;

/* The model file and the options that a library was compiled from, and by which compiler. Texts belong to the model and are empty if
 * they are not known. */
typedef struct KilnOrigin {
  size_t struct_size;         /* sizeof(KilnOrigin) */
  const char* compiler;       /* "kiln 0.1.0" */
  const char* model_sha256;   /* 64 hexadecimal digits */
  const char* options_sha256; /* of all that was asked of the compiler */
  int32_t num_properties;     /* texts of the model's file about itself */
} KilnOrigin;

/* KilnModuleLoad and KilnModelFromModule in one. */
KILN_API KilnCode KilnModelLoad(const char* path, DLDevice device, const KilnLoadOptions* options,
                                KilnModel** model);
/* KILN_NOT_FOUND, with the known ones, if the device has no back end. */
KILN_API KilnCode KilnModelFromModule(const KilnModule* module, DLDevice device, KilnModel** model);
KILN_API void KilnModelFree(KilnModel* model);

/* The name of the model's module. */
KILN_API const char* KilnModelName(const KilnModel* model);
KILN_API int32_t KilnModelNumInputs(const KilnModel* model);
KILN_API int32_t KilnModelNumOutputs(const KilnModel* model);
KILN_API KilnCode KilnModelGetInput(const KilnModel* model, int32_t index, KilnTensorInfo* info);
KILN_API KilnCode KilnModelGetOutput(const KilnModel* model, int32_t index, KilnTensorInfo* info);
/* KILN_NOT_FOUND, with all names, if there is none of this name. */
KILN_API KilnCode KilnModelInputIndex(const KilnModel* model, const char* name, int32_t* index);
KILN_API KilnCode KilnModelOutputIndex(const KilnModel* model, const char* name, int32_t* index);
KILN_API int32_t KilnModelNumStates(const KilnModel* model);
KILN_API KilnCode KilnModelGetState(const KilnModel* model, int32_t index, KilnStateInfo* info);
KILN_API int64_t KilnModelWorkspaceBytes(const KilnModel* model);
/* Of the constants in the library. */
KILN_API int64_t KilnModelConstantBytes(const KilnModel* model);
/* Among which a run divides a large operator, the calling one included; 0 for NULL. */
KILN_API int32_t KilnModelNumThreads(const KilnModel* model);
KILN_API KilnCode KilnModelGetOrigin(const KilnModel* model, KilnOrigin* origin);
/* A text of the model's file about itself: an entry of ONNX's metadata_props, or of TFLite's metadata. */
KILN_API KilnCode KilnModelGetProperty(const KilnModel* model, int32_t index, const char** key,
                                       const char** value);
/* Alignment in bytes of a workspace, and enough for every tensor. */
KILN_API size_t KilnModelAlignment(void);

/* The same model, whose runs compute on the threads of `pool`; NULL: on those of the process. */
KILN_API KilnCode KilnModelWithThreadPool(const KilnModel* model, const KilnThreadPool* pool,
                                          KilnModel** result);
/* Reads code and constants into memory, allocates a workspace and starts the threads: the first run
 * then takes no longer than others. */
KILN_API KilnCode KilnModelPrefault(const KilnModel* model);

/* An array that the library allocates, or shares. */
typedef struct KilnArray KilnArray;

/* Runs on `num_inputs` tensors and makes the arrays of `num_outputs` outputs, which the caller frees.
 * An input that is not aligned, or on another device, is copied first. `options` may be NULL. */
KILN_API KilnCode KilnModelRun(const KilnModel* model, const DLTensor* const* inputs,
                               int32_t num_inputs, KilnArray** outputs, int32_t num_outputs,
                               const KilnRunOptions* options);

/* Runs on the caller's memory: nothing is copied. Tensors are aligned as their KilnTensorInfo says.
 * `workspace` has at least KilnModelWorkspaceBytes() bytes, is aligned to KilnModelAlignment() and
 * serves one run at a time; NULL takes a workspace that an earlier run left, or allocates one.
 * Outputs must not overlap inputs, workspace or each other. */
KILN_API KilnCode KilnModelRunInto(const KilnModel* model, const DLTensor* const* inputs,
                                   int32_t num_inputs, DLTensor* const* outputs,
                                   int32_t num_outputs, void* workspace, size_t workspace_bytes,
                                   const KilnRunOptions* options);

/* ---- Arrays ------------------------------------------------------------------------------- */

/* Allocates a compact array, not initialized, whose memory suits every model. */
KILN_API KilnCode KilnArrayEmpty(const int64_t* shape, int32_t ndim, DLDataType dtype,
                                 DLDevice device, KilnArray** array);
/* The description of the array, which belongs to it. */
KILN_API const DLTensor* KilnArrayTensor(const KilnArray* array);
/* Copies all elements of `source`, which has the array's shape and data type. */
KILN_API KilnCode KilnArrayCopyFrom(KilnArray* array, const DLTensor* source);
/* Copies all elements to `target`, which has the array's shape and data type. */
KILN_API KilnCode KilnArrayCopyTo(const KilnArray* array, DLTensor* target);
/* Takes over a managed tensor, whose deleter runs when the array and all that share it are gone. */
KILN_API KilnCode KilnArrayFromDLPack(DLManagedTensor* managed, KilnArray** array);
/* Shares the array's memory as a managed tensor, which the receiver releases by its deleter. */
KILN_API KilnCode KilnArrayToDLPack(const KilnArray* array, DLManagedTensor** managed);
KILN_API void KilnArrayFree(KilnArray* array);

/* ---- Executors ---------------------------------------------------------------------------- */

/* A model with memory of its own for inputs and outputs, which are set and got one by one. */
typedef struct KilnExecutor KilnExecutor;

/* Executors of one module share code and constants. KILN_NOT_FOUND, with the known ones, if the
 * device has no back end. */
KILN_API KilnCode KilnExecutorCreate(const KilnModule* module, DLDevice device,
                                     KilnExecutor** executor);
/* An executor of the model: code and constants are shared, the memory of its tensors is its own. */
KILN_API KilnCode KilnModelMakeExecutor(const KilnModel* model, KilnExecutor** executor);
KILN_API void KilnExecutorFree(KilnExecutor* executor);

KILN_API int32_t KilnExecutorNumInputs(const KilnExecutor* executor);
KILN_API int32_t KilnExecutorNumOutputs(const KilnExecutor* executor);
KILN_API KilnCode KilnExecutorGetInputInfo(const KilnExecutor* executor, int32_t index,
                                           KilnTensorInfo* info);
KILN_API KilnCode KilnExecutorGetOutputInfo(const KilnExecutor* executor, int32_t index,
                                            KilnTensorInfo* info);
KILN_API KilnCode KilnExecutorInputIndex(const KilnExecutor* executor, const char* name,
                                         int32_t* index);
KILN_API KilnCode KilnExecutorOutputIndex(const KilnExecutor* executor, const char* name,
                                          int32_t* index);
/* Nonzero if the input got its value from parameters. 0 for an index of no input. */
KILN_API int KilnExecutorIsParam(const KilnExecutor* executor, int32_t index);

/* Copies the elements. */
KILN_API KilnCode KilnExecutorSetInput(KilnExecutor* executor, int32_t index,
                                       const DLTensor* tensor);
/* Uses the memory of `array` from the next run on; the executor keeps it alive. */
KILN_API KilnCode KilnExecutorSetInputZeroCopy(KilnExecutor* executor, int32_t index,
                                               const KilnArray* array);
KILN_API KilnCode KilnExecutorSetOutputZeroCopy(KilnExecutor* executor, int32_t index,
                                                const KilnArray* array);
/* An array that shares the memory which the next run reads, or the last run has written. Reading an
 * input this way counts as setting it. */
KILN_API KilnCode KilnExecutorGetInput(KilnExecutor* executor, int32_t index, KilnArray** array);
KILN_API KilnCode KilnExecutorGetOutput(const KilnExecutor* executor, int32_t index,
                                        KilnArray** array);
/* Runs the model. KILN_FAILED_PRECONDITION, with their names, if inputs were never set. `options` may be
 * NULL. */
KILN_API KilnCode KilnExecutorRun(KilnExecutor* executor, const KilnRunOptions* options);
/* Runs compute on the threads of `pool`; NULL: on those of the process. */
KILN_API KilnCode KilnExecutorSetThreadPool(KilnExecutor* executor, const KilnThreadPool* pool);

KILN_API int32_t KilnExecutorNumStates(const KilnExecutor* executor);
KILN_API KilnCode KilnExecutorGetState(const KilnExecutor* executor, int32_t index,
                                       KilnStateInfo* info);
/* With `keep` nonzero, each run reads the state that the one before has written, the first one the
 * initial values, which are set here. Nothing is copied: a state that is in place is changed where it is,
 * the others exchange the memory of input and output before a run. An input that is set has this value in
 * the next run. A run that fails leaves the states as they were, but for those in place, which have to be
 * set or reset then. KILN_FAILED_PRECONDITION if the model has no state. */
KILN_API KilnCode KilnExecutorKeepState(KilnExecutor* executor, int keep);
/* Sets the states to their initial values, for a new sequence. */
KILN_API KilnCode KilnExecutorResetState(KilnExecutor* executor);

/* Sets the inputs that the content of a parameter file names. */
KILN_API KilnCode KilnExecutorLoadParams(KilnExecutor* executor, const void* bytes, size_t size);
/* Uses the memory of `other` for the inputs that the content of a parameter file names. */
KILN_API KilnCode KilnExecutorShareParams(KilnExecutor* executor, const KilnExecutor* other,
                                          const void* bytes, size_t size);

/* Measures runs: after one run to warm up, `repeat` measurements of at least `number` runs and
 * `min_repeat_ms` milliseconds each. Writes the mean seconds of a run to each of `seconds`, of which
 * there are `repeat`. */
KILN_API KilnCode KilnExecutorTimeEvaluator(KilnExecutor* executor, int64_t number, int64_t repeat,
                                            double min_repeat_ms, double* seconds);
/* Runs the model once and says how long each operator took, as JSON, which KilnStringFree frees.
 * KILN_FAILED_PRECONDITION if the model was not compiled so that it can. */
KILN_API KilnCode KilnExecutorProfile(KilnExecutor* executor, char** json);
KILN_API void KilnStringFree(char* text);

/* ---- The process -------------------------------------------------------------------------- */

/* Threads that operators run on, the calling one included. 0: one per core that the process may
 * use. */
KILN_API KilnCode KilnSetNumThreads(int32_t num_threads);
KILN_API int32_t KilnNumThreads(void);

/* Bytes of workspaces that are kept and that no run uses. */
KILN_API uint64_t KilnIdleWorkspaceBytes(void);
/* Frees them; returns how many bytes they were. */
KILN_API uint64_t KilnTrimWorkspaces(void);
/* Keeps at most `bytes` of them from now on. */
KILN_API KilnCode KilnSetIdleWorkspaceLimit(uint64_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_RUNTIME_H_ */
