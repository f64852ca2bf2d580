#include "test/backend/client.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {
constexpr auto kHuge = ~std::uint64_t{0};
}

TEST_CASE("a body that is not what its op says ends the link") {
  Client client;
  client.raw(cl::CreateBuffer::kOp, Bytes(8, 0xff));
  CHECK(client.link.is_closed());
}

TEST_CASE("an op that nobody knows is refused") {
  Client client;
  client.raw(0x1fff, {});
  CHECK(client.link.reply(1).first == (wire::kReply | wire::kRefused));
}

TEST_CASE("sizes and offsets beyond all bounds are refused, and the session goes on") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 4096),
             other = client.buffer(context, 4096);
  const Bytes four(4, 1), none;
  const auto is_refused = [&](auto message) {
    message.queue = queue;
    message.event = client.mint();
    client.send(message);
    return client.link.failure(message.event) < 0 && client.over(message.event) < 0;
  };
  const auto ticket = [&] { return client.link.ticket(); };
  CHECK(is_refused(cl::ReadBuffer{.memory = memory, .offset = 4096, .size = 1, .ticket = ticket()}));
  CHECK(is_refused(cl::ReadBuffer{.memory = memory, .offset = 8, .size = kHuge - 4, .ticket = ticket()}));
  CHECK(is_refused(cl::ReadBuffer{.memory = memory, .offset = kHuge, .size = 2, .ticket = ticket()}));
  CHECK(is_refused(cl::WriteBuffer{.memory = memory, .offset = 0, .data = {ticket(), kHuge, {}}}));
  CHECK(is_refused(cl::WriteBuffer{.memory = memory, .offset = 4093, .data = {0, 4, four}}));
  CHECK(is_refused(cl::ReadRect{.memory = memory, .region = {kHuge, kHuge, kHuge}, .ticket = ticket()}));
  CHECK(is_refused(cl::ReadRect{.memory = memory, .origin = {kHuge, 0, 0}, .region = {1, 1, 1}, .ticket = ticket()}));
  CHECK(is_refused(cl::ReadRect{
      .memory = memory, .origin = {0, 1, 0}, .region = {4, 2, 1}, .row_pitch = kHuge / 2, .ticket = ticket()}));
  CHECK(is_refused(cl::WriteRect{.memory = memory,
                                 .origin = {0, 0, kHuge},
                                 .region = {4, 1, 1},
                                 .row_pitch = 4,
                                 .slice_pitch = 4,
                                 .data = {0, 4, four}}));
  CHECK(is_refused(cl::CopyBuffer{.source = memory, .target = other, .source_offset = kHuge - 3, .size = 8}));
  CHECK(is_refused(cl::CopyRect{
      .source = memory, .target = other, .source_origin = {0, kHuge, 0}, .region = {4, 4, 1}, .source_row_pitch = 4}));
  CHECK(is_refused(cl::FillBuffer{.memory = memory, .offset = kHuge - 3, .size = 4, .pattern = four}));
  CHECK(is_refused(cl::FillBuffer{.memory = memory, .size = 4096, .pattern = none}));
  CHECK(is_refused(cl::SvmRead{.address = 4096, .size = 64, .ticket = ticket()}));
  CHECK(is_refused(cl::SvmWrite{.address = 4096, .data = {0, 4, four}}));
  CHECK(is_refused(cl::SvmCopy{.source = 4096, .target = 8192, .size = 64}));
  CHECK(is_refused(cl::SvmFill{.address = 4096, .size = 64, .pattern = four}));
  CHECK(is_refused(cl::ExportMemory{.memory = memory, .size = 16, .peer = 0, .ticket = ticket()}));
  CHECK(client.read(queue, memory, 4096).size() == 4096);
}

TEST_CASE("handles of nothing and of another kind are refused everywhere") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 4096);
  const auto kernel = client.kernel(context, "kernel void k(global int* a) { a[0] = 1; }", "k");
  for (const auto wrong : {std::uint64_t{0}, std::uint64_t{999999}, context, kernel}) {
    CAPTURE(wrong);
    const auto first = client.mint(), second = client.mint(), third = client.mint();
    const std::array<std::uint64_t, 1> waits{wrong};
    client.send(
        cl::ReadBuffer{.queue = queue, .memory = wrong, .event = first, .size = 4, .ticket = client.link.ticket()});
    CHECK(client.link.failure(first) == CL_INVALID_MEM_OBJECT);
    client.send(cl::Marker{.queue = wrong, .event = second});
    CHECK(client.link.failure(second) == CL_INVALID_COMMAND_QUEUE);
    client.send(cl::Marker{.queue = queue, .event = third, .waits = waits});
    CHECK(client.link.failure(third) == CL_INVALID_EVENT_WAIT_LIST);
    CHECK(client.call(cl::CreateSubBuffer{.parent = wrong, .memory = client.mint(), .size = 4}).status ==
          CL_INVALID_MEM_OBJECT);
    CHECK(client.call(cl::CreateKernel{.program = wrong, .kernel = client.mint(), .name = "k"}).status ==
          CL_INVALID_PROGRAM);
    if (wrong != context)
      CHECK(client.call(cl::CreateBuffer{.context = wrong, .memory = client.mint(), .size = 4}).status ==
            CL_INVALID_CONTEXT);
    if (wrong != kernel) CHECK(client.over(client.launch(queue, wrong, 1)) == CL_INVALID_KERNEL);
    if (wrong != 0) CHECK(client.over(client.launch(queue, kernel, 1, {memory_argument(0, wrong)})) < 0);
  }
  CHECK(client.call(cl::CreateBuffer{.context = context, .memory = memory, .flags = CL_MEM_READ_WRITE, .size = 16})
            .status < 0);
}

TEST_CASE("work sizes of nothing do not reach a driver that divides by them") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 4096);
  const auto kernel = client.kernel(context, "kernel void k(global int* a) { a[0] = 1; }", "k");
  const auto launch = [&](std::uint32_t dimensions, cl::Triple global, cl::Triple local) {
    const auto event = client.mint();
    client.send(cl::Launch{.queue = queue,
                           .kernel = kernel,
                           .event = event,
                           .dimensions = dimensions,
                           .has_local = 1,
                           .global = global,
                           .local = local,
                           .arguments = {memory_argument(0, memory)}});
    return client.over(event);
  };
  CHECK(launch(1, {0, 1, 1}, {1, 1, 1}) < 0);
  CHECK(launch(1, {4, 1, 1}, {0, 1, 1}) < 0);
  CHECK(launch(0, {4, 1, 1}, {1, 1, 1}) == CL_INVALID_WORK_DIMENSION);
  CHECK(launch(4, {4, 1, 1}, {1, 1, 1}) == CL_INVALID_WORK_DIMENSION);
  CHECK(launch(3, {4, 4, 4}, {kHuge, 2, 2}) < 0);
  CHECK(launch(1, {4, 1, 1}, {2, 1, 1}) == CL_COMPLETE);
}
