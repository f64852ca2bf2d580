// Commands on shared virtual memory.
#include <algorithm>
#include <cstring>

#include "client/opencl/memory_check.h"
#include "client/opencl/memory_send.h"
#include "client/opencl/svm_objects.h"

namespace flexrack::client::opencl {

namespace {

struct SvmMapping {
  std::size_t size;
  cl_map_flags flags;
};

std::mutex moving;
std::multimap<std::pair<cl_context, void*>, SvmMapping> mappings;

cl_int check_queue(cl_command_queue queue) {
  if (!is_live(queue)) return CL_INVALID_COMMAND_QUEUE;
  return has_svm(queue->context) ? CL_SUCCESS : CL_INVALID_OPERATION;
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// The range is inside one allocation.
bool is_shared(cl_context context, const void* pointer, std::size_t size) {
  const auto range = find_svm(context, pointer);
  return range.size != 0 &&
         size <= range.size - static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - range.start);
}

cl_int read_shared(Enqueue& command, const void* from, void* to, std::size_t size) {
  cl::SvmRead message;
  message.address = address_of(from);
  message.size = size;
  return submit_read(command, message, one_row(to, size), nullptr);
}

cl_int write_shared(Enqueue& command, void* to, const void* from, std::size_t size) {
  cl::SvmWrite message;
  message.address = address_of(to);
  return submit_write(command, message, one_row(from, size), nullptr);
}

}  // namespace

cl_int clEnqueueSVMMap(cl_command_queue command_queue, cl_bool blocking_map, cl_map_flags flags, void* svm_ptr,
                       size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event) {
  if (const auto error = check_queue(command_queue)) return error;
  if (size == 0 || !svm_ptr) return CL_INVALID_VALUE;
  Enqueue command{command_queue, CL_COMMAND_SVM_MAP,      num_events_in_wait_list, event_wait_list,
                  event,         blocking_map != CL_FALSE};
  if (const auto error = command.take_waits()) return error;
  if (!is_shared(command_queue->context, svm_ptr, size)) return CL_INVALID_VALUE;
  {
    std::lock_guard guard(moving);
    mappings.insert({{command_queue->context, svm_ptr}, {size, flags}});
  }
  if (flags & CL_MAP_WRITE_INVALIDATE_REGION) return submit(command, cl::Marker{});
  return read_shared(command, svm_ptr, svm_ptr, size);
}

cl_int clEnqueueSVMUnmap(cl_command_queue command_queue, void* svm_ptr, cl_uint num_events_in_wait_list,
                         const cl_event* event_wait_list, cl_event* event) {
  if (const auto error = check_queue(command_queue)) return error;
  if (!svm_ptr) return CL_INVALID_VALUE;
  Enqueue command{command_queue, CL_COMMAND_SVM_UNMAP, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = command.take_waits()) return error;
  std::unique_lock guard(moving);
  const auto found = mappings.find({command_queue->context, svm_ptr});
  // Natively an address that is not mapped is nothing to unmap, and no error.
  const auto mapping = found == mappings.end() ? SvmMapping{0, CL_MAP_READ} : found->second;
  if (found != mappings.end()) mappings.erase(found);
  guard.unlock();
  const bool is_written = mapping.flags == 0 || (mapping.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION));
  return is_written ? write_shared(command, svm_ptr, svm_ptr, mapping.size) : submit(command, cl::Marker{});
}

cl_int clEnqueueSVMMemcpy(cl_command_queue command_queue, cl_bool blocking_copy, void* dst_ptr, const void* src_ptr,
                          size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                          cl_event* event) {
  if (const auto error = check_queue(command_queue)) return error;
  if (!src_ptr || !dst_ptr || size == 0) return CL_INVALID_VALUE;
  Enqueue command{command_queue, CL_COMMAND_SVM_MEMCPY,    num_events_in_wait_list, event_wait_list,
                  event,         blocking_copy != CL_FALSE};
  if (const auto error = command.take_waits()) return error;
  const auto from = address_of(src_ptr), to = address_of(dst_ptr);
  if (from < to + size && to < from + size) return CL_MEM_COPY_OVERLAP;
  auto* context = command_queue->context;
  const bool is_from_shared = is_shared(context, src_ptr, size), is_to_shared = is_shared(context, dst_ptr, size);
  if (is_from_shared && is_to_shared) {
    cl::SvmCopy message;
    message.source = from;
    message.target = to;
    message.size = size;
    return submit(command, message);
  }
  if (is_from_shared) return read_shared(command, src_ptr, dst_ptr, size);
  if (is_to_shared) return write_shared(command, dst_ptr, src_ptr, size);
  // Between two places of this process: after all that comes before, by this thread.
  Enqueue before{command_queue, CL_COMMAND_MARKER, num_events_in_wait_list, event_wait_list, nullptr,
                 true,          command.waits};
  if (const auto error = submit(before, cl::Marker{})) return error;
  std::memcpy(dst_ptr, src_ptr, size);
  return submit(command, cl::Marker{});
}

cl_int clEnqueueSVMMemFill(cl_command_queue command_queue, void* svm_ptr, const void* pattern, size_t pattern_size,
                           size_t size, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                           cl_event* event) {
  if (const auto error = check_queue(command_queue)) return error;
  if (!svm_ptr || !pattern || pattern_size == 0 || pattern_size > 128 || (pattern_size & (pattern_size - 1)) ||
      size == 0)
    return CL_INVALID_VALUE;
  if (address_of(svm_ptr) % pattern_size != 0 || size % pattern_size != 0) return CL_INVALID_VALUE;
  Enqueue command{command_queue, CL_COMMAND_SVM_MEMFILL, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = command.take_waits()) return error;
  if (!is_shared(command_queue->context, svm_ptr, size)) return CL_INVALID_VALUE;
  cl::SvmFill message;
  message.address = address_of(svm_ptr);
  message.size = size;
  message.pattern = {static_cast<const std::uint8_t*>(pattern), pattern_size};
  return submit(command, message);
}

cl_int clEnqueueSVMMigrateMem(cl_command_queue command_queue, cl_uint num_svm_pointers, const void** svm_pointers,
                              const size_t* sizes, cl_mem_migration_flags flags, cl_uint num_events_in_wait_list,
                              const cl_event* event_wait_list, cl_event* event) {
  if (const auto error = check_queue(command_queue)) return error;
  if (num_svm_pointers == 0 || !svm_pointers) return CL_INVALID_VALUE;
  constexpr cl_mem_migration_flags kKnown = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  if (flags & ~kKnown) return CL_INVALID_VALUE;
  std::vector<std::uint64_t> addresses, lengths;
  for (cl_uint i = 0; i < num_svm_pointers; ++i) {
    const auto size = sizes ? sizes[i] : 0;
    if (!svm_pointers[i] || !is_shared(command_queue->context, svm_pointers[i], size)) return CL_INVALID_VALUE;
    addresses.push_back(address_of(svm_pointers[i]));
    lengths.push_back(size);
  }
  Enqueue command{command_queue, CL_COMMAND_SVM_MIGRATE_MEM, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = command.take_waits()) return error;
  cl::SvmMigrate message;
  message.flags = flags;
  message.addresses = addresses;
  message.sizes = lengths;
  return submit(command, message);
}

}  // namespace flexrack::client::opencl
