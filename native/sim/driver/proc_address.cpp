// cuGetProcAddress, cuGetExportTable: how programs find the rest.
#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "cuda/export_tables.h"
#include "cuda/own_tables.h"
#include "gen/cuda/entry_points.h"
#include "sim/driver/alike.h"
#include "sim/driver/context.h"
#include "sim/driver/device.h"
#include "sim/driver/memory.h"
#include "sim/driver/module.h"
#include "sim/driver/settings.h"

namespace flexrack::sim {
namespace {

/// This library, by the place of one of its functions: found whatever its file is called.
void* own_library() {
  static void* const handle = [] {
    Dl_info info{};
    if (!dladdr(reinterpret_cast<void*>(&cuGetProcAddress_v2), &info) || !info.dli_fname)
      return static_cast<void*>(nullptr);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return handle;
}

/// By the entry's place in the table; null for what this driver does not have.
void* address_of(const cu::EntryPoint& entry) {
  static auto* const addresses = [] {
    auto* all = new std::vector<void*>;
    for (const auto& one : cu::entry_points()) {
      Dl_info info{};
      auto* found = dlsym(own_library() ? own_library() : RTLD_DEFAULT, one.symbol);
      // A symbol that a library this one depends on happens to have is not ours.
      Dl_info own{};
      dladdr(reinterpret_cast<void*>(&cuGetProcAddress_v2), &own);
      all->push_back(found && dladdr(found, &info) && info.dli_fbase == own.dli_fbase ? found : nullptr);
    }
    return all;
  }();
  return (*addresses)[static_cast<std::size_t>(&entry - cu::entry_points().data())];
}

class Facts : public cuda::DriverFacts {
 public:
  CUresult primary_context(CUdevice ordinal, CUcontext* context) noexcept override {
    return call([&] { *context = device(ordinal).primary->handle(); });
  }
  CUcontext current_context() noexcept override { return current_handle(); }
  CUresult context_id(CUcontext context, unsigned long long* id) noexcept override { return cuCtxGetId(context, id); }
  std::vector<cuda::DeviceIdentity> devices() noexcept override {
    std::vector<cuda::DeviceIdentity> all;
    for (int i = 0; i < device_count(); ++i) {
      const auto& one = device(i);
      all.push_back({one.uuid, one.pci_domain, one.pci_bus, one.pci_device});
    }
    return all;
  }
  CUresult load_module(CUmodule* module, const void* image) noexcept override {
    return cuModuleLoadData(module, image);
  }
  int version() noexcept override {
    int number = 0;
    return cuDriverGetVersion(&number) == CUDA_SUCCESS ? number : 0;
  }
};

CUresult find(const char* symbol, void** function, int version, cuuint64_t flags,
              CUdriverProcAddressQueryResult* status) {
  if (status) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (!function || !symbol) return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  const auto found = cu::find(symbol, version, flags);
  if (found.entry) *function = address_of(*found.entry);
  if (*function) {
    if (status) *status = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
  }
  if (status && !found.entry) *status = found.status;
  return CUDA_ERROR_NOT_FOUND;
}

CUresult busy_time(CUdevice ordinal, std::uint64_t* nanoseconds) {
  return call_uninitialised([&] {
    require(nanoseconds);
    *nanoseconds = device(ordinal).busy.total();
  });
}

CUresult memory_used(CUdevice ordinal, std::uint64_t* bytes) {
  return call_uninitialised([&] {
    require(bytes);
    *bytes = device(ordinal).heap.used();
  });
}

CUresult describe(CUdevice ordinal, flexrack::cuda::SimTable::Facts* facts) {
  return call_uninitialised([&] {
    static const Settings of = settings_from_environment();
    require(facts && ordinal >= 0 && static_cast<unsigned>(ordinal) < of.devices, CUDA_ERROR_INVALID_DEVICE);
    *facts = {device_name(of),     make_uuid(of.seed, ordinal), 0,        pci_bus_of(ordinal), 0, of.capability.major,
              of.capability.minor, of.driver.number(),          of.memory};
  });
}

CUresult place_memory(CUdeviceptr address, std::size_t size) {
  return call([&] {
    require(size > 0);
    Memory::instance().add(place_device(current(), address, size));
  });
}

CUresult layout(CUmodule module, std::uint64_t* numbers, std::size_t room, std::size_t* count) {
  return call([&] {
    require(numbers && count);
    const auto all = module_of(module)->layout();
    *count = all.size();
    std::copy_n(all.begin(), std::min(room, all.size()), numbers);
  });
}

CUresult lay_out(CUmodule module, const std::uint64_t* numbers, std::size_t count) {
  return call([&] {
    require(numbers || count == 0);
    module_of(module)->lay_out({numbers, numbers + count});
  });
}

const flexrack::cuda::SimTable sim_table{.busy = busy_time,
                                         .memory = memory_used,
                                         .describe = describe,
                                         .place_memory = place_memory,
                                         .layout = layout,
                                         .lay_out = lay_out,
                                         .lay_out_alike = lay_out_alike};

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  return call_uninitialised([&] { return find(symbol, function, version, flags, status); });
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  return call_uninitialised([&] { return find(symbol, function, version, flags, nullptr); });
}

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  static auto* facts = new Facts;
  return call_uninitialised([&] {
    if (table && id && flexrack::cuda::is_named<flexrack::cuda::SimTable>(*id))
      return *table = &sim_table, CUDA_SUCCESS;
    return flexrack::cuda::export_table(*facts, table, id);
  });
}

}  // extern "C"
