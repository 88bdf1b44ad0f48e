// SPDX-License-Identifier: Apache-2.0
//
// Interface of a kind of device for the runtime: its memory, and copies to and from it.
//
// The CPU is built in. A program with another device registers a back end for it once, before it
// loads models. All allocations use GetDeviceApi. A device without a back end is therefore reported
// by name before anything runs.
//
//   absl::StatusOr<DeviceApi*> api = GetDeviceApi({kDLCPU, 0});
//   absl::StatusOr<void*> memory = (*api)->Allocate({kDLCPU, 0}, 1024, kAllocationAlignment);
#ifndef KILN_RUNTIME_CPP_DEVICE_API_H_
#define KILN_RUNTIME_CPP_DEVICE_API_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dlpack/dlpack.h"

namespace kiln::runtime {

// Alignment in bytes of all memory that the runtime allocates.
inline constexpr size_t kAllocationAlignment = 128;

// Alignment in bytes that memory of the caller needs to be used without a copy.
inline constexpr size_t kTensorAlignment = 64;

// Back end of one device type. All methods must be thread-safe.
class DeviceApi {
 public:
  virtual ~DeviceApi() = default;

  // Checks that `device` exists. Its type is the one that this back end was registered for.
  virtual absl::Status CheckDevice(DLDevice device) = 0;

  // Allocates memory. `alignment` is a power of two. `bytes` may be 0. Returns ResourceExhausted if
  // there is not enough memory.
  virtual absl::StatusOr<void*> Allocate(DLDevice device, size_t bytes, size_t alignment) = 0;

  virtual void Free(DLDevice device, void* memory) = 0;

  // Copies `bytes` bytes. One of the devices belongs to the back end. The other one is a device of
  // the same type or the CPU.
  virtual absl::Status Copy(const void* from, DLDevice from_device, void* to, DLDevice to_device,
                            size_t bytes) = 0;

  // Waits until all work on `device` has ended.
  virtual absl::Status Synchronize(DLDevice device) = 0;
};

// Makes `api` the back end of `device_type`. `api` is not owned and must live as long as the
// program. Returns AlreadyExists if the type has a back end.
absl::Status RegisterDeviceApi(int32_t device_type, DeviceApi* api);

// Returns the back end of `device`. NotFound, with the device and the known devices, if there is
// none.
absl::StatusOr<DeviceApi*> GetDeviceApi(DLDevice device);

// Copies between two devices of the same type, or between the CPU and another device. Returns
// Unimplemented for other pairs.
absl::Status CopyBetweenDevices(const void* from, DLDevice from_device, void* to,
                                DLDevice to_device, size_t bytes);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_DEVICE_API_H_
