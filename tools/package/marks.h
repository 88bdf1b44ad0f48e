// SPDX-License-Identifier: Apache-2.0
// Values of the marks in the templates of all build systems: names, files, sizes, compiler flags,
// and the lines of a program that runs the model.
#ifndef KILN_TOOLS_PACKAGE_MARKS_H_
#define KILN_TOOLS_PACKAGE_MARKS_H_

#include "tools/package/package.h"
#include "tools/package/template.h"

namespace kiln::tools {

Marks MarksOf(const PackageRequest& request, const PackagedModel& model);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_PACKAGE_MARKS_H_
