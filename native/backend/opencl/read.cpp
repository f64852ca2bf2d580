// Reads: from the device to the client, or to another server.
#include "backend/opencl/box.h"
#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {

bool Session::is_mapped(const Command& command, std::uint64_t size) const {
  return size >= wire::kInlinePayload && command.queue->device->is_unified;
}

/// Through staging: the driver copies, its callback sends.
void Session::read(Command& command, std::uint64_t size, const Enqueue& enqueue) {
  const auto staging = Staging::make(size);
  if (!staging) return refuse(command, CL_OUT_OF_HOST_MEMORY);
  command.wants_event = true;
  const auto status = enqueue(staging->data(), command);
  if (status != CL_SUCCESS) return refuse(command, status);
  engine_->watcher.await(
      command.made, [engine = engine_.get(), staging, route = command.route, origin = command.origin()](cl_int over) {
        if (over < 0) {
          fail(*engine, origin, over, route);
          engine->link.flush();
          return;
        }
        engine->printing->drain();
        route.push(staging->view(), [staging](bool) {});
      });
  const auto queue = command.queue->native;
  end(command, CL_SUCCESS);
  native().clFlush(queue);
}

/// Straight from the device's memory where that is the host's. The queue goes on when the payload is out: what comes
/// after may change it.
void Session::read_mapped(Command& command, const Place& place) {
  const auto& cl = native();
  const auto sent = outstanding_->make(command.queue->context->native);
  if (!sent) return refuse(command, CL_OUT_OF_HOST_MEMORY);
  void* at = nullptr;
  cl_event mapped = nullptr, unmapped = nullptr;
  auto status = map(command, place, CL_MAP_READ, &at, &mapped);
  if (status == CL_SUCCESS) {
    status = unmap(command, place, at, sent, &unmapped);
    if (status != CL_SUCCESS) cl.clReleaseEvent(mapped);
  }
  if (status != CL_SUCCESS) {
    outstanding_->set(sent, CL_COMPLETE);
    return refuse(command, status);
  }
  const wire::View data(static_cast<const std::uint8_t*>(at), place.size);
  engine_->watcher.await(mapped, [engine = engine_.get(), data, sent, outstanding = outstanding_, route = command.route,
                                  origin = command.origin()](cl_int over) {
    if (over < 0) {
      fail(*engine, origin, over, route);
      engine->link.flush();
      outstanding->set(sent, CL_COMPLETE);
      return;
    }
    engine->printing->drain();
    route.push(data, [sent, outstanding](bool) { outstanding->set(sent, CL_COMPLETE); });
  });
  const auto queue = command.queue->native;
  end_as(command, mapped, unmapped);
  cl.clFlush(queue);
}

void Session::read_place(Command& command, const Place& place) {
  if (is_mapped(command, place.size)) return read_mapped(command, place);
  read(command, place.size, [&](void* staging, Command& c) {
    if (!place.memory)
      return native().clEnqueueSVMMemcpy(c.queue->native, CL_FALSE, staging, place.address, place.size, c.count(),
                                         c.list(), c.out());
    return native().clEnqueueReadBuffer(c.queue->native, place.memory->native, CL_FALSE, place.offset, place.size,
                                        staging, c.count(), c.list(), c.out());
  });
}

cl_int Session::map(Command& command, const Place& place, cl_map_flags flags, void** at, cl_event* mapped) {
  const auto& cl = native();
  if (!place.memory) {
    *at = place.address;
    return cl.clEnqueueSVMMap(command.queue->native, CL_FALSE, flags, place.address, place.size, command.count(),
                              command.list(), mapped);
  }
  cl_int status = CL_SUCCESS;
  *at = cl.clEnqueueMapBuffer(command.queue->native, place.memory->native, CL_FALSE, flags, place.offset, place.size,
                              command.count(), command.list(), mapped, &status);
  return status == CL_SUCCESS && !*at ? CL_MAP_FAILURE : status;
}

cl_int Session::unmap(Command& command, const Place& place, void* at, cl_event wait, cl_event* unmapped) {
  const auto& cl = native();
  if (!place.memory) return cl.clEnqueueSVMUnmap(command.queue->native, at, 1, &wait, unmapped);
  return cl.clEnqueueUnmapMemObject(command.queue->native, place.memory->native, at, 1, &wait, unmapped);
}

void Session::on(const cl::ReadBuffer& m) {
  Command command;
  if (!begin(m, command, {engine_.get(), m.ticket})) return;
  auto* from = memory(command, m.memory, MemoryRecord::Sort::buffer);
  if (!from) return;
  if (!is_within(m.offset, m.size, from->size)) return refuse(command, CL_INVALID_VALUE);
  read_place(command, {from, nullptr, m.offset, m.size});
}

void Session::on(const cl::ExportMemory& m) {
  Command command;
  if (!begin(m, command, {engine_.get(), m.ticket, m.peer})) return;
  auto* from = memory(command, m.memory, MemoryRecord::Sort::buffer);
  if (!from) return;
  if (m.peer == 0 || !is_within(m.offset, m.size, from->size)) return refuse(command, CL_INVALID_VALUE);
  read_place(command, {from, nullptr, m.offset, m.size});
}

void Session::on(const cl::ReadRect& m) {
  Command command;
  if (!begin(m, command, {engine_.get(), m.ticket})) return;
  auto* from = memory(command, m.memory, MemoryRecord::Sort::buffer);
  if (!from) return;
  const auto size = box_bytes(m.region, 1);
  if (!size || !is_box_within(m.origin, m.region, m.row_pitch, m.slice_pitch, from->size))
    return refuse(command, CL_INVALID_VALUE);
  read(command, *size, [&](void* staging, Command& c) {
    const size_t origin[3] = {m.origin.x, m.origin.y, m.origin.z}, host[3] = {0, 0, 0},
                 region[3] = {m.region.x, m.region.y, m.region.z};
    return native().clEnqueueReadBufferRect(c.queue->native, from->native, CL_FALSE, origin, host, region, m.row_pitch,
                                            m.slice_pitch, 0, 0, staging, c.count(), c.list(), c.out());
  });
}

void Session::on(const cl::SvmRead& m) {
  Command command;
  if (!begin(m, command, {engine_.get(), m.ticket})) return;
  if (!shared(*command.queue->context, m.address, m.size)) return refuse(command, CL_INVALID_VALUE);
  read_place(command, {nullptr, reinterpret_cast<std::uint8_t*>(m.address), 0, m.size});
}

}  // namespace flexrack::backend::opencl
