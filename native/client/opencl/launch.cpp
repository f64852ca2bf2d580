// Launching kernels: the hot path. Everything a launch can be refused for is known here, so nobody waits.
#include "client/opencl/coherence.h"
#include "client/opencl/enqueue.h"
#include "client/opencl/program_objects.h"

namespace flexrack::client::opencl {

namespace {

/// The range of a launch as it is sent.
struct Range {
  cl_uint dimensions = 1;
  cl::Triple offset{}, global{1, 1, 1}, local{1, 1, 1};
  bool has_local = false;
  bool is_empty = false;
};

std::uint64_t& part(cl::Triple& triple, cl_uint dimension) {
  return dimension == 0 ? triple.x : dimension == 1 ? triple.y : triple.z;
}

/// Items of a group; the largest number where it cannot be told.
std::uint64_t volume(const cl::Triple& local) {
  std::uint64_t both = 0, all = 0;
  return __builtin_mul_overflow(local.x, local.y, &both) || __builtin_mul_overflow(both, local.z, &all) ? UINT64_MAX
                                                                                                        : all;
}

/// In the order in which PoCL finds faults, which leaves none of the specification's out.
cl_int check_groups(const KernelDevice& on, Range& range) {
  if (range.has_local) {
    for (cl_uint d = 0; d < range.dimensions; d++)
      if (part(range.local, d) == 0) return CL_INVALID_WORK_GROUP_SIZE;
    if (volume(range.local) > on.group_limit) return CL_INVALID_WORK_GROUP_SIZE;
    for (cl_uint d = 0; d < range.dimensions; d++)
      if (part(range.local, d) > on.item_limits[d]) return CL_INVALID_WORK_ITEM_SIZE;
    for (cl_uint d = 0; d < range.dimensions && !on.takes_uneven; d++) {
      if (part(range.global, d) % part(range.local, d) != 0) return CL_INVALID_WORK_GROUP_SIZE;
    }
  }
  if (on.required[0] == 0 || on.required[1] == 0 || on.required[2] == 0) return CL_SUCCESS;
  const bool is_as_required = range.has_local && range.local.x == on.required[0] && range.local.y == on.required[1] &&
                              range.local.z == on.required[2];
  return is_as_required ? CL_SUCCESS : CL_INVALID_WORK_GROUP_SIZE;
}

cl_int take_range(const KernelDevice& on, cl_uint dimensions, const size_t* offset, const size_t* global,
                  const size_t* local, Range& range) {
  if (dimensions < 1 || dimensions > on.dimensions) return CL_INVALID_WORK_DIMENSION;
  range.dimensions = dimensions;
  range.is_empty = global == nullptr;
  for (cl_uint d = 0; global && d < dimensions; d++) {
    if (global[d] == 0) range.is_empty = true;
    part(range.global, d) = global[d];
    part(range.offset, d) = offset ? offset[d] : 0;
  }
  if (range.is_empty) return on.takes_empty ? CL_SUCCESS : CL_INVALID_GLOBAL_WORK_SIZE;
  for (cl_uint d = 0; offset && d < dimensions; d++)
    if (offset[d] > SIZE_MAX - global[d]) return CL_INVALID_GLOBAL_OFFSET;
  range.has_local = local != nullptr;
  for (cl_uint d = 0; local && d < dimensions; d++) part(range.local, d) = local[d];
  return check_groups(on, range);
}

/// Everything is set, and what it is set to is still there and fits this device.
cl_int check_arguments(cl_kernel kernel, const KernelDevice& on) {
  for (const auto& slot : kernel->slots) {
    if (slot.value.kind == argument::kUnknown) return CL_INVALID_KERNEL_ARGS;
    if (slot.value.sampler && !is_live(slot.value.sampler)) return CL_INVALID_KERNEL_ARGS;
    if (slot.value.queue && !is_live(slot.value.queue)) return CL_INVALID_KERNEL_ARGS;
    auto* memory = slot.value.memory;
    if (!memory) continue;
    if (!is_live(memory)) return CL_INVALID_KERNEL_ARGS;
    if (memory->is_image()) continue;
    if (memory->parent && memory->origin % on.alignment != 0) return CL_MISALIGNED_SUB_BUFFER_OFFSET;
    if (memory->root()->size > on.largest_allocation) return CL_OUT_OF_RESOURCES;
  }
  return CL_SUCCESS;
}

/// Brings memory to where the launch is, and collects what the kernel's twin there has not been told yet.
cl_int collect(cl_command_queue queue, cl_kernel kernel) {
  auto& copy = kernel->copies[queue->place];
  kernel->arguments.clear();
  kernel->written.clear();
  for (std::uint32_t i = 0; i < kernel->slots.size(); i++) {
    auto& slot = kernel->slots[i];
    const auto& value = slot.value;
    std::uint64_t object = value.kind == argument::kSvm ? value.number : 0;
    if (value.memory) {
      const bool may_write = slot.may_write();
      if (const auto error = use_memory(queue, value.memory, may_write, kernel->waits)) return error;
      if (may_write) kernel->written.push_back(value.memory);
      object = handle_at(value.memory, queue->place);
    } else if (value.sampler) {
      object = handle_at(value.sampler, queue->place);
    } else if (value.queue) {
      object = value.queue->handle;
    }
    if (copy.versions[i] == slot.version && copy.objects[i] == object) continue;
    kernel->arguments.push_back({.index = i,
                                 .kind = value.kind,
                                 .object = object,
                                 .size = value.kind == argument::kLocal ? value.number : value.bytes.size(),
                                 .value = value.bytes});
  }
  return CL_SUCCESS;
}

/// They have been told now.
void note_sent(cl_command_queue queue, cl_kernel kernel) {
  auto& copy = kernel->copies[queue->place];
  for (const auto& argument : kernel->arguments) {
    copy.versions[argument.index] = kernel->slots[argument.index].version;
    copy.objects[argument.index] = argument.object;
  }
}

/// Sends it, under the kernel's lock.
cl_int send(cl_command_queue queue, cl_kernel kernel, const Range& range, cl_event event) {
  auto& session = queue->session();
  if (range.is_empty) {   // no work items: only its place among the commands is left
    return session.send(cl::Marker{.queue = queue->handle, .event = event ? event->handle : 0, .waits = kernel->waits})
               ? CL_SUCCESS
               : kNoAnswer;
  }
  cl::Launch message;
  message.queue = queue->handle;
  message.kernel = kernel->copies[queue->place].handle;
  message.event = event ? event->handle : 0;
  message.waits = kernel->waits;
  message.dimensions = range.dimensions;
  message.has_local = range.has_local;
  message.offset = range.offset;
  message.global = range.global;
  message.local = range.local;
  message.arguments.swap(kernel->arguments);
  const bool is_sent = session.send(message);
  message.arguments.swap(kernel->arguments);
  if (!is_sent) return kNoAnswer;
  note_sent(queue, kernel);
  return CL_SUCCESS;
}

}  // namespace

cl_int clEnqueueNDRangeKernel(cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim,
                              const size_t* global_work_offset, const size_t* global_work_size,
                              const size_t* local_work_size, cl_uint num_events_in_wait_list,
                              const cl_event* event_wait_list, cl_event* event) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!is_live(kernel)) return CL_INVALID_KERNEL;
  if (command_queue->context != kernel->context()) return CL_INVALID_CONTEXT;
  const auto* on = kernel->on(command_queue->device);
  if (!on) return CL_INVALID_PROGRAM_EXECUTABLE;
  Range range;
  if (const auto error = take_range(*on, work_dim, global_work_offset, global_work_size, local_work_size, range))
    return error;

  std::lock_guard guard(kernel->lock);
  if (const auto error = check_arguments(kernel, *on)) return error;
  kernel->waits.clear();
  if (const auto error = translate_waits(command_queue, num_events_in_wait_list, event_wait_list, kernel->waits))
    return error;
  if (const auto error = collect(command_queue, kernel)) return error;
  const bool is_tracked = spans_places(command_queue->context) && !kernel->written.empty();
  auto* made = event || is_tracked ? new_event(command_queue, CL_COMMAND_NDRANGE_KERNEL) : nullptr;
  const auto status = send(command_queue, kernel, range, made);
  if (is_tracked && !range.is_empty)
    for (auto* memory : kernel->written) note_writer(memory, made);
  if (status == CL_SUCCESS && event) *event = made;
  else if (made) release_event(made);
  return status;
}

/// Devices call it a launch of one work item, in its event as well.
cl_int clEnqueueTask(cl_command_queue command_queue, cl_kernel kernel, cl_uint num_events_in_wait_list,
                     const cl_event* event_wait_list, cl_event* event) {
  const size_t one = 1;
  return clEnqueueNDRangeKernel(command_queue, kernel, 1, nullptr, &one, &one, num_events_in_wait_list, event_wait_list,
                                event);
}

cl_int clGetKernelSuggestedLocalWorkSizeKHR(cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim,
                                            const size_t* global_work_offset, const size_t* global_work_size,
                                            size_t* suggested_local_work_size) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!is_live(kernel)) return CL_INVALID_KERNEL;
  if (command_queue->context != kernel->context()) return CL_INVALID_CONTEXT;
  const auto* on = kernel->on(command_queue->device);
  if (!on) return CL_INVALID_PROGRAM_EXECUTABLE;
  Range range;
  if (const auto error = take_range(*on, work_dim, global_work_offset, global_work_size,
                                    on->required[0] ? on->required : nullptr, range))
    return error;
  if (range.is_empty) return CL_INVALID_GLOBAL_WORK_SIZE;
  if (!suggested_local_work_size) return CL_INVALID_VALUE;
  const cl::SuggestLocalSize message{.queue = command_queue->handle,
                                     .kernel = kernel->copies[command_queue->place].handle,
                                     .dimensions = work_dim,
                                     .offset = range.offset,
                                     .global = range.global};
  return ask(command_queue->session(), message, [&](const cl::SuggestLocalSizeReply& reply) {
    auto local = reply.local;
    for (cl_uint d = 0; reply.status == CL_SUCCESS && d < work_dim; d++)
      suggested_local_work_size[d] = static_cast<size_t>(part(local, d));
  });
}

/// A host function pointer means nothing in the server's process; devices that are really here and cannot do it answer
/// the same.
cl_int clEnqueueNativeKernel(cl_command_queue command_queue, cl_native_kernel_callback user_func, void* args,
                             size_t cb_args, cl_uint num_mem_objects, const cl_mem* mem_list, const void** args_mem_loc,
                             cl_uint, const cl_event*, cl_event*) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!user_func || (args == nullptr) != (cb_args == 0) || (!args && num_mem_objects != 0)) return CL_INVALID_VALUE;
  if ((num_mem_objects == 0) != (mem_list == nullptr) || (num_mem_objects == 0) != (args_mem_loc == nullptr))
    return CL_INVALID_VALUE;
  return CL_INVALID_OPERATION;
}

}  // namespace flexrack::client::opencl
