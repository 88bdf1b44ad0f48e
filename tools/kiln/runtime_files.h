// SPDX-License-Identifier: Apache-2.0
// Files that are embedded in the tool, so that it works without the source tree.
#ifndef KILN_TOOLS_KILN_RUNTIME_FILES_H_
#define KILN_TOOLS_KILN_RUNTIME_FILES_H_

#include "compiler/base/artifacts.h"

namespace kiln::tools {

// Headers of the C ABI and the C runtime, keyed by path below the include folder.
const Artifacts& RuntimeHeaders();

// The whole C runtime as a standalone project: headers, sources, build files.
const Artifacts& StandaloneRuntime();

// The page of `kiln bench --html`, with marks such as {{rows}}. One file.
const Artifacts& BenchPageTemplate();

// Chart.js, "chart.min.js".
const Artifacts& ChartLibrary();

// Templates of packages for build systems, as <system>/<path in the package>.in.
const Artifacts& PackageTemplates();

// The Apache License. One file.
const Artifacts& LicenseText();

// Style, script and templates of pages (tools/pages), keyed by name.
const Artifacts& PageFiles();

// "run_onnx.py", which runs ONNX Runtime.
const Artifacts& OnnxRuntimeScript();

// A QEMU plugin that counts instructions. One file.
const Artifacts& EmulatorPlugin();

// The boards of tools/firmware/boards.bzl as JSON. One file.
const Artifacts& BoardsJson();

// Start-up code and linker script for machines without an operating system, keyed by path below
// runtime_crt.
const Artifacts& BareMetalFiles();

// run_samples.c and run_samples.h of tools/validate/firmware.
const Artifacts& RunSamplesFiles();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_RUNTIME_FILES_H_
