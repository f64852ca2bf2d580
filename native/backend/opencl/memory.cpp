// Buffers, sub-buffers and pipes, and what they take from the shares.
#include <algorithm>

#include "backend/opencl/memory_create.h"
#include "backend/opencl/session.h"
#include "backend/opencl/transfer_size.h"

namespace flexrack::backend::opencl {

bool Charge::take(std::uint32_t device) {
  const std::lock_guard guard(lock_);
  for (const auto one : devices_)
    if (one == device) return true;
  if (!account_->charge(device, bytes_)) return false;
  devices_.push_back(device);
  return true;
}

bool Charge::raise(std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  if (bytes <= bytes_) return true;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (account_->charge(devices_[i], bytes - bytes_)) continue;
    while (i-- > 0) account_->refund(devices_[i], bytes - bytes_);
    return false;
  }
  bytes_ = bytes;
  return true;
}

std::shared_ptr<Charge> charge_for(const ContextRecord& context, std::uint64_t bytes) {
  auto charge = std::make_shared<Charge>(context.engine->account, bytes);
  // With several shares nobody knows yet where it will be: `reserve` says so.
  const auto share = context.devices[0]->share;
  const bool is_one = std::all_of(context.devices.begin(), context.devices.end(),
                                  [&](const auto& device) { return device->share == share; });
  if (is_one && !charge->take(share)) return nullptr;
  return charge;
}

cl_mem_flags device_flags(std::uint64_t flags, bool has_content) {
  constexpr auto kHost = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY |
                         CL_MEM_HOST_NO_ACCESS;
  return (flags & ~kHost) | (has_content ? CL_MEM_COPY_HOST_PTR : 0);
}

bool has_valid_host_flags(std::uint64_t flags) {
  const auto access = flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS);
  const bool is_twice = (flags & CL_MEM_USE_HOST_PTR) && (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR));
  return (access & (access - 1)) == 0 && !is_twice;
}

void keep_charge(MemoryRecord& memory, std::shared_ptr<Charge> charge) {
  memory.charge = std::move(charge);
  auto* held = new std::shared_ptr<Charge>(memory.charge);
  const auto forget = [](cl_mem, void* data) { delete static_cast<std::shared_ptr<Charge>*>(data); };
  // Commands under way keep the native object longer than the client does, and its memory with it.
  if (native().clSetMemObjectDestructorCallback(memory.native, forget, held) != CL_SUCCESS) delete held;
}

namespace {

cl_int create_buffer(ContextRecord& context, std::uint64_t flags, std::uint64_t size, const void* content,
                     Ref<MemoryRecord>& out) {
  if (!has_valid_host_flags(flags)) return CL_INVALID_VALUE;
  if (size == 0 || size > context.largest) return CL_INVALID_BUFFER_SIZE;
  auto charge = charge_for(context, size);
  if (!charge) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  auto memory = Ref<MemoryRecord>::adopt(new MemoryRecord);
  cl_int status = CL_SUCCESS;
  memory->native = native().clCreateBuffer(context.native, device_flags(flags, content != nullptr), size,
                                           const_cast<void*>(content), &status);
  if (status != CL_SUCCESS || !memory->native) return status != CL_SUCCESS ? status : CL_OUT_OF_RESOURCES;
  memory->context = Ref<ContextRecord>(&context);
  memory->size = size;
  keep_charge(*memory, std::move(charge));
  out = std::move(memory);
  return CL_SUCCESS;
}

}  // namespace

void Session::on(const cl::CreateBuffer& m, Respond<cl::CreateBufferReply> respond) {
  auto* context = table_.find<ContextRecord>(m.context);
  const auto refuse_with = [&](cl_int status) {
    if (!m.content.is_inline()) engine_->link.cancel(m.content.ticket);
    respond({.status = status});
  };
  if (!context) return refuse_with(CL_INVALID_CONTEXT);
  if (m.memory == 0 || table_.has(m.memory)) return refuse_with(CL_INVALID_VALUE);
  if (m.content.size > m.size) return refuse_with(CL_INVALID_BUFFER_SIZE);
  if (m.content.size != 0 && m.content.size != m.size) return refuse_with(CL_INVALID_HOST_PTR);
  const auto make = [this, context = Ref<ContextRecord>(context), handle = m.memory, flags = m.flags,
                     size = m.size](const void* content) -> cl_int {
    Ref<MemoryRecord> memory;
    const auto status = create_buffer(*context, flags, size, content, memory);
    if (status != CL_SUCCESS) return status;
    const std::lock_guard guard(lock_);
    return table_.insert(handle, std::move(memory)) ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
  };
  if (m.content.is_inline()) return respond({.status = make(m.content.size ? m.content.inline_data.data() : nullptr)});
  if (m.size > context->largest) return refuse_with(CL_INVALID_BUFFER_SIZE);
  const auto staging = Staging::make(m.size);
  if (!staging) return refuse_with(CL_OUT_OF_HOST_MEMORY);
  auto later = std::make_shared<Respond<cl::CreateBufferReply>>(std::move(respond));
  engine_->link.land(m.content.ticket, staging->span(), [make, staging, later](bool has_arrived) {
    if (has_arrived) (*later)({.status = make(staging->data())});
    else later->refuse(wire::Refusal::internal);
  });
}

void Session::on(const cl::CreateSubBuffer& m, Respond<cl::CreateSubBufferReply> respond) {
  auto* parent = table_.find<MemoryRecord>(m.parent);
  if (!parent || parent->sort != MemoryRecord::Sort::buffer) return respond({.status = CL_INVALID_MEM_OBJECT});
  if (!has_valid_host_flags(m.flags) || !is_within(m.origin, m.size, parent->size))
    return respond({.status = CL_INVALID_VALUE});
  auto memory = Ref<MemoryRecord>::adopt(new MemoryRecord);
  const cl_buffer_region region{m.origin, m.size};
  cl_int status = CL_SUCCESS;
  memory->native = native().clCreateSubBuffer(parent->native, device_flags(m.flags, false),
                                              CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
  memory->context = parent->context;
  memory->size = m.size;
  memory->parent = Ref<MemoryRecord>(parent);
  if (status == CL_SUCCESS && !table_.insert(m.memory, std::move(memory))) status = CL_OUT_OF_HOST_MEMORY;
  respond({.status = status});
}

void Session::on(const cl::Reserve& m, Respond<cl::ReserveReply> respond) {
  auto* memory = table_.find<MemoryRecord>(m.memory);
  if (!memory) return respond({.status = CL_INVALID_MEM_OBJECT});
  const auto device = memory->context->device(m.device);
  if (!device) return respond({.status = CL_INVALID_DEVICE});
  auto* whole = memory;
  while (whole->parent) whole = whole->parent.get();
  respond(
      {.status = !whole->charge || whole->charge->take(device->share) ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE});
}

}  // namespace flexrack::backend::opencl
