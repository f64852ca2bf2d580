// Shared virtual memory, coarse grained: allocations at the addresses the device's driver chooses, and commands on
// them.
#include "backend/opencl/session.h"
#include "backend/opencl/transfer_size.h"

namespace flexrack::backend::opencl {

namespace {

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); }

}  // namespace

void Session::on(const cl::SvmAllocate& call, Respond<cl::SvmAllocateReply> respond) {
  auto* context = table_.find<ContextRecord>(call.context);
  const auto& cl = native();
  // Fine grain cannot be kept over a link, so it is not given out.
  constexpr cl_svm_mem_flags kKnown = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
  if (!context || !cl.clSVMAlloc || !cl.clSVMFree || call.memory == 0 || table_.is_full() || table_.has(call.memory))
    return respond({.address = 0});
  if (call.size == 0 || call.size > context->largest || (call.flags & ~kKnown)) return respond({.address = 0});
  auto record = Ref<SvmRecord>::adopt(new SvmRecord);
  record->context = Ref<ContextRecord>(context);
  record->size = call.size;
  record->charge = std::make_shared<Charge>(engine_->account, call.size);
  // Memory that every device of the context reaches: charged to each.
  for (const auto& device : context->devices)
    if (!record->charge->take(device->share)) return respond({.address = 0});
  record->address = cl.clSVMAlloc(context->native, call.flags, call.size, call.alignment);
  if (!record->address) return respond({.address = 0});
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(record->address));
  svm_[address] = record.get();
  table_.insert(call.memory, std::move(record));
  respond({.address = address});
}

SvmRecord* Session::shared(const ContextRecord& context, std::uint64_t address, std::uint64_t size) {
  auto next = svm_.upper_bound(address);
  if (next == svm_.begin()) return nullptr;
  const auto& [start, record] = *std::prev(next);
  return record->context.get() == &context && is_within(address - start, size, record->size) ? record : nullptr;
}

void Session::on(const cl::SvmCopy& m) {
  Command command;
  if (!begin(m, command)) return;
  const auto& context = *command.queue->context;
  if (!shared(context, m.source, m.size) || !shared(context, m.target, m.size))
    return refuse(command, CL_INVALID_VALUE);
  end(command, native().clEnqueueSVMMemcpy(command.queue->native, CL_FALSE, pointer(m.target), pointer(m.source),
                                           m.size, command.count(), command.list(), command.out()));
}

void Session::on(const cl::SvmFill& m) {
  Command command;
  if (!begin(m, command)) return;
  if (m.pattern.empty() || m.pattern.size() > kLongestPattern || !shared(*command.queue->context, m.address, m.size))
    return refuse(command, CL_INVALID_VALUE);
  end(command, native().clEnqueueSVMMemFill(command.queue->native, pointer(m.address), m.pattern.data(),
                                            m.pattern.size(), m.size, command.count(), command.list(), command.out()));
}

void Session::on(const cl::SvmMigrate& m) {
  Command command;
  if (!begin(m, command)) return;
  std::vector<const void*> pointers;
  std::vector<size_t> sizes;
  if (m.addresses.empty() || m.addresses.size() != m.sizes.size()) return refuse(command, CL_INVALID_VALUE);
  for (std::size_t i = 0; i < m.addresses.size(); ++i) {
    if (!shared(*command.queue->context, m.addresses[i], m.sizes[i])) return refuse(command, CL_INVALID_VALUE);
    pointers.push_back(pointer(m.addresses[i]));
    sizes.push_back(m.sizes[i]);
  }
  // A hint, and newer than shared memory itself: where the driver has no such command, nothing has to move.
  if (!native().clEnqueueSVMMigrateMem)
    return static_cast<void>(end(command, native().clEnqueueMarkerWithWaitList(command.queue->native, command.count(),
                                                                               command.list(), command.out())));
  end(command,
      native().clEnqueueSVMMigrateMem(command.queue->native, static_cast<cl_uint>(pointers.size()), pointers.data(),
                                      sizes.data(), m.flags, command.count(), command.list(), command.out()));
}

}  // namespace flexrack::backend::opencl
