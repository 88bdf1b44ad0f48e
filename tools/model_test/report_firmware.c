// SPDX-License-Identifier: Apache-2.0
#include "runtime_crt/platform/bare_metal/semihosting.h"
#include "tools/model_test/report.h"

void Report(const char* text) { SemihostingWrite(text); }
