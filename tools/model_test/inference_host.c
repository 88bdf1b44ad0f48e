// SPDX-License-Identifier: Apache-2.0
#include "tools/model_test/model_case.h"

void BeginInference(void) {}
void EndInference(void) {}
void ReportInference(void) {}
