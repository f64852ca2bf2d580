// Memory from pools, in the order of a stream.
#include "backend/cuda/call_context.h"
#include "backend/cuda/memory.h"

namespace flexrack::backend::cuda {

void Memory::on(const cu::DefaultPool& m) {
  CallContext call(core_, m.kOp, 0);
  CUmemoryPool pool = nullptr;
  call.run(core_.table.cuDeviceGetDefaultMemPool, &pool, call.device(m.device));
  if (auto* record = call.keep(m.pool, pool)) {
    record->device = m.device;
    record->flags = 1;  // not ours to destroy
  }
  call.end();
}

void Memory::on(const cu::CreatePool& m, Respond<cu::CreatePoolReply> respond) {
  CallContext call(core_, m.kOp, 0);
  CUmemPoolProps wish{};
  wish.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wish.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wish.location.id = call.device(m.device);
  wish.maxSize = m.maximum;
  wish.usage = static_cast<unsigned short>(m.flags);
  CUmemoryPool pool = nullptr;
  call.run(core_.table.cuMemPoolCreate, &pool, &wish);
  if (auto* record = call.keep(m.pool, pool)) record->device = m.device;
  else if (pool) core_.table.cuMemPoolDestroy(pool);
  respond({.status = as_wire(call.status())});
}

void Memory::on(const cu::AllocateFromPool& m, Respond<cu::AllocateFromPoolReply> respond) {
  core_.behind_frees([this, m, answer = std::make_shared<Respond<cu::AllocateFromPoolReply>>(std::move(respond))] {
    allocate(m, *answer);
  });
}

void Memory::allocate(const cu::AllocateFromPool& m, Respond<cu::AllocateFromPoolReply>& respond) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  const auto stream = call.get<CUstream>(m.stream);
  auto* pool = m.pool != 0 ? call.record(m.pool, Kind::pool) : nullptr;
  if (!call.is_good()) return respond({.status = as_wire(call.status())});
  const auto device = pool ? pool->device : core_.device_of(m.context);
  if (core_.swap) {
    std::uint64_t address = 0;
    const auto status = allocate_swappable(m.context, m.size, address);
    if (status != CUDA_ERROR_OUT_OF_MEMORY || !core_.pool_frees.any() || !core_.waiters.has_room())
      return respond({.status = as_wire(status), .address = address});
    // What was given back in the order of streams is free when they have got there.
    return core_.later(m.context,
                       [this, m, answer = std::make_shared<Respond<cu::AllocateFromPoolReply>>(std::move(respond))] {
                         core_.pool_frees.wait();
                         const std::lock_guard guard(core_.lock);
                         std::uint64_t at = 0;
                         const auto result = allocate_swappable(m.context, m.size, at);
                         (*answer)({.status = as_wire(result), .address = at});
                       });
  }
  if (!core_.charge(device, m.size)) return respond({.status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)});
  CUdeviceptr address = 0;
  if (pool)
    call.run(core_.table.cuMemAllocFromPoolAsync, &address, static_cast<size_t>(m.size),
             static_cast<CUmemoryPool>(pool->native), stream);
  else call.run(core_.table.cuMemAllocAsync, &address, static_cast<size_t>(m.size), stream);
  if (call.is_good())
    core_.know(address, {.sort = Allocation::Sort::from_pool,
                         .device = device,
                         .context = m.context,
                         .size = m.size,
                         .charged = m.size});
  else core_.refund(device, m.size);
  respond({.status = as_wire(call.status()), .address = address});
}

/// Free for the next who asks on that stream at once, as the API has it; the share too, since the next bytes are the
/// same ones.
void Memory::on(const cu::FreeToPool& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  const auto found = core_.allocations.find(m.address);
  if (call.is_good() && found != core_.allocations.end() && found->second.sort == Allocation::Sort::swappable) {
    free_in_order(call, stream, std::move(found->second.block));
    core_.allocations.erase(found);
    return call.end();
  }
  call.check(found != core_.allocations.end() &&
             (found->second.sort == Allocation::Sort::from_pool || found->second.sort == Allocation::Sort::plain));
  if (call.run(core_.table.cuMemFreeAsync, m.address, stream)) {
    core_.refund(found->second.device, found->second.charged);
    core_.allocations.erase(found);
  }
  call.end();
}

/// Of a session that takes turns: `held` goes when the stream has got here.
void Memory::free_in_order(CallContext& call, CUstream stream, std::shared_ptr<void> held) {
  CUevent event = nullptr;
  call.run(core_.table.cuEventCreate, &event, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC));
  call.run(core_.table.cuEventRecord, event, stream);
  core_.pool_frees.begin();
  core_.later(call.context(), [this, event, held = std::move(held)]() mutable {
    if (event) {
      core_.table.cuEventSynchronize(event);
      core_.table.cuEventDestroy_v2(event);
    } else {
      core_.table.cuCtxSynchronize();
    }
    held = nullptr;
    core_.pool_frees.end();
  });
}

namespace {

/// Those of cuda.h 13.0 are an int or 64 bits; what a driver will add may be larger than what it is given room for.
bool is_number(CUmemPool_attribute which) {
  return which >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES && which <= CU_MEMPOOL_ATTR_USED_MEM_HIGH;
}

}  // namespace

void Memory::on(const cu::SetPoolAttribute& m) {
  CallContext call(core_, m.kOp, 0);
  auto value = m.value;
  call.check(is_number(static_cast<CUmemPool_attribute>(m.which)));
  call.run(core_.table.cuMemPoolSetAttribute, call.get<CUmemoryPool>(m.pool), static_cast<CUmemPool_attribute>(m.which),
           static_cast<void*>(&value));
  call.end();
}

void Memory::on(const cu::PoolAttribute& m, Respond<cu::PoolAttributeReply> respond) {
  CallContext call(core_, m.kOp, 0);
  std::uint64_t value = 0;  // an int or a cuuint64_t; little-endian, so both are read well
  call.check(is_number(static_cast<CUmemPool_attribute>(m.which)));
  call.run(core_.table.cuMemPoolGetAttribute, call.get<CUmemoryPool>(m.pool), static_cast<CUmemPool_attribute>(m.which),
           static_cast<void*>(&value));
  respond({.status = as_wire(call.status()), .value = value});
}

}  // namespace flexrack::backend::cuda
