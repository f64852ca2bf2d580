// Elements of images to and from the client, packed.
#include "backend/opencl/session.h"
#include "backend/opencl/transfer_size.h"

namespace flexrack::backend::opencl {

void Session::on(const cl::ReadImage& m) {
  Command command;
  if (!begin(m, command, {engine_.get(), m.ticket})) return;
  auto* from = memory(command, m.memory, MemoryRecord::Sort::image);
  if (!from) return;
  const auto size = box_bytes(m.region, from->element_size);
  if (!size || *size == 0 || *size != m.size || *size > from->size) return refuse(command, CL_INVALID_VALUE);
  read(command, *size, [&](void* staging, Command& c) {
    const size_t origin[3] = {m.origin.x, m.origin.y, m.origin.z}, region[3] = {m.region.x, m.region.y, m.region.z};
    return native().clEnqueueReadImage(c.queue->native, from->native, CL_FALSE, origin, region, 0, 0, staging,
                                       c.count(), c.list(), c.out());
  });
}

void Session::on(const cl::WriteImage& m) {
  Command command;
  if (!begin(m, command, {engine_.get(), m.data.ticket})) return;
  auto* to = memory(command, m.memory, MemoryRecord::Sort::image);
  if (!to) return;
  const auto size = box_bytes(m.region, to->element_size);
  if (!size || *size == 0 || *size != m.data.size || *size > to->size) return refuse(command, CL_INVALID_VALUE);
  write(command, m.data, [&](void* staging, Command& c) {
    const size_t origin[3] = {m.origin.x, m.origin.y, m.origin.z}, region[3] = {m.region.x, m.region.y, m.region.z};
    return native().clEnqueueWriteImage(c.queue->native, to->native, CL_FALSE, origin, region, 0, 0, staging, c.count(),
                                        c.list(), c.out());
  });
}

}  // namespace flexrack::backend::opencl
