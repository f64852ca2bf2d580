// Freeing shared virtual memory in the order of a queue.
#include "client/opencl/memory_send.h"
#include "client/opencl/svm_objects.h"

namespace flexrack::client::opencl {

namespace {

struct Freeing {
  cl_command_queue queue;            ///< held
  cl_event event;                    ///< held; what the application waits for
  std::vector<void*> pointers;
  cl_svm_free_callback notify;
  void* data;
};

void CL_CALLBACK run(cl_event, cl_int, void* data) {
  std::unique_ptr<Freeing> freeing(static_cast<Freeing*>(data));
  auto* queue = freeing->queue;
  if (freeing->notify)
    freeing->notify(queue, static_cast<cl_uint>(freeing->pointers.size()), freeing->pointers.data(), freeing->data);
  else
    for (auto* pointer : freeing->pointers) clSVMFree(queue->context, pointer);
  settle_event(freeing->event, CL_COMPLETE);
  drop(freeing->event);
  drop(queue);
}

}  // namespace

cl_int clEnqueueSVMFree(cl_command_queue command_queue, cl_uint num_svm_pointers, void** svm_pointers,
                        cl_svm_free_callback pfn_free_func, void* user_data, cl_uint num_events_in_wait_list,
                        const cl_event* event_wait_list, cl_event* event) {
  if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
  if (num_svm_pointers == 0 || !svm_pointers) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < num_svm_pointers; ++i) {
    if (!svm_pointers[i]) return CL_INVALID_VALUE;
  }
  Enqueue command{command_queue, CL_COMMAND_SVM_FREE, num_events_in_wait_list, event_wait_list, event};
  if (const auto error = command.take_waits()) return error;
  // The memory goes when a first command is over; a second one is over for the application when the memory has gone.
  cl_event reached = nullptr;
  Enqueue first{command_queue, CL_COMMAND_MARKER, num_events_in_wait_list, event_wait_list, &reached,
                false,         command.waits};
  if (const auto error = submit(first, cl::Marker{})) return error;
  auto* freed = new_event(command_queue, CL_COMMAND_SVM_FREE);
  landing_begins(freed);
  auto freeing = std::make_unique<Freeing>();
  *freeing = {
      hold(command_queue), hold(freed), {svm_pointers, svm_pointers + num_svm_pointers}, pfn_free_func, user_data};
  const std::array<std::uint64_t, 1> waits{reached->handle};
  command_queue->session().send(cl::Marker{command_queue->handle, freed->handle, waits});
  clSetEventCallback(reached, CL_COMPLETE, run, freeing.release());
  release_event(reached);
  hand_out(command, freed);
  return CL_SUCCESS;
}

}  // namespace flexrack::client::opencl
