// Random sequences of calls, valid and not, the same for the same seed: sequence FIRST COUNT [STEPS]
// Commands on the same memory are ordered by wait lists whatever their queues, so every result is determined.
#include <algorithm>
#include <cstring>

#include "sequence_state.h"

namespace {

constexpr const char* kSource = R"(
kernel void stir(global uint* a, uint k, uint n) { uint i = get_global_id(0); if (i < n) a[i] = (a[i] ^ (k + i)) * 2654435761u; }
kernel void sum_up(global const uint* a, global uint* b, uint n) { uint i = get_global_id(0); if (i < n) b[i] += a[i] + i; }
kernel void fold(global uint* a, local uint* part, uint n) {
  uint l = get_local_id(0), i = get_global_id(0);
  part[l] = i < n ? a[i] : 0; barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) { uint s = 0; for (uint j = 0; j < get_local_size(0); j++) s += part[j]; if (i < n) a[i] = s; }
}
typedef struct { uint x; uchar y; ulong z; } Three;
kernel void three(global uint* a, Three t, uint n) { uint i = get_global_id(0) + get_global_id(1) * get_global_size(0); if (i < n) a[i] += t.x + t.y + (uint)t.z; }
)";

constexpr size_t kSizes[] = {64, 256, 4096, 4100, 20000, 65536, 70000, 300000};

cl_bitfield pick(State& s, std::initializer_list<cl_bitfield> from) { return from.begin()[s.random.below(from.size())]; }

constexpr const char* kLaunch = "launch";

bool invalid(State& s) { return s.random.one_in(5); }

/// Adds a way in which the wait list is wrong now and then; `list` and `count` are what the call is given.
void spoil_waits(State& s, std::vector<cl_event>& list, cl_uint& count, const cl_event*& given, bool may) {
  count = static_cast<cl_uint>(list.size());
  given = list.empty() ? nullptr : list.data();
  if (!s.random.one_in(40) || !may) return;
  switch (s.random.below(4)) {
    case 0: count = 1, given = nullptr; break;
    case 1: list.insert(list.begin(), nullptr), count = static_cast<cl_uint>(list.size()), given = list.data(); break;
    case 2: list.push_back(s.foreign_event), count = static_cast<cl_uint>(list.size()), given = list.data(); break;
    default: count = 0, given = &s.foreign_event;
  }
}

/// Makes the call with its wait list and event; notes it where it was accepted.
template <class Call>
void command(State& s, const char* what, std::initializer_list<Memory*> read, std::initializer_list<Memory*> written, Call&& call) {
  std::vector<cl_event> list;
  if (s.random.one_in(8)) {
    list = s.waits({});
  }
  for (auto both : {read, written})
    for (auto* memory : both) list.insert(list.end(), memory->touched->events.begin(), memory->touched->events.end());
  cl_uint count;
  const cl_event* given;
  spoil_waits(s, list, count, given, what != kLaunch);  // PoCL follows the wrong wait lists of a launch
  cl_event event = nullptr;
  const auto code = call(count, given, &event);
  say("%zu %s: %s%s", s.step, what, code_name(code).c_str(), event ? " event" : "");
  if (code == CL_SUCCESS && event) s.note(event, read, written);
}

void create_buffer(State& s) {
  auto size = kSizes[s.random.below(std::size(kSizes))];
  cl_mem_flags flags = pick(s, {CL_MEM_READ_WRITE, 0, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS});
  auto host = std::make_shared<std::vector<unsigned char>>(size);
  for (auto& byte : *host) byte = static_cast<unsigned char>(s.random.next());
  void* pointer = host->data();
  flags |= s.random.one_in(3) ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR;
  if ((flags & CL_MEM_USE_HOST_PTR) && (flags & CL_MEM_ALLOC_HOST_PTR)) flags &= ~static_cast<cl_mem_flags>(CL_MEM_ALLOC_HOST_PTR);
  auto context = s.context;
  if (invalid(s)) {
    switch (s.random.below(7)) {
      case 0: size = 0; break;
      case 1: context = nullptr; break;
      case 2: pointer = nullptr; break;
      case 3: flags |= CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR; break;
      case 4: flags |= CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY; break;
      case 5: flags |= 1ull << 40; break;
      default: flags = CL_MEM_READ_WRITE;
    }
  }
  cl_int code = 1;
  const auto handle = clCreateBuffer(context, flags, size, pointer, &code);
  say("%zu create buffer %zu %#llx: %s", s.step, size, static_cast<unsigned long long>(flags), code_name(code).c_str());
  if (!handle) return;
  if (s.buffers.size() < 12 && size > 0) s.buffers.push_back({.handle = handle, .size = size, .host = host});
  else s.rest(), clReleaseMemObject(handle);
}

void create_sub_buffer(State& s) {
  auto& parent = s.buffer();
  const auto align = s.random.one_in(4) ? 4 : 128;
  cl_buffer_region region{s.random.below(parent.size / align + 1) * align, s.random.below(parent.size + 8)};
  auto type = static_cast<cl_buffer_create_type>(CL_BUFFER_CREATE_TYPE_REGION);
  cl_mem_flags flags = pick(s, {0, CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_HOST_READ_ONLY, CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR});
  if (s.random.one_in(12)) type = 0x9999;
  cl_int code = 1;
  const auto handle = clCreateSubBuffer(s.random.one_in(20) ? nullptr : parent.handle, flags, type, s.random.one_in(20) ? nullptr : &region, &code);
  say("%zu sub-buffer at %zu of %zu in %zu %#llx: %s", s.step, region.origin, region.size, parent.size, static_cast<unsigned long long>(flags), code_name(code).c_str());
  if (handle && s.buffers.size() < 12 && flags <= 1) {
    s.buffers.push_back({.handle = handle, .size = region.size, .is_sub = true, .touched = parent.touched, .host = parent.host});
  } else if (handle) {
    clReleaseMemObject(handle);
  }
}

void create_image(State& s) {
  cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = 1 + s.random.below(80), desc.image_height = 1 + s.random.below(40);
  if (invalid(s)) {
    switch (s.random.below(5)) {
      case 0: desc.image_width = 0; break;
      case 1: desc.image_type = 0x1234; break;
      case 2: format.image_channel_order = 0x1; break;
      case 3: desc.image_row_pitch = 3; break;
      default: desc.image_width = 1u << 30;
    }
  }
  std::vector<unsigned char> pixels(80 * 40 * 4);
  for (auto& byte : pixels) byte = static_cast<unsigned char>(s.random.next());
  cl_int code = 1;
  const auto handle = clCreateImage(s.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &desc, pixels.data(), &code);
  say("%zu image %zu x %zu: %s", s.step, desc.image_width, desc.image_height, code_name(code).c_str());
  if (!handle) return;
  if (s.images.size() >= 5) return void(clReleaseMemObject(handle));
  s.images.push_back({.handle = handle, .size = desc.image_width * desc.image_height * 4, .width = desc.image_width, .height = desc.image_height});
}

void transfer(State& s) {
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
      case 2: size = memory.size; offset += 1; break;
      case 3: size = 0; break;
      default: null_pointer = true;
    }
  }
  if (blocking) s.set_user_events();
  auto& host = s.reads.emplace_back(Pending{s.step, std::vector<unsigned char>(std::max<size_t>(size, 1), 0x55)});
  if (reads)
    return command(s, blocking ? "read, blocking" : "read", {&memory}, {}, [&](cl_uint count, const cl_event* list, cl_event* event) {
      return clEnqueueReadBuffer(queue, handle, blocking && count == 0, offset, size, null_pointer ? nullptr : host.data.data(), count, list, event);
    });
  for (auto& byte : host.data) byte = static_cast<unsigned char>(s.random.next());
  command(s, "write", {}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) {
    return clEnqueueWriteBuffer(queue, handle, blocking && count == 0, offset, size, null_pointer ? nullptr : host.data.data(), count, list, event);
  });
}

void copy(State& s) {
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

void fill(State& s) {
  auto& memory = s.buffer();
  const unsigned char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, static_cast<unsigned char>(s.random.next())};
  size_t width = size_t{1} << s.random.below(5);
  auto size = (1 + s.random.below(memory.size)) / width * width, offset = s.random.below(memory.size - size + 1) / width * width;
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

void rect(State& s) {
  auto& memory = s.buffer();
  const size_t rows = 1 + s.random.below(6), row = 1 + s.random.below(std::max<size_t>(memory.size / rows / 2, 1)), pitch = row + s.random.below(9);
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
      return clEnqueueReadBufferRect(queue, memory.handle, CL_FALSE, origin, host_origin, region, buffer_pitch, 0, host_pitch, 0, host.data.data(), count, list, event);
    });
  for (auto& byte : host.data) byte = static_cast<unsigned char>(s.random.next());
  command(s, "write rect", {}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) {
    return clEnqueueWriteBufferRect(queue, memory.handle, CL_FALSE, origin, host_origin, region, buffer_pitch, 0, host_pitch, 0, host.data.data(), count, list, event);
  });
}

/// Maps, reads or changes the mapping, and unmaps: all waited for, since the application touches the memory itself.
void map(State& s) {
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
  auto* mapped = static_cast<unsigned char*>(clEnqueueMapBuffer(queue, memory.handle, CL_TRUE, flags, offset, size, 0, nullptr, &event, &code));
  say("%zu map %zu at %zu %#llx: %s", s.step, size, offset, static_cast<unsigned long long>(flags), code_name(code).c_str());
  if (!mapped) return;
  if (event) clReleaseEvent(event);
  if ((flags & CL_MAP_READ) && !(flags & CL_MAP_WRITE_INVALIDATE_REGION)) say("  mapped: %s", digest(mapped, size).c_str());
  if (flags != CL_MAP_READ)
    for (size_t i = 0; i < size; i++) mapped[i] = static_cast<unsigned char>(s.random.next());
  cl_uint maps = 0;
  clGetMemObjectInfo(memory.handle, CL_MEM_MAP_COUNT, sizeof maps, &maps, nullptr);
  say("  map count %u", maps);
  s.say_result("unmap what is not mapped", clEnqueueUnmapMemObject(queue, memory.handle, &s, 0, nullptr, nullptr));
  s.say_result("unmap", clEnqueueUnmapMemObject(queue, memory.handle, mapped, 0, nullptr, nullptr));
  s.rest();
}

void image_command(State& s) {
  if (s.images.empty()) return;
  auto& image = s.image();
  size_t origin[3] = {s.random.below(image.width), s.random.below(image.height), 0};
  size_t region[3] = {1 + s.random.below(image.width - origin[0]), 1 + s.random.below(image.height - origin[1]), 1};
  auto queue = s.queue();
  if (invalid(s)) {
    switch (s.random.below(4)) {
      case 0: region[0] = image.width + 1; break;
      case 1: region[1] = image.height + 1; break;  // regions of depth 2 or no rows are left out: PoCL takes some of them
      case 2: queue = s.wrong_queue(); break;
      default: region[0] = image.width + 2;
    }
  }
  const auto packed = 4 * std::max<size_t>(region[0] * region[1] * region[2], 1);
  switch (s.random.below(5)) {
    case 0: {
      auto& host = s.reads.emplace_back(Pending{s.step, std::vector<unsigned char>(packed, 0x77)});
      return command(s, "read image", {&image}, {}, [&](cl_uint count, const cl_event* list, cl_event* event) {
        return clEnqueueReadImage(queue, image.handle, CL_FALSE, origin, region, 0, 0, host.data.data(), count, list, event);
      });
    }
    case 1: {
      auto& host = s.reads.emplace_back(Pending{s.step, std::vector<unsigned char>(packed)});
      for (auto& byte : host.data) byte = static_cast<unsigned char>(s.random.next());
      return command(s, "write image", {}, {&image}, [&](cl_uint count, const cl_event* list, cl_event* event) {
        return clEnqueueWriteImage(queue, image.handle, CL_FALSE, origin, region, 0, 0, host.data.data(), count, list, event);
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
      return command(s, "copy image to buffer", {&image}, {&target}, [&](cl_uint count, const cl_event* list, cl_event* event) {
        return clEnqueueCopyImageToBuffer(queue, image.handle, target.handle, origin, region, 0, count, list, event);
      });
    }
    default: {
      auto& source = s.buffer();
      if (source.is_sub) return;
      return command(s, "copy buffer to image", {&source}, {&image}, [&](cl_uint count, const cl_event* list, cl_event* event) {
        return clEnqueueCopyBufferToImage(queue, source.handle, image.handle, 0, origin, region, count, list, event);
      });
    }
  }
}

void launch(State& s) {
  const auto which = s.random.below(4);
  auto kernel = s.kernels[which];
  auto &memory = s.buffer(), &other = s.buffer();
  if (memory.touched == other.touched && which == 1) return;
  const auto n = static_cast<cl_uint>(memory.size / 4);
  const auto k = static_cast<cl_uint>(s.random.next());
  struct { cl_uint x; cl_uchar y; cl_ulong z; } three{k, 7, 9};
  // Before the right ones: PoCL forgets an argument that it refuses to replace.
  if (s.random.one_in(6)) {
    s.say_result("arg index", clSetKernelArg(kernel, 3, 4, &n));
    s.say_result("arg size", clSetKernelArg(kernel, 2, 8, &n));
    s.say_result("arg of null", clSetKernelArg(kernel, 2, 4, nullptr));
    s.say_result("arg of null kernel", clSetKernelArg(nullptr, 0, 4, &n));
  }
  if (which == 1) {
    s.say_result("arg", clSetKernelArg(kernel, 0, sizeof(cl_mem), &other.handle));
    s.say_result("arg", clSetKernelArg(kernel, 1, sizeof(cl_mem), &memory.handle));
    const auto both = static_cast<cl_uint>(std::min(memory.size, other.size) / 4);
    s.say_result("arg", clSetKernelArg(kernel, 2, 4, &both));
  } else {
    s.say_result("arg", clSetKernelArg(kernel, 0, sizeof(cl_mem), &memory.handle));
    s.say_result("arg", which == 0 ? clSetKernelArg(kernel, 1, 4, &k) : which == 2 ? clSetKernelArg(kernel, 1, 64 * 4, nullptr) : clSetKernelArg(kernel, 1, sizeof three, &three));
    s.say_result("arg", clSetKernelArg(kernel, 2, 4, &n));
  }
  cl_uint dimensions = which == 3 ? 2 : 1;
  size_t global[3] = {which == 3 ? size_t{64} : (n + 63) / 64 * 64, (n + 63) / 64, 1}, local[3] = {which == 2 ? size_t{64} : size_t{32}, 1, 1}, offset[3] = {0, 0, 0};
  bool has_local = which == 2 || s.random.one_in(2);
  auto queue = s.queue();
  if (global[0] == 0) global[0] = 64;
  if (global[1] == 0) global[1] = 1;
  if (invalid(s)) {
    switch (s.random.below(6)) {
      case 0: dimensions = s.random.one_in(2) ? 0 : 4; break;
      case 1: local[0] = 7, has_local = true; break;
      case 2: local[0] = 1 << 20, global[0] = 1 << 20, has_local = true; break;
      case 3: queue = s.wrong_queue(); break;
      case 4: offset[0] = 1; break;  // a null kernel is left out: PoCL follows it
      // A local size of 0 is left out: PoCL divides by it.
      default: global[0] = 0;
    }
  }
  command(s, kLaunch, which == 1 ? std::initializer_list<Memory*>{&other} : std::initializer_list<Memory*>{}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) {
    return clEnqueueNDRangeKernel(queue, kernel, dimensions, s.random.one_in(3) ? offset : nullptr, global, has_local ? local : nullptr, count, list, event);
  });
}

void order(State& s) {
  const auto queue = s.random.one_in(8) ? nullptr : s.queue();
  auto& memory = s.buffer();
  switch (s.random.below(4)) {
    case 0: return command(s, "marker", {}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) { return clEnqueueMarkerWithWaitList(queue, count, list, event); });
    case 1: return command(s, "barrier", {}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) { return clEnqueueBarrierWithWaitList(queue, count, list, event); });
    case 2: return command(s, "migrate", {}, {&memory}, [&](cl_uint count, const cl_event* list, cl_event* event) {
      return clEnqueueMigrateMemObjects(queue, 1, &memory.handle, s.random.one_in(4) ? CL_MIGRATE_MEM_OBJECT_HOST : 0, count, list, event);
    });
    default: s.say_result("flush", clFlush(queue));
  }
}

void ask(State& s) {
  s.rest();  // the device has references of its own to what it works on
  auto& memory = s.buffer();
  // Not the reference count: PoCL's own uses are in it while commands end.
  for (cl_uint name : {CL_MEM_TYPE, CL_MEM_FLAGS, CL_MEM_SIZE, CL_MEM_MAP_COUNT, CL_MEM_OFFSET, 0x1177}) {
    std::uint64_t value = 0;
    size_t size = 0;
    const auto code = clGetMemObjectInfo(memory.handle, name, sizeof value, &value, &size);
    say("%zu memory %#x: %s %zu %llx", s.step, name, code_name(code).c_str(), size, static_cast<unsigned long long>(value));
  }
  s.say_result("retain", clRetainMemObject(memory.handle));
  s.say_result("release", clReleaseMemObject(memory.handle));
  s.say_result("retain null", clRetainMemObject(nullptr));
  s.say_result("wait for nothing", clWaitForEvents(0, nullptr));
  s.say_result("wait for null", clWaitForEvents(1, nullptr));
  cl_int code = 1;
  if (!s.user_events.empty()) {
    s.say_result("set wrong status", clSetUserEventStatus(s.user_events.back(), CL_RUNNING));
  }
  if (!s.events.empty()) s.say_result("set a command's status", clSetUserEventStatus(s.events.back().second, CL_COMPLETE));
  clCreateUserEvent(nullptr, &code), s.say_result("user event of null", code);
}

void release(State& s) {
  if (s.buffers.size() < 4) return;
  s.rest();
  const auto at = s.random.below(s.buffers.size());
  s.say_result("release", clReleaseMemObject(s.buffers[at].handle));
  // A parent's sub-buffers live on; the host memory of CL_MEM_USE_HOST_PTR is shared with them.
  s.buffers.erase(s.buffers.begin() + static_cast<std::ptrdiff_t>(at));
}

void run(State& s, size_t steps) {
  cl_int code;
  std::vector<unsigned char> zeros(4096);
  for (size_t i = 0; i < 3; i++) {
    const auto handle = clCreateBuffer(s.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 4096, zeros.data(), &code);
    need("clCreateBuffer", code);
    s.buffers.push_back({.handle = handle, .size = 4096});
  }
  using Action = void (*)(State&);
  const Action actions[] = {create_buffer, create_sub_buffer, create_image, transfer, transfer, transfer, copy, copy, fill, fill, rect, rect, map, image_command, image_command, launch, launch, launch, launch, order, ask, release};
  for (s.step = 0; s.step < steps; s.step++) {
    actions[s.random.below(std::size(actions))](s);
    if (s.events.size() > 24) s.rest();
  }
  s.rest();
  for (auto* list : {&s.buffers, &s.images})
    for (auto& memory : *list) {
      if (list == &s.buffers) {
        std::vector<unsigned char> all(memory.size);
        const auto read = clEnqueueReadBuffer(s.queues[0], memory.handle, CL_TRUE, 0, memory.size, all.data(), 0, nullptr, nullptr);
        say("at the end %zu: %s %s", memory.size, code_name(read).c_str(), digest(all).c_str());
      }
    }
  for (auto* list : {&s.images, &s.buffers}) {
    for (auto memory = list->rbegin(); memory != list->rend(); ++memory) clReleaseMemObject(memory->handle);
    list->clear();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1, count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10;
  const auto steps = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 60;
  State base(0);
  base.devices = all_devices();
  base.context = new_context(base.devices), base.foreign = new_context({base.devices[0]});
  for (auto device : base.devices) {
    base.queues.push_back(new_queue(base.context, device));
    base.queues.push_back(new_queue(base.context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE));
  }
  cl_int code;
  base.foreign_queue = new_queue(base.foreign, base.devices[0]);
  base.foreign_memory = clCreateBuffer(base.foreign, CL_MEM_READ_WRITE, 4096, nullptr, &code);
  base.foreign_event = clCreateUserEvent(base.foreign, &code);
  clSetUserEventStatus(base.foreign_event, CL_COMPLETE);
  base.program = built_program(base.context, kSource);
  for (const char* name : {"stir", "sum_up", "fold", "three"}) base.kernels.push_back(new_kernel(base.program, name));
  for (auto seed = first; seed < first + count; seed++) {
    say("== sequence %llu", seed);
    auto state = base;
    state.random = Random(seed);
    run(state, steps);
  }
}
