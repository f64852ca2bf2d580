// Payloads to and from the device. A stream waits for its payload at a latch, so dispatch and other streams go on.
#include "backend/cuda/transfers.h"

#include "backend/cuda/call_context.h"
#include "backend/cuda/rows.h"
#include "backend/cuda/soon.h"

namespace flexrack::backend::cuda {
std::function<void()> Transfers::wait_from_here(CallContext& call, CUstream stream,
                                                std::function<void(CUresult)> reached) {
  CUevent event = nullptr;
  call.may_wait();
  call.run(core_.table.cuEventCreate, &event, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC));
  call.run(core_.table.cuEventRecord, event, stream);
  if (!call.is_good()) {
    if (event) core_.table.cuEventDestroy_v2(event);
    return nullptr;
  }
  return core_.to_run_later(
      call.context(),
      [this, event, context = call.context(), reached = std::move(reached)] {
        const auto status = core_.table.cuEventSynchronize(event);
        core_.table.cuEventDestroy_v2(event);
        core_.noticed_elsewhere(context, status);
        reached(status);
      },
      core_.is_reached(event));
}

bool Transfers::when_reached(CallContext& call, CUstream stream, std::function<void(CUresult)> reached) {
  const auto wait = wait_from_here(call, stream, std::move(reached));
  if (wait) wait();
  return wait != nullptr;
}

void Transfers::bring(CallContext& call, CUstream stream, const wire::Payload& data,
                      const std::function<CUresult(const void* source)>& enqueue) {
  if (data.is_inline()) {
    // Pageable memory: the driver has taken its copy when it returns (CUDA driver API, "API synchronization behavior").
    if (call.is_good()) call.fail(enqueue(data.inline_data.data()));
    return;
  }
  bring_from(call, stream, *core_.link, data.ticket, data.size, enqueue);
}

void Transfers::bring_from(CallContext& call, CUstream stream, wire::Link& from, std::uint64_t ticket,
                           std::uint64_t size, const std::function<CUresult(const void* source)>& enqueue) {
  call.may_wait();
  const auto host = core_.host_of(call.context());
  const auto staged = call.is_good() ? HostSide::take(host, stream, size) : nullptr;
  const auto latch = staged ? HostSide::latch(host) : Latch{};
  if (call.is_good() && !latch) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (call.is_good()) call.fail(latch.wait(stream));
  if (call.is_good()) call.fail(enqueue(staged->span().data()));
  // The memory is somebody else's again when the copy is over.
  const auto wait = call.is_good() ? wait_from_here(call, stream, [staged](CUresult) { staged->over(); }) : nullptr;
  if (!wait) {
    from.cancel(ticket);
    if (latch) latch.open_and_recycle();
    if (staged) staged->give_up();
    return;
  }
  const cu::Failed lost{
      .context = call.context(), .op = call.op(), .status = as_wire(CUDA_ERROR_UNKNOWN), .object = call.object()};
  staged->start([this, wait, staged, latch, &from, ticket, lost] {
    wait();
    from.land(ticket, staged->span(), [this, piece = staged->piece(), latch, lost](bool has_arrived) {
      // First the error, then the end of the copy: nobody is told that it went well.
      if (!has_arrived) core_.tell(lost);
      latch.open_and_recycle();
    });
  });
}

void Transfers::send_out(CallContext& call, CUstream stream, std::uint64_t size, std::uint64_t ticket, wire::Link* to,
                         const std::function<CUresult(void* target)>& enqueue) {
  call.may_wait();
  const auto host = core_.host_of(call.context());
  const auto staged = call.is_good() ? HostSide::take(host, stream, size) : nullptr;
  const auto latch = staged && staged->is_behind() ? HostSide::latch(host) : Latch{};
  if (call.is_good() && (!staged || (staged->is_behind() && !latch))) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  // The bytes of the copy before are still on their way.
  if (call.is_good() && latch) call.fail(latch.wait(stream));
  if (call.is_good()) call.fail(enqueue(staged->span().data()));
  // Few bytes are often here before another thread could look for them.
  const bool may_be_soon =
      call.is_good() && !latch && core_.table.cuStreamQuery && size < wire::kInlinePayload && core_.mirrors.is_quiet();
  if (may_be_soon && soon([&] { return core_.table.cuStreamQuery(stream); }) == CUDA_SUCCESS &&
      core_.mirrors.is_quiet()) {
    core_.printed();
    to->push(ticket, staged->span(), [staged](bool) { staged->over(); });
    return to->flush();
  }
  const auto leave = [this, staged, to, ticket](CUresult status) {
    core_.printed();
    core_.mirrors.tell_changes();
    if (status != CUDA_SUCCESS) {
      to->cancel(ticket);
      return staged->over();
    }
    // A client waits for its bytes; another server may not be there yet, and no thread of ours waits for it.
    to->push(ticket, staged->span(), [staged](bool) { staged->over(); }, to == core_.link);
  };
  const auto wait = call.is_good() ? wait_from_here(call, stream, leave) : nullptr;
  if (!wait) {
    to->cancel(ticket);
    if (latch) latch.open_and_recycle();
    if (staged) staged->give_up();
    return;
  }
  staged->start([wait, latch] {
    wait();
    if (latch) latch.open_and_recycle();
  });
}

void Transfers::on(const cu::WriteMemory& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  call.address(m.address, m.data.size);
  bring(call, stream, m.data,
        [&](const void* source) { return core_.table.cuMemcpyHtoDAsync_v2(m.address, source, m.data.size, stream); });
  call.end();
}

void Transfers::on(const cu::ReadMemory& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  call.address(m.address, m.size);
  send_out(call, stream, m.size, m.ticket, core_.link,
           [&](void* target) { return core_.table.cuMemcpyDtoHAsync_v2(target, m.address, m.size, stream); });
  call.end();
}

void Transfers::on(const cu::CopyMemory& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  call.address(m.source, m.size);
  call.address(m.target, m.size);
  if (m.source_context != 0 && m.source_context != m.context) {
    const auto from = call.get<CUcontext>(m.source_context), to = call.get<CUcontext>(m.context);
    call.run(core_.table.cuMemcpyPeerAsync, m.target, to, m.source, from, static_cast<size_t>(m.size), stream);
  } else {
    call.run(core_.table.cuMemcpyAsync, m.target, m.source, static_cast<size_t>(m.size), stream);
  }
  call.end();
}

void Transfers::on(const cu::WriteRows& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  auto copy = rows(call, nullptr, &m.target, m.extent);
  call.check(box_bytes(m.extent) == m.data.size);
  bring(call, stream, m.data, [&](const void* source) {
    from_host(copy, source);
    return core_.table.cuMemcpy3DAsync_v2(&copy, stream);
  });
  call.end();
}

void Transfers::on(const cu::ReadRows& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  auto copy = rows(call, &m.source, nullptr, m.extent);
  const auto size = box_bytes(m.extent);
  call.check(size.has_value());
  send_out(call, stream, size.value_or(0), m.ticket, core_.link, [&](void* target) {
    to_host(copy, target);
    return core_.table.cuMemcpy3DAsync_v2(&copy, stream);
  });
  call.end();
}

void Transfers::on(const cu::CopyRows& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  const auto copy = rows(call, &m.source, &m.target, m.extent);
  if (m.source_context != 0 && m.source_context != m.context) {
    CUDA_MEMCPY3D_PEER between{};
    static_assert(sizeof(CUDA_MEMCPY3D) <= sizeof between);
    between.srcXInBytes = copy.srcXInBytes, between.srcY = copy.srcY, between.srcZ = copy.srcZ,
    between.srcLOD = copy.srcLOD;
    between.srcMemoryType = copy.srcMemoryType, between.srcDevice = copy.srcDevice, between.srcArray = copy.srcArray;
    between.srcContext = call.get<CUcontext>(m.source_context), between.srcPitch = copy.srcPitch,
    between.srcHeight = copy.srcHeight;
    between.dstXInBytes = copy.dstXInBytes, between.dstY = copy.dstY, between.dstZ = copy.dstZ,
    between.dstLOD = copy.dstLOD;
    between.dstMemoryType = copy.dstMemoryType, between.dstDevice = copy.dstDevice, between.dstArray = copy.dstArray;
    between.dstContext = call.get<CUcontext>(m.context), between.dstPitch = copy.dstPitch,
    between.dstHeight = copy.dstHeight;
    between.WidthInBytes = copy.WidthInBytes, between.Height = copy.Height, between.Depth = copy.Depth;
    call.run(core_.table.cuMemcpy3DPeerAsync, &between, stream);
  } else {
    call.run(core_.table.cuMemcpy3DAsync_v2, &copy, stream);
  }
  call.end();
}

void Transfers::on(const cu::Fill& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  const auto width = static_cast<size_t>(m.width), height = static_cast<size_t>(m.height),
             pitch = static_cast<size_t>(m.pitch);
  const bool is_flat = height == 1;
  call.rows(m.address, is_flat ? 0 : m.pitch, call.product(m.width, m.element), m.height, 0, 1);
  switch (m.element) {
    case 1:
      if (is_flat) call.run(core_.table.cuMemsetD8Async, m.address, static_cast<unsigned char>(m.value), width, stream);
      else
        call.run(core_.table.cuMemsetD2D8Async, m.address, pitch, static_cast<unsigned char>(m.value), width, height,
                 stream);
      break;
    case 2:
      if (is_flat)
        call.run(core_.table.cuMemsetD16Async, m.address, static_cast<unsigned short>(m.value), width, stream);
      else
        call.run(core_.table.cuMemsetD2D16Async, m.address, pitch, static_cast<unsigned short>(m.value), width, height,
                 stream);
      break;
    case 4:
      if (is_flat) call.run(core_.table.cuMemsetD32Async, m.address, m.value, width, stream);
      else call.run(core_.table.cuMemsetD2D32Async, m.address, pitch, m.value, width, height, stream);
      break;
    default: call.fail(CUDA_ERROR_INVALID_VALUE);
  }
  call.end();
}

void Transfers::on(const cu::WriteRanges& m) {
  CallContext call(core_, m.kOp, 0);
  call.check(core_.mirrors.write(m.ranges, m.data));
  call.end();
}

}  // namespace flexrack::backend::cuda
