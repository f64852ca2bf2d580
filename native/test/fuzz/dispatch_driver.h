// The functions of the driver that believes what it is told, in place of the machine's own OpenCL. It refuses what the
// standard says a driver refuses of images, kernels and their arguments; sizes and offsets in buffers, pointers and
// handles it takes as they come.
#pragma once

#include "backend/opencl/native_library.h"
#include "backend/printing.h"
#include "test/fuzz/dispatch_commands.h"
#include "test/fuzz/dispatch_memory.h"
#include "test/fuzz/dispatch_programs.h"

namespace flexrack::fuzz {

inline constexpr std::size_t kDevices = 4, kLargestBuffer = 160 * 1024;
inline _cl_platform_id the_platform;
inline _cl_device_id the_devices[kDevices] = {{true}, {false}, {true}, {false}};

inline cl_int get_platform_info(cl_platform_id, cl_platform_info param, size_t size, void* out, size_t* needed) {
  return param >= CL_PLATFORM_PROFILE && param <= CL_PLATFORM_EXTENSIONS ? give_text("made up", size, out, needed)
                                                                         : CL_INVALID_VALUE;
}

inline cl_int get_device_info(cl_device_id device, cl_device_info param, size_t size, void* out, size_t* needed) {
  switch (param) {
    case CL_DEVICE_NAME:
    case CL_DEVICE_VENDOR:
    case CL_DRIVER_VERSION:
    case CL_DEVICE_VERSION:
    case CL_DEVICE_EXTENSIONS: return give_text("made up", size, out, needed);
    case CL_DEVICE_GLOBAL_MEM_SIZE: return give(cl_ulong{64 << 20}, size, out, needed);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return give(cl_ulong{kLargestBuffer}, size, out, needed);
    case CL_DEVICE_HOST_UNIFIED_MEMORY: return give(cl_bool{device->is_unified}, size, out, needed);
    case CL_DEVICE_PIPE_SUPPORT: return give(cl_bool{1}, size, out, needed);
    case CL_DEVICE_MAX_COMPUTE_UNITS: return give(cl_uint{2}, size, out, needed);
    default: return CL_INVALID_VALUE;
  }
}

inline cl_context create_context(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                                 cl_context_callback, void*, cl_int* error) {
  Call call;
  for (auto* at = properties; at && *at; at += 2) {
    if (*at == CL_CONTEXT_PLATFORM && at[1] != reinterpret_cast<cl_context_properties>(&the_platform)) std::abort();
  }
  auto* context = new _cl_context;
  context->devices.assign(devices, devices + count);
  *error = CL_SUCCESS;
  return context;
}

inline cl_command_queue create_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                     cl_int* error) {
  Call call;
  *error = CL_INVALID_QUEUE_PROPERTIES;
  if (properties & ~(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)) return nullptr;
  if (std::find(context->devices.begin(), context->devices.end(), device) == context->devices.end()) std::abort();
  *error = CL_SUCCESS;
  auto* queue = new _cl_command_queue;
  queue->context = retain(context);
  queue->is_in_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  return queue;
}

inline cl_command_queue create_queue_with(cl_context context, cl_device_id device,
                                          const cl_queue_properties* properties, cl_int* error) {
  cl_command_queue_properties wanted = 0;
  *error = CL_INVALID_VALUE;
  for (auto* at = properties; at && *at; at += 2) {
    if (*at != CL_QUEUE_PROPERTIES) return nullptr;
    wanted = at[1];
  }
  return create_queue(context, device, wanted, error);
}

/// In two parts, or as many as there are counts. They live for ever, as in drivers that do not hold what they made them
/// for.
inline cl_int create_sub_devices(cl_device_id device, const cl_device_partition_property* how, cl_uint room,
                                 cl_device_id* out, cl_uint* count) {
  static _cl_device_id parts[2][8] = {{{false}, {false}, {false}, {false}, {false}, {false}, {false}, {false}},
                                      {{true}, {true}, {true}, {true}, {true}, {true}, {true}, {true}}};
  cl_uint made = how[0] == CL_DEVICE_PARTITION_EQUALLY ? 2 : 0;
  if (how[0] == CL_DEVICE_PARTITION_BY_COUNTS)
    for (auto* at = how + 1; *at != CL_DEVICE_PARTITION_BY_COUNTS_LIST_END; ++at) ++made;
  if (made == 0 || made > 8 || (out && room < made)) return CL_INVALID_VALUE;
  if (count) *count = made;
  for (cl_uint i = 0; out && i < made; ++i) out[i] = &parts[device->is_unified][i];
  return CL_SUCCESS;
}

inline cl_event create_user_event(cl_context context, cl_int* error) {
  Call call;
  auto* event = new _cl_event;
  event->context = retain(context);
  event->status = CL_SUBMITTED;
  *error = CL_SUCCESS;
  return event;
}

inline cl_int set_user_event(cl_event event, cl_int status) {
  Call call;
  if (event->status <= 0) return CL_INVALID_OPERATION;
  finish(call, event, status);
  run_ready(call);
  return CL_SUCCESS;
}

inline cl_int set_event_callback(cl_event event, cl_int stage, cl_event_callback tell, void* data) {
  Call call;
  retain(event);
  const auto later = [event, stage, tell, data] {
    tell(event, event->status < 0 ? event->status : stage, data);
    Call inner;
    release(inner, event);
  };
  if (event->status <= stage) {
    call.later(later);
  } else {
    event->callbacks.push_back({stage, tell, data});
    --event->references;
  }
  return CL_SUCCESS;
}

inline cl_int get_event_info(cl_event event, cl_event_info param, size_t size, void* out, size_t* needed) {
  Call call;
  return param == CL_EVENT_COMMAND_EXECUTION_STATUS ? give(event->status, size, out, needed) : CL_INVALID_VALUE;
}

inline cl_int get_profiling(cl_event event, cl_profiling_info, size_t size, void* out, size_t* needed) {
  Call call;
  return event->status == CL_COMPLETE ? give(cl_ulong{7}, size, out, needed) : CL_PROFILING_INFO_NOT_AVAILABLE;
}

template <class T>
cl_int let_go_of(T object) {
  Call call;
  release(call, object);
  return CL_SUCCESS;
}

inline void fill_in(backend::opencl::Native& cl) {
  cl.clGetPlatformInfo = get_platform_info;
  cl.clGetDeviceInfo = get_device_info;
  cl.clCreateSubDevices = create_sub_devices;
  cl.clCreateContext = create_context;
  cl.clReleaseContext = let_go_of<cl_context>;
  cl.clCreateCommandQueue = create_queue;
  cl.clCreateCommandQueueWithProperties = create_queue_with;
  cl.clReleaseCommandQueue = let_go_of<cl_command_queue>;
  cl.clFlush = [](cl_command_queue queue) -> cl_int {
    return queue->references > 0 ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
  };
  cl.clGetDeviceAndHostTimer = [](cl_device_id, cl_ulong* device, cl_ulong* host) -> cl_int {
    return *device = *host = 1, CL_SUCCESS;
  };
  cl.clCreateUserEvent = create_user_event;
  cl.clSetUserEventStatus = set_user_event;
  cl.clSetEventCallback = set_event_callback;
  cl.clGetEventInfo = get_event_info;
  cl.clGetEventProfilingInfo = get_profiling;
  cl.clRetainEvent = [](cl_event event) -> cl_int {
    Call call;
    retain(event);
    return CL_SUCCESS;
  };
  cl.clReleaseEvent = let_go_of<cl_event>;
  cl.clReleaseMemObject = let_go_of<cl_mem>;
  cl.clReleaseSampler = let_go_of<cl_sampler>;
  cl.clReleaseProgram = let_go_of<cl_program>;
  cl.clReleaseKernel = let_go_of<cl_kernel>;
  fill_in_memory(cl);
  fill_in_commands(cl);
  fill_in_image_commands(cl);
  fill_in_programs(cl);
}

}  // namespace flexrack::fuzz

// What native_library.cpp has, which is left out of this program by these.
namespace flexrack::backend::opencl {

const Native& native() {
  static const Native driver = [] {
    Native made{};
    fuzz::fill_in(made);
    return made;
  }();
  return driver;
}

Native::SuggestLocalSize* Native::suggest_local_size(cl_platform_id) const {
  return [](cl_command_queue, cl_kernel, cl_uint dimensions, const size_t*, const size_t* global,
            size_t* local) -> cl_int {
    for (cl_uint i = 0; i < dimensions; ++i) local[i] = 64 % global[i] + 1;
    return CL_SUCCESS;
  };
}

std::vector<NativeDevice> native_devices() {
  std::vector<NativeDevice> devices;
  for (std::size_t i = 0; i < fuzz::kDevices; ++i)
    devices.push_back({"0:" + std::to_string(i), &fuzz::the_platform, &fuzz::the_devices[i]});
  return devices;
}

std::string device_text(cl_device_id, cl_device_info) { return "made up"; }

}  // namespace flexrack::backend::opencl

namespace flexrack::backend {

// And printing.cpp: nothing that a client says gets there, and its pipe and thread would be the most of an input's
// time.
Printing::Printing(std::function<void(wire::View)>) {}
Printing::~Printing() = default;
void Printing::drain() {}

}  // namespace flexrack::backend
