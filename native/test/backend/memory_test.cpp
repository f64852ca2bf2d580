#include "test/backend/client.h"

using namespace flexrack;
using namespace flexrack::test;

TEST_CASE("buffers are charged to the byte and given back when the device has freed them") {
  constexpr std::uint64_t kShare = 10 << 20;
  Client client(kShare);
  const auto context = client.context();
  const auto create = [&](std::uint64_t handle, std::uint64_t size) {
    return client.call(cl::CreateBuffer{.context = context, .memory = handle, .flags = CL_MEM_READ_WRITE, .size = size})
        .status;
  };
  const auto first = client.mint(), second = client.mint();
  CHECK(create(first, kShare - 100) == CL_SUCCESS);
  CHECK(client.grant.used(0) == kShare - 100);
  CHECK(create(second, 101) == CL_MEM_OBJECT_ALLOCATION_FAILURE);
  CHECK(create(second, 100) == CL_SUCCESS);
  CHECK(client.grant.used(0) == kShare);
  CHECK(create(client.mint(), kShare + 1) == CL_INVALID_BUFFER_SIZE);
  client.send(cl::Release{.object = first});
  CHECK(client.grant.is_used(100));
  client.stop();
  CHECK(client.grant.used(0) == 0);
}

TEST_CASE("sub-buffers take nothing and keep their parent") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 1 << 16),
             part = client.mint();
  REQUIRE(client
              .call(cl::CreateSubBuffer{
                  .parent = memory, .memory = part, .flags = CL_MEM_READ_WRITE, .origin = 4096, .size = 4096})
              .status == CL_SUCCESS);
  CHECK(client.grant.used(0) == 1 << 16);
  const auto data = pattern(4096);
  client.write(queue, part, data);
  CHECK((client.read(queue, memory, 4096, 4096) == data));
  client.send(cl::Release{.object = memory});
  CHECK((client.read(queue, part, 4096) == data));
  CHECK(client.grant.used(0) == 1 << 16);
  client.send(cl::Release{.object = part});
  CHECK(client.grant.is_used(0));
}

TEST_CASE("a buffer is made with its content, inline or by ticket") {
  Client client;
  const auto context = client.context(), queue = client.queue(context);
  for (const std::size_t size : {100u, 200000u}) {
    const auto data = pattern(size);
    const auto memory = client.mint(), ticket = size < wire::kInlinePayload ? 0 : client.link.ticket();
    if (ticket) client.link.supply(ticket, data);
    const wire::Payload content{ticket, size, ticket ? View{} : View(data)};
    CHECK(client
              .call(cl::CreateBuffer{.context = context,
                                     .memory = memory,
                                     .flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                     .size = size,
                                     .content = content})
              .status == CL_SUCCESS);
    CHECK((client.read(queue, memory, size) == data));
  }
}

TEST_CASE("shared memory is charged, used by its address, and refused outside its bounds") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.mint();
  const auto address =
      client.call(cl::SvmAllocate{.context = context, .memory = memory, .flags = CL_MEM_READ_WRITE, .size = 1 << 20})
          .address;
  REQUIRE(address != 0);
  CHECK(client.grant.used(0) >= 1 << 20);
  for (const std::size_t size : {1000u, 1u << 20}) {
    const auto data = pattern(size);
    const auto in = client.link.ticket(), out = client.link.ticket();
    const bool is_small = size < wire::kInlinePayload;
    client.link.supply(in, data);
    client.send(cl::SvmWrite{
        .queue = queue, .address = address, .data = {is_small ? 0 : in, size, is_small ? View(data) : View{}}});
    client.send(cl::SvmRead{.queue = queue, .address = address, .size = size, .ticket = out});
    CHECK((client.link.payload(out) == data));
  }
  const auto event = client.mint(), ticket = client.link.ticket();
  client.send(
      cl::SvmRead{.queue = queue, .event = event, .address = address + (1 << 20), .size = 1 << 20, .ticket = ticket});
  CHECK(client.link.failure(event) == CL_INVALID_VALUE);
  CHECK(client.link.is_cancelled(ticket));
  client.send(cl::Release{.object = memory});
  CHECK(client.grant.is_used(0));
}
