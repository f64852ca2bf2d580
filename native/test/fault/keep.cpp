// Takes BYTES of the first device's memory, in as many buffers as it must, prints "ready" or "error NAME", and keeps
// them until standard input ends.
#include <unistd.h>

#include <algorithm>

#include "test/conformance/report.h"

int main(int argc, char** argv) {
  const auto bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1 << 20;
  const auto device = all_devices().at(0);
  const auto context = new_context({device});
  const auto queue = new_queue(context, device);
  cl_ulong most = 0;
  need("clGetDeviceInfo", clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, nullptr));
  std::vector<cl_mem> kept;
  for (auto left = bytes; left > 0;) {
    const auto size = std::min<size_t>(left, most);
    cl_int code;
    const auto memory = clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &code);
    const cl_uint zero = 0;
    if (code == CL_SUCCESS) code = clEnqueueFillBuffer(queue, memory, &zero, 4, 0, 4, 0, nullptr, nullptr);
    if (code == CL_SUCCESS) code = clFinish(queue);
    if (code != CL_SUCCESS) {
      say("error %s", code_name(code).c_str());
      return 5;
    }
    kept.push_back(memory);
    left -= size;
  }
  say("ready");
  char byte;
  while (read(0, &byte, 1) > 0) {}
  for (auto memory : kept) said("release", clReleaseMemObject(memory));
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
}
