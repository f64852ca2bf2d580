// What one device is to write, another device of the same context is to read, but the write never happens: relay
// event|end BYTES. Prints "waiting" and then, once what came after on the other device is over, "error NAME" and the
// milliseconds that it took.
//   event: the write waits for a user event that is set to an error after a moment.   end: it waits for one until its
//   server is gone.
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "test/conformance/report.h"

int main(int argc, char** argv) {
  const bool is_by_event = argc < 2 || std::strcmp(argv[1], "event") == 0;
  const size_t bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1 << 20, count = bytes / 4;
  const auto devices = all_devices();
  if (devices.size() < 2) return 4;
  const auto context = new_context({devices[0], devices[1]});
  const cl_command_queue queues[2] = {new_queue(context, devices[0]), new_queue(context, devices[1])};
  const auto program = built_program(
      context, "kernel void advance(global uint* a) { size_t i = get_global_id(0); a[i] = a[i] * 3 + 1; }");
  const auto kernel = new_kernel(program, "advance");
  cl_int code;
  const auto buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
  need("clCreateBuffer", code);
  need("argument", clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  // Once round both, so that links and queues between the servers are there.
  for (const auto queue : queues)
    need("launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &count, nullptr, 0, nullptr, nullptr));
  need("finish", clFinish(queues[1]));

  const auto latch = clCreateUserEvent(context, &code);
  need("clCreateUserEvent", code);
  cl_event first = nullptr, second = nullptr;
  need("launch", clEnqueueNDRangeKernel(queues[0], kernel, 1, nullptr, &count, nullptr, 1, &latch, &first));
  need("launch", clEnqueueNDRangeKernel(queues[1], kernel, 1, nullptr, &count, nullptr, 0, nullptr, &second));
  need("flush", clFlush(queues[0]));
  need("flush", clFlush(queues[1]));
  say("waiting");
  usleep(300'000);
  auto begin = std::chrono::steady_clock::now();
  if (is_by_event) {
    need("clSetUserEventStatus", clSetUserEventStatus(latch, -5));
  } else {
    char byte;
    if (read(0, &byte, 1) != 1) return 6;  // told that the server is gone
    begin = std::chrono::steady_clock::now();
  }
  clWaitForEvents(1, &second);
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
  cl_int status = CL_SUCCESS;
  clGetEventInfo(second, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  say("error %s %lld", code_name(status).c_str(), static_cast<long long>(took));
  _exit(status < 0 ? 0 : 5);
}
