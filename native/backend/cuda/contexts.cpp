// Devices as the client describes them to itself, and contexts.
#include "backend/cuda/call_context.h"

namespace flexrack::backend::cuda {
namespace {

/// CUdevice_attribute starts at 1 (cuda.h 13.0); a newer driver may know more than we do, which does no harm.
constexpr int kFirstAttribute = 1, kLastAttribute = 200;
constexpr CUlimit kLimits[] = {CU_LIMIT_STACK_SIZE, CU_LIMIT_PRINTF_FIFO_SIZE, CU_LIMIT_MALLOC_HEAP_SIZE, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
                               CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, CU_LIMIT_MAX_L2_FETCH_GRANULARITY, CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
                               CU_LIMIT_SHMEM_SIZE, CU_LIMIT_CIG_ENABLED, CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED};

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

void Session::on(const cu::Describe& m, Respond<cu::DescribeReply> respond) {
  process_ = m.process;
  cu::DescribeReply reply;
  table_.cuDriverGetVersion(&reply.driver_version);
  for (std::uint32_t i = 0; i < devices_.size(); ++i) {
    const auto& device = devices_[i];
    cu::Device reported{.index = i, .memory = device.memory, .name = device.name, .uuid = bytes_of(device.uuid), .pci = device.pci};
    reported.attributes = attributes(kFirstAttribute, kLastAttribute,
                                 [&](int* value, int which) { return table_.cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(which), device.native); });
    for (std::uint32_t other = 0; other < devices_.size(); ++other) {
      if (other == i) continue;
      int can = 0;
      table_.cuDeviceCanAccessPeer(&can, device.native, devices_[other].native);
      reported.peers.push_back({other, static_cast<std::uint32_t>(can), attributes(1, 8, [&](int* value, int which) {
                              return table_.cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(which), device.native, devices_[other].native);
                            })});
    }
    reply.devices.push_back(std::move(reported));
  }
  respond(reply);
}

/// Behind the end of every context before it: a primary context that is being reset would take with it what retains it meanwhile.
void Session::on(const cu::CreateContext& m, Respond<cu::CreateContextReply> respond) {
  if (!waiters_.has_room()) return respond({.status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)});
  behind_frees([this, m, answer = std::make_shared<Respond<cu::CreateContextReply>>(std::move(respond))] { create(m, *answer); });
}

void Session::create(const cu::CreateContext& m, Respond<cu::CreateContextReply>& respond) {
  CallContext call(*this, m.kOp, 0);
  const auto device = call.device(m.device);
  // A device has one primary context: under two handles it would end with the first.
  call.check(!call.is_good() || m.is_primary == 0 || devices_[m.device].primary == 0);
  if (!handles_.has_room(Kind::context)) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  std::uint64_t charged = call.is_good() ? devices_[m.device].context_memory : 0;
  if (!charge(m.device, charged)) charged = 0, call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  const auto before = call.is_good() ? own_memory(m.device) : std::nullopt;
  CUcontext made = nullptr;
  if (m.is_primary != 0) {
    call.run(table_.cuDevicePrimaryCtxSetFlags_v2, device, m.flags);
    call.run(table_.cuDevicePrimaryCtxRetain, &made, device);
  } else {
    call.run(table_.cuCtxCreate_v2, &made, m.flags, device);
    // Creating puts it on top of what is current, and there is an end to how high that grows.
    CUcontext top = nullptr;
    if (made && table_.cuCtxPopCurrent_v2) table_.cuCtxPopCurrent_v2(&top);
    current_ = 0;
  }
  if (call.is_good() && !settle(m.device, before, charged)) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (auto* record = call.keep(m.context, made)) {
    record->context = m.context;
    record->device = m.device;
    record->flags = m.is_primary != 0 ? 1 : 0;
    entered(m.device);
    record->users = std::make_shared<Users>();
    record->host = std::make_shared<HostSide>(table_);
    record->charged = charged;
    record->memory = std::make_shared<ContextMemory>();
    if (m.is_primary != 0) devices_[m.device].primary = m.context;
  } else if (made) {
    if (m.is_primary != 0) table_.cuDevicePrimaryCtxRelease_v2(device);
    else table_.cuCtxDestroy_v2(made);
    refund(m.device, charged);
  } else {
    refund(m.device, charged);
  }
  cu::CreateContextReply reply;
  if (call.is_good() && make_current(m.context)) {
    CUfunc_cache cache{};
    unsigned long long id = 0;
    table_.cuCtxGetApiVersion(made, &reply.api_version);
    if (table_.cuCtxGetId && table_.cuCtxGetId(made, &id) == CUDA_SUCCESS) reply.id = id;
    table_.cuCtxGetStreamPriorityRange(&reply.least_priority, &reply.greatest_priority);
    if (table_.cuCtxGetCacheConfig(&cache) == CUDA_SUCCESS) reply.cache_config = cache;
    for (const auto which : kLimits) {
      size_t value = 0;
      if (table_.cuCtxGetLimit(&value, which) == CUDA_SUCCESS) reply.limits.push_back({static_cast<std::uint32_t>(which), 0, value});
    }
    // What a new context has of these is in what it takes.
    auto& memory = *handles_.find(m.context)->memory;
    for (const auto& limit : reply.limits) {
      if (limit.which == CU_LIMIT_STACK_SIZE) memory.stack = limit.value;
      if (limit.which == CU_LIMIT_PRINTF_FIFO_SIZE) memory.printf_fifo = limit.value;
      if (limit.which == CU_LIMIT_MALLOC_HEAP_SIZE) memory.malloc_heap = limit.value;
    }
  }
  reply.status = as_wire(call.status());
  respond(reply);
}

void Session::on(const cu::ReleaseContext& m) {
  CallContext call(*this, m.kOp, 0);
  auto* record = call.record(m.context, Kind::context);
  if (!record) return call.end();
  const auto native = static_cast<CUcontext>(record->native);
  const auto device = devices_[record->device].native;
  left(record->device);
  const bool is_primary = (record->flags & 1) != 0;
  // All that is in it goes with it, and then its shares of memory come back.
  struct Ending {
    CUcontext native;
    std::shared_ptr<Users> users;
    std::shared_ptr<HostSide> host;
    std::map<std::uint32_t, std::uint64_t> charged;      ///< bytes by device
    std::vector<std::uint64_t> outlive{};                ///< addresses from pools, which are the device's and not the context's
    std::vector<std::shared_ptr<Mirror>> mirrors{};
  };
  auto ending = std::make_shared<Ending>(Ending{native, record->users, record->host, {}});
  ending->mirrors = mirrors_.take_of_context(m.context);
  if (is_primary) devices_[record->device].primary = 0;
  allocations_.erase_if([&](std::uint64_t address, const Allocation& one) {
    if (one.context != m.context) return false;
    ending->charged[one.device] += one.charged;
    if (one.sort == Allocation::Sort::from_pool) ending->outlive.push_back(address);
    return true;
  });
  std::vector<std::pair<std::uint64_t, Kind>> owners;
  handles_.take_if([&](const Record& one) {
    if (one.context != m.context) return false;
    ending->charged[one.device] += one.charged;
    if (may_own(one.kind)) owners.emplace_back(one.handle, one.kind);
    return true;
  });
  for (const auto& [owner, kind] : owners) drop_owned(owner, kind);
  handles_.each([&](Record& one) { one.in_context.erase(m.context); });
  // Nothing of what its streams wait for is waited for any longer.
  for (const auto& [number, waiting] : runs_) {
    if (waiting.context == m.context && waiting.latch) waiting.latch.open();
  }
  for (auto& [latch, words] : client_latches_) {
    if (const auto word = words.find(m.context); word != words.end()) {
      if (word->second) word->second.open();
      words.erase(word);
    }
  }
  std::erase_if(shown_, [&](const auto& one) { return one.second == m.context; });
  if (current_ == m.context) {
    table_.cuCtxSetCurrent(nullptr);
    current_ = 0;
  }
  broken_.erase(m.context);
  {
    const std::lock_guard guard(frees_lock_);
    ++frees_;
  }
  // It waits for what runs in it, and for who waits for that.
  waiters_.run([this, ending, device, is_primary, is_reset = m.is_reset != 0] {
    ending->users->wait_for_all();
    if ((!ending->outlive.empty() || !ending->mirrors.empty()) && table_.cuCtxSetCurrent(ending->native) == CUDA_SUCCESS) {
      for (const auto address : ending->outlive) table_.cuMemFree_v2(address);
      for (const auto& mirror : ending->mirrors) mirrors_.give_back(*mirror);
    }
    table_.cuCtxSetCurrent(nullptr);
    if (!is_primary) table_.cuCtxDestroy_v2(ending->native);
    else if (is_reset) table_.cuDevicePrimaryCtxReset_v2(device);
    else table_.cuDevicePrimaryCtxRelease_v2(device);
    for (const auto& [index, bytes] : ending->charged) refund(index, bytes);
    const std::lock_guard guard(frees_lock_);
    if (--frees_ == 0) frees_over_.notify_all();
  });
}

void Session::on(const cu::WaitContext& m, Respond<cu::WaitContextReply> respond) {
  CallContext call(*this, m.kOp, m.context);
  call.may_wait();
  if (!call.is_good()) return respond({.status = as_wire(call.status())});
  later(m.context, [this, context = m.context, point = mirrors_.point(), answer = std::make_shared<Respond<cu::WaitContextReply>>(std::move(respond))] {
    const auto status = table_.cuCtxSynchronize();
    printed();
    mirrors_.tell_changes(point, context, std::nullopt);
    noticed_elsewhere(context, status);
    (*answer)({.status = as_wire(status)});
  });
}

void Session::on(const cu::SetLimit& m, Respond<cu::SetLimitReply> respond) {
  CallContext call(*this, m.kOp, m.context);
  size_t value = 0;
  if (call.is_good() && m.context != 0) call.fail(reserve(m.context, static_cast<CUlimit>(m.which), m.value));
  call.run(table_.cuCtxSetLimit, static_cast<CUlimit>(m.which), static_cast<size_t>(m.value));
  call.run(table_.cuCtxGetLimit, &value, static_cast<CUlimit>(m.which));
  if (const auto* record = handles_.find(m.context); call.is_good() && record && record->memory && m.which == CU_LIMIT_MALLOC_HEAP_SIZE) record->memory->malloc_heap = value;
  respond({.status = as_wire(call.status()), .value = value});
}

void Session::on(const cu::MemoryInfo& m, Respond<cu::MemoryInfoReply> respond) {
  behind_frees([this, m, answer = std::make_shared<Respond<cu::MemoryInfoReply>>(std::move(respond))] {
    CallContext call(*this, m.kOp, m.context);
    if (!call.is_good()) return (*answer)({.status = as_wire(call.status())});
    const auto device = device_of(m.context);
    const auto total = devices_[device].memory;
    const auto used = grant_.used(device);
    (*answer)({.status = 0, .free = used < total ? total - used : 0, .total = total});
  });
}

}  // namespace flexrack::backend::cuda
