// Mapping buffers, and unmapping whatever is mapped.
#include "client/opencl/map.h"

#include <algorithm>

#include "client/opencl/buffer_transfer.h"
#include "client/opencl/image_create.h"
#include "client/opencl/image_transfer.h"
#include "client/opencl/memory_check.h"

namespace flexrack::client::opencl {

namespace {

cl_int check(cl_command_queue queue, cl_mem buffer, std::size_t size) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!is_live(buffer)) return CL_INVALID_MEM_OBJECT;
  if (const auto error = check_alignment(queue, buffer)) return error;
  if (size == 0) return CL_INVALID_VALUE;
  if (buffer->type != CL_MEM_OBJECT_BUFFER) return CL_INVALID_MEM_OBJECT;
  return queue->context == buffer->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int map_buffer(Enqueue& command, cl_mem buffer, cl_map_flags flags, std::size_t offset, std::size_t size,
                  void** pointer) {
  auto* root = buffer->root();
  const auto in_root = buffer->root_offset() + offset;
  const bool is_fetched = (flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0;
  // Also what will be overwritten: the object must exist where it is going to be written.
  if (const auto error = is_fetched ? use_memory(command.queue, buffer, false, command.waits)
                                    : overwrite_memory(command.queue, buffer, offset, size, command.waits))
    return error;
  std::unique_lock guard(root->lock);
  auto* base = client_memory(root);
  if (!base) return CL_OUT_OF_HOST_MEMORY;
  *pointer = base + in_root;
  const auto parts =
      is_fetched ? parts_to_fetch(root, in_root, size) : std::vector<std::pair<std::size_t, std::size_t>>{};
  guard.unlock();
  Mapping mapping;
  mapping.object = root;
  mapping.pointer = *pointer;
  mapping.offset = in_root;
  mapping.size = size;
  mapping.flags = flags;
  enter_mapping(root, mapping);
  if (parts.empty()) return submit_nothing(command, buffer);
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    Enqueue part{command.queue, command.type, command.count, command.list, nullptr, true, command.waits};
    read_buffer(part, buffer, parts[i].first - buffer->root_offset(), one_row(base + parts[i].first, parts[i].second));
  }
  return read_buffer(command, buffer, parts.back().first - buffer->root_offset(),
                     one_row(base + parts.back().first, parts.back().second));
}

}  // namespace

std::byte* client_memory(cl_mem root) {
  return root->host_pointer ? static_cast<std::byte*>(root->host_pointer) : root->shadow.get(root->size);
}

cl_int check_map_access(cl_mem memory, cl_map_flags flags) {
  if ((flags & CL_MAP_READ) && (memory->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)))
    return CL_INVALID_OPERATION;
  const bool writes = (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;
  return writes && (memory->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) ? CL_INVALID_OPERATION
                                                                                     : CL_SUCCESS;
}

void enter_mapping(cl_mem root, const Mapping& mapping) {
  retain(root);
  std::lock_guard guard(root->lock);
  root->mappings.push_back(mapping);
}

Mapping take_mapping(cl_mem root, const void* pointer) {
  std::lock_guard guard(root->lock);
  const auto found = std::find_if(root->mappings.begin(), root->mappings.end(),
                                  [&](const Mapping& mapping) { return mapping.pointer == pointer; });
  if (found == root->mappings.end()) return {};
  const auto mapping = *found;
  root->mappings.erase(found);
  return mapping;
}

std::vector<std::pair<std::size_t, std::size_t>> parts_to_fetch(cl_mem root, std::size_t offset, std::size_t size) {
  std::vector<std::pair<std::size_t, std::size_t>> written;   // begin, end
  for (const auto& mapping : root->mappings) {
    if (mapping.is_written() && mapping.size != 0) written.emplace_back(mapping.offset, mapping.offset + mapping.size);
  }
  std::sort(written.begin(), written.end());
  std::vector<std::pair<std::size_t, std::size_t>> parts;     // begin, size
  auto at = offset;
  const auto end = offset + size;
  for (const auto& [from, to] : written) {
    if (to <= at || from >= end) continue;
    if (from > at) parts.emplace_back(at, from - at);
    at = std::max(at, to);
  }
  if (at < end) parts.emplace_back(at, end - at);
  return parts;
}

void* clEnqueueMapBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_map, cl_map_flags map_flags,
                         size_t offset, size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                         cl_event* event, cl_int* errcode_ret) {
  void* pointer = nullptr;
  Enqueue command{command_queue, CL_COMMAND_MAP_BUFFER,   num_events_in_wait_list, event_wait_list,
                  event,         blocking_map != CL_FALSE};
  auto error = check(command_queue, buffer, size);
  if (!error) error = command.take_waits();
  if (!error) error = check_bounds(buffer->size, offset, size);
  if (!error) error = check_map_access(buffer, map_flags);
  if (!error) error = check_fits(command_queue, buffer);
  if (!error) error = map_buffer(command, buffer, map_flags, offset, size, &pointer);
  if (errcode_ret) *errcode_ret = error;
  return error ? nullptr : pointer;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue command_queue, cl_mem memobj, void* mapped_ptr,
                               cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!is_live(memobj)) return CL_INVALID_MEM_OBJECT;
  if (command_queue->context != memobj->context) return CL_INVALID_CONTEXT;
  Enqueue command{command_queue, CL_COMMAND_UNMAP_MEM_OBJECT, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = command.take_waits()) return error;
  if (memobj->flags & CL_MEM_HOST_NO_ACCESS) return CL_INVALID_OPERATION;
  auto* root = memobj->root();
  const auto mapping = take_mapping(root, mapped_ptr);
  if (!mapping.object) return CL_INVALID_VALUE;
  cl_int answer;
  auto* object = mapping.object;
  if (!mapping.is_written()) {
    answer = use_memory(command_queue, object, false, command.waits);
    if (!answer) answer = submit_nothing(command, object);
  } else if (object->is_image()) {
    answer = use_memory(command_queue, object, true, command.waits);
    const auto rows =
        image_rows(object, mapping.pointer, mapping.region.data(), object->image.row_pitch, object->image.slice_pitch);
    if (!answer) answer = write_image(command, object, mapping.origin.data(), mapping.region.data(), rows);
  } else {
    answer = overwrite_memory(command_queue, object, mapping.offset, mapping.size, command.waits);
    if (!answer) answer = write_buffer(command, object, mapping.offset, one_row(mapping.pointer, mapping.size));
  }
  release(root);
  return answer;
}

}  // namespace flexrack::client::opencl
