// SPDX-License-Identifier: Apache-2.0
// Tests of kiln/runtime.h from C: a model runs, and each function refuses NULL without a crash.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln/runtime.h"

#define LIBRARY "runtime_cpp/testdata/add_aot.so"
#define STATE_LIBRARY "runtime_cpp/testdata/add_aot_state.so"

static int failures = 0;

static void Expect(bool ok, const char* what, int line) {
  if (ok) return;
  ++failures;
  fprintf(stderr, "line %d: %s; last error: %s\n", line, what, KilnLastError());
}
#define EXPECT(condition) Expect((condition), #condition, __LINE__)
#define EXPECT_CODE(code, call) EXPECT((call) == (code))
#define EXPECT_TEXT(text) EXPECT(strstr(KilnLastError(), (text)) != NULL)

static const DLDevice kCpu = {kDLCPU, 0};
static const DLDataType kFloat32 = {kDLFloat, 32, 1};

static DLTensor Tensor(void* data, int64_t* shape, int32_t ndim) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = data;
  tensor.device = kCpu;
  tensor.ndim = ndim;
  tensor.dtype = kFloat32;
  tensor.shape = shape;
  return tensor;
}

static KilnCode Refuse(void* context, const char* path, const void* bytes, size_t size,
                       char* message) {
  *(size_t*)context = size;
  EXPECT(strcmp(path, LIBRARY) == 0 && memcmp(bytes, "\177ELF", 4) == 0);
  snprintf(message, KILN_VERIFIER_MESSAGE_BYTES, "not signed by us");
  return KILN_UNAUTHENTICATED;
}

static void TestLoading(void) {
  KilnModel* model = NULL;
  EXPECT_CODE(KILN_NOT_FOUND, KilnModelLoad("none.so", kCpu, NULL, &model));
  EXPECT_TEXT("none.so");
  EXPECT(model == NULL);
  const DLDevice cuda = {kDLCUDA, 0};
  EXPECT_CODE(KILN_NOT_FOUND, KilnModelLoad(LIBRARY, cuda, NULL, &model));
  EXPECT_TEXT("cuda");

  size_t size = 0;
  KilnLoadOptions options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.verify = Refuse;
  options.verify_context = &size;
  EXPECT_CODE(KILN_UNAUTHENTICATED, KilnModelLoad(LIBRARY, kCpu, &options, &model));
  EXPECT_TEXT("not signed by us");
  EXPECT(size > 0);

  options.struct_size = 0;
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelLoad(LIBRARY, kCpu, &options, &model));
  EXPECT_TEXT("struct_size");

  // Options of a newer version are accepted if the members that it adds are 0.
  struct {
    KilnLoadOptions known;
    long added;
  } newer;
  memset(&newer, 0, sizeof(newer));
  newer.known.struct_size = sizeof(newer);
  EXPECT_CODE(KILN_OK, KilnModelLoad(LIBRARY, kCpu, &newer.known, &model));
  KilnModelFree(model);
  model = NULL;
  newer.added = 1;
  EXPECT_CODE(KILN_UNIMPLEMENTED, KilnModelLoad(LIBRARY, kCpu, &newer.known, &model));
  EXPECT_TEXT("newer version");
  EXPECT(model == NULL);

  KilnModule* module = NULL;
  EXPECT_CODE(KILN_OK, KilnModuleLoad(LIBRARY, NULL, &module));
  EXPECT_CODE(KILN_OK, KilnModelFromModule(module, kCpu, &model));
  KilnModuleFree(module);  // The model keeps what it needs.
  EXPECT(KilnModelNumInputs(model) == 2);
  KilnModelFree(model);

  EXPECT(KilnModuleSystemLib("none", &module) != KILN_OK);
}

static void TestModel(void) {
  KilnModel* model = NULL;
  EXPECT_CODE(KILN_OK, KilnModelLoad(LIBRARY, kCpu, NULL, &model));
  if (model == NULL) return;
  EXPECT(strcmp(KilnModelName(model), "add") == 0);
  EXPECT(KilnModelNumInputs(model) == 2 && KilnModelNumOutputs(model) >= 1);

  KilnTensorInfo info;
  memset(&info, 0, sizeof(info));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelGetInput(model, 0, &info));
  info.struct_size = sizeof(info);
  EXPECT_CODE(KILN_OK, KilnModelGetInput(model, 0, &info));
  EXPECT(strcmp(info.name, "x") == 0 && info.ndim == 1 && info.shape[0] == 4);
  EXPECT(info.dtype.code == kDLFloat && info.dtype.bits == 32 && info.size_bytes == 16);
  EXPECT(info.num_scales == 1 && info.scales[0] == 0.5f && info.zero_points[0] == 3);
  EXPECT_CODE(KILN_OUT_OF_RANGE, KilnModelGetInput(model, 2, &info));
  EXPECT_CODE(KILN_OUT_OF_RANGE, KilnModelGetOutput(model, -1, &info));
  // A caller with an older, shorter struct gets only its members.
  info.struct_size = offsetof(KilnTensorInfo, shape);
  info.shape = NULL;
  EXPECT_CODE(KILN_OK, KilnModelGetInput(model, 1, &info));
  EXPECT(strcmp(info.name, "y:0") == 0 && info.shape == NULL);

  int32_t index = -1;
  EXPECT_CODE(KILN_OK, KilnModelInputIndex(model, "y:0", &index));
  EXPECT(index == 1);
  EXPECT_CODE(KILN_NOT_FOUND, KilnModelOutputIndex(model, "none", &index));
  EXPECT_TEXT("none");

  float x_values[4] = {1, 2, 3, 4}, y_values[4] = {10, 20, 30, 40};
  int64_t shape[1] = {4}, wrong_shape[1] = {3};
  DLTensor x = Tensor(x_values, shape, 1), y = Tensor(y_values, shape, 1);
  const DLTensor* inputs[2];
  inputs[0] = &x;
  inputs[1] = &y;
  const int32_t num_outputs = KilnModelNumOutputs(model);
  KilnArray** outputs = calloc((size_t)num_outputs, sizeof(KilnArray*));
  EXPECT_CODE(KILN_OK, KilnModelRun(model, inputs, 2, outputs, num_outputs, NULL));
  for (int i = 0; i < 4; ++i) {
    const float found = ((const float*)KilnArrayTensor(outputs[0])->data)[i];
    EXPECT(fabsf(found - 2 * x_values[i] - y_values[i]) < 1e-6f);
  }

  // Runs in memory of the caller, from an earlier array, with and without a workspace.
  const int64_t bytes = KilnModelWorkspaceBytes(model);
  EXPECT(KilnModelConstantBytes(model) >= 0 && KilnModelNumThreads(model) >= 1);
  const size_t alignment = KilnModelAlignment();
  const size_t room = ((size_t)bytes / alignment + 1) * alignment;
  void* workspace = aligned_alloc(alignment, room);
  KilnArray *in_x = NULL, *in_y = NULL;
  EXPECT_CODE(KILN_OK, KilnArrayEmpty(shape, 1, kFloat32, kCpu, &in_x));
  EXPECT_CODE(KILN_OK, KilnArrayEmpty(shape, 1, kFloat32, kCpu, &in_y));
  EXPECT_CODE(KILN_OK, KilnArrayCopyFrom(in_x, &x));
  EXPECT_CODE(KILN_OK, KilnArrayCopyFrom(in_y, &x));
  inputs[0] = KilnArrayTensor(in_x);
  inputs[1] = KilnArrayTensor(in_y);
  DLTensor** targets = calloc((size_t)num_outputs, sizeof(DLTensor*));
  DLManagedTensor** shared = calloc((size_t)num_outputs, sizeof(DLManagedTensor*));
  for (int32_t i = 0; i < num_outputs; ++i) {
    EXPECT_CODE(KILN_OK, KilnArrayToDLPack(outputs[i], &shared[i]));
    targets[i] = &shared[i]->dl_tensor;
  }
  EXPECT_CODE(KILN_OK,
              KilnModelRunInto(model, inputs, 2, targets, num_outputs, workspace, room, NULL));
  EXPECT(((const float*)targets[0]->data)[3] == 12);
  EXPECT_CODE(KILN_OK, KilnModelRunInto(model, inputs, 2, targets, num_outputs, NULL, 0, NULL));

  // Wrong arguments.
  x.shape = wrong_shape;
  inputs[0] = &x;
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelRun(model, inputs, 2, outputs, num_outputs, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelRun(model, inputs, 1, outputs, num_outputs, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelRun(model, inputs, -1, outputs, num_outputs, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT,
              KilnModelRun(model, inputs, 2, outputs, num_outputs + 1, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelRun(model, NULL, 2, outputs, num_outputs, NULL));
  inputs[0] = NULL;
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelRun(model, inputs, 2, outputs, num_outputs, NULL));
  EXPECT_TEXT("inputs[0] is NULL");

  for (int32_t i = 0; i < num_outputs; ++i) {
    shared[i]->deleter(shared[i]);
    KilnArrayFree(outputs[i]);
  }
  KilnArrayFree(in_x);
  KilnArrayFree(in_y);
  free(workspace);
  free((void*)shared);
  free((void*)targets);
  free((void*)outputs);
  KilnModelFree(model);
}

static void TestExecutor(void) {
  KilnModule* module = NULL;
  KilnExecutor* executor = NULL;
  EXPECT_CODE(KILN_OK, KilnModuleLoad(LIBRARY, NULL, &module));
  EXPECT_CODE(KILN_OK, KilnExecutorCreate(module, kCpu, &executor));
  KilnModuleFree(module);
  if (executor == NULL) return;
  EXPECT(KilnExecutorNumInputs(executor) == 2 && KilnExecutorNumOutputs(executor) >= 1);
  EXPECT_CODE(KILN_FAILED_PRECONDITION, KilnExecutorRun(executor, NULL));
  EXPECT(KilnExecutorIsParam(executor, 0) == 0 && KilnExecutorIsParam(executor, 99) == 0);

  float values[4] = {1, 2, 3, 4};
  int64_t shape[1] = {4};
  const DLTensor x = Tensor(values, shape, 1);
  EXPECT_CODE(KILN_OK, KilnExecutorSetInput(executor, 0, &x));
  int32_t index = -1;
  EXPECT_CODE(KILN_OK, KilnExecutorInputIndex(executor, "y:0", &index));
  KilnArray* y = NULL;
  EXPECT_CODE(KILN_OK, KilnArrayEmpty(shape, 1, kFloat32, kCpu, &y));
  EXPECT_CODE(KILN_OK, KilnArrayCopyFrom(y, &x));
  EXPECT_CODE(KILN_OK, KilnExecutorSetInputZeroCopy(executor, index, y));
  KilnArrayFree(y);  // The executor keeps it alive.
  EXPECT_CODE(KILN_OK, KilnExecutorRun(executor, NULL));
  KilnArray* output = NULL;
  EXPECT_CODE(KILN_OK, KilnExecutorGetOutput(executor, 0, &output));
  EXPECT(((const float*)KilnArrayTensor(output)->data)[2] == 9);
  KilnArrayFree(output);
  double seconds[2] = {0, 0};
  EXPECT_CODE(KILN_OK, KilnExecutorTimeEvaluator(executor, 3, 2, 0, seconds));
  EXPECT(seconds[0] > 0 && seconds[1] > 0);
  char* json = NULL;
  EXPECT_CODE(KILN_FAILED_PRECONDITION, KilnExecutorProfile(executor, &json));
  EXPECT(json == NULL);
  EXPECT_CODE(KILN_DATA_LOSS, KilnExecutorLoadParams(executor, "damaged", 7));
  KilnExecutorFree(executor);
}

// The state x begins with 1.5 and becomes (x + y) + x.
static void TestState(void) {
  KilnModel* model = NULL;
  KilnExecutor* executor = NULL;
  EXPECT_CODE(KILN_OK, KilnModelLoad(STATE_LIBRARY, kCpu, NULL, &model));
  EXPECT(KilnModelNumStates(model) == 1);
  KilnStateInfo info;
  memset(&info, 0, sizeof(info));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelGetState(model, 0, &info));
  info.struct_size = sizeof(info);
  EXPECT_CODE(KILN_OUT_OF_RANGE, KilnModelGetState(model, 1, &info));
  EXPECT_CODE(KILN_OK, KilnModelGetState(model, 0, &info));
  EXPECT(strcmp(info.input, "x") == 0 && strcmp(info.output, "output0") == 0);
  EXPECT(info.initial_value == 1.5);
  EXPECT_CODE(KILN_OK, KilnModelMakeExecutor(model, &executor));
  KilnModelFree(model);
  if (executor == NULL) return;
  EXPECT(KilnExecutorNumStates(executor) == 1);
  EXPECT_CODE(KILN_OK, KilnExecutorGetState(executor, 0, &info));
  float values[4] = {0, 0, 0, 0};
  int64_t shape[1] = {4};
  const DLTensor y = Tensor(values, shape, 1);
  EXPECT_CODE(KILN_OK, KilnExecutorSetInput(executor, 1, &y));
  EXPECT_CODE(KILN_OK, KilnExecutorKeepState(executor, 1));
  for (int run = 0; run < 4; ++run) {
    if (run == 2) EXPECT_CODE(KILN_OK, KilnExecutorResetState(executor));
    EXPECT_CODE(KILN_OK, KilnExecutorRun(executor, NULL));
    KilnArray* output = NULL;
    EXPECT_CODE(KILN_OK, KilnExecutorGetOutput(executor, 0, &output));
    EXPECT(((const float*)KilnArrayTensor(output)->data)[0] == (run % 2 == 0 ? 3 : 6));
    KilnArrayFree(output);
  }
  KilnExecutorFree(executor);
  EXPECT_CODE(KILN_OK, KilnModelLoad(LIBRARY, kCpu, NULL, &model));
  EXPECT_CODE(KILN_OK, KilnModelMakeExecutor(model, &executor));
  KilnModelFree(model);
  EXPECT_CODE(KILN_FAILED_PRECONDITION, KilnExecutorKeepState(executor, 1));
  EXPECT_TEXT("no state");
  KilnExecutorFree(executor);
}

static void CountRuns(void* context, const KilnRunEvent* event) {
  EXPECT(strcmp(event->model, "add") == 0 && event->seconds >= 0);
  EXPECT((event->code == KILN_OK) == (event->message[0] == '\0'));
  ++*(int*)context;
}

static void TestRunOptions(void) {
  KilnModel *model = NULL, *on_pool = NULL;
  KilnExecutor* executor = NULL;
  KilnCancellation* cancellation = NULL;
  KilnThreadPool* pool = NULL;
  EXPECT_CODE(KILN_OK, KilnModelLoad(LIBRARY, kCpu, NULL, &model));
  EXPECT_CODE(KILN_OK, KilnCancellationCreate(&cancellation));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnThreadPoolCreate(-1, NULL, 0, &pool));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnThreadPoolCreate(2, NULL, 1, &pool));
  const int32_t cpu = 0;
  EXPECT_CODE(KILN_OK, KilnThreadPoolCreate(2, &cpu, 1, &pool));
  EXPECT_CODE(KILN_OK, KilnModelWithThreadPool(model, pool, &on_pool));
  KilnThreadPoolFree(pool);  // The model keeps it.
  EXPECT_CODE(KILN_OK, KilnModelPrefault(on_pool));
  EXPECT_CODE(KILN_OK, KilnModelMakeExecutor(on_pool, &executor));
  float values[4] = {1, 2, 3, 4};
  int64_t shape[1] = {4};
  const DLTensor x = Tensor(values, shape, 1);
  EXPECT_CODE(KILN_OK, KilnExecutorSetInput(executor, 0, &x));
  EXPECT_CODE(KILN_OK, KilnExecutorSetInput(executor, 1, &x));

  int runs = 0;
  EXPECT_CODE(KILN_OK, KilnSetRunObserver(CountRuns, &runs));
  KilnRunOptions options;
  memset(&options, 0, sizeof(options));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorRun(executor, &options));
  EXPECT_TEXT("wanted sizeof(KilnRunOptions)");
  options.struct_size = sizeof(options);
  options.cancellation = cancellation;
  EXPECT_CODE(KILN_OK, KilnExecutorRun(executor, &options));
  KilnCancellationCancel(cancellation);
  EXPECT_CODE(KILN_CANCELLED, KilnExecutorRun(executor, &options));
  KilnCancellationReset(cancellation);
  options.timeout_ns = 1;
  EXPECT_CODE(KILN_DEADLINE_EXCEEDED, KilnExecutorRun(executor, &options));
  options.timeout_ns = -1;
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorRun(executor, &options));
  EXPECT_CODE(KILN_OK, KilnExecutorSetThreadPool(executor, NULL));
  EXPECT_CODE(KILN_OK, KilnExecutorRun(executor, NULL));
  EXPECT_CODE(KILN_OK, KilnSetRunObserver(NULL, NULL));
  EXPECT_CODE(KILN_OK, KilnExecutorRun(executor, NULL));
  EXPECT(runs == 4);
  KilnExecutorFree(executor);
  KilnModelFree(model);
  KilnModelFree(on_pool);
  KilnCancellationFree(cancellation);
}

static void TestNull(void) {
  KilnStateInfo state;
  memset(&state, 0, sizeof(state));
  KilnTensorInfo info;
  memset(&info, 0, sizeof(info));
  info.struct_size = sizeof(info);
  int32_t index = 0;
  double seconds = 0;
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelLoad(NULL, kCpu, NULL, NULL));
  EXPECT_TEXT("KilnModelLoad: path is NULL");
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelLoad(LIBRARY, kCpu, NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModuleLoad(LIBRARY, NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModuleSystemLib(NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelFromModule(NULL, kCpu, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelGetInput(NULL, 0, &info));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelGetOutput(NULL, 0, &info));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelInputIndex(NULL, "x", &index));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelOutputIndex(NULL, "x", &index));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelRun(NULL, NULL, 0, NULL, 0, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelRunInto(NULL, NULL, 0, NULL, 0, NULL, 0, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnArrayEmpty(NULL, 1, kFloat32, kCpu, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnArrayCopyFrom(NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnArrayCopyTo(NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnArrayFromDLPack(NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnArrayToDLPack(NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorCreate(NULL, kCpu, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorGetInputInfo(NULL, 0, &info));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorGetOutputInfo(NULL, 0, &info));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorInputIndex(NULL, "x", &index));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorOutputIndex(NULL, "x", &index));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorSetInput(NULL, 0, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorSetInputZeroCopy(NULL, 0, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorSetOutputZeroCopy(NULL, 0, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorGetInput(NULL, 0, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorGetOutput(NULL, 0, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorRun(NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorLoadParams(NULL, NULL, 0));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorShareParams(NULL, NULL, NULL, 0));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorTimeEvaluator(NULL, 1, 1, 0, &seconds));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorProfile(NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelGetState(NULL, 0, &state));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorGetState(NULL, 0, &state));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelMakeExecutor(NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorKeepState(NULL, 1));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorResetState(NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnExecutorSetThreadPool(NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelWithThreadPool(NULL, NULL, NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnModelPrefault(NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnCancellationCreate(NULL));
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnThreadPoolCreate(1, NULL, 0, NULL));
  KilnCancellationCancel(NULL);
  KilnCancellationReset(NULL);
  KilnCancellationFree(NULL);
  KilnThreadPoolFree(NULL);
  EXPECT(KilnModelNumStates(NULL) == 0 && KilnExecutorNumStates(NULL) == 0);
  EXPECT(KilnModelName(NULL) == NULL && KilnArrayTensor(NULL) == NULL);
  EXPECT(KilnModelNumInputs(NULL) == 0 && KilnModelNumOutputs(NULL) == 0);
  EXPECT(KilnModelConstantBytes(NULL) == 0 && KilnModelNumThreads(NULL) == 0);
  EXPECT(KilnModelWorkspaceBytes(NULL) == 0 && KilnExecutorIsParam(NULL, 0) == 0);
  EXPECT(KilnExecutorNumInputs(NULL) == 0 && KilnExecutorNumOutputs(NULL) == 0);
  KilnModelFree(NULL);
  KilnModuleFree(NULL);
  KilnArrayFree(NULL);
  KilnExecutorFree(NULL);
  KilnStringFree(NULL);
}

static void TestProcess(void) {
  EXPECT(strlen(KilnRuntimeVersion()) >= 5);
  EXPECT_CODE(KILN_INVALID_ARGUMENT, KilnSetNumThreads(-1));
  EXPECT_CODE(KILN_OK, KilnSetNumThreads(2));
  EXPECT(KilnNumThreads() == 2);
  EXPECT_CODE(KILN_OK, KilnSetIdleWorkspaceLimit(0));
  KilnTrimWorkspaces();
  EXPECT(KilnIdleWorkspaceBytes() == 0);
}

int main(void) {
  TestLoading();
  TestModel();
  TestExecutor();
  TestState();
  TestRunOptions();
  TestNull();
  TestProcess();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
