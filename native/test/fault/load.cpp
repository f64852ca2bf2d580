// Works the first device without a pause and checks every result: load ROUNDS BYTES. ROUNDS of 0: until standard input
// ends. Prints "ready" after the first round; at the end "rounds N", or "error NAME in CALL after N" and exit code 5.
// Exit code 6: a wrong result.
#include <poll.h>
#include <unistd.h>

#include "test/conformance/report.h"

namespace {

size_t round_number = 0;

void stop_on(const char* call, cl_int code) {
  if (code == CL_SUCCESS) return;
  say("error %s in %s after %zu", code_name(code).c_str(), call, round_number);
  _exit(5);  // a lost device must not hang the end of the process either; that is tried by the programs that end well
}

bool input_ended() {
  pollfd input{0, POLLIN, 0};
  char byte;
  return poll(&input, 1, 0) > 0 && read(0, &byte, 1) <= 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1,
             bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1 << 20;
  const auto devices = all_devices();
  if (devices.empty()) return 4;
  const auto context = new_context({devices[0]});
  const auto queue = new_queue(context, devices[0]);
  const auto program = built_program(
      context, "kernel void advance(global uint* a, uint k) { size_t i = get_global_id(0); a[i] = a[i] * 3 + k; }");
  const auto kernel = new_kernel(program, "advance");
  const size_t count = bytes / 4;
  cl_int code;
  const auto buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
  stop_on("clCreateBuffer", code);
  std::vector<cl_uint> given(count), found(count);
  for (round_number = 0; rounds == 0 || round_number < rounds; round_number++) {
    const auto k = static_cast<cl_uint>(round_number * 7 + 1);
    for (size_t i = 0; i < count; i += 1 + i / 64) given[i] = static_cast<cl_uint>(i * 31 + round_number);
    stop_on("write", clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, bytes, given.data(), 0, nullptr, nullptr));
    stop_on("arg", clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    stop_on("arg", clSetKernelArg(kernel, 1, sizeof k, &k));
    stop_on("launch", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &count, nullptr, 0, nullptr, nullptr));
    stop_on("read", clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, found.data(), 0, nullptr, nullptr));
    for (size_t i = 0; i < count; i++) {
      if (found[i] == given[i] * 3 + k) continue;
      say("wrong at %zu in round %zu: %u instead of %u", i, round_number, found[i], given[i] * 3 + k);
      return 6;
    }
    if (round_number == 0) say("ready");
    if (rounds == 0 && input_ended()) break;
  }
  say("rounds %zu", round_number);
  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
}
