#include <doctest/doctest.h>

#include "client/driver_fixture.h"
#include "client/opencl/program_objects.h"

using namespace flexrack;
using namespace flexrack::client::opencl;
using test::Desk;

namespace {

constexpr size_t kOne = 1;

/// A kernel at both places of a desk: a value of 4 bytes, local memory, and a value of a size that only the device
/// knows.
struct Bench {
  Desk desk;
  cl_program program = new _cl_program;
  cl_kernel kernel = new _cl_kernel;

  Bench() {
    program->context = hold(desk.context);
    program->handles = {11, 12};
    kernel->program = hold(program);
    kernel->slots.resize(3);
    kernel->slots[0].kind = argument::kValue;
    kernel->slots[0].size = 4;
    kernel->slots[1].kind = argument::kLocal;
    kernel->slots[2].kind = argument::kValue;
    kernel->slots[2].size = 16;
    for (const std::uint64_t handle : {21, 22})
      kernel->copies.push_back({handle, std::vector<std::uint32_t>(3), std::vector<std::uint64_t>(3)});
    auto& on = kernel->devices.emplace_back();   // of the queues of a desk, which have no device
    on.group_limit = 64;
    for (auto& limit : on.item_limits) limit = 32;
    on.takes_empty = true;
  }
  ~Bench() {
    CHECK(clReleaseKernel(kernel) == CL_SUCCESS);
    CHECK(clReleaseProgram(program) == CL_SUCCESS);
  }

  cl_int set(cl_int value) { return clSetKernelArg(kernel, 0, sizeof value, &value); }
  void set_all() {
    const cl_int four[4] = {1, 2, 3, 4};
    CHECK(set(1) == CL_SUCCESS);
    CHECK(clSetKernelArg(kernel, 1, 128, nullptr) == CL_SUCCESS);
    CHECK(clSetKernelArg(kernel, 2, sizeof four, four) == CL_SUCCESS);
  }
  cl_int launch(std::size_t at = 0) {
    return clEnqueueNDRangeKernel(desk.queues[at], kernel, 1, nullptr, &kOne, nullptr, 0, nullptr, nullptr);
  }
  cl_int launch(cl_uint dimensions, const size_t* offset, const size_t* global, const size_t* local) {
    return clEnqueueNDRangeKernel(desk.queues[0], kernel, dimensions, offset, global, local, 0, nullptr, nullptr);
  }
  cl::Launch last(std::size_t at = 0) { return desk.link(at).sent<cl::Launch>().back(); }
};

}  // namespace

TEST_CASE("a launch carries the arguments that changed since the last one at that place") {
  Bench bench;
  CHECK(bench.launch() == CL_INVALID_KERNEL_ARGS);
  bench.set_all();
  CHECK(bench.launch() == CL_SUCCESS);
  auto sent = bench.last();
  CHECK(sent.kernel == 21);
  REQUIRE(sent.arguments.size() == 3);
  CHECK(sent.arguments[1].kind == argument::kLocal);
  CHECK(sent.arguments[1].size == 128);
  CHECK(sent.arguments[2].value.size() == 16);

  CHECK(bench.launch() == CL_SUCCESS);
  CHECK(bench.last().arguments.empty());
  CHECK(bench.set(1) == CL_SUCCESS);   // the same again
  CHECK(bench.launch() == CL_SUCCESS);
  CHECK(bench.last().arguments.empty());

  CHECK(bench.set(2) == CL_SUCCESS);
  CHECK(bench.launch() == CL_SUCCESS);
  sent = bench.last();
  REQUIRE(sent.arguments.size() == 1);
  CHECK(sent.arguments[0].index == 0);
  CHECK(sent.arguments[0].value[0] == 2);

  CHECK(bench.launch(1) == CL_SUCCESS);   // the other server knows nothing yet
  CHECK(bench.last(1).kernel == 22);
  CHECK(bench.last(1).arguments.size() == 3);
}

TEST_CASE("a size that does not fit is the device's to judge, once") {
  Bench bench;
  int requested = 0;
  bench.desk.link().on_sent = [&](const test::Sent& sent) {
    if (sent.header.op != cl::CheckArgument::kOp) return;
    requested++;
    cl::CheckArgument message;
    REQUIRE(decode(sent.body, message));
    bench.desk.link().reply(
        sent.header,
        cl::CheckArgumentReply{.status = message.argument.value.size() == 12 ? CL_SUCCESS : CL_INVALID_ARG_SIZE});
  };
  const cl_int values[4] = {1, 2, 3, 4};
  for (int round = 0; round < 2; round++) {
    CHECK(clSetKernelArg(bench.kernel, 2, 12, values) == CL_SUCCESS);
    CHECK(clSetKernelArg(bench.kernel, 2, 8, values) == CL_INVALID_ARG_SIZE);
  }
  CHECK(requested == 2);
  CHECK(clSetKernelArg(bench.kernel, 2, 16, nullptr) == CL_INVALID_ARG_VALUE);
  CHECK(clSetKernelArg(bench.kernel, 1, 16, values) == CL_INVALID_ARG_VALUE);
  CHECK(clSetKernelArg(bench.kernel, 1, 0, nullptr) == CL_INVALID_ARG_SIZE);
  CHECK(clSetKernelArg(bench.kernel, 3, 4, values) == CL_INVALID_ARG_INDEX);
  CHECK(requested == 2);
}

TEST_CASE("a launch that the device would refuse is not sent") {
  Bench bench;
  bench.set_all();
  const size_t eight[] = {8, 8, 8}, three[] = {3, 1, 1}, none[] = {0, 1, 1}, most[] = {SIZE_MAX, 1, 1},
               wide[] = {64, 1, 1}, all[] = {8, 8, 2};
  CHECK(bench.launch(0, nullptr, eight, nullptr) == CL_INVALID_WORK_DIMENSION);
  CHECK(bench.launch(4, nullptr, eight, nullptr) == CL_INVALID_WORK_DIMENSION);
  CHECK(bench.launch(1, nullptr, eight, three) == CL_INVALID_WORK_GROUP_SIZE);
  CHECK(bench.launch(1, nullptr, eight, none) == CL_INVALID_WORK_GROUP_SIZE);
  CHECK(bench.launch(3, nullptr, eight, all) == CL_INVALID_WORK_GROUP_SIZE);   // 128 items of 64
  CHECK(bench.launch(1, nullptr, wide, wide) == CL_INVALID_WORK_ITEM_SIZE);
  CHECK(bench.launch(1, eight, most, nullptr) == CL_INVALID_GLOBAL_OFFSET);
  auto& on = bench.kernel->devices[0];
  on.required[0] = 4, on.required[1] = on.required[2] = 1;
  const size_t four[] = {4, 1, 1}, two[] = {2, 1, 1};
  CHECK(bench.launch(1, nullptr, eight, nullptr) == CL_INVALID_WORK_GROUP_SIZE);
  CHECK(bench.launch(1, nullptr, eight, two) == CL_INVALID_WORK_GROUP_SIZE);
  CHECK(bench.desk.link().sent<cl::Launch>().empty());
  CHECK(bench.launch(1, nullptr, eight, four) == CL_SUCCESS);
  on.required[0] = 0;
  on.takes_uneven = true;
  CHECK(bench.launch(1, nullptr, eight, three) == CL_SUCCESS);
  CHECK(bench.desk.link().sent<cl::Launch>().size() == 2);
  CHECK(clEnqueueNDRangeKernel(bench.desk.queues[0], nullptr, 1, nullptr, eight, nullptr, 0, nullptr, nullptr) ==
        CL_INVALID_KERNEL);
  CHECK(clEnqueueNDRangeKernel(nullptr, bench.kernel, 1, nullptr, eight, nullptr, 0, nullptr, nullptr) ==
        CL_INVALID_COMMAND_QUEUE);
}

TEST_CASE("a launch of no work items keeps its place and its event only, where the device takes one at all") {
  Bench bench;
  bench.set_all();
  const size_t none[] = {0, 4, 4};
  CHECK(bench.launch(3, nullptr, none, nullptr) == CL_SUCCESS);
  CHECK(bench.launch(1, nullptr, nullptr, nullptr) == CL_SUCCESS);
  CHECK(bench.desk.link().sent<cl::Launch>().empty());
  CHECK(bench.desk.link().sent<cl::Marker>().size() == 2);
  bench.kernel->devices[0].takes_empty = false;
  CHECK(bench.launch(3, nullptr, none, nullptr) == CL_INVALID_GLOBAL_WORK_SIZE);
  CHECK(bench.launch(1, nullptr, nullptr, nullptr) == CL_INVALID_GLOBAL_WORK_SIZE);
}

TEST_CASE("a kernel is given back at every place, after the last reference") {
  Bench bench;
  CHECK(clRetainKernel(bench.kernel) == CL_SUCCESS);
  CHECK(clReleaseKernel(bench.kernel) == CL_SUCCESS);
  CHECK(bench.desk.link().sent<cl::Release>().empty());
  CHECK(clRetainProgram(bench.program) == CL_SUCCESS);
  CHECK(clReleaseProgram(bench.program) == CL_SUCCESS);
  CHECK(clReleaseKernel(nullptr) == CL_INVALID_KERNEL);
  CHECK(clReleaseProgram(reinterpret_cast<cl_program>(bench.kernel)) == CL_INVALID_PROGRAM);
}
