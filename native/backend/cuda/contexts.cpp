// Devices as the client describes them to itself, and contexts.
#include "backend/cuda/turn.h"

namespace flexrack::backend::cuda {
namespace {

/// CUdevice_attribute starts at 1 (cuda.h 13.0); a newer driver may know more than we do, which does no harm.
constexpr int kFirstAttribute = 1, kLastAttribute = 200;
constexpr CUlimit kLimits[] = {CU_LIMIT_STACK_SIZE, CU_LIMIT_PRINTF_FIFO_SIZE, CU_LIMIT_MALLOC_HEAP_SIZE, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
                               CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, CU_LIMIT_MAX_L2_FETCH_GRANULARITY, CU_LIMIT_PERSISTING_L2_CACHE_SIZE};

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

void Session::on(const cu::Describe&, Respond<cu::DescribeReply> respond) {
  cu::DescribeReply reply;
  table_.cuDriverGetVersion(&reply.driver_version);
  for (std::uint32_t i = 0; i < devices_.size(); ++i) {
    const auto& device = devices_[i];
    cu::Device told{.index = i, .memory = device.memory, .name = device.name, .uuid = bytes_of(device.uuid), .pci = device.pci};
    told.attributes = attributes(kFirstAttribute, kLastAttribute,
                                 [&](int* value, int which) { return table_.cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(which), device.native); });
    for (std::uint32_t other = 0; other < devices_.size(); ++other) {
      if (other == i) continue;
      int can = 0;
      table_.cuDeviceCanAccessPeer(&can, device.native, devices_[other].native);
      told.peers.push_back({other, static_cast<std::uint32_t>(can), attributes(1, 8, [&](int* value, int which) {
                              return table_.cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(which), device.native, devices_[other].native);
                            })});
    }
    reply.devices.push_back(std::move(told));
  }
  respond(reply);
}

void Session::on(const cu::CreateContext& m, Respond<cu::CreateContextReply> respond) {
  Turn turn(*this, m.kOp, 0);
  const auto device = turn.device(m.device);
  CUcontext made = nullptr;
  if (m.is_primary != 0) {
    turn.run(table_.cuDevicePrimaryCtxSetFlags_v2, device, m.flags);
    turn.run(table_.cuDevicePrimaryCtxRetain, &made, device);
  } else {
    turn.run(table_.cuCtxCreate_v2, &made, m.flags, device);
    current_ = 0;  // creating makes it current
  }
  if (auto* record = turn.keep(m.context, made)) {
    record->context = m.context;
    record->device = m.device;
    record->flags = m.is_primary != 0 ? 1 : 0;
  } else if (made) {
    if (m.is_primary != 0) table_.cuDevicePrimaryCtxRelease_v2(device);
    else table_.cuCtxDestroy_v2(made);
  }
  cu::CreateContextReply reply;
  if (turn.is_good() && make_current(m.context)) {
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
  }
  reply.status = as_wire(turn.status());
  respond(reply);
}

void Session::on(const cu::ReleaseContext& m) {
  Turn turn(*this, m.kOp, 0);
  auto* record = turn.record(m.context, Kind::context);
  if (!record) return turn.end();
  const auto native = static_cast<CUcontext>(record->native);
  const auto device = devices_[record->device].native;
  const bool is_primary = (record->flags & 1) != 0;
  // All that is in it goes with it, and its shares of memory come back.
  for (auto at = allocations_.begin(); at != allocations_.end();) {
    if (at->second.context != m.context) { ++at; continue; }
    refund(at->second.device, at->second.charged);
    at = allocations_.erase(at);
  }
  handles_.take_if([&](const Record& one) {
    if (one.context != m.context) return false;
    refund(one.device, one.charged);
    return true;
  });
  if (current_ == m.context) {
    table_.cuCtxSetCurrent(nullptr);
    current_ = 0;
  }
  broken_.erase(m.context);
  // It waits for what runs in it.
  waiters_.run([this, native, device, is_primary, is_reset = m.is_reset != 0] {
    if (!is_primary) table_.cuCtxDestroy_v2(native);
    else if (is_reset) table_.cuDevicePrimaryCtxReset_v2(device);
    else table_.cuDevicePrimaryCtxRelease_v2(device);
  });
}

void Session::on(const cu::WaitContext& m, Respond<cu::WaitContextReply> respond) {
  Turn turn(*this, m.kOp, m.context);
  if (!turn.is_good()) return respond({.status = as_wire(turn.status())});
  later(m.context, [this, context = m.context, answer = std::make_shared<Respond<cu::WaitContextReply>>(std::move(respond))] {
    const auto status = table_.cuCtxSynchronize();
    printed();
    noticed_elsewhere(context, status);
    (*answer)({.status = as_wire(status)});
  });
}

void Session::on(const cu::SetLimit& m, Respond<cu::SetLimitReply> respond) {
  Turn turn(*this, m.kOp, m.context);
  size_t value = 0;
  turn.run(table_.cuCtxSetLimit, static_cast<CUlimit>(m.which), static_cast<size_t>(m.value));
  turn.run(table_.cuCtxGetLimit, &value, static_cast<CUlimit>(m.which));
  respond({.status = as_wire(turn.status()), .value = value});
}

void Session::on(const cu::MemoryInfo& m, Respond<cu::MemoryInfoReply> respond) {
  behind_frees(m.context, [this, m, answer = std::make_shared<Respond<cu::MemoryInfoReply>>(std::move(respond))] {
    Turn turn(*this, m.kOp, m.context);
    if (!turn.is_good()) return (*answer)({.status = as_wire(turn.status())});
    const auto device = device_of(m.context);
    const auto total = devices_[device].memory;
    const auto used = grant_.used(device);
    (*answer)({.status = 0, .free = used < total ? total - used : 0, .total = total});
  });
}

/// Of the share. What only the machine's management library knows is left unknown: the daemon has it for `gpu smi`.
void Session::on(const cu::Usage& m, Respond<cu::UsageReply> respond) {
  if (m.device >= devices_.size()) return respond({.status = as_wire(CUDA_ERROR_INVALID_DEVICE)});
  cu::UsageReply reply{.total = devices_[m.device].memory, .used = grant_.used(m.device), .busy = ~0u, .memory_busy = ~0u, .temperature = -1, .power = ~0u, .clock = ~0u, .memory_clock = ~0u};
  respond(reply);
}

}  // namespace flexrack::backend::cuda
