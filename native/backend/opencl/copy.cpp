// Commands that move memory on the device, or nothing at all: copies, fills, migrations, markers and barriers.
#include <algorithm>
#include <array>

#include "backend/opencl/box.h"
#include "backend/opencl/session.h"
#include "backend/opencl/transfer_size.h"

namespace flexrack::backend::opencl {

using Sort = MemoryRecord::Sort;

namespace {

struct Sizes {
  size_t values[3];
  explicit Sizes(const cl::Triple& from)
      : values{static_cast<size_t>(from.x), static_cast<size_t>(from.y), static_cast<size_t>(from.z)} {}
  operator const size_t*() const { return values; }
};

}  // namespace

void Session::on(const cl::CopyBuffer& m) {
  Command command;
  if (!begin(m, command)) return;
  auto* from = memory(command, m.source, Sort::buffer);
  auto* to = from ? memory(command, m.target, Sort::buffer) : nullptr;
  if (!to) return;
  if (!is_within(m.source_offset, m.size, from->size) || !is_within(m.target_offset, m.size, to->size))
    return refuse(command, CL_INVALID_VALUE);
  end(command, native().clEnqueueCopyBuffer(command.queue->native, from->native, to->native, m.source_offset,
                                            m.target_offset, m.size, command.count(), command.list(), command.out()));
}

void Session::on(const cl::CopyRect& m) {
  Command command;
  if (!begin(m, command)) return;
  auto* from = memory(command, m.source, Sort::buffer);
  auto* to = from ? memory(command, m.target, Sort::buffer) : nullptr;
  if (!to) return;
  if (!is_box_within(m.source_origin, m.region, m.source_row_pitch, m.source_slice_pitch, from->size) ||
      !is_box_within(m.target_origin, m.region, m.target_row_pitch, m.target_slice_pitch, to->size))
    return refuse(command, CL_INVALID_VALUE);
  end(command, native().clEnqueueCopyBufferRect(command.queue->native, from->native, to->native, Sizes(m.source_origin),
                                                Sizes(m.target_origin), Sizes(m.region), m.source_row_pitch,
                                                m.source_slice_pitch, m.target_row_pitch, m.target_slice_pitch,
                                                command.count(), command.list(), command.out()));
}

void Session::on(const cl::FillBuffer& m) {
  Command command;
  if (!begin(m, command)) return;
  auto* to = memory(command, m.memory, Sort::buffer);
  if (!to) return;
  if (m.pattern.empty() || m.pattern.size() > kLongestPattern || !is_within(m.offset, m.size, to->size))
    return refuse(command, CL_INVALID_VALUE);
  end(command, native().clEnqueueFillBuffer(command.queue->native, to->native, m.pattern.data(), m.pattern.size(),
                                            m.offset, m.size, command.count(), command.list(), command.out()));
}

void Session::on(const cl::CopyImage& m) {
  Command command;
  if (!begin(m, command)) return;
  auto* from = memory(command, m.source, Sort::image);
  auto* to = from ? memory(command, m.target, Sort::image) : nullptr;
  if (!to) return;
  end(command, native().clEnqueueCopyImage(command.queue->native, from->native, to->native, Sizes(m.source_origin),
                                           Sizes(m.target_origin), Sizes(m.region), command.count(), command.list(),
                                           command.out()));
}

void Session::on(const cl::CopyImageToBuffer& m) {
  Command command;
  if (!begin(m, command)) return;
  auto* from = memory(command, m.source, Sort::image);
  auto* to = from ? memory(command, m.target, Sort::buffer) : nullptr;
  if (!to) return;
  const auto size = box_bytes(m.region, from->element_size);
  if (!size || !is_within(m.offset, *size, to->size)) return refuse(command, CL_INVALID_VALUE);
  end(command,
      native().clEnqueueCopyImageToBuffer(command.queue->native, from->native, to->native, Sizes(m.origin),
                                          Sizes(m.region), m.offset, command.count(), command.list(), command.out()));
}

void Session::on(const cl::CopyBufferToImage& m) {
  Command command;
  if (!begin(m, command)) return;
  auto* from = memory(command, m.source, Sort::buffer);
  auto* to = from ? memory(command, m.target, Sort::image) : nullptr;
  if (!to) return;
  const auto size = box_bytes(m.region, to->element_size);
  if (!size || !is_within(m.offset, *size, from->size)) return refuse(command, CL_INVALID_VALUE);
  end(command,
      native().clEnqueueCopyBufferToImage(command.queue->native, from->native, to->native, m.offset, Sizes(m.origin),
                                          Sizes(m.region), command.count(), command.list(), command.out()));
}

void Session::on(const cl::FillImage& m) {
  Command command;
  if (!begin(m, command)) return;
  auto* to = memory(command, m.memory, Sort::image);
  if (!to) return;
  // Drivers read four channels whatever the format is.
  std::array<std::uint8_t, 16> color{};
  if (m.color.empty() || m.color.size() > color.size()) return refuse(command, CL_INVALID_VALUE);
  std::copy(m.color.begin(), m.color.end(), color.begin());
  end(command, native().clEnqueueFillImage(command.queue->native, to->native, color.data(), Sizes(m.origin),
                                           Sizes(m.region), command.count(), command.list(), command.out()));
}

void Session::on(const cl::Migrate& m) {
  Command command;
  if (!begin(m, command)) return;
  std::vector<cl_mem> objects;
  for (const auto handle : m.objects) {
    auto* found = table_.find<MemoryRecord>(handle);
    if (!found || found->sort == Sort::pipe) return refuse(command, CL_INVALID_MEM_OBJECT);
    objects.push_back(found->native);
  }
  if (objects.empty()) return refuse(command, CL_INVALID_VALUE);
  end(command,
      native().clEnqueueMigrateMemObjects(command.queue->native, static_cast<cl_uint>(objects.size()), objects.data(),
                                          m.flags, command.count(), command.list(), command.out()));
}

void Session::on(const cl::Marker& m) {
  Command command;
  if (begin(m, command))
    end(command,
        native().clEnqueueMarkerWithWaitList(command.queue->native, command.count(), command.list(), command.out()));
}

void Session::on(const cl::Barrier& m) {
  Command command;
  if (begin(m, command))
    end(command,
        native().clEnqueueBarrierWithWaitList(command.queue->native, command.count(), command.list(), command.out()));
}

}  // namespace flexrack::backend::opencl
