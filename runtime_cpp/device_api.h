// SPDX-License-Identifier: Apache-2.0
//
// What the runtime needs of a kind of device: memory on it, copies to and from it.
//
// The CPU is built in. A program that has another device registers a back end for it once, before
// it loads models; everything that allocates goes through GetDeviceApi and so fails, by name, for a
// device without back end before anything runs.
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

// Alignment in bytes that memory of the caller's needs where it is used without a copy.
inline constexpr size_t kTensorAlignment = 64;

// Back end of one device type. Methods may be called from any thread.
class DeviceApi {
 public:
  virtual ~DeviceApi() = default;

  // Checks that `device` exists. The type is the one that this back end was registered for.
  virtual absl::Status CheckDevice(DLDevice device) = 0;

  // `alignment` is a power of two. ResourceExhausted if the memory is not to be had. 0 bytes is
  // fine.
  virtual absl::StatusOr<void*> Allocate(DLDevice device, size_t bytes, size_t alignment) = 0;

  virtual void Free(DLDevice device, void* memory) = 0;

  // Copies `bytes` bytes; one of the devices is the back end's, the other is the same or the CPU.
  virtual absl::Status Copy(const void* from, DLDevice from_device, void* to, DLDevice to_device,
                            size_t bytes) = 0;

  // Waits until all work on `device` has ended.
  virtual absl::Status Synchronize(DLDevice device) = 0;
};

// Makes `api` the back end of `device_type`. It is not owned and must live as long as the program.
// AlreadyExists if the type has one.
absl::Status RegisterDeviceApi(int32_t device_type, DeviceApi* api);

// The back end of `device`. NotFound, naming the device and the known ones, if there is none.
absl::StatusOr<DeviceApi*> GetDeviceApi(DLDevice device);

// Copies between any two devices of which at most one is not the CPU or both are the same.
absl::Status CopyBetweenDevices(const void* from, DLDevice from_device, void* to,
                                DLDevice to_device, size_t bytes);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_DEVICE_API_H_
