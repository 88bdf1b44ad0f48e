// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/device_api.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/data_type.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

class CpuDeviceApi final : public DeviceApi {
 public:
  absl::Status CheckDevice(DLDevice device) override {
    if (device.device_id == 0) return absl::OkStatus();
    return absl::NotFoundError(
        absl::StrCat("device ", DeviceName(device), " does not exist; the only one is cpu:0"));
  }

  absl::StatusOr<void*> Allocate(DLDevice, size_t bytes, size_t alignment) override {
    if (alignment < sizeof(void*)) alignment = sizeof(void*);
    void* memory = nullptr;
    // A block of 0 bytes might have no address.
    if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot allocate ", bytes, " bytes aligned to ", alignment, " on cpu:0"));
    }
    return memory;
  }

  void Free(DLDevice, void* memory) override { free(memory); }

  absl::Status Copy(const void* from, DLDevice, void* to, DLDevice, size_t bytes) override {
    if (bytes != 0) memmove(to, from, bytes);
    return absl::OkStatus();
  }

  absl::Status Synchronize(DLDevice) override { return absl::OkStatus(); }
};

struct Registry {
  Registry() { apis[kDLCPU] = &cpu; }

  CpuDeviceApi cpu;
  std::mutex mutex;
  std::map<int32_t, DeviceApi*> apis;
};

Registry& GlobalRegistry() {
  static Registry* const registry = new Registry;
  return *registry;
}

}  // namespace

absl::Status RegisterDeviceApi(int32_t device_type, DeviceApi* api) {
  Registry& registry = GlobalRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  if (!registry.apis.emplace(device_type, api).second) {
    return absl::AlreadyExistsError(
        absl::StrCat("device ", DeviceName({device_type, 0}), " already has a back end"));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceApi*> GetDeviceApi(DLDevice device) {
  Registry& registry = GlobalRegistry();
  DeviceApi* api = &registry.cpu;
  // The CPU's back end is never replaced, so runs on the CPU take no lock.
  if (device.device_type != kDLCPU) {
    const std::lock_guard<std::mutex> lock(registry.mutex);
    const auto found = registry.apis.find(device.device_type);
    if (found == registry.apis.end()) {
      std::string known;
      for (const auto& entry : registry.apis) {
        absl::StrAppend(&known, known.empty() ? "" : ", ", DeviceName({entry.first, 0}));
      }
      return absl::NotFoundError(absl::StrCat("device ", DeviceName(device),
                                              " has no back end in this program; there is one for ",
                                              known));
    }
    api = found->second;
  }
  KILN_RETURN_IF_ERROR(api->CheckDevice(device));
  return api;
}

absl::Status CopyBetweenDevices(const void* from, DLDevice from_device, void* to,
                                DLDevice to_device, size_t bytes) {
  const DLDevice owner = from_device.device_type == kDLCPU ? to_device : from_device;
  const bool possible = from_device.device_type == to_device.device_type ||
                        from_device.device_type == kDLCPU || to_device.device_type == kDLCPU;
  if (!possible) {
    return absl::UnimplementedError(absl::StrCat("cannot copy from ", DeviceName(from_device),
                                                 " to ", DeviceName(to_device),
                                                 "; copy by way of cpu:0"));
  }
  KILN_ASSIGN_OR_RETURN(DeviceApi* const api, GetDeviceApi(owner));
  return api->Copy(from, from_device, to, to_device, bytes);
}

}  // namespace kiln::runtime
