#include "test/backend/client.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {

using Partition = std::vector<std::uint64_t>;

/// The indexes of the parts; checks that there are some.
std::vector<std::uint32_t> divide(Client& client, std::uint32_t device, const Partition& how) {
  const auto reply =
      client.call(cl::CreateSubDevices{.device = device, .capacity = 64, .has_list = 1, .properties = how});
  REQUIRE(reply.status == CL_SUCCESS);
  REQUIRE(reply.devices.size() == reply.count);
  REQUIRE(reply.count > 0);
  std::vector<std::uint32_t> parts;
  for (const auto& one : reply.devices) parts.push_back(one.index);
  return parts;
}

std::uint64_t context_of(Client& client, const std::vector<std::uint32_t>& devices) {
  const auto context = client.mint();
  REQUIRE(client.call(cl::CreateContext{.context = context, .devices = devices}).status == CL_SUCCESS);
  return context;
}

cl_int buffer_status(Client& client, std::uint64_t context, std::uint64_t handle, std::uint64_t size) {
  return client.call(cl::CreateBuffer{.context = context, .memory = handle, .flags = CL_MEM_READ_WRITE, .size = size})
      .status;
}

const Partition kSingly{CL_DEVICE_PARTITION_EQUALLY, 1};

}  // namespace

TEST_CASE("memory of parts is of their device's share, once") {
  constexpr std::uint64_t kShare = 10 << 20;
  Client client(kShare);
  const auto parts = divide(client, 0, kSingly);
  auto everything = parts;
  everything.push_back(0);
  for (const auto& devices : {std::vector{parts[0]}, parts, everything}) {
    const auto context = context_of(client, devices), first = client.mint(), second = client.mint();
    CHECK(buffer_status(client, context, first, kShare - 100) == CL_SUCCESS);
    CHECK(client.grant.used(0) == kShare - 100);
    CHECK(buffer_status(client, context, second, 101) == CL_MEM_OBJECT_ALLOCATION_FAILURE);
    CHECK(client.call(cl::Reserve{.memory = first, .device = devices.back()}).status == CL_SUCCESS);
    CHECK(client.grant.used(0) == kShare - 100);
    client.send(cl::Release{.object = first});
    CHECK(client.grant.is_used(0));
  }
}

TEST_CASE("a part says the size of the share, and nothing that its device says as well") {
  Client client(123 << 20);
  const auto reply =
      client.call(cl::CreateSubDevices{.device = 0, .capacity = 64, .has_list = 1, .properties = kSingly});
  REQUIRE(reply.status == CL_SUCCESS);
  bool has_units = false;
  for (const auto& info : reply.devices[0].infos) {
    CHECK(info.name != CL_DEVICE_GLOBAL_MEM_SIZE);
    CHECK(info.name != CL_DEVICE_NAME);
    CHECK(info.name != CL_DEVICE_PARENT_DEVICE);
    has_units = has_units || info.name == CL_DEVICE_MAX_COMPUTE_UNITS;
  }
  CHECK(has_units == (reply.count > 1));
}

TEST_CASE("launches on parts take turns as their device's do, and count as its use") {
  for (const bool is_time_sliced : {true, false}) {
    CAPTURE(is_time_sliced);
    Client client(std::uint64_t{1} << 30, is_time_sliced);
    const auto part = divide(client, 0, kSingly)[0];
    const auto context = context_of(client, {part}), queue = client.mint();
    REQUIRE(client.call(cl::CreateQueue{.context = context, .queue = queue, .device = part}).status == CL_SUCCESS);
    const auto kernel = client.kernel(context, "kernel void one(global int* a) { a[get_global_id(0)] = 1; }", "one");
    const auto event = client.launch(queue, kernel, 1024, {memory_argument(0, client.buffer(context, 4096))});
    CHECK(client.over(event) == CL_COMPLETE);
    CHECK(client.grant.has_finished(1));
  }
}

TEST_CASE("a part lasts as long as a context is on it, and its index is not given again") {
  Client client;
  const auto parts = divide(client, 0, kSingly);
  const auto context = context_of(client, {parts[0]});
  for (const auto part : parts) client.send(cl::ReleaseDevice{.device = part});
  const auto queue = client.mint(), other = client.mint();
  CHECK(client.call(cl::CreateQueue{.context = context, .queue = queue, .device = parts[0]}).status == CL_SUCCESS);
  CHECK(client.call(cl::CreateContext{.context = other, .devices = {&parts[0], 1}}).status == CL_INVALID_DEVICE);
  const auto memory = client.buffer(context, 4096);
  const auto data = pattern(4096);
  client.write(queue, memory, data);
  CHECK((client.read(queue, memory, 4096) == data));
  for (const auto part : divide(client, 0, kSingly)) CHECK(part > parts.back());
}

TEST_CASE("dividing without end takes no more than is used at a time, and many at a time have a limit") {
  Client client;
  for (int i = 0; i < 3000; ++i) {
    for (const auto part : divide(client, 0, kSingly)) client.send(cl::ReleaseDevice{.device = part});
  }
  cl_int status = CL_SUCCESS;
  for (int i = 0; i < 5000 && status == CL_SUCCESS; ++i) {
    status =
        client.call(cl::CreateSubDevices{.device = 0, .capacity = 64, .has_list = 1, .properties = kSingly}).status;
  }
  CHECK(status == CL_OUT_OF_RESOURCES);
}

TEST_CASE("what cannot be divided so is refused, whoever asks") {
  Client client;
  const auto status = [&](std::uint32_t device, const Partition& how, std::uint32_t capacity = 64) {
    return client.call(cl::CreateSubDevices{.device = device, .capacity = capacity, .has_list = 1, .properties = how})
        .status;
  };
  CHECK(status(7, kSingly) == CL_INVALID_DEVICE);
  CHECK(status(0, {}) == CL_INVALID_VALUE);
  CHECK(status(0, {0x7777, 1}) == CL_INVALID_VALUE);
  CHECK(status(0, {CL_DEVICE_PARTITION_EQUALLY, 0}) == CL_INVALID_VALUE);
  CHECK(status(0, kSingly, 0) == CL_INVALID_VALUE);
  // Counts whose sum is small in 32 bits.
  CHECK(status(0, {CL_DEVICE_PARTITION_BY_COUNTS, 0xffffffff, 2}) == CL_INVALID_DEVICE_PARTITION_COUNT);
  CHECK(status(0, {CL_DEVICE_PARTITION_BY_COUNTS, std::uint64_t{1} << 32 | 1, ~std::uint64_t{0}}) ==
        CL_INVALID_DEVICE_PARTITION_COUNT);
  client.send(cl::ReleaseDevice{.device = 0});   // a leased device stays
  client.send(cl::ReleaseDevice{.device = 99});
  CHECK(status(0, kSingly) == CL_SUCCESS);
}
