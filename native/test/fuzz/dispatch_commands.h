// Commands on buffers, images and shared memory of the driver that believes what it is told.
#pragma once

#include "test/fuzz/dispatch_memory.h"

namespace flexrack::fuzz {

/// The command's pattern, for as long as it is needed.
inline std::function<void()> fill(std::uint8_t* at, const void* pattern, size_t length, size_t size) {
  std::vector<std::uint8_t> kept(static_cast<const std::uint8_t*>(pattern),
                                 static_cast<const std::uint8_t*>(pattern) + length);
  return [at, kept = std::move(kept), size] {
    for (size_t i = 0; i < size; i += kept.size()) std::memcpy(at + i, kept.data(), kept.size());
  };
}

inline void fill_in_commands(backend::opencl::Native& cl) {
  cl.clEnqueueReadBuffer = [](cl_command_queue queue, cl_mem from, cl_bool, size_t offset, size_t size, void* to,
                              cl_uint count, const cl_event* list, cl_event* out) {
    return enqueue(queue, count, list, out, {from}, [=] { std::memcpy(to, from->data + offset, size); });
  };
  cl.clEnqueueWriteBuffer = [](cl_command_queue queue, cl_mem to, cl_bool, size_t offset, size_t size, const void* from,
                               cl_uint count, const cl_event* list, cl_event* out) {
    return enqueue(queue, count, list, out, {to}, [=] { std::memcpy(to->data + offset, from, size); });
  };
  cl.clEnqueueReadBufferRect = [](cl_command_queue queue, cl_mem from, cl_bool, const size_t* origin, const size_t*,
                                  const size_t* region, size_t row, size_t slice, size_t, size_t, void* to,
                                  cl_uint count, const cl_event* list, cl_event* out) -> cl_int {
    const Box box(origin, region);
    if (!has_pitches(box, row, slice)) return CL_INVALID_VALUE;
    return enqueue(queue, count, list, out, {from}, [=] {
      auto* next = static_cast<std::uint8_t*>(to);
      each_buffer_row(box, row, slice,
                      [&](size_t at, size_t bytes) { std::memcpy(next, from->data + at, bytes), next += bytes; });
    });
  };
  cl.clEnqueueWriteBufferRect = [](cl_command_queue queue, cl_mem to, cl_bool, const size_t* origin, const size_t*,
                                   const size_t* region, size_t row, size_t slice, size_t, size_t, const void* from,
                                   cl_uint count, const cl_event* list, cl_event* out) -> cl_int {
    const Box box(origin, region);
    if (!has_pitches(box, row, slice)) return CL_INVALID_VALUE;
    return enqueue(queue, count, list, out, {to}, [=] {
      auto* next = static_cast<const std::uint8_t*>(from);
      each_buffer_row(box, row, slice,
                      [&](size_t at, size_t bytes) { std::memcpy(to->data + at, next, bytes), next += bytes; });
    });
  };
  cl.clEnqueueCopyBuffer = [](cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                              size_t size, cl_uint count, const cl_event* list, cl_event* out) {
    return enqueue(queue, count, list, out, {from, to},
                   [=] { std::memmove(to->data + to_offset, from->data + from_offset, size); });
  };
  cl.clEnqueueCopyBufferRect = [](cl_command_queue queue, cl_mem from, cl_mem to, const size_t* from_origin,
                                  const size_t* to_origin, const size_t* region, size_t from_row, size_t from_slice,
                                  size_t to_row, size_t to_slice, cl_uint count, const cl_event* list,
                                  cl_event* out) -> cl_int {
    const Box source(from_origin, region), target(to_origin, region);
    if (!has_pitches(source, from_row, from_slice) || !has_pitches(target, to_row, to_slice)) return CL_INVALID_VALUE;
    return enqueue(queue, count, list, out, {from, to}, [=] {
      std::vector<std::uint8_t> bytes;
      each_buffer_row(source, from_row, from_slice, [&](size_t at, size_t size) {
        bytes.insert(bytes.end(), from->data + at, from->data + at + size);
      });
      auto* next = bytes.data();
      each_buffer_row(target, to_row, to_slice,
                      [&](size_t at, size_t size) { std::memcpy(to->data + at, next, size), next += size; });
    });
  };
  cl.clEnqueueFillBuffer = [](cl_command_queue queue, cl_mem to, const void* pattern, size_t length, size_t offset,
                              size_t size, cl_uint count, const cl_event* list, cl_event* out) -> cl_int {
    if (size == 0 || size % length != 0 || offset % length != 0) return CL_INVALID_VALUE;
    return enqueue(queue, count, list, out, {to}, fill(to->data + offset, pattern, length, size));
  };
  cl.clEnqueueMapBuffer = [](cl_command_queue queue, cl_mem memory, cl_bool, cl_map_flags, size_t offset, size_t size,
                             cl_uint count, const cl_event* list, cl_event* out, cl_int* error) -> void* {
    *error = size == 0 ? CL_INVALID_VALUE : enqueue(queue, count, list, out, {memory}, [] {});
    return *error == CL_SUCCESS ? memory->data + offset : nullptr;
  };
  cl.clEnqueueUnmapMemObject = [](cl_command_queue queue, cl_mem memory, void* at, cl_uint count, const cl_event* list,
                                  cl_event* out) -> cl_int {
    const auto* place = static_cast<std::uint8_t*>(at);
    if (place < memory->data || place >= memory->data + memory->size) std::abort();
    return enqueue(queue, count, list, out, {memory}, [] {});
  };
  cl.clEnqueueMigrateMemObjects = [](cl_command_queue queue, cl_uint number, const cl_mem* objects,
                                     cl_mem_migration_flags, cl_uint count, const cl_event* list, cl_event* out) {
    return enqueue(queue, count, list, out, {objects, objects + number}, [] {});
  };
  const auto nothing = [](cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* out) {
    return enqueue(queue, count, list, out, {}, [] {});
  };
  cl.clEnqueueMarkerWithWaitList = nothing;
  cl.clEnqueueBarrierWithWaitList = nothing;
  cl.clEnqueueSVMMemcpy = [](cl_command_queue queue, cl_bool, void* to, const void* from, size_t size, cl_uint count,
                             const cl_event* list, cl_event* out) {
    return enqueue(queue, count, list, out, {}, [=] { std::memmove(to, from, size); });
  };
  cl.clEnqueueSVMMemFill = [](cl_command_queue queue, void* to, const void* pattern, size_t length, size_t size,
                              cl_uint count, const cl_event* list, cl_event* out) -> cl_int {
    if (size % length != 0 || reinterpret_cast<std::uintptr_t>(to) % length != 0) return CL_INVALID_VALUE;
    return enqueue(queue, count, list, out, {}, fill(static_cast<std::uint8_t*>(to), pattern, length, size));
  };
  cl.clEnqueueSVMMap = [](cl_command_queue queue, cl_bool, cl_map_flags, void*, size_t, cl_uint count,
                          const cl_event* list, cl_event* out) { return enqueue(queue, count, list, out, {}, [] {}); };
  cl.clEnqueueSVMUnmap = [](cl_command_queue queue, void*, cl_uint count, const cl_event* list, cl_event* out) {
    return enqueue(queue, count, list, out, {}, [] {});
  };
  cl.clEnqueueSVMMigrateMem = [](cl_command_queue queue, cl_uint number, const void** at, const size_t* sizes,
                                 cl_mem_migration_flags, cl_uint count, const cl_event* list, cl_event* out) {
    volatile std::uint8_t seen = 0;
    for (cl_uint i = 0; i < number; ++i)
      if (sizes[i] > 0) seen = static_cast<const std::uint8_t*>(at[i])[sizes[i] - 1];
    static_cast<void>(seen);
    return enqueue(queue, count, list, out, {}, [] {});
  };
}

inline void fill_in_image_commands(backend::opencl::Native& cl) {
  cl.clEnqueueReadImage = [](cl_command_queue queue, cl_mem from, cl_bool, const size_t* origin, const size_t* region,
                             size_t, size_t, void* to, cl_uint count, const cl_event* list, cl_event* out) -> cl_int {
    const Box box(origin, region);
    if (!box.is_within(*from)) return CL_INVALID_VALUE;
    return enqueue(queue, count, list, out, {from}, [=] {
      each_row(*from, box, [&](auto* place, size_t before, size_t bytes) {
        std::memcpy(static_cast<std::uint8_t*>(to) + before, place, bytes);
      });
    });
  };
  cl.clEnqueueWriteImage = [](cl_command_queue queue, cl_mem to, cl_bool, const size_t* origin, const size_t* region,
                              size_t, size_t, const void* from, cl_uint count, const cl_event* list,
                              cl_event* out) -> cl_int {
    const Box box(origin, region);
    if (!box.is_within(*to)) return CL_INVALID_VALUE;
    return enqueue(queue, count, list, out, {to}, [=] {
      each_row(*to, box, [&](auto* place, size_t before, size_t bytes) {
        std::memcpy(place, static_cast<const std::uint8_t*>(from) + before, bytes);
      });
    });
  };
  cl.clEnqueueCopyImage = [](cl_command_queue queue, cl_mem from, cl_mem to, const size_t* from_origin,
                             const size_t* to_origin, const size_t* region, cl_uint count, const cl_event* list,
                             cl_event* out) -> cl_int {
    if (from->element == 0 || to->element == 0) std::abort();
    if (from->element != to->element) return CL_IMAGE_FORMAT_MISMATCH;
    return Box(from_origin, region).is_within(*from) && Box(to_origin, region).is_within(*to)
               ? enqueue(queue, count, list, out, {from, to}, [] {})
               : CL_INVALID_VALUE;
  };
  cl.clEnqueueCopyImageToBuffer = [](cl_command_queue queue, cl_mem from, cl_mem to, const size_t* origin,
                                     const size_t* region, size_t offset, cl_uint count, const cl_event* list,
                                     cl_event* out) -> cl_int {
    const Box box(origin, region);
    if (!box.is_within(*from)) return CL_INVALID_VALUE;
    return enqueue(queue, count, list, out, {from, to}, [=] {
      each_row(*from, box, [&](auto* place, size_t before, size_t bytes) {
        std::memmove(to->data + offset + before, place, bytes);
      });
    });
  };
  cl.clEnqueueCopyBufferToImage = [](cl_command_queue queue, cl_mem from, cl_mem to, size_t offset,
                                     const size_t* origin, const size_t* region, cl_uint count, const cl_event* list,
                                     cl_event* out) -> cl_int {
    const Box box(origin, region);
    if (!box.is_within(*to)) return CL_INVALID_VALUE;
    return enqueue(queue, count, list, out, {from, to}, [=] {
      each_row(*to, box, [&](auto* place, size_t before, size_t bytes) {
        std::memmove(place, from->data + offset + before, bytes);
      });
    });
  };
  cl.clEnqueueFillImage = [](cl_command_queue queue, cl_mem to, const void* color, const size_t* origin,
                             const size_t* region, cl_uint count, const cl_event* list, cl_event* out) -> cl_int {
    const Box box(origin, region);
    if (!box.is_within(*to)) return CL_INVALID_VALUE;
    // Four channels of four bytes, whatever the format is.
    std::uint8_t read[16];
    std::memcpy(read, color, sizeof read);
    return enqueue(queue, count, list, out, {to}, [=, first = read[0]] {
      each_row(*to, box, [&](auto* place, size_t, size_t bytes) { std::memset(place, first, bytes); });
    });
  };
}

}  // namespace flexrack::fuzz
