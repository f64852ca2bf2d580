// cuDevice*: what can be asked of a device without a context.
#include <cstdio>
#include <cstring>

#include "sim/driver/device.h"
#include "sim/driver/failure.h"
#include "sim/driver/settings.h"

using namespace flexrack::sim;

namespace {

CUresult get_uuid(CUuuid* uuid, CUdevice ordinal) {
  return call([&] {
    require(uuid);
    std::memcpy(uuid->bytes, device(ordinal).uuid.data(), sizeof uuid->bytes);
  });
}

/// Which operations one device can do atomically on the memory of another, or of the host: all that it can on its own.
void atomic_capabilities(unsigned int* capabilities, const CUatomicOperation* operations, unsigned int count,
                         unsigned int all) {
  require(capabilities && operations && count > 0);
  for (unsigned int i = 0; i < count; ++i) {
    require(operations[i] >= CU_ATOMIC_OPERATION_INTEGER_ADD && operations[i] < CU_ATOMIC_OPERATION_MAX);
    capabilities[i] = all;
  }
}

}  // namespace

extern "C" {

CUresult cuDeviceGet(CUdevice* found, int ordinal) {
  return call([&] {
    require(found);
    *found = device(ordinal).ordinal;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return call([&] {
    require(count);
    *count = device_count();
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice ordinal) {
  return call([&] {
    require(name && length > 0);
    device(ordinal);
    std::snprintf(name, static_cast<std::size_t>(length), "%s", device_name(settings()));
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice ordinal) { return get_uuid(uuid, ordinal); }
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice ordinal) { return get_uuid(uuid, ordinal); }

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice ordinal) {
  return call([&] {
    require(bytes);
    *bytes = device(ordinal).heap.capacity();
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice ordinal) {
  return call([&] {
    require(value);
    require(attribute(device(ordinal), static_cast<int>(which), *value));
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
  return call([&] {
    require(major && minor);
    device(ordinal);
    *major = model().major;
    *minor = model().minor;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice ordinal) {
  return call([&] {
    require(properties);
    const auto& of = device(ordinal);
    const auto ask = [&](int which) {
      int value = 0;
      attribute(of, which, value);
      return value;
    };
    properties->maxThreadsPerBlock = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (int i = 0; i < 3; ++i) {
      properties->maxThreadsDim[i] = ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
      properties->maxGridSize[i] = ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    properties->sharedMemPerBlock = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    properties->totalConstantMemory = ask(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    properties->SIMDWidth = ask(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    properties->memPitch = ask(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    properties->regsPerBlock = ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    properties->clockRate = ask(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    properties->textureAlign = ask(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  });
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* width, CUarray_format, unsigned channels, CUdevice ordinal) {
  return call([&] {
    require(width && (channels == 1 || channels == 2 || channels == 4));
    int most = 0;
    attribute(device(ordinal), CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, most);
    *width = static_cast<size_t>(most);
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* found, const char* text) {
  return call([&] {
    require(found && text);
    unsigned domain = 0, bus = 0, number = 0, function = 0;
    int end = 0;
    const auto is_all = [&] { return end > 0 && text[end] == 0; };
    // The forms that cuda.h allows: with and without domain, with and without function.
    const bool is_read =
        (std::sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &number, &function, &end) == 4 && is_all()) ||
        (end = 0, std::sscanf(text, "%x:%x:%x%n", &domain, &bus, &number, &end) == 3 && is_all()) ||
        (end = 0, domain = 0, std::sscanf(text, "%x:%x.%x%n", &bus, &number, &function, &end) == 3 && is_all());
    require(is_read);
    for (int i = 0; i < device_count(); ++i) {
      const auto& one = device(i);
      if (static_cast<int>(domain) != one.pci_domain || static_cast<int>(bus) != one.pci_bus ||
          static_cast<int>(number) != one.pci_device || function != 0)
        continue;
      *found = i;
      return;
    }
    fail(CUDA_ERROR_INVALID_DEVICE);
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice ordinal) {
  return call([&] {
    require(text && length > 0);
    std::snprintf(text, static_cast<std::size_t>(length), "%s", device(ordinal).pci_text().c_str());
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType type, CUdevice ordinal) {
  return call([&] {
    require(supported && type == CU_EXEC_AFFINITY_TYPE_SM_COUNT);
    device(ordinal);
    *supported = 0;
  });
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                           unsigned int count, CUdevice ordinal) {
  return call([&] {
    device(ordinal);
    atomic_capabilities(capabilities, operations, count, 0);
  });
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                          unsigned int count, CUdevice from, CUdevice to) {
  return call([&] {
    require(device(from).ordinal != device(to).ordinal, CUDA_ERROR_INVALID_DEVICE);
    atomic_capabilities(capabilities, operations, count,
                        CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_SCALAR_32 |
                            CU_ATOMIC_CAPABILITY_SCALAR_64);
  });
}

}  // extern "C"
