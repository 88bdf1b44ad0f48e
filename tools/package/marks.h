// SPDX-License-Identifier: Apache-2.0
// What the templates of all build systems say of a model: names, files, sizes, the flags that its
// code is compiled with, and the lines of a program that runs it.
#ifndef KILN_TOOLS_PACKAGE_MARKS_H_
#define KILN_TOOLS_PACKAGE_MARKS_H_

#include "tools/package/package.h"
#include "tools/package/template.h"

namespace kiln::tools {

Marks MarksOf(const PackageRequest& request, const PackagedModel& model);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_PACKAGE_MARKS_H_
