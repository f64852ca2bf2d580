// Devices as the client describes them to itself, and contexts.
#include "backend/cuda/contexts.h"

#include "backend/cuda/call_context.h"
#include "backend/cuda/streams.h"

namespace flexrack::backend::cuda {
namespace {

/// CUdevice_attribute starts at 1 (cuda.h 13.0); a newer driver may know more than we do, which does no harm.
constexpr int kFirstAttribute = 1, kLastAttribute = 200;
constexpr CUlimit kLimits[] = {CU_LIMIT_STACK_SIZE,
                               CU_LIMIT_PRINTF_FIFO_SIZE,
                               CU_LIMIT_MALLOC_HEAP_SIZE,
                               CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
                               CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
                               CU_LIMIT_MAX_L2_FETCH_GRANULARITY,
                               CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
                               CU_LIMIT_SHMEM_SIZE,
                               CU_LIMIT_CIG_ENABLED,
                               CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED};

template <class Ask>
std::vector<cu::Attribute> attributes(int first, int last, Ask&& ask) {
  std::vector<cu::Attribute> found;
  for (int which = first; which <= last; ++which) {
    int value = 0;
    if (ask(&value, which) == CUDA_SUCCESS) found.push_back({which, value});
  }
  return found;
}

}  // namespace

void Contexts::on(const cu::Replicate& m, Respond<cu::ReplicateReply> respond) {
  core_.is_replica = true;
  if (const auto* sim = core_.library.sim(); sim && sim->lay_out_alike) sim->lay_out_alike(m.layout);
  respond({.status = as_wire(CUDA_SUCCESS)});
}

void Contexts::on(const cu::Describe& m, Respond<cu::DescribeReply> respond) {
  process_ = m.process;
  cu::DescribeReply reply;
  core_.table.cuDriverGetVersion(&reply.driver_version);
  for (std::uint32_t i = 0; i < core_.devices.size(); ++i) {
    const auto& device = core_.devices[i];
    cu::Device reported{.index = i,
                        .memory = device.memory,
                        .name = device.name,
                        .uuid = wire::bytes_of(device.uuid),
                        .pci = device.pci};
    reported.attributes = attributes(kFirstAttribute, kLastAttribute, [&](int* value, int which) {
      return core_.table.cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(which), device.native);
    });
    for (std::uint32_t other = 0; other < core_.devices.size(); ++other) {
      if (other == i) continue;
      int can = 0;
      core_.table.cuDeviceCanAccessPeer(&can, device.native, core_.devices[other].native);
      reported.peers.push_back({other, static_cast<std::uint32_t>(can), attributes(1, 8, [&](int* value, int which) {
                                  return core_.table.cuDeviceGetP2PAttribute(
                                      value, static_cast<CUdevice_P2PAttribute>(which), device.native,
                                      core_.devices[other].native);
                                })});
    }
    reply.devices.push_back(std::move(reported));
  }
  respond(reply);
}

/// Behind the end of every context before it: a primary context that is being reset would take with it what retains it
/// meanwhile.
void Contexts::on(const cu::CreateContext& m, Respond<cu::CreateContextReply> respond) {
  if (!core_.waiters.has_room()) return respond({.status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)});
  core_.behind_frees([this, m, answer = std::make_shared<Respond<cu::CreateContextReply>>(std::move(respond))] {
    create(m, *answer);
  });
}

void Contexts::create(const cu::CreateContext& m, Respond<cu::CreateContextReply>& respond) {
  CallContext call(core_, m.kOp, 0);
  const auto device = call.device(m.device);
  // A device has one primary context: under two handles it would end with the first.
  call.check(!call.is_good() || m.is_primary == 0 || core_.devices[m.device].primary == 0);
  if (!core_.handles.has_room(Kind::context)) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  std::uint64_t charged = call.is_good() ? core_.devices[m.device].context_memory : 0;
  if (!core_.charge(m.device, charged)) charged = 0, call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  const auto before = call.is_good() ? core_.own_memory(m.device) : std::nullopt;
  CUcontext made = nullptr;
  if (m.is_primary != 0) {
    call.run(core_.table.cuDevicePrimaryCtxSetFlags_v2, device, m.flags);
    call.run(core_.table.cuDevicePrimaryCtxRetain, &made, device);
  } else {
    call.run(core_.table.cuCtxCreate_v2, &made, m.flags, device);
    // Creating puts it on top of what is current, and there is an end to how high that grows.
    CUcontext top = nullptr;
    if (made && core_.table.cuCtxPopCurrent_v2) core_.table.cuCtxPopCurrent_v2(&top);
    core_.current = 0;
  }
  if (call.is_good() && !core_.settle(m.device, before, charged)) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (auto* record = call.keep(m.context, made)) {
    record->context = m.context;
    record->device = m.device;
    record->flags = m.is_primary != 0 ? 1 : 0;
    entered(m.device);
    record->users = std::make_shared<Users>();
    record->host = std::make_shared<HostSide>(core_.table);
    record->charged = charged;
    record->memory = std::make_shared<ContextMemory>();
    if (m.is_primary != 0) core_.devices[m.device].primary = m.context;
  } else if (made) {
    if (m.is_primary != 0) core_.table.cuDevicePrimaryCtxRelease_v2(device);
    else core_.table.cuCtxDestroy_v2(made);
    core_.refund(m.device, charged);
  } else {
    core_.refund(m.device, charged);
  }
  cu::CreateContextReply reply;
  if (call.is_good() && core_.make_current(m.context)) {
    CUfunc_cache cache{};
    unsigned long long id = 0;
    core_.table.cuCtxGetApiVersion(made, &reply.api_version);
    if (core_.table.cuCtxGetId && core_.table.cuCtxGetId(made, &id) == CUDA_SUCCESS) reply.id = id;
    core_.table.cuCtxGetStreamPriorityRange(&reply.least_priority, &reply.greatest_priority);
    if (core_.table.cuCtxGetCacheConfig(&cache) == CUDA_SUCCESS) reply.cache_config = cache;
    for (const auto which : kLimits) {
      size_t value = 0;
      if (core_.table.cuCtxGetLimit(&value, which) == CUDA_SUCCESS)
        reply.limits.push_back({static_cast<std::uint32_t>(which), 0, value});
    }
    // What a new context has of these is in what it takes.
    auto& memory = *core_.handles.find(m.context)->memory;
    for (const auto& limit : reply.limits) {
      if (limit.which == CU_LIMIT_STACK_SIZE) memory.stack = limit.value;
      if (limit.which == CU_LIMIT_PRINTF_FIFO_SIZE) memory.printf_fifo = limit.value;
      if (limit.which == CU_LIMIT_MALLOC_HEAP_SIZE) memory.malloc_heap = limit.value;
    }
  }
  reply.status = as_wire(call.status());
  respond(reply);
}

void Contexts::on(const cu::ReleaseContext& m) {
  CallContext call(core_, m.kOp, 0);
  auto* record = call.record(m.context, Kind::context);
  if (!record) return call.end();
  const auto native = static_cast<CUcontext>(record->native);
  const auto device = core_.devices[record->device].native;
  left(record->device);
  ends_.erase(m.context);
  const bool is_primary = (record->flags & 1) != 0;
  // All that is in it goes with it, and then its shares of memory come back.
  struct Ending {
    CUcontext native;
    std::shared_ptr<Users> users;
    std::shared_ptr<HostSide> host;
    std::map<std::uint32_t, std::uint64_t> charged;      ///< bytes by device
    std::vector<std::uint64_t> outlive{};  ///< addresses from pools, which are the device's and not the context's
    std::vector<std::shared_ptr<Mirror>> mirrors{};
    std::vector<std::shared_ptr<void>> swappable{};
    std::vector<std::shared_ptr<Held>> shares{};         ///< of what other sessions have too
  };
  auto ending = std::make_shared<Ending>(Ending{native, record->users, record->host, {}});
  ending->mirrors = core_.mirrors.take_of_context(m.context);
  if (is_primary) core_.devices[record->device].primary = 0;
  core_.allocations.erase_if([&](std::uint64_t address, const Allocation& one) {
    if (one.context != m.context) return false;
    ending->charged[one.device] += one.charged;
    if (one.sort == Allocation::Sort::from_pool) ending->outlive.push_back(address);
    if (one.sort == Allocation::Sort::swappable) ending->swappable.push_back(one.block);
    if (one.share) ending->shares.push_back(one.share);
    return true;
  });
  std::vector<std::pair<std::uint64_t, Kind>> owners;
  core_.handles.take_if([&](const Record& one) {
    if (one.context != m.context) return false;
    ending->charged[one.device] += one.charged;
    if (may_own(one.kind)) owners.emplace_back(one.handle, one.kind);
    return true;
  });
  for (const auto& [owner, kind] : owners) core_.drop_owned(owner, kind);
  core_.handles.each([&](Record& one) { one.in_context.erase(m.context); });
  streams_.let_go(m.context);
  std::erase_if(core_.shown, [&](const auto& one) { return one.second == m.context; });
  if (core_.current == m.context) {
    core_.table.cuCtxSetCurrent(nullptr);
    core_.current = 0;
  }
  core_.broken.erase(m.context);
  core_.lost.erase(m.context);
  core_.frees.begin();
  // It waits for what runs in it, and for who waits for that.
  core_.waiters.run([this, ending, device, is_primary, is_reset = m.is_reset != 0] {
    ending->users->wait_for_all();
    if ((!ending->outlive.empty() || !ending->mirrors.empty()) &&
        core_.table.cuCtxSetCurrent(ending->native) == CUDA_SUCCESS) {
      for (const auto address : ending->outlive) core_.table.cuMemFree_v2(address);
      for (const auto& mirror : ending->mirrors) core_.mirrors.give_back(*mirror);
    }
    if (core_.swap && core_.table.cuCtxSetCurrent(ending->native) == CUDA_SUCCESS) {
      core_.table.cuCtxSynchronize();
      ending->swappable.clear();
      core_.swap->leave_context(ending->native);
    }
    core_.table.cuCtxSetCurrent(nullptr);
    if (!is_primary) core_.table.cuCtxDestroy_v2(ending->native);
    else if (is_reset) core_.table.cuDevicePrimaryCtxReset_v2(device);
    else core_.table.cuDevicePrimaryCtxRelease_v2(device);
    for (const auto& [index, bytes] : ending->charged) core_.refund(index, bytes);
    {
      const std::lock_guard guard(core_.lock);
      ending->shares.clear();
    }
    core_.frees.end();
  });
}

void Contexts::on(const cu::WaitContext& m, Respond<cu::WaitContextReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  call.may_wait();
  if (!call.is_good()) return respond({.status = as_wire(call.status())});
  // Behind other waits it would wait for them, and they perhaps for whom this one holds up.
  const bool is_asked = core_.waiters.is_full() && m.context != 0 && core_.make_current(m.context);
  const auto points = is_asked ? points_of(m.context) : nullptr;
  const auto is_over = points ? std::function<bool()>([points] { return points->is_over(); }) : nullptr;
  auto wait = [this, context = m.context, points, at = core_.mirrors.point(),
               answer = std::make_shared<Respond<cu::WaitContextReply>>(std::move(respond))] {
    const auto status = points ? points->wait() : core_.table.cuCtxSynchronize();
    core_.printed();
    core_.mirrors.tell_changes(at, context, std::nullopt);
    core_.noticed_elsewhere(context, status);
    (*answer)({.status = as_wire(status)});
  };
  core_.to_run_later(m.context, std::move(wait), is_over)();
}

/// Of all its streams, which is what a context has been given. Null where the driver has no events for them.
std::shared_ptr<StreamPoints> Contexts::points_of(std::uint64_t context) {
  auto points = std::make_shared<StreamPoints>(core_.table);
  bool is_whole = true;
  const auto add = [&](SharedEvent event) {
    is_whole = is_whole && event;
    if (is_whole) points->add(std::move(event));
  };
  add(point_of(core_.table, nullptr));
  core_.handles.each([&](const Record& one) {
    if (is_whole && one.kind == Kind::stream && one.context == context)
      add(point_of(core_.table, static_cast<CUstream>(one.native)));
  });
  const auto& ends = ends_[context];
  for (const auto& end : ends) points->add(end);
  return is_whole && ends.size() < kMostEnds ? points : nullptr;
}

void Contexts::keep_end(std::uint64_t context, CUstream stream) {
  auto& ends = ends_[context];
  if (!core_.table.cuStreamQuery || core_.table.cuStreamQuery(stream) != CUDA_ERROR_NOT_READY) return;
  std::erase_if(ends, [this](const auto& end) { return core_.table.cuEventQuery(end.get()) != CUDA_ERROR_NOT_READY; });
  if (auto end = ends.size() < kMostEnds ? point_of(core_.table, stream) : nullptr) ends.push_back(std::move(end));
}

void Contexts::on(const cu::SetLimit& m, Respond<cu::SetLimitReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  size_t value = 0;
  if (call.is_good() && m.context != 0) call.fail(core_.reserve(m.context, static_cast<CUlimit>(m.which), m.value));
  call.run(core_.table.cuCtxSetLimit, static_cast<CUlimit>(m.which), static_cast<size_t>(m.value));
  call.run(core_.table.cuCtxGetLimit, &value, static_cast<CUlimit>(m.which));
  if (const auto* record = core_.handles.find(m.context);
      call.is_good() && record && record->memory && m.which == CU_LIMIT_MALLOC_HEAP_SIZE)
    record->memory->malloc_heap = value;
  respond({.status = as_wire(call.status()), .value = value});
}

void Contexts::on(const cu::MemoryInfo& m, Respond<cu::MemoryInfoReply> respond) {
  core_.behind_frees([this, m, answer = std::make_shared<Respond<cu::MemoryInfoReply>>(std::move(respond))] {
    CallContext call(core_, m.kOp, m.context);
    if (!call.is_good()) return (*answer)({.status = as_wire(call.status())});
    const auto device = core_.device_of(m.context);
    const auto total = core_.devices[device].memory;
    const auto used = core_.grant.used(device);
    (*answer)({.status = 0, .free = used < total ? total - used : 0, .total = total});
  });
}

}  // namespace flexrack::backend::cuda
