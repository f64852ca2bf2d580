// Payloads to and from the device. A stream waits for its payload at a gate, so dispatch and other streams go on.
#include <cstring>

#include "backend/cuda/turn.h"

namespace flexrack::backend::cuda {
namespace {

/// cuda.h 13.0: a copy of rows takes addresses and arrays of either side.
CUmemorytype type_of(const cu::Place& place) { return place.kind == 1 ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED; }

}  // namespace

bool Session::when_reached(Turn& turn, CUstream stream, std::function<void(CUresult)> reached) {
  CUevent event = nullptr;
  turn.run(table_.cuEventCreate, &event, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC));
  turn.run(table_.cuEventRecord, event, stream);
  if (!turn.is_good()) {
    if (event) table_.cuEventDestroy_v2(event);
    return false;
  }
  later(turn.context(), [this, event, context = turn.context(), reached = std::move(reached)] {
    const auto status = table_.cuEventSynchronize(event);
    table_.cuEventDestroy_v2(event);
    noticed_elsewhere(context, status);
    reached(status);
  });
  return true;
}

void Session::bring(Turn& turn, CUstream stream, const wire::Payload& data, const std::function<CUresult(const void* source)>& enqueue) {
  if (data.is_inline()) {
    // Pageable memory: the driver has taken its copy when it returns (CUDA driver API, "API synchronization behavior").
    if (turn.is_good()) turn.fail(enqueue(data.inline_data.data()));
    return;
  }
  bring_from(turn, stream, *link_, data.ticket, data.size, enqueue);
}

void Session::bring_from(Turn& turn, CUstream stream, wire::Link& from, std::uint64_t ticket, std::uint64_t size, const std::function<CUresult(const void* source)>& enqueue) {
  const auto piece = turn.is_good() ? staging_.take(size) : nullptr;
  const auto gate = piece ? gates_.make() : Gates::Gate{};
  if (turn.is_good() && !gate) turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (turn.is_good()) turn.fail(gates_.wait(stream, gate));
  if (turn.is_good()) turn.fail(enqueue(piece->at));
  if (!turn.is_good()) {
    from.cancel(ticket);
    if (gate) Gates::open(gate);
    return;
  }
  // The piece and the gate are somebody else's again when the copy is over.
  when_reached(turn, stream, [this, piece, gate](CUresult) { gates_.recycle(gate); });
  from.land(ticket, piece->span(), [this, piece, gate, context = turn.context()](bool has_arrived) {
    Gates::open(gate);
    if (!has_arrived) tell(cu::Failed{.context = context, .op = cu::WriteMemory::kOp, .status = as_wire(CUDA_ERROR_UNKNOWN)});
  });
}

void Session::send_out(Turn& turn, CUstream stream, std::uint64_t size, std::uint64_t ticket, wire::Link* to, const std::function<CUresult(void* target)>& enqueue) {
  const auto piece = turn.is_good() ? staging_.take(size) : nullptr;
  if (turn.is_good() && !piece) turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (turn.is_good()) turn.fail(enqueue(piece->at));
  const bool is_put = turn.is_good() && when_reached(turn, stream, [this, piece, to, ticket](CUresult status) {
    printed();
    if (status != CUDA_SUCCESS) return to->cancel(ticket);
    to->push(ticket, piece->span(), [piece](bool) {}, true);
  });
  if (!is_put) to->cancel(ticket);
}

void Session::on(const cu::WriteMemory& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  bring(turn, stream, m.data, [&](const void* source) { return table_.cuMemcpyHtoDAsync_v2(m.address, source, m.data.size, stream); });
  turn.end();
}

void Session::on(const cu::ReadMemory& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  send_out(turn, stream, m.size, m.ticket, link_, [&](void* target) { return table_.cuMemcpyDtoHAsync_v2(target, m.address, m.size, stream); });
  turn.end();
}

void Session::on(const cu::CopyMemory& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  if (m.source_context != 0 && m.source_context != m.context) {
    const auto from = turn.get<CUcontext>(m.source_context), to = turn.get<CUcontext>(m.context);
    turn.run(table_.cuMemcpyPeerAsync, m.target, to, m.source, from, static_cast<size_t>(m.size), stream);
  } else {
    turn.run(table_.cuMemcpyAsync, m.target, m.source, static_cast<size_t>(m.size), stream);
  }
  turn.end();
}

/// Both sides of a copy of rows; those at kind ~0 are filled in by the caller: host memory.
CUDA_MEMCPY3D Session::rows(Turn& turn, const cu::Place* source, const cu::Place* target, const cu::Extent& extent) {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = extent.width;
  copy.Height = extent.height;
  copy.Depth = extent.depth;
  if (source) {
    copy.srcMemoryType = type_of(*source);
    copy.srcXInBytes = source->x, copy.srcY = source->y, copy.srcZ = source->z, copy.srcLOD = source->level;
    copy.srcPitch = source->pitch, copy.srcHeight = source->height;
    if (source->kind == 1) copy.srcArray = turn.get<CUarray>(source->object);
    else copy.srcDevice = source->object;
  }
  if (target) {
    copy.dstMemoryType = type_of(*target);
    copy.dstXInBytes = target->x, copy.dstY = target->y, copy.dstZ = target->z, copy.dstLOD = target->level;
    copy.dstPitch = target->pitch, copy.dstHeight = target->height;
    if (target->kind == 1) copy.dstArray = turn.get<CUarray>(target->object);
    else copy.dstDevice = target->object;
  }
  return copy;
}

namespace {

/// Packed bytes in host memory, on the side of a copy that has none yet.
void from_host(CUDA_MEMCPY3D& copy, const void* source) {
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = source;
  copy.srcPitch = copy.WidthInBytes;
  copy.srcHeight = copy.Height;
}
void to_host(CUDA_MEMCPY3D& copy, void* target) {
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = target;
  copy.dstPitch = copy.WidthInBytes;
  copy.dstHeight = copy.Height;
}

/// Bytes of a box of rows; nothing where there are too many to be true.
std::optional<std::uint64_t> bytes_in(const cu::Extent& extent) {
  std::uint64_t rows = 0, all = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows) || __builtin_mul_overflow(rows, extent.width, &all)) return std::nullopt;
  return all;
}

}  // namespace

void Session::on(const cu::WriteRows& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  auto copy = rows(turn, nullptr, &m.target, m.extent);
  turn.check(bytes_in(m.extent) == m.data.size);
  bring(turn, stream, m.data, [&](const void* source) {
    from_host(copy, source);
    return table_.cuMemcpy3DAsync_v2(&copy, stream);
  });
  turn.end();
}

void Session::on(const cu::ReadRows& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  auto copy = rows(turn, &m.source, nullptr, m.extent);
  const auto size = bytes_in(m.extent);
  turn.check(size.has_value());
  send_out(turn, stream, size.value_or(0), m.ticket, link_, [&](void* target) {
    to_host(copy, target);
    return table_.cuMemcpy3DAsync_v2(&copy, stream);
  });
  turn.end();
}

void Session::on(const cu::CopyRows& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  const auto copy = rows(turn, &m.source, &m.target, m.extent);
  if (m.source_context != 0 && m.source_context != m.context) {
    CUDA_MEMCPY3D_PEER between{};
    static_assert(sizeof(CUDA_MEMCPY3D) <= sizeof between);
    between.srcXInBytes = copy.srcXInBytes, between.srcY = copy.srcY, between.srcZ = copy.srcZ, between.srcLOD = copy.srcLOD;
    between.srcMemoryType = copy.srcMemoryType, between.srcDevice = copy.srcDevice, between.srcArray = copy.srcArray;
    between.srcContext = turn.get<CUcontext>(m.source_context), between.srcPitch = copy.srcPitch, between.srcHeight = copy.srcHeight;
    between.dstXInBytes = copy.dstXInBytes, between.dstY = copy.dstY, between.dstZ = copy.dstZ, between.dstLOD = copy.dstLOD;
    between.dstMemoryType = copy.dstMemoryType, between.dstDevice = copy.dstDevice, between.dstArray = copy.dstArray;
    between.dstContext = turn.get<CUcontext>(m.context), between.dstPitch = copy.dstPitch, between.dstHeight = copy.dstHeight;
    between.WidthInBytes = copy.WidthInBytes, between.Height = copy.Height, between.Depth = copy.Depth;
    turn.run(table_.cuMemcpy3DPeerAsync, &between, stream);
  } else {
    turn.run(table_.cuMemcpy3DAsync_v2, &copy, stream);
  }
  turn.end();
}

void Session::on(const cu::Fill& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  const auto width = static_cast<size_t>(m.width), height = static_cast<size_t>(m.height), pitch = static_cast<size_t>(m.pitch);
  const bool is_flat = height == 1;
  switch (m.element) {
    case 1:
      if (is_flat) turn.run(table_.cuMemsetD8Async, m.address, static_cast<unsigned char>(m.value), width, stream);
      else turn.run(table_.cuMemsetD2D8Async, m.address, pitch, static_cast<unsigned char>(m.value), width, height, stream);
      break;
    case 2:
      if (is_flat) turn.run(table_.cuMemsetD16Async, m.address, static_cast<unsigned short>(m.value), width, stream);
      else turn.run(table_.cuMemsetD2D16Async, m.address, pitch, static_cast<unsigned short>(m.value), width, height, stream);
      break;
    case 4:
      if (is_flat) turn.run(table_.cuMemsetD32Async, m.address, m.value, width, stream);
      else turn.run(table_.cuMemsetD2D32Async, m.address, pitch, m.value, width, height, stream);
      break;
    default: turn.fail(CUDA_ERROR_INVALID_VALUE);
  }
  turn.end();
}

namespace {

std::optional<std::uint64_t> bytes_in(std::span<const cu::Range> ranges) {
  std::uint64_t all = 0;
  for (const auto& range : ranges) if (__builtin_add_overflow(all, range.size, &all)) return std::nullopt;
  return all;
}

}  // namespace

void Session::on(const cu::WriteRanges& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  turn.check(bytes_in(m.ranges) == m.data.size);
  bring(turn, stream, m.data, [&](const void* source) {
    auto status = CUDA_SUCCESS;
    const auto* from = static_cast<const std::uint8_t*>(source);
    for (const auto& range : m.ranges) {
      if (status == CUDA_SUCCESS) status = table_.cuMemcpyHtoDAsync_v2(range.address, from, range.size, stream);
      from += range.size;
    }
    return status;
  });
  turn.end();
}

void Session::on(const cu::ReadRanges& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  const auto size = bytes_in(m.ranges);
  turn.check(size.has_value());
  send_out(turn, stream, size.value_or(0), m.ticket, link_, [&](void* target) {
    auto status = CUDA_SUCCESS;
    auto* to = static_cast<std::uint8_t*>(target);
    for (const auto& range : m.ranges) {
      if (status == CUDA_SUCCESS) status = table_.cuMemcpyDtoHAsync_v2(to, range.address, range.size, stream);
      to += range.size;
    }
    return status;
  });
  turn.end();
}

// ---- between servers

void Session::on(const cu::PeerAccept& m, Respond<cu::PeerAcceptReply> respond) {
  respond({.status = as_wire(peers_->accept(m.peer, m.key) ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM)});
}

void Session::on(const cu::PeerOpen& m, Respond<cu::PeerOpenReply> respond) {
  if (m.port == 0 || m.port > 0xffff) return respond({.status = as_wire(CUDA_ERROR_INVALID_VALUE)});
  auto answer = std::make_shared<Respond<cu::PeerOpenReply>>(std::move(respond));
  dialler_.add([peers = peers_, answer, peer = m.peer, key = wire::Bytes(m.key.begin(), m.key.end()), address = std::string(m.address),
                port = static_cast<std::uint16_t>(m.port), session = wire::Bytes(m.session.begin(), m.session.end())] {
    (*answer)({.status = as_wire(peers->open(peer, key, address, port, session) ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM)});
  });
}

void Session::on(const cu::ExportMemory& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  auto* link = peers_->link(m.peer);
  auto copy = rows(turn, &m.source, nullptr, m.extent);
  const auto size = bytes_in(m.extent);
  turn.check(link != nullptr && size.has_value());
  if (link) {
    send_out(turn, stream, size.value_or(0), m.ticket, link, [&](void* target) {
      to_host(copy, target);
      return table_.cuMemcpy3DAsync_v2(&copy, stream);
    });
  }
  turn.end();
}

void Session::on(const cu::ImportMemory& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  auto* link = peers_->link(m.peer);
  auto copy = rows(turn, nullptr, &m.target, m.extent);
  const auto size = bytes_in(m.extent);
  turn.check(link != nullptr && size.has_value());
  if (link) {
    bring_from(turn, stream, *link, m.ticket, size.value_or(0), [&](const void* source) {
      from_host(copy, source);
      return table_.cuMemcpy3DAsync_v2(&copy, stream);
    });
  }
  turn.end();
}

}  // namespace flexrack::backend::cuda
