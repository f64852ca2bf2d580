// What a random sequence makes, asks of and gives back: buffers, parts of them, images.
#pragma once

#include "sequence_command.h"

constexpr size_t kSizes[] = {64, 256, 4096, 4100, 20000, 65536, 70000, 300000};

inline void create_buffer(State& s) {
  auto size = kSizes[s.random.below(std::size(kSizes))];
  cl_mem_flags flags = pick(s, {CL_MEM_READ_WRITE, 0, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY,
                                CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS});
  auto host = std::make_shared<std::vector<unsigned char>>(size);
  for (auto& byte : *host) byte = static_cast<unsigned char>(s.random.next());
  void* pointer = host->data();
  flags |= s.random.one_in(3) ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR;
  if ((flags & CL_MEM_USE_HOST_PTR) && (flags & CL_MEM_ALLOC_HOST_PTR))
    flags &= ~static_cast<cl_mem_flags>(CL_MEM_ALLOC_HOST_PTR);
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

inline void create_sub_buffer(State& s) {
  auto& parent = s.buffer();
  const auto align = s.random.one_in(4) ? 4 : 128;
  cl_buffer_region region{s.random.below(parent.size / align + 1) * align, s.random.below(parent.size + 8)};
  auto type = static_cast<cl_buffer_create_type>(CL_BUFFER_CREATE_TYPE_REGION);
  cl_mem_flags flags = pick(
      s, {0, CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_HOST_READ_ONLY, CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR});
  if (s.random.one_in(12)) type = 0x9999;
  cl_int code = 1;
  const auto handle = clCreateSubBuffer(s.random.one_in(20) ? nullptr : parent.handle, flags, type,
                                        s.random.one_in(20) ? nullptr : &region, &code);
  say("%zu sub-buffer at %zu of %zu in %zu %#llx: %s", s.step, region.origin, region.size, parent.size,
      static_cast<unsigned long long>(flags), code_name(code).c_str());
  if (handle && s.buffers.size() < 12 && flags <= 1) {
    s.buffers.push_back(
        {.handle = handle, .size = region.size, .is_sub = true, .touched = parent.touched, .host = parent.host});
  } else if (handle) {
    clReleaseMemObject(handle);
  }
}

inline void create_image(State& s) {
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
  const auto handle =
      clCreateImage(s.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &desc, pixels.data(), &code);
  say("%zu image %zu x %zu: %s", s.step, desc.image_width, desc.image_height, code_name(code).c_str());
  if (!handle) return;
  if (s.images.size() >= 5) return void(clReleaseMemObject(handle));
  s.images.push_back({.handle = handle,
                      .size = desc.image_width * desc.image_height * 4,
                      .width = desc.image_width,
                      .height = desc.image_height});
}

inline void ask(State& s) {
  s.rest();  // the device has references of its own to what it works on
  auto& memory = s.buffer();
  // Not the reference count: PoCL's own uses are in it while commands end.
  for (cl_uint name : {CL_MEM_TYPE, CL_MEM_FLAGS, CL_MEM_SIZE, CL_MEM_MAP_COUNT, CL_MEM_OFFSET, 0x1177}) {
    std::uint64_t value = 0;
    size_t size = 0;
    const auto code = clGetMemObjectInfo(memory.handle, name, sizeof value, &value, &size);
    say("%zu memory %#x: %s %zu %llx", s.step, name, code_name(code).c_str(), size,
        static_cast<unsigned long long>(value));
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
  if (!s.events.empty())
    s.say_result("set a command's status", clSetUserEventStatus(s.events.back().second, CL_COMPLETE));
  clCreateUserEvent(nullptr, &code), s.say_result("user event of null", code);
}

inline void release(State& s) {
  if (s.buffers.size() < 4) return;
  s.rest();
  const auto at = s.random.below(s.buffers.size());
  s.say_result("release", clReleaseMemObject(s.buffers[at].handle));
  // A parent's sub-buffers live on; the host memory of CL_MEM_USE_HOST_PTR is shared with them.
  s.buffers.erase(s.buffers.begin() + static_cast<std::ptrdiff_t>(at));
}
