// Writes: from the client, or from another server, to the device.
#include <cstring>

#include "backend/opencl/box.h"
#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {

void Session::write(Command& command, const wire::Payload& data, const Enqueue& enqueue) {
  if (!data.is_inline()) return write_staged(command, data.size, enqueue);
  const auto staging = Staging::make(data.size);
  if (!staging) return refuse(command, CL_OUT_OF_HOST_MEMORY);
  if (data.size) std::memcpy(staging->data(), data.inline_data.data(), data.size);
  command.wants_event = true;
  const auto status = enqueue(staging->data(), command);
  if (status != CL_SUCCESS) return refuse(command, status);
  engine_->watcher.await(command.made, [staging](cl_int) {});
  command.queue->last_write = HeldEvent(command.made);
  end(command, CL_SUCCESS);
}

/// The payload lands in staging, the native write waits for it with a user event.
void Session::write_staged(Command& command, std::uint64_t size, const Enqueue& enqueue) {
  const auto staging = Staging::make(size);
  const auto landed = staging ? outstanding_->make(command.queue->context->native) : nullptr;
  if (!landed) return refuse(command, CL_OUT_OF_HOST_MEMORY);
  waits_.push_back(landed);
  command.wants_event = true;
  const auto status = enqueue(staging->data(), command);
  if (status != CL_SUCCESS) {
    outstanding_->set(landed, CL_COMPLETE);
    return refuse(command, status);
  }
  engine_->watcher.await(command.made, [staging](cl_int) {});
  command.queue->last_write = HeldEvent(command.made);
  const auto route = command.route;
  const auto queue = command.queue->native;
  end(command, CL_SUCCESS);
  native().clFlush(queue);
  route.land(staging->span(), [staging, landed, outstanding = outstanding_, engine = engine_.get()](bool has_arrived) {
    outstanding->set(landed, has_arrived ? CL_COMPLETE : CL_DEVICE_NOT_AVAILABLE);
    if (!has_arrived) engine->watcher.look();
  });
}

/// Straight into the device's memory where that is the host's: mapped when the queue gets there, unmapped when the
/// payload has landed.
void Session::write_mapped(Command& command, const Place& place) {
  const auto& cl = native();
  const auto landed = outstanding_->make(command.queue->context->native);
  if (!landed) return refuse(command, CL_OUT_OF_HOST_MEMORY);
  void* at = nullptr;
  cl_event mapped = nullptr, unmapped = nullptr;
  auto status = map(command, place, place.memory ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_WRITE, &at, &mapped);
  if (status == CL_SUCCESS) {
    status = unmap(command, place, at, landed, &unmapped);
    if (status != CL_SUCCESS) cl.clReleaseEvent(mapped);
  }
  if (status != CL_SUCCESS) {
    outstanding_->set(landed, CL_COMPLETE);
    return refuse(command, status);
  }
  const std::span<std::uint8_t> into(static_cast<std::uint8_t*>(at), place.size);
  engine_->watcher.await(
      mapped, [engine = engine_.get(), into, landed, outstanding = outstanding_, route = command.route](cl_int over) {
        if (over < 0) {
          route.cancel();
          outstanding->set(landed, over);
          engine->watcher.look();
          return;
        }
        route.land(into, [landed, outstanding, engine](bool has_arrived) {
          outstanding->set(landed, has_arrived ? CL_COMPLETE : CL_DEVICE_NOT_AVAILABLE);
          if (!has_arrived) engine->watcher.look();
        });
      });
  const auto queue = command.queue->native;
  command.queue->last_write = HeldEvent(unmapped);
  end_as(command, mapped, unmapped);
  cl.clFlush(queue);
}

void Session::write_place(Command& command, const Place& place, const wire::Payload& data) {
  if (!data.is_inline() && is_mapped(command, place.size)) return write_mapped(command, place);
  write(command, data, [&](void* staging, Command& c) {
    if (!place.memory)
      return native().clEnqueueSVMMemcpy(c.queue->native, CL_FALSE, place.address, staging, place.size, c.count(),
                                         c.list(), c.out());
    return native().clEnqueueWriteBuffer(c.queue->native, place.memory->native, CL_FALSE, place.offset, place.size,
                                         staging, c.count(), c.list(), c.out());
  });
}

void Session::on(const cl::WriteBuffer& m) {
  Command command;
  if (!begin(m, command, {engine_.get(), m.data.ticket})) return;
  auto* to = memory(command, m.memory, MemoryRecord::Sort::buffer);
  if (!to) return;
  if (!is_within(m.offset, m.data.size, to->size)) return refuse(command, CL_INVALID_VALUE);
  write_place(command, {to, nullptr, m.offset, m.data.size}, m.data);
}

void Session::on(const cl::ImportMemory& m) {
  Command command;
  if (!begin(m, command, {engine_.get(), m.ticket, m.peer})) return;
  auto* to = memory(command, m.memory, MemoryRecord::Sort::buffer);
  if (!to) return;
  if (m.peer == 0 || m.size == 0 || !is_within(m.offset, m.size, to->size)) return refuse(command, CL_INVALID_VALUE);
  write_place(command, {to, nullptr, m.offset, m.size}, {.ticket = m.ticket, .size = m.size});
}

void Session::on(const cl::WriteRect& m) {
  Command command;
  if (!begin(m, command, {engine_.get(), m.data.ticket})) return;
  auto* to = memory(command, m.memory, MemoryRecord::Sort::buffer);
  if (!to) return;
  const auto size = box_bytes(m.region, 1);
  if (!size || *size != m.data.size || !is_box_within(m.origin, m.region, m.row_pitch, m.slice_pitch, to->size))
    return refuse(command, CL_INVALID_VALUE);
  write(command, m.data, [&](void* staging, Command& c) {
    const size_t origin[3] = {m.origin.x, m.origin.y, m.origin.z}, host[3] = {0, 0, 0},
                 region[3] = {m.region.x, m.region.y, m.region.z};
    return native().clEnqueueWriteBufferRect(c.queue->native, to->native, CL_FALSE, origin, host, region, m.row_pitch,
                                             m.slice_pitch, 0, 0, staging, c.count(), c.list(), c.out());
  });
}

void Session::on(const cl::SvmWrite& m) {
  Command command;
  if (!begin(m, command, {engine_.get(), m.data.ticket})) return;
  if (!shared(*command.queue->context, m.address, m.data.size)) return refuse(command, CL_INVALID_VALUE);
  write_place(command, {nullptr, reinterpret_cast<std::uint8_t*>(m.address), 0, m.data.size}, m.data);
}

}  // namespace flexrack::backend::opencl
