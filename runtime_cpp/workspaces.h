// SPDX-License-Identifier: Apache-2.0
//
// Scratch memory of runs, which is kept for later runs.
//
// A run takes a block of memory when it begins and returns it when it ends. A process therefore
// keeps as many large blocks as runs were in progress at the same time, independent of their
// threads and models. A block that is too small for a run is replaced by a larger one. When a model
// is destroyed, blocks that are larger than any other model needs are freed. When the last model is
// destroyed, all blocks are freed.
//
// The memory that an Executor allocates and the workspace that a caller passes to Model::Run are
// not part of this.
//
//   TrimWorkspaces();                   // after a peak of load
//   SetIdleWorkspaceLimit(64 << 20);    // from here on at most 64 MiB stay between runs
#ifndef KILN_RUNTIME_CPP_WORKSPACES_H_
#define KILN_RUNTIME_CPP_WORKSPACES_H_

#include <cstdint>

namespace kiln::runtime {

// Returns the number of bytes that are kept and not used by a run, on all devices.
uint64_t IdleWorkspaceBytes();

// Frees all memory of all threads that no run uses, and returns its size in bytes. Thread-safe.
// Later runs allocate memory again.
uint64_t TrimWorkspaces();

// Keeps at most `bytes` bytes that no run uses. If there are more, this call frees all large idle
// blocks. Later, a block that would exceed the limit at the end of a run is freed. The default is
// no limit. Blocks of up to 256 KiB stay with their threads and do not count. With a limit of 0
// they are freed, too.
void SetIdleWorkspaceLimit(uint64_t bytes);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_WORKSPACES_H_
