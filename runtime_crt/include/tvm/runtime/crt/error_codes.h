// SPDX-License-Identifier: Apache-2.0
//
// Return codes of the C runtime: category << 8 | code. 0 is success.
#ifndef TVM_RUNTIME_CRT_ERROR_CODES_H_
#define TVM_RUNTIME_CRT_ERROR_CODES_H_

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  kTvmErrorNoError = 0,

  kTvmErrorFunctionNameNotFound = 0x100,
  kTvmErrorFunctionIndexInvalid = 0x101,
  kTvmErrorFunctionRegistryFull = 0x102,
  kTvmErrorFunctionAlreadyDefined = 0x103,
  kTvmErrorBufferTooSmall = 0x104,

  kTvmErrorPlatformCheckFailure = 0x500,
  kTvmErrorPlatformMemoryManagerInitialized = 0x501,
  kTvmErrorPlatformShutdown = 0x502,
  kTvmErrorPlatformNoMemory = 0x503,
  kTvmErrorPlatformTimerBadState = 0x504,
  kTvmErrorPlatformStackAllocBadFree = 0x505,

  kTvmErrorGeneratedInvalidStorageId = 0x600,

  kTvmErrorExecutorModuleAlreadyCreated = 0x700,
  kTvmErrorExecutorModuleBadContext = 0x701,
  kTvmErrorExecutorModuleNoSuchInput = 0x702,

  kTvmErrorFunctionCallNumArguments = 0x800,
  kTvmErrorFunctionCallWrongArgType = 0x801,
  kTvmErrorFunctionCallNotImplemented = 0x802,
  kTvmErrorFunctionCallInvalidArg = 0x803,

  // Bit of system errors. No function of this runtime returns one. This value makes the type four
  // bytes wide on targets whose enums are only as wide as their values need.
  kTvmErrorSystemErrorMask = -0x7fffffff - 1
} tvm_crt_error_t;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_CRT_ERROR_CODES_H_
