// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "tools/model_test/report.h"

void Report(const char* text) { (void)fputs(text, stdout); }
