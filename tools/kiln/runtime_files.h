// SPDX-License-Identifier: Apache-2.0
// Files that the tool carries, so that it works without the source tree.
#ifndef KILN_TOOLS_KILN_RUNTIME_FILES_H_
#define KILN_TOOLS_KILN_RUNTIME_FILES_H_

#include "compiler/base/artifacts.h"

namespace kiln::tools {

// The headers of the C ABI and the C runtime, by path below the include folder.
const Artifacts& RuntimeHeaders();

// The whole C runtime as a project of its own: headers, sources, build files.
const Artifacts& StandaloneRuntime();

// The page of `kiln bench --html`, with marks such as {{rows}}; the one file of this.
const Artifacts& BenchPageTemplate();

// Chart.js, "chart.min.js".
const Artifacts& ChartLibrary();

// What packages for build systems are made from, as <system>/<path in the package>.in.
const Artifacts& PackageTemplates();

// The Apache License, the one file of this.
const Artifacts& LicenseText();

// Style, script and templates of pages (tools/pages), by name.
const Artifacts& PageFiles();

// "run_onnx.py", which runs ONNX Runtime.
const Artifacts& OnnxRuntimeScript();

// A plugin of QEMU that counts instructions, the one file of this.
const Artifacts& EmulatorPlugin();

// The boards of tools/firmware/boards.bzl as JSON, the one file of this.
const Artifacts& BoardsJson();

// Start-up code and linker script of machines without an operating system, by path below
// runtime_crt.
const Artifacts& BareMetalFiles();

// run_samples.c and run_samples.h of tools/validate/firmware.
const Artifacts& RunSamplesFiles();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_RUNTIME_FILES_H_
