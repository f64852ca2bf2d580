// Launching: ranges, offsets, groups, wait lists, events, many launches in order and out of order, and every refusal.
#include "report.h"

static const char* kSource = R"(
kernel void where(global uint* out) {
  size_t i = (get_global_id(2) - get_global_offset(2)) * get_global_size(1) * get_global_size(0) + (get_global_id(1) - get_global_offset(1)) * get_global_size(0) + get_global_id(0) - get_global_offset(0);
  out[i] = get_global_id(0) + 100 * get_global_id(1) + 10000 * get_global_id(2) + 1000000 * get_work_dim();
}
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void required(global uint* out) { out[0] = get_local_size(0) * 10 + get_local_size(1); }
kernel void add(global uint* out, uint value) { out[0] = out[0] * 3 + value; }
)";

static cl_command_queue queue;
static cl_kernel kernel;

static void refused(const char* what, cl_uint dimensions, const size_t* offset, const size_t* global,
                    const size_t* local) {
  said(what, clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, 0, nullptr, nullptr));
}

static void ranges(cl_mem out) {
  struct {
    cl_uint dimensions;
    size_t offset[3], global[3], local[3];
    bool has_offset, has_local;
  } cases[] = {
      {1, {0, 0, 0}, {64, 0, 0}, {16, 0, 0}, false, true}, {1, {0, 0, 0}, {63, 0, 0}, {0, 0, 0}, false, false},
      {2, {0, 0, 0}, {8, 6, 0}, {4, 3, 0}, false, true},   {3, {0, 0, 0}, {4, 4, 4}, {2, 2, 2}, false, true},
      {3, {1, 2, 3}, {4, 3, 2}, {0, 0, 0}, true, false},   {2, {5, 7, 0}, {4, 4, 0}, {1, 1, 0}, true, true},
  };
  for (const auto& one : cases) {
    std::vector<cl_uint> result(64);
    said("clear", clEnqueueWriteBuffer(queue, out, CL_FALSE, 0, result.size() * 4, result.data(), 0, nullptr, nullptr));
    said("launch", clEnqueueNDRangeKernel(queue, kernel, one.dimensions, one.has_offset ? one.offset : nullptr,
                                          one.global, one.has_local ? one.local : nullptr, 0, nullptr, nullptr));
    said("read", clEnqueueReadBuffer(queue, out, CL_TRUE, 0, result.size() * 4, result.data(), 0, nullptr, nullptr));
    say("%u dimensions: %s, first %u last %u", one.dimensions, digest(result.data(), result.size() * 4).c_str(),
        result[0], result[63]);
  }
}

static void refusals(cl_program program, cl_device_id device, cl_mem out) {
  const size_t eight[] = {8, 8, 8}, three[] = {3, 1, 1}, huge[] = {SIZE_MAX / 2, 1, 1};
  size_t limit = 0, items[3] = {};
  need("limit", clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof limit, &limit, nullptr));
  need("items", clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items, nullptr));
  said("no queue", clEnqueueNDRangeKernel(nullptr, kernel, 1, nullptr, eight, nullptr, 0, nullptr, nullptr));
  refused("no dimension", 0, nullptr, eight, nullptr);
  refused("four dimensions", 4, nullptr, eight, nullptr);
  refused("groups that do not divide", 1, nullptr, eight, three);
  refused("groups larger than the range", 1, nullptr, three, eight);
  refused("a group as large as memory", 1, nullptr, huge, huge);
  const size_t above[] = {limit * 2, 1, 1}, spread[] = {limit, 2, 1};
  refused("a group above the limit", 1, nullptr, above, above);
  refused("a group above the limit in two dimensions", 2, nullptr, spread, spread);
  refused("the largest group", 1, nullptr, above, std::vector<size_t>{limit}.data());
  const auto saved = kernel;
  kernel = new_kernel(program, "required");
  refused("required, nothing set", 2, nullptr, eight, nullptr);
  said("set", clSetKernelArg(kernel, 0, sizeof out, &out));
  const size_t right[] = {4, 2, 1}, wrong[] = {2, 4, 1};
  refused("required, no group given", 2, nullptr, eight, nullptr);
  refused("required, another group", 2, nullptr, eight, wrong);
  refused("required, one dimension", 1, nullptr, eight, right);
  refused("required, the group", 2, nullptr, eight, right);
  cl_uint result = 0;
  said("read", clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 4, &result, 0, nullptr, nullptr));
  say("required: %u", result);
  clReleaseKernel(kernel);
  kernel = saved;

  const auto other = new_context({device});
  const auto other_queue = new_queue(other, device);
  said("queue of another context",
       clEnqueueNDRangeKernel(other_queue, kernel, 1, nullptr, eight, nullptr, 0, nullptr, nullptr));
  clReleaseCommandQueue(other_queue);
  clReleaseContext(other);
}

/// Launches whose results depend on their order.
static void orders(cl_context context, cl_device_id device, cl_program program, cl_mem out) {
  const auto add = new_kernel(program, "add");
  said("out", clSetKernelArg(add, 0, sizeof out, &out));
  const size_t one = 1;
  const cl_uint zero = 0;
  cl_uint result = 0;
  said("clear", clEnqueueWriteBuffer(queue, out, CL_TRUE, 0, 4, &zero, 0, nullptr, nullptr));
  cl_int failures = 0;
  for (cl_uint i = 0; i < 500; i++) {
    failures += clSetKernelArg(add, 1, sizeof i, &i) != CL_SUCCESS;
    failures += clEnqueueNDRangeKernel(queue, add, 1, nullptr, &one, nullptr, 0, nullptr, nullptr) != CL_SUCCESS;
  }
  said("read", clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 4, &result, 0, nullptr, nullptr));
  say("500 launches in order: %u, %d failures", result, failures);

  const auto free_queue = new_queue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  said("clear", clEnqueueWriteBuffer(free_queue, out, CL_TRUE, 0, 4, &zero, 0, nullptr, nullptr));
  cl_int code;
  const auto latch = clCreateUserEvent(context, &code);
  cl_event last = latch;
  said("keep the latch", clRetainEvent(latch));
  for (cl_uint i = 0; i < 50; i++) {
    cl_event next = nullptr;
    failures += clSetKernelArg(add, 1, sizeof i, &i) != CL_SUCCESS;
    failures += clEnqueueNDRangeKernel(free_queue, add, 1, nullptr, &one, nullptr, 1, &last, &next) != CL_SUCCESS;
    clReleaseEvent(last);
    last = next;
    if (i == 25) failures += clSetUserEventStatus(latch, CL_COMPLETE) != CL_SUCCESS;
  }
  said("release the latch", clReleaseEvent(latch));
  said("wait", clWaitForEvents(1, &last));
  cl_int status = 99;
  cl_command_type type = 0;
  said("status", clGetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  said("type", clGetEventInfo(last, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr));
  say("status %d, type %#x", status, type);
  said("read", clEnqueueReadBuffer(free_queue, out, CL_TRUE, 0, 4, &result, 0, nullptr, nullptr));
  say("50 launches in a chain: %u, %d failures", result, failures);
  clReleaseEvent(last);
  cl_event task = nullptr;
  said("task", clEnqueueTask(free_queue, add, 0, nullptr, &task));
  said("wait for the task", clWaitForEvents(1, &task));
  said("type", clGetEventInfo(task, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr));
  say("a task is of type %#x", type);
  clReleaseEvent(task);
  clReleaseCommandQueue(free_queue);
  clReleaseKernel(add);
}

int main() {
  const auto devices = all_devices();
  const auto context = new_context(devices);
  const auto program = built_program(context, kSource);
  kernel = new_kernel(program, "where");
  cl_int code;
  for (size_t d = 0; d < devices.size(); d++) {
    say("device %zu", d);
    queue = new_queue(context, devices[d]);
    const auto out = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 20, nullptr, &code);
    need("clCreateBuffer", code);
    said("out", clSetKernelArg(kernel, 0, sizeof out, &out));
    ranges(out);
    refusals(program, devices[d], out);
    orders(context, devices[d], program, out);
    clReleaseMemObject(out);
    clReleaseCommandQueue(queue);
  }
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseContext(context);
}
