// Blocking writes are over when they return: what is enqueued afterwards sees them, on any queue and without waiting
// for anything.
#include <algorithm>
#include <vector>

#include "report.h"

static const char* const kSource = R"(
kernel void ends(global const uint* data, uint size, global uint* out) { out[0] = data[0] == data[size - 1] ? data[0] : 0xffffffffu; }
)";

struct Reader {
  cl_kernel kernel;
  cl_mem data, out;
  cl_uint words;
};

/// What a kernel on that queue finds in the buffer, if both of its ends are alike.
static cl_uint found(const Reader& reader, cl_command_queue queue) {
  const size_t one = 1;
  cl_uint value = 0;
  cl_event done = nullptr;
  need("data", clSetKernelArg(reader.kernel, 0, sizeof reader.data, &reader.data));
  need("size", clSetKernelArg(reader.kernel, 1, sizeof reader.words, &reader.words));
  need("out", clSetKernelArg(reader.kernel, 2, sizeof reader.out, &reader.out));
  need("launch", clEnqueueNDRangeKernel(queue, reader.kernel, 1, nullptr, &one, nullptr, 0, nullptr, &done));
  need("read", clEnqueueReadBuffer(queue, reader.out, CL_TRUE, 0, sizeof value, &value, 1, &done, nullptr));
  clReleaseEvent(done);
  return value;
}

/// Rounds of writes through `writer`, each seen from `other`; with `other` null, from a queue that is made after the
/// write. How many were not seen.
static unsigned unseen(const Reader& reader, cl_context context, cl_device_id device, cl_command_queue writer,
                       cl_command_queue other, bool as_rectangle) {
  unsigned missed = 0;
  std::vector<cl_uint> words(reader.words);
  for (cl_uint round = 1; round <= 40; ++round) {
    std::fill(words.begin(), words.end(), round);
    const size_t origin[3] = {0, 0, 0}, region[3] = {reader.words * sizeof(cl_uint) / 4, 4, 1};
    if (as_rectangle)
      need("write", clEnqueueWriteBufferRect(writer, reader.data, CL_TRUE, origin, origin, region, 0, 0, 0, 0,
                                             words.data(), 0, nullptr, nullptr));
    else
      need("write", clEnqueueWriteBuffer(writer, reader.data, CL_TRUE, 0, words.size() * sizeof(cl_uint), words.data(),
                                         0, nullptr, nullptr));
    const auto queue = other ? other : new_queue(context, device);
    missed += found(reader, queue) != round;
    if (!other) clReleaseCommandQueue(queue);
  }
  return missed;
}

int main() {
  const auto devices = all_devices();
  const auto context = new_context(devices);
  const auto program = built_program(context, kSource);
  const auto kernel = new_kernel(program, "ends");
  for (size_t d = 0; d < devices.size(); ++d) {
    const auto first = new_queue(context, devices[d]), second = new_queue(context, devices[d]);
    const auto free_queue = new_queue(context, devices[d], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    for (const size_t bytes : {size_t{4096}, size_t{4} << 20}) {
      cl_int code;
      const Reader reader{kernel, clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code),
                          clCreateBuffer(context, CL_MEM_READ_WRITE, 4, nullptr, nullptr),
                          static_cast<cl_uint>(bytes / sizeof(cl_uint))};
      need("clCreateBuffer", code);
      say("device %zu, %zu bytes: unseen from the same queue %u, from another %u, out of order %u, from a new one %u, as a rectangle %u",
          d, bytes, unseen(reader, context, devices[d], first, first, false),
          unseen(reader, context, devices[d], first, second, false),
          unseen(reader, context, devices[d], free_queue, free_queue, false),
          unseen(reader, context, devices[d], first, nullptr, false),
          unseen(reader, context, devices[d], free_queue, second, true));
      cl_event written = nullptr;
      cl_int status = 99;
      const std::vector<unsigned char> zeros(bytes);
      said("write", clEnqueueWriteBuffer(first, reader.data, CL_TRUE, 0, bytes, zeros.data(), 0, nullptr, &written));
      said("status", clGetEventInfo(written, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
      say("the event of a blocking write: %d", status);
      clReleaseEvent(written);
      clReleaseMemObject(reader.data);
      clReleaseMemObject(reader.out);
    }
    clReleaseCommandQueue(first);
    clReleaseCommandQueue(second);
    clReleaseCommandQueue(free_queue);
  }
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseContext(context);
}
