// Commands of a random sequence that move bytes: reads, writes, copies, fills, maps.
#pragma once

#include "sequence_command.h"

inline void transfer(State& s) {
  auto& memory = s.buffer();
  auto offset = s.random.below(memory.size), size = 1 + s.random.below(memory.size - offset);
  auto queue = s.queue();
  auto handle = memory.handle;
  bool null_pointer = false;
  const bool blocking = s.random.one_in(3), reads = s.random.one_in(2);
  if (invalid(s)) {
    switch (s.random.below(5)) {
      case 0: queue = s.wrong_queue(); break;
      case 1: handle = s.wrong_memory(); break;
      case 2:
        size = memory.size;
        offset += 1;
        break;
      case 3: size = 0; break;
      default: null_pointer = true;
    }
  }
  if (blocking) s.set_user_events();
  auto& host = s.reads.emplace_back(Pending{s.step, std::vector<unsigned char>(std::max<size_t>(size, 1), 0x55)});
  if (reads)
    return command(s, blocking ? "read, blocking" : "read", {&memory}, {},
                   [&](cl_uint count, const cl_event* list, cl_event* event) {
                     return clEnqueueReadBuffer(queue, handle, blocking && count == 0, offset, size,
                                                null_pointer ? nullptr : host.data.data(), count, list, event);
                   });
  for (auto& byte : host.data) byte = static_cast<unsigned char>(s.random.next());
  command(s, "write", {}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) {
    return clEnqueueWriteBuffer(queue, handle, blocking && count == 0, offset, size,
                                null_pointer ? nullptr : host.data.data(), count, list, event);
  });
}

inline void copy(State& s) {
  auto &source = s.buffer(), &target = s.buffer();
  auto from = s.random.below(source.size), to = s.random.below(target.size);
  auto size = 1 + s.random.below(std::min(source.size - from, target.size - to));
  auto queue = s.queue();
  if (invalid(s)) {
    if (s.random.one_in(3)) queue = s.wrong_queue();
    else if (source.is_sub || target.is_sub) size = 0;  // PoCL looks only at the end of the parent
    else if (s.random.one_in(2)) size = s.random.one_in(2) ? 0 : source.size + 1;
    else from += source.size;
  }
  // Overlapping copies between sub-buffers of one buffer are left out: what they give is not defined.
  if (source.touched == target.touched && &source != &target) return;
  command(s, "copy", {&source}, {&target}, [&](cl_uint count, const cl_event* list, cl_event* event) {
    return clEnqueueCopyBuffer(queue, source.handle, target.handle, from, to, size, count, list, event);
  });
}

inline void fill(State& s) {
  auto& memory = s.buffer();
  const unsigned char pattern[16] = {1, 2,  3,  4,  5,  6,  7,  8,
                                     9, 10, 11, 12, 13, 14, 15, static_cast<unsigned char>(s.random.next())};
  size_t width = size_t{1} << s.random.below(5);
  auto size = (1 + s.random.below(memory.size)) / width * width,
       offset = s.random.below(memory.size - size + 1) / width * width;
  auto queue = s.queue();
  if (invalid(s)) {
    switch (s.random.below(4)) {
      case 0: width = 3; break;
      case 1: offset += 1; break;
      case 2: queue = s.wrong_queue(); break;
      default: size = memory.size + width;
    }
  }
  command(s, "fill", {}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) {
    return clEnqueueFillBuffer(queue, memory.handle, pattern, width, offset, size, count, list, event);
  });
}

inline void rect(State& s) {
  auto& memory = s.buffer();
  const size_t rows = 1 + s.random.below(6), row = 1 + s.random.below(std::max<size_t>(memory.size / rows / 2, 1)),
               pitch = row + s.random.below(9);
  size_t origin[3] = {s.random.below(4), s.random.below(2), 0}, region[3] = {row, rows, 1}, host_origin[3] = {0, 0, 0};
  auto queue = s.queue();
  const bool reads = s.random.one_in(2);
  size_t buffer_pitch = s.random.one_in(4) ? 0 : pitch, host_pitch = s.random.one_in(2) ? 0 : row + 3;
  if (invalid(s)) {
    switch (s.random.below(4)) {
      case 0: region[1] = 0; break;
      case 1: buffer_pitch = row > 1 ? row - 1 : 1; break;
      case 2: queue = s.wrong_queue(); break;
      default: origin[0] = memory.size;
    }
  }
  auto& host = s.reads.emplace_back(Pending{s.step, std::vector<unsigned char>((row + 3) * rows + 64, 0x66)});
  if (reads)
    return command(s, "read rect", {&memory}, {}, [&](cl_uint count, const cl_event* list, cl_event* event) {
      return clEnqueueReadBufferRect(queue, memory.handle, CL_FALSE, origin, host_origin, region, buffer_pitch, 0,
                                     host_pitch, 0, host.data.data(), count, list, event);
    });
  for (auto& byte : host.data) byte = static_cast<unsigned char>(s.random.next());
  command(s, "write rect", {}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) {
    return clEnqueueWriteBufferRect(queue, memory.handle, CL_FALSE, origin, host_origin, region, buffer_pitch, 0,
                                    host_pitch, 0, host.data.data(), count, list, event);
  });
}

/// Maps, reads or changes the mapping, and unmaps: all waited for, since the application touches the memory itself.
inline void map(State& s) {
  auto& memory = s.buffer();
  auto offset = s.random.below(memory.size), size = 1 + s.random.below(memory.size - offset);
  cl_map_flags flags = pick(s, {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION});
  auto queue = s.queue();
  if (invalid(s)) {
    switch (s.random.below(4)) {
      case 0: offset = memory.size; break;
      case 1: flags = CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION; break;
      case 2: queue = s.wrong_queue(); break;
      default: size = 0;
    }
  }
  s.rest();
  cl_int code = 1;
  cl_event event = nullptr;
  auto* mapped = static_cast<unsigned char*>(
      clEnqueueMapBuffer(queue, memory.handle, CL_TRUE, flags, offset, size, 0, nullptr, &event, &code));
  say("%zu map %zu at %zu %#llx: %s", s.step, size, offset, static_cast<unsigned long long>(flags),
      code_name(code).c_str());
  if (!mapped) return;
  if (event) clReleaseEvent(event);
  if ((flags & CL_MAP_READ) && !(flags & CL_MAP_WRITE_INVALIDATE_REGION))
    say("  mapped: %s", digest(mapped, size).c_str());
  if (flags != CL_MAP_READ)
    for (size_t i = 0; i < size; i++) mapped[i] = static_cast<unsigned char>(s.random.next());
  cl_uint maps = 0;
  clGetMemObjectInfo(memory.handle, CL_MEM_MAP_COUNT, sizeof maps, &maps, nullptr);
  say("  map count %u", maps);
  s.say_result("unmap what is not mapped", clEnqueueUnmapMemObject(queue, memory.handle, &s, 0, nullptr, nullptr));
  s.say_result("unmap", clEnqueueUnmapMemObject(queue, memory.handle, mapped, 0, nullptr, nullptr));
  s.rest();
}

inline void image_command(State& s) {
  if (s.images.empty()) return;
  auto& image = s.image();
  size_t origin[3] = {s.random.below(image.width), s.random.below(image.height), 0};
  size_t region[3] = {1 + s.random.below(image.width - origin[0]), 1 + s.random.below(image.height - origin[1]), 1};
  auto queue = s.queue();
  if (invalid(s)) {
    switch (s.random.below(4)) {
      case 0: region[0] = image.width + 1; break;
      case 1:
        region[1] = image.height + 1;
        break;  // regions of depth 2 or no rows are left out: PoCL takes some of them
      case 2: queue = s.wrong_queue(); break;
      default: region[0] = image.width + 2;
    }
  }
  const auto packed = 4 * std::max<size_t>(region[0] * region[1] * region[2], 1);
  switch (s.random.below(5)) {
    case 0: {
      auto& host = s.reads.emplace_back(Pending{s.step, std::vector<unsigned char>(packed, 0x77)});
      return command(s, "read image", {&image}, {}, [&](cl_uint count, const cl_event* list, cl_event* event) {
        return clEnqueueReadImage(queue, image.handle, CL_FALSE, origin, region, 0, 0, host.data.data(), count, list,
                                  event);
      });
    }
    case 1: {
      auto& host = s.reads.emplace_back(Pending{s.step, std::vector<unsigned char>(packed)});
      for (auto& byte : host.data) byte = static_cast<unsigned char>(s.random.next());
      return command(s, "write image", {}, {&image}, [&](cl_uint count, const cl_event* list, cl_event* event) {
        return clEnqueueWriteImage(queue, image.handle, CL_FALSE, origin, region, 0, 0, host.data.data(), count, list,
                                   event);
      });
    }
    case 2: {
      const cl_uint colour[4] = {1, 2, 3, static_cast<cl_uint>(s.random.below(256))};
      return command(s, "fill image", {}, {&image}, [&](cl_uint count, const cl_event* list, cl_event* event) {
        return clEnqueueFillImage(queue, image.handle, colour, origin, region, count, list, event);
      });
    }
    case 3: {
      auto& target = s.buffer();
      if (target.is_sub) return;  // PoCL follows a null where a sub-buffer is one of the two
      return command(s, "copy image to buffer", {&image}, {&target},
                     [&](cl_uint count, const cl_event* list, cl_event* event) {
                       return clEnqueueCopyImageToBuffer(queue, image.handle, target.handle, origin, region, 0, count,
                                                         list, event);
                     });
    }
    default: {
      auto& source = s.buffer();
      if (source.is_sub) return;
      return command(s, "copy buffer to image", {&source}, {&image},
                     [&](cl_uint count, const cl_event* list, cl_event* event) {
                       return clEnqueueCopyBufferToImage(queue, source.handle, image.handle, 0, origin, region, count,
                                                         list, event);
                     });
    }
  }
}
