#include "client/opencl/enqueue.h"

#include <cstring>

#include "client/opencl/event.h"
#include "client/opencl/inbox.h"
#include "client/opencl/landing.h"

namespace flexrack::client::opencl {
namespace {

cl_int check_waits(cl_command_queue queue, cl_uint count, const cl_event* list) {
  if ((count == 0) != (list == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
  for (cl_uint i = 0; i < count; ++i) {
    if (!is_live(list[i])) return CL_INVALID_EVENT_WAIT_LIST;
  }
  for (cl_uint i = 0; i < count; ++i) {
    if (list[i]->context != queue->context) return CL_INVALID_CONTEXT;
  }
  return CL_SUCCESS;
}

cl_event make_event(cl_command_queue queue, cl_command_type type, bool after_all) {
  const auto event = new _cl_event;
  event->context = queue->context;
  event->queue = hold(queue);
  event->type = type;
  event->place = static_cast<std::uint32_t>(queue->place);
  event->handle = queue->session().mint();
  put_behind(event, after_all);
  return event;
}

}  // namespace

cl_int translate_waits(cl_command_queue queue, cl_uint count, const cl_event* list, std::vector<std::uint64_t>& waits) {
  forget_waited();
  if (count == 0 && !list) return CL_SUCCESS;
  if (const auto error = check_waits(queue, count, list); error != CL_SUCCESS) return error;
  for (cl_uint i = 0; i < count; ++i) {
    const auto event = list[i];
    if (event->status.load(std::memory_order_acquire) == CL_COMPLETE) continue;
    if (event->queue && event->place == queue->place) {
      waits.push_back(event->handle);
    } else {
      waits.push_back(mirror_event(event, queue->place));
    }
    note_waited(event);
  }
  pass_waited_on(queue);
  return CL_SUCCESS;
}

cl_event new_event(cl_command_queue queue, cl_command_type type) { return make_event(queue, type, false); }

cl_event new_event_after_all(cl_command_queue queue, cl_command_type type) { return make_event(queue, type, true); }

cl_int queue_error(cl_command_queue queue) {
  const auto& place = queue->context->places[queue->place];
  return place.session->is_alive() ? place.inbox->take_failure(queue->handle) : kLost;
}

cl_int give_info(const void* value, size_t size, size_t capacity, void* out, size_t* size_out) {
  if (out && capacity < size) return CL_INVALID_VALUE;
  if (out && size != 0) std::memcpy(out, value, size);
  if (size_out) *size_out = size;
  return CL_SUCCESS;
}

}  // namespace flexrack::client::opencl
