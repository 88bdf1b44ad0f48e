// SPDX-License-Identifier: Apache-2.0
//
// Scratch memory that runs of models have used and that is kept for later runs.
//
// A run takes a block of memory when it begins and gives it back when it ends, so a process keeps as
// many large blocks as runs were under way at the same time, whatever their threads and models. A
// block that is too small for a run is replaced by a larger one. When a model goes, so do the blocks
// that are larger than any model left can use; with the last model, all go.
//
// Memory that an Executor allocates and the workspace that a caller passes to Model::Run are not
// meant here.
//
//   TrimWorkspaces();                   // after a peak of load
//   SetIdleWorkspaceLimit(64 << 20);    // from here on at most 64 MiB stay between runs
#ifndef KILN_RUNTIME_CPP_WORKSPACES_H_
#define KILN_RUNTIME_CPP_WORKSPACES_H_

#include <cstdint>

namespace kiln::runtime {

// Bytes that are kept and not used by a run, on all devices.
uint64_t IdleWorkspaceBytes();

// Frees all memory that no run uses, of all threads; returns how many bytes these were. Safe from
// any thread at any time; the next runs allocate anew.
uint64_t TrimWorkspaces();

// Keeps at most `bytes` of memory that no run uses. If there is more, the call frees all large idle
// blocks at once; after it, a block that would exceed the limit when a run ends is freed. Without a
// call there is no limit. Blocks of up to 256 KiB stay with their threads and do not count, but a
// limit of 0 keeps none of them either.
void SetIdleWorkspaceLimit(uint64_t bytes);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_WORKSPACES_H_
