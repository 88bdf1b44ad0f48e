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
 * C++ programs use the classes of kiln/runtime.hpp, which call these functions.
 *
 * A function that can fail returns a KilnCode. If it is not KILN_OK, KilnLastError() returns a text
 * with what was found and what was expected, and the function has not written its results. No
 * pointer may be NULL unless its comment allows it. For NULL, a function returns
 * KILN_INVALID_ARGUMENT, or 0 or NULL if it does not return a KilnCode. Texts are UTF-8. Each kind
 * of handle has a function that frees it and that accepts NULL.
 *
 * Any number of threads may use a KilnModel at the same time. A KilnExecutor or a KilnArray may be
 * used by one thread at a time. The library starts no thread before a model runs in parallel.
 *
 * The interface is stable within one soname: later versions may add functions and enumerators, and
 * may add members at the end of structs that begin with struct_size. Nothing else changes.
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

/* Error codes, with the numbers of gRPC and Abseil. */
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

/* Returns the text of the last error on the calling thread. The library owns it. It is valid until
 * the next error on this thread. */
KILN_API const char* KilnLastError(void);

/* Returns the version of the library, such as "0.2.0". */
KILN_API const char* KilnRuntimeVersion(void);

/* ---- Libraries ---------------------------------------------------------------------------- */

/* A loaded library, the source of models and executors. They keep it loaded. */
typedef struct KilnModule KilnModule;

/* Checks the bytes of a library before any of them is interpreted. Another result than KILN_OK
 * refuses the library. KilnModuleLoad then returns that code, and the text that the function wrote
 * to `message`, an array of KILN_VERIFIER_MESSAGE_BYTES bytes. The function must not throw. */
#define KILN_VERIFIER_MESSAGE_BYTES 256
typedef KilnCode (*KilnVerifier)(void* context, const char* path, const void* bytes, size_t size,
                                 char* message);

typedef struct KilnLoadOptions {
  size_t struct_size; /* sizeof(KilnLoadOptions) */
  /* Nonzero: does not compare the checksum in the file. Parts of a large library that are not used
   * are then not read. */
  int skip_checksum;
  KilnVerifier verify;  /* May be NULL. */
  void* verify_context; /* First argument of `verify`. */
} KilnLoadOptions;

/* Loads a shared object made by Kiln. This runs code of the library. `options` may be NULL. Errors:
 *   KILN_NOT_FOUND            The file does not exist.
 *   KILN_PERMISSION_DENIED    The file may not be read or executed.
 *   KILN_INVALID_ARGUMENT     The file is not a model.
 *   KILN_DATA_LOSS            The file is damaged.
 *   KILN_FAILED_PRECONDITION  The CPU lacks a feature that the code needs, or the file was changed
 *                             while a model of it is loaded.
 *   KILN_RESOURCE_EXHAUSTED   There is not enough memory, or too few file descriptors. */
KILN_API KilnCode KilnModuleLoad(const char* path, const KilnLoadOptions* options,
                                 KilnModule** module);
/* Returns the model that is linked into this program. `name` selects one of several models. It may
 * be NULL if there is only one. */
KILN_API KilnCode KilnModuleSystemLib(const char* name, KilnModule** module);
KILN_API void KilnModuleFree(KilnModule* module);

/* ---- Runs --------------------------------------------------------------------------------- */

/* A flag that ends runs early. Any thread may cancel it. It must outlive the runs that use it. */
typedef struct KilnCancellation KilnCancellation;
KILN_API KilnCode KilnCancellationCreate(KilnCancellation** cancellation);
KILN_API void KilnCancellationCancel(KilnCancellation* cancellation);
/* Makes it usable for new runs. */
KILN_API void KilnCancellationReset(KilnCancellation* cancellation);
KILN_API void KilnCancellationFree(KilnCancellation* cancellation);

/* Threads that compute operators. */
typedef struct KilnThreadPool KilnThreadPool;
/* Creates a pool. `num_threads` includes the calling thread; 0: one per CPU of `cpus`, or one per
 * core that the process may use. The other threads run on the `num_cpus` CPUs in `cpus`. If there
 * are none, the operating system chooses. The threads start with the first run. */
KILN_API KilnCode KilnThreadPoolCreate(int32_t num_threads, const int32_t* cpus, int32_t num_cpus,
                                       KilnThreadPool** pool);
/* Frees the handle. Models and executors that use the pool keep it. */
KILN_API void KilnThreadPoolFree(KilnThreadPool* pool);

typedef struct KilnRunOptions {
  size_t struct_size; /* sizeof(KilnRunOptions) */
  /* Time limit in nanoseconds, after which the run ends with KILN_DEADLINE_EXCEEDED; 0: no limit.
   * The run checks the clock between operators. */
  int64_t timeout_ns;
  const KilnCancellation* cancellation; /* Ends the run with KILN_CANCELLED; may be NULL. */
  KilnThreadPool* pool;                 /* Threads of the run; NULL: those of the model. */
} KilnRunOptions;

/* A run that has ended, as reported to an observer. Pointers are valid during the call. */
typedef struct KilnRunEvent {
  size_t struct_size; /* Size that the library knows. */
  const char* model;  /* Name of the model's module. */
  KilnCode code;
  const char* message; /* Text of the error; empty if there is none. */
  double seconds;      /* Duration from the call to its end. */
  /* Number of operators whose loops are shared among threads, and of those among them that ran on
   * one thread because another run had the pool. */
  int64_t parallel_operators;
  int64_t without_threads;
} KilnRunEvent;
typedef void (*KilnRunObserver)(void* context, const KilnRunEvent* event);

/* Sets the function that is called at the end of every run that begins after this call. It is
 * called on the thread of the run, and by several threads at the same time. NULL removes it. When
 * the function returns, no run calls the previous observer any more. */
KILN_API KilnCode KilnSetRunObserver(KilnRunObserver observer, void* context);

/* ---- Models ------------------------------------------------------------------------------- */

/* A compiled model as a stateless function from inputs to outputs. */
typedef struct KilnModel KilnModel;

/* Description of an input or output. The model owns all memory that it points to. The caller sets
 * struct_size before the call. */
typedef struct KilnTensorInfo {
  size_t struct_size; /* sizeof(KilnTensorInfo) */
  const char* name;
  const int64_t* shape; /* `ndim` extents, in elements. */
  int32_t ndim;
  DLDataType dtype;
  DLDevice device;
  int64_t size_bytes;
  size_t alignment_bytes;     /* Alignment that memory needs to be used without a copy. */
  const float* scales;        /* `num_scales` entries. */
  const int32_t* zero_points; /* `num_scales` entries. */
  int32_t num_scales;         /* 0: the tensor is not quantized; 1: one scale for all elements. */
  int32_t quantized_axis;     /* Dimension that the scales belong to if num_scales is above 1. */
} KilnTensorInfo;

/* A state: an input whose value in the next run is an output of the current run. The model owns the
 * names. */
typedef struct KilnStateInfo {
  size_t struct_size; /* sizeof(KilnStateInfo) */
  const char* input;
  const char* output;
  double initial_value; /* Value of every element in the first run. */
  int32_t is_in_place;  /* 1: input and output may share memory, which a run then changes. */
} KilnStateInfo;

/* Compiler, model file and options that a library was made from. The model owns the texts. Unknown
 * texts are empty. */
typedef struct KilnOrigin {
  size_t struct_size;         /* sizeof(KilnOrigin) */
  const char* compiler;       /* "kiln 0.1.0" */
  const char* model_sha256;   /* SHA-256 of the model file, 64 hexadecimal digits. */
  const char* options_sha256; /* SHA-256 of all options of the compilation. */
  int32_t num_properties;     /* Number of properties of the model file. */
} KilnOrigin;

/* Combines KilnModuleLoad and KilnModelFromModule. */
KILN_API KilnCode KilnModelLoad(const char* path, DLDevice device, const KilnLoadOptions* options,
                                KilnModel** model);
/* Makes a model. Returns KILN_NOT_FOUND, with the known devices, if `device` has no back end. */
KILN_API KilnCode KilnModelFromModule(const KilnModule* module, DLDevice device, KilnModel** model);
KILN_API void KilnModelFree(KilnModel* model);

/* Returns the name of the model's module, owned by the model. */
KILN_API const char* KilnModelName(const KilnModel* model);
KILN_API int32_t KilnModelNumInputs(const KilnModel* model);
KILN_API int32_t KilnModelNumOutputs(const KilnModel* model);
KILN_API KilnCode KilnModelGetInput(const KilnModel* model, int32_t index, KilnTensorInfo* info);
KILN_API KilnCode KilnModelGetOutput(const KilnModel* model, int32_t index, KilnTensorInfo* info);
/* Find a tensor by name. They return KILN_NOT_FOUND, with all names, if there is none. */
KILN_API KilnCode KilnModelInputIndex(const KilnModel* model, const char* name, int32_t* index);
KILN_API KilnCode KilnModelOutputIndex(const KilnModel* model, const char* name, int32_t* index);
KILN_API int32_t KilnModelNumStates(const KilnModel* model);
KILN_API KilnCode KilnModelGetState(const KilnModel* model, int32_t index, KilnStateInfo* info);
KILN_API int64_t KilnModelWorkspaceBytes(const KilnModel* model);
/* Returns the size of the constants in the library. */
KILN_API int64_t KilnModelConstantBytes(const KilnModel* model);
/* Returns the number of threads that share a large operator, including the calling thread; 0 for
 * NULL. */
KILN_API int32_t KilnModelNumThreads(const KilnModel* model);
KILN_API KilnCode KilnModelGetOrigin(const KilnModel* model, KilnOrigin* origin);
/* Returns a property of the model file: an entry of ONNX's metadata_props or of TFLite's metadata.
 * The model owns the texts. */
KILN_API KilnCode KilnModelGetProperty(const KilnModel* model, int32_t index, const char** key,
                                       const char** value);
/* Returns the alignment of a workspace in bytes, which is also sufficient for every tensor. */
KILN_API size_t KilnModelAlignment(void);

/* Makes a handle of the same model whose runs use the threads of `pool`. NULL: those of the
 * process. */
KILN_API KilnCode KilnModelWithThreadPool(const KilnModel* model, const KilnThreadPool* pool,
                                          KilnModel** result);
/* Reads code and constants into memory, allocates a workspace and starts the threads, so that the
 * first run takes no longer than later ones. */
KILN_API KilnCode KilnModelPrefault(const KilnModel* model);

/* An array that the library has allocated or shares. */
typedef struct KilnArray KilnArray;

/* Runs the model on `num_inputs` tensors and creates the arrays of the `num_outputs` outputs, which
 * the caller must free. An input that is misaligned or on another device is copied first. `options`
 * may be NULL. */
KILN_API KilnCode KilnModelRun(const KilnModel* model, const DLTensor* const* inputs,
                               int32_t num_inputs, KilnArray** outputs, int32_t num_outputs,
                               const KilnRunOptions* options);

/* Runs the model in memory of the caller, without copies. Tensors must be aligned as their
 * KilnTensorInfo says. `workspace` must have at least KilnModelWorkspaceBytes() bytes and be
 * aligned to KilnModelAlignment(). It serves one run at a time. NULL uses a workspace that an
 * earlier run has left, or allocates one. Outputs must not overlap inputs, the workspace or each
 * other. `options` may be NULL. */
KILN_API KilnCode KilnModelRunInto(const KilnModel* model, const DLTensor* const* inputs,
                                   int32_t num_inputs, DLTensor* const* outputs,
                                   int32_t num_outputs, void* workspace, size_t workspace_bytes,
                                   const KilnRunOptions* options);

/* ---- Arrays ------------------------------------------------------------------------------- */

/* Allocates an uninitialized compact array. Its memory is aligned for every model. */
KILN_API KilnCode KilnArrayEmpty(const int64_t* shape, int32_t ndim, DLDataType dtype,
                                 DLDevice device, KilnArray** array);
/* Returns the tensor of the array, which the array owns. */
KILN_API const DLTensor* KilnArrayTensor(const KilnArray* array);
/* Copies all elements of `source`, which must have the array's shape and data type. */
KILN_API KilnCode KilnArrayCopyFrom(KilnArray* array, const DLTensor* source);
/* Copies all elements to `target`, which must have the array's shape and data type. */
KILN_API KilnCode KilnArrayCopyTo(const KilnArray* array, DLTensor* target);
/* Takes ownership of a managed tensor. Its deleter runs when the array and all arrays that share
 * its memory have been freed. */
KILN_API KilnCode KilnArrayFromDLPack(DLManagedTensor* managed, KilnArray** array);
/* Shares the array's memory as a managed tensor, which the receiver must release by its deleter. */
KILN_API KilnCode KilnArrayToDLPack(const KilnArray* array, DLManagedTensor** managed);
KILN_API void KilnArrayFree(KilnArray* array);

/* ---- Executors ---------------------------------------------------------------------------- */

/* A model with its own memory for inputs and outputs, which are set and read one by one. */
typedef struct KilnExecutor KilnExecutor;

/* Makes an executor. Executors of one module share code and constants. Returns KILN_NOT_FOUND, with
 * the known devices, if `device` has no back end. */
KILN_API KilnCode KilnExecutorCreate(const KilnModule* module, DLDevice device,
                                     KilnExecutor** executor);
/* Makes an executor of the model. It shares code and constants and has its own tensors. */
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
/* Returns nonzero if the value of the input comes from parameters. 0 if there is no such input. */
KILN_API int KilnExecutorIsParam(const KilnExecutor* executor, int32_t index);

/* Copies the elements of `tensor` into the input. */
KILN_API KilnCode KilnExecutorSetInput(KilnExecutor* executor, int32_t index,
                                       const DLTensor* tensor);
/* Use the memory of `array` from the next run on. The executor keeps it alive. */
KILN_API KilnCode KilnExecutorSetInputZeroCopy(KilnExecutor* executor, int32_t index,
                                               const KilnArray* array);
KILN_API KilnCode KilnExecutorSetOutputZeroCopy(KilnExecutor* executor, int32_t index,
                                                const KilnArray* array);
/* Return an array that shares the memory which the next run reads, or which the last run has
 * written. The caller may fill an input through it, so the input then counts as set. */
KILN_API KilnCode KilnExecutorGetInput(KilnExecutor* executor, int32_t index, KilnArray** array);
KILN_API KilnCode KilnExecutorGetOutput(const KilnExecutor* executor, int32_t index,
                                        KilnArray** array);
/* Runs the model. Returns KILN_FAILED_PRECONDITION, with the names of the inputs, if inputs have
 * never been set. `options` may be NULL. */
KILN_API KilnCode KilnExecutorRun(KilnExecutor* executor, const KilnRunOptions* options);
/* Makes runs use the threads of `pool`; NULL: those of the process. */
KILN_API KilnCode KilnExecutorSetThreadPool(KilnExecutor* executor, const KilnThreadPool* pool);

KILN_API int32_t KilnExecutorNumStates(const KilnExecutor* executor);
KILN_API KilnCode KilnExecutorGetState(const KilnExecutor* executor, int32_t index,
                                       KilnStateInfo* info);
/* If `keep` is nonzero, each run reads the state that the previous run wrote. The first run reads
 * the initial values, which this call sets. No memory is copied: a state with is_in_place is
 * changed in its memory. For other states, input and output exchange their memory before a run. If
 * the program sets such an input, the next run reads that value. A failed run leaves the states
 * unchanged, except those with is_in_place, which must then be set or reset. Returns
 * KILN_FAILED_PRECONDITION if the model has no state. */
KILN_API KilnCode KilnExecutorKeepState(KilnExecutor* executor, int keep);
/* Sets all states to their initial values, to begin a new sequence. */
KILN_API KilnCode KilnExecutorResetState(KilnExecutor* executor);

/* Sets the inputs that are named in `bytes`, the content of a parameter file. */
KILN_API KilnCode KilnExecutorLoadParams(KilnExecutor* executor, const void* bytes, size_t size);
/* Uses the memory of `other` for the inputs that are named in `bytes`, as above. */
KILN_API KilnCode KilnExecutorShareParams(KilnExecutor* executor, const KilnExecutor* other,
                                          const void* bytes, size_t size);

/* Measures the duration of runs. After one warm-up run, it makes `repeat` measurements of at least
 * `number` runs and `min_repeat_ms` milliseconds each. `seconds` is an array of `repeat` elements
 * and receives the mean duration of a run for each measurement. */
KILN_API KilnCode KilnExecutorTimeEvaluator(KilnExecutor* executor, int64_t number, int64_t repeat,
                                            double min_repeat_ms, double* seconds);
/* Runs the model once and returns the duration of each operator as JSON, which must be freed with
 * KilnStringFree. Returns KILN_FAILED_PRECONDITION if the model was not compiled for profiling. */
KILN_API KilnCode KilnExecutorProfile(KilnExecutor* executor, char** json);
KILN_API void KilnStringFree(char* text);

/* ---- The process -------------------------------------------------------------------------- */

/* Sets the number of threads of the process that operators run on, including the calling thread. 0:
 * one per core that the process may use. */
KILN_API KilnCode KilnSetNumThreads(int32_t num_threads);
KILN_API int32_t KilnNumThreads(void);

/* Returns the size of the workspaces that are kept and not used by a run. */
KILN_API uint64_t KilnIdleWorkspaceBytes(void);
/* Frees them and returns their size in bytes. */
KILN_API uint64_t KilnTrimWorkspaces(void);
/* From now on, keeps at most `bytes` bytes of them. */
KILN_API KilnCode KilnSetIdleWorkspaceLimit(uint64_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_RUNTIME_H_ */
