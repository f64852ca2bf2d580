// What the creation of every sort of memory object needs.
#pragma once

#include "backend/opencl/records.h"

namespace flexrack::backend::opencl {

/// Takes the bytes from the device's share; null when there is not enough left.
std::shared_ptr<Charge> charge_for(const ContextRecord& context, std::uint64_t bytes);
/// Without what concerns the host of the application, which is another one: the client sees to that.
cl_mem_flags device_flags(std::uint64_t flags, bool has_content);
/// What a device would refuse in the flags that device_flags() takes away.
bool has_valid_host_flags(std::uint64_t flags);
/// Gives the charge back when the driver has freed the object.
void keep_charge(MemoryRecord& memory, std::shared_ptr<Charge> charge);

}  // namespace flexrack::backend::opencl
