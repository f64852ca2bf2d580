// Coarse-grained shared virtual memory: the same addresses on both sides, maps, copies, fills, freeing in order.
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "report.h"

namespace {

struct Freed {
  std::mutex lock;
  std::condition_variable comes;
  bool is_done = false;
};

void CL_CALLBACK free_all(cl_command_queue queue, cl_uint count, void** pointers, void* data) {
  cl_context context = nullptr;
  clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
  for (cl_uint i = 0; i < count; ++i) clSVMFree(context, pointers[i]);
  auto& freed = *static_cast<Freed*>(data);
  const std::lock_guard guard(freed.lock);
  freed.is_done = true;
  freed.comes.notify_all();
}

void refused(cl_context context, cl_command_queue queue, void* shared) {
  say("nothing: %d", clSVMAlloc(context, CL_MEM_READ_WRITE, 0, 0) != nullptr);
  say("null context: %d", clSVMAlloc(nullptr, CL_MEM_READ_WRITE, 64, 0) != nullptr);
  say("two accesses: %d", clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 64, 0) != nullptr);
  say("atomics alone: %d", clSVMAlloc(context, CL_MEM_SVM_ATOMICS, 64, 0) != nullptr);
  say("alignment of 3: %d", clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 3) != nullptr);
  clSVMFree(context, nullptr);
  said("map: null queue", clEnqueueSVMMap(nullptr, CL_TRUE, CL_MAP_READ, shared, 8, 0, nullptr, nullptr));
  said("map: null", clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, nullptr, 8, 0, nullptr, nullptr));
  said("map: nothing", clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, shared, 0, 0, nullptr, nullptr));
  said("unmap: null", clEnqueueSVMUnmap(queue, nullptr, 0, nullptr, nullptr));
  said("copy: null", clEnqueueSVMMemcpy(queue, CL_TRUE, shared, nullptr, 8, 0, nullptr, nullptr));
  said("copy: nothing",
       clEnqueueSVMMemcpy(queue, CL_TRUE, shared, static_cast<char*>(shared) + 64, 0, 0, nullptr, nullptr));
  said("copy: overlap",
       clEnqueueSVMMemcpy(queue, CL_TRUE, shared, static_cast<char*>(shared) + 4, 8, 0, nullptr, nullptr));
  said("fill: three bytes", clEnqueueSVMMemFill(queue, shared, "abc", 3, 12, 0, nullptr, nullptr));
  said("fill: odd size", clEnqueueSVMMemFill(queue, shared, "abcd", 4, 10, 0, nullptr, nullptr));
  said("fill: odd address",
       clEnqueueSVMMemFill(queue, static_cast<char*>(shared) + 2, "abcd", 4, 8, 0, nullptr, nullptr));
  said("free: none", clEnqueueSVMFree(queue, 0, &shared, nullptr, nullptr, 0, nullptr, nullptr));
  said("free: null list", clEnqueueSVMFree(queue, 1, nullptr, nullptr, nullptr, 0, nullptr, nullptr));
}

void use(cl_context context, cl_command_queue queue) {
  constexpr size_t kCount = 50000;
  auto* list = static_cast<cl_ulong*>(clSVMAlloc(context, CL_MEM_READ_WRITE, kCount * 16, 0));
  auto* copy = static_cast<cl_ulong*>(clSVMAlloc(context, CL_MEM_READ_WRITE, kCount * 16, 64));
  say("allocated: %d %d", list != nullptr, copy != nullptr);
  if (!list || !copy) return;
  // A linked list: every second word is the address of a later node.
  said("map", clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, list, kCount * 16, 0, nullptr, nullptr));
  for (size_t i = 0; i < kCount; ++i) {
    list[2 * i] = i * 3;
    list[2 * i + 1] = i + 7 < kCount ? reinterpret_cast<cl_ulong>(list + 2 * (i + 7)) : 0;
  }
  said("unmap", clEnqueueSVMUnmap(queue, list, 0, nullptr, nullptr));
  const auto program =
      built_program(context,
                    "struct node { ulong value; global struct node* next; };\n"
                    "kernel void walk(global struct node* first, global ulong* sums) {\n"
                    "  ulong sum = 0;\n"
                    "  for (global struct node* at = first + get_global_id(0); at; at = at->next) sum += at->value++;\n"
                    "  sums[get_global_id(0)] = sum;\n"
                    "}\n");
  const auto kernel = new_kernel(program, "walk");
  cl_int code;
  auto sums = clCreateBuffer(context, 0, 7 * 8, nullptr, &code);
  said("pointer", clSetKernelArgSVMPointer(kernel, 0, list));
  said("buffer", clSetKernelArg(kernel, 1, sizeof sums, &sums));
  const size_t seven = 7;
  said("launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &seven, nullptr, 0, nullptr, nullptr));
  cl_ulong got[7] = {};
  said("read", clEnqueueReadBuffer(queue, sums, CL_TRUE, 0, sizeof got, got, 0, nullptr, nullptr));
  say("%s", hex(got, sizeof got).c_str());
  said("copy", clEnqueueSVMMemcpy(queue, CL_FALSE, copy, list, kCount * 16, 0, nullptr, nullptr));
  said("fill", clEnqueueSVMMemFill(queue, copy + 100, "svm_", 4, 400, 0, nullptr, nullptr));
  said("map", clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, copy, kCount * 16, 0, nullptr, nullptr));
  cl_ulong sum = 0;
  for (size_t i = 0; i < kCount; ++i) sum += copy[2 * i];
  say("sum %llu, a word %llx", static_cast<unsigned long long>(sum), static_cast<unsigned long long>(copy[101]));
  said("unmap", clEnqueueSVMUnmap(queue, copy, 0, nullptr, nullptr));
  std::vector<cl_ulong> host(1000);
  said("to the host", clEnqueueSVMMemcpy(queue, CL_TRUE, host.data(), list, 8, 0, nullptr, nullptr));
  say("%llu", static_cast<unsigned long long>(host[0]));
  for (size_t i = 0; i < host.size(); ++i) host[i] = i;
  cl_event event = nullptr;
  said("from the host", clEnqueueSVMMemcpy(queue, CL_FALSE, copy, host.data(), 8000, 0, nullptr, &event));
  said("wait", clWaitForEvents(1, &event));
  cl_command_type type = 0;
  clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
  say("command %x", type);
  clReleaseEvent(event);
  said("map", clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, copy, 8000, 0, nullptr, nullptr));
  say("%llu", static_cast<unsigned long long>(copy[999]));
  copy[999] = 5;
  said("unmap", clEnqueueSVMUnmap(queue, copy, 0, nullptr, nullptr));
  said("back", clEnqueueSVMMemcpy(queue, CL_TRUE, host.data(), copy, 8000, 0, nullptr, nullptr));
  say("%llu", static_cast<unsigned long long>(host[999]));
  refused(context, queue, list);
  Freed freed;
  void* both[] = {list, copy};
  said("free", clEnqueueSVMFree(queue, 2, both, free_all, &freed, 0, nullptr, &event));
  said("wait", clWaitForEvents(1, &event));
  clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
  say("command %x", type);
  clReleaseEvent(event);
  std::unique_lock guard(freed.lock);
  freed.comes.wait(guard, [&] { return freed.is_done; });
  clReleaseMemObject(sums), clReleaseKernel(kernel), clReleaseProgram(program);
  // The same addresses may come again.
  for (int i = 0; i < 50; ++i) {
    auto* again =
        static_cast<unsigned char*>(clSVMAlloc(context, CL_MEM_READ_WRITE, 1000 + 997 * static_cast<size_t>(i), 0));
    if (!again) say("none at %d", i);
    else if (clEnqueueSVMMemFill(queue, again, "x", 1, 1000, 0, nullptr, nullptr) != CL_SUCCESS ||
             clFinish(queue) != CL_SUCCESS)
      say("fill at %d", i);
    clSVMFree(context, again);
  }
}

}  // namespace

int main() {
  for (auto* device : all_devices()) {
    cl_device_svm_capabilities can = 0;
    need("clGetDeviceInfo", clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, nullptr));
    say("coarse grain: %d", (can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0);
    if (!(can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) continue;
    const auto context = new_context({device});
    const auto queue = new_queue(context, device);
    use(context, queue);
    said("finish", clFinish(queue));
    said("release queue", clReleaseCommandQueue(queue));
    said("release context", clReleaseContext(context));
  }
}
