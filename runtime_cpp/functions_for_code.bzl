# SPDX-License-Identifier: Apache-2.0
"""Linker flags of every program with the C++ runtime."""

# Functions that compiled code may call by name. Every program with the runtime exports them to the
# libraries that it loads.
_FUNCTIONS_FOR_CODE = [
    "TVMAPISetLastError",
    "TVMBackendAllocWorkspace",
    "TVMBackendFreeWorkspace",
    "TVMBackendGetFuncFromEnv",
    "TVMBackendParallelBarrier",
    "TVMBackendParallelLaunch",
    "TVMBackendRegisterSystemLibSymbol",
    "TVMBackendRunOnce",
    "TVMFuncCall",
]

EXPORT_FLAGS = ["-Wl,--export-dynamic-symbol=" + name for name in _FUNCTIONS_FOR_CODE]
