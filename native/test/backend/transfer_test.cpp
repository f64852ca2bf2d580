#include "test/backend/client.h"

using namespace flexrack;
using namespace flexrack::test;

TEST_CASE("describes the granted device, with the share as its memory") {
  Client client(300 << 20);
  const auto reply = client.call(cl::Describe{});
  REQUIRE(reply.devices.size() == 1);
  REQUIRE(reply.platforms.size() == 1);
  std::uint64_t memory = 0, largest = 0;
  std::string name;
  for (const auto& info : reply.devices[0].infos) {
    if (info.name == CL_DEVICE_GLOBAL_MEM_SIZE) std::memcpy(&memory, info.value.data(), 8);
    if (info.name == CL_DEVICE_MAX_MEM_ALLOC_SIZE) std::memcpy(&largest, info.value.data(), 8);
    if (info.name == CL_DEVICE_NAME) name = reinterpret_cast<const char*>(info.value.data());
  }
  CHECK(memory == 300 << 20);
  CHECK(largest == 300 << 20);
  CHECK(name == backend::list_opencl_devices()[0].name);
}

TEST_CASE("what is written is what is read, small and large, at offsets") {
  for (const bool is_discrete : {false, true}) {
    CAPTURE(is_discrete);
    if (is_discrete) setenv("FLEXRACK_TEST_DISCRETE", "1", 1);
    Client client;
    unsetenv("FLEXRACK_TEST_DISCRETE");
    const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 8 << 20);
    for (const std::size_t size : {1u, 4096u, 65535u, 65536u, 3u << 20}) {
      CAPTURE(size);
      const auto data = pattern(size, static_cast<unsigned>(size));
      const auto written = client.write(queue, memory, data, 128);
      CHECK((client.read(queue, memory, size, 128) == data));
      CHECK(client.over(written) == CL_COMPLETE);
    }
  }
}

TEST_CASE("commands after a large write wait for its payload, in the order of the queue") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 1 << 20),
             other = client.buffer(context, 1 << 20);
  const auto ticket = client.link.ticket();
  const auto data = pattern(1 << 20);
  client.send(cl::WriteBuffer{.queue = queue, .memory = memory, .data = {ticket, data.size(), {}}});
  client.send(cl::CopyBuffer{.queue = queue, .source = memory, .target = other, .size = data.size()});
  const auto read = client.link.ticket();
  client.send(cl::ReadBuffer{.queue = queue, .memory = other, .size = data.size(), .ticket = read});
  REQUIRE(client.link.is_waiting_for(ticket));
  client.link.supply(ticket, data);
  CHECK((client.link.payload(read) == data));
}

TEST_CASE("a large read keeps what it found although the next command changes it") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 1 << 20);
  const auto data = pattern(1 << 20);
  client.write(queue, memory, data);
  const auto ticket = client.link.ticket();
  client.send(cl::ReadBuffer{.queue = queue, .memory = memory, .size = data.size(), .ticket = ticket});
  const Bytes zero(4, 0);
  client.send(cl::FillBuffer{.queue = queue, .memory = memory, .size = data.size(), .pattern = zero});
  CHECK((client.link.payload(ticket) == data));
  CHECK((client.read(queue, memory, 16) == Bytes(16, 0)));
}

TEST_CASE("a box of a buffer is read and written packed") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 4096);
  client.write(queue, memory, Bytes(4096, 0));
  const auto box = pattern(8 * 4 * 2);
  client.send(cl::WriteRect{.queue = queue,
                            .memory = memory,
                            .origin = {4, 1, 1},
                            .region = {8, 4, 2},
                            .row_pitch = 32,
                            .slice_pitch = 512,
                            .data = {0, box.size(), box}});
  const auto ticket = client.link.ticket();
  client.send(cl::ReadRect{.queue = queue,
                           .memory = memory,
                           .origin = {4, 1, 1},
                           .region = {8, 4, 2},
                           .row_pitch = 32,
                           .slice_pitch = 512,
                           .ticket = ticket});
  CHECK((client.link.payload(ticket) == box));
  const auto all = client.read(queue, memory, 4096);
  CHECK(all[512 + 32 + 4] == box[0]);
  CHECK(all[2 * 512 + 4 * 32 + 4 + 7] == box.back());
}

TEST_CASE("a payload that never comes fails its event and what waits for it, and the session still ends") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 1 << 20);
  const auto event = client.mint(), ticket = client.link.ticket();
  client.send(cl::WriteBuffer{.queue = queue, .memory = memory, .event = event, .data = {ticket, 1 << 20, {}}});
  REQUIRE(client.link.is_waiting_for(ticket));
  const std::array<std::uint64_t, 1> events{event};
  client.send(cl::Watch{.events = events});
  client.link.lose();
  CHECK(client.link.completion(event).status < 0);
}
