// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_PIPELINE_DESCRIBE_MODULE_H_
#define KILN_COMPILER_PIPELINE_DESCRIBE_MODULE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/external/external_module.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/module_interface.h"
#include "compiler/pipeline/planned.h"
#include "compiler/pipeline/ports.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// The metadata of the module. InvalidArgument if the quantization of a port does not fit its
// tensor.
absl::StatusOr<proto::Metadata> DescribeModule(const Planned& planned, const Ports& ports,
                                               const ModuleInterface& interface,
                                               const std::vector<ExternalModule>& modules,
                                               const CompileOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_PIPELINE_DESCRIBE_MODULE_H_
