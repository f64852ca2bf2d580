#include <doctest/doctest.h>

#include "client/driver_fixture.h"
#include "client/opencl/info.h"

using namespace flexrack;
using namespace flexrack::client::opencl;

namespace {

/// A device of a server that divides it into as many parts as the test says.
struct Divided {
  test::FakePlace place;
  cl_device_id device = new _cl_device_id;
  std::uint32_t count = 3, listed = 3;
  cl_int status = CL_SUCCESS;

  Divided() {
    device->session = place.fake.session.get();
    device->inbox = &place.inbox;
    put_info(device->infos, CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint{6});
    put_info(device->infos, CL_DEVICE_ADDRESS_BITS, cl_uint{64});
    place.link().on_sent = [this](const test::Sent& sent) {
      if (sent.header.op == cl::CreateContext::kOp) return place.link().reply(sent.header, cl::CreateContextReply{});
      if (sent.header.op != cl::CreateSubDevices::kOp) return;
      cl::CreateSubDevicesReply reply{.status = status, .count = count};
      const cl_uint two = 2;
      const wire::View units(reinterpret_cast<const std::uint8_t*>(&two), sizeof two);
      for (std::uint32_t i = 0; i < listed; ++i)
        reply.devices.push_back({.index = 10 + i, .infos = {{.name = CL_DEVICE_MAX_COMPUTE_UNITS, .value = units}}});
      place.link().reply(sent.header, reply);
    };
  }
  ~Divided() {
    place.link().on_sent = nullptr;
    delete device;
  }
  std::vector<cl_device_id> parts() {
    std::vector<cl_device_id> found(8);
    cl_uint number = 0;
    REQUIRE(clCreateSubDevices(device, kThirds, 8, found.data(), &number) == CL_SUCCESS);
    found.resize(number);
    return found;
  }
  std::vector<std::uint32_t> let_go() {
    std::vector<std::uint32_t> indexes;
    for (const auto& message : place.link().sent<cl::ReleaseDevice>()) indexes.push_back(message.device);
    return indexes;
  }
  template <class T>
  static T info(cl_device_id of, cl_device_info name) {
    T value{};
    CHECK(clGetDeviceInfo(of, name, sizeof value, &value, nullptr) == CL_SUCCESS);
    return value;
  }
  static constexpr cl_device_partition_property kThirds[] = {CL_DEVICE_PARTITION_EQUALLY, 2, 0};
};

using Indexes = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a part says what differs, and for the rest what its device says") {
  Divided one;
  const auto parts = one.parts();
  REQUIRE(parts.size() == 3);
  CHECK(one.info<cl_uint>(parts[1], CL_DEVICE_MAX_COMPUTE_UNITS) == 2);
  CHECK(one.info<cl_uint>(parts[1], CL_DEVICE_ADDRESS_BITS) == 64);
  CHECK(one.info<cl_device_id>(parts[1], CL_DEVICE_PARENT_DEVICE) == one.device);
  CHECK(one.info<cl_uint>(one.device, CL_DEVICE_MAX_COMPUTE_UNITS) == 6);
  for (const auto part : parts) CHECK(clReleaseDevice(part) == CL_SUCCESS);
  CHECK(one.let_go() == Indexes{10, 11, 12});
}

TEST_CASE("a part is let go of when its last reference and the last context on it are gone") {
  Divided one;
  const auto parts = one.parts();
  CHECK(clRetainDevice(parts[0]) == CL_SUCCESS);
  CHECK(one.info<cl_uint>(parts[0], CL_DEVICE_REFERENCE_COUNT) == 2);
  CHECK(clReleaseDevice(parts[0]) == CL_SUCCESS);
  CHECK(one.let_go().empty());
  cl_int error = 1;
  const auto context = clCreateContext(nullptr, 2, parts.data(), nullptr, nullptr, &error);
  REQUIRE(error == CL_SUCCESS);
  CHECK(one.place.link().sent<cl::CreateContext>().back().devices.size() == 2);
  CHECK(one.info<cl_uint>(parts[0], CL_DEVICE_REFERENCE_COUNT) == 1);
  for (const auto part : parts) CHECK(clReleaseDevice(part) == CL_SUCCESS);
  CHECK(one.let_go() == Indexes{12});
  CHECK(clReleaseDevice(parts[0]) == CL_INVALID_DEVICE);
  CHECK(clReleaseContext(context) == CL_SUCCESS);
  CHECK(one.let_go() == Indexes{12, 10, 11});
}

TEST_CASE("a part of a part keeps that one") {
  Divided one;
  const auto outer = one.parts(), inner_parts = [&] {
    one.count = one.listed = 1;
    std::vector<cl_device_id> found(1);
    REQUIRE(clCreateSubDevices(outer[2], Divided::kThirds, 1, found.data(), nullptr) == CL_SUCCESS);
    return found;
  }();
  CHECK(one.place.link().sent<cl::CreateSubDevices>().back().device == 12);
  CHECK(inner_parts[0]->whole() == one.device);
  for (const auto part : outer) CHECK(clReleaseDevice(part) == CL_SUCCESS);
  CHECK(one.let_go() == Indexes{10, 11});
  CHECK(clReleaseDevice(inner_parts[0]) == CL_SUCCESS);
  CHECK(one.let_go() == Indexes{10, 11, 10, 12});
}

TEST_CASE("a property list is read as far as its kind says") {
  Divided one;
  one.listed = 0;
  const auto sent = [&](std::vector<cl_device_partition_property> list) {
    cl_uint number = 0;
    CHECK(clCreateSubDevices(one.device, list.data(), 0, nullptr, &number) == CL_SUCCESS);
    CHECK(number == 3);
    const auto properties = one.place.link().sent<cl::CreateSubDevices>().back().properties;
    return std::vector<std::uint64_t>(properties.begin(), properties.end());
  };
  using List = std::vector<std::uint64_t>;
  CHECK(sent({CL_DEVICE_PARTITION_EQUALLY, 4, 0, 9}) == List{CL_DEVICE_PARTITION_EQUALLY, 4});
  CHECK(sent({CL_DEVICE_PARTITION_EQUALLY, 4, 5}) == List{CL_DEVICE_PARTITION_EQUALLY, 4, 5});
  CHECK(sent({CL_DEVICE_PARTITION_EQUALLY, 0}) == List{CL_DEVICE_PARTITION_EQUALLY});
  CHECK(sent({CL_DEVICE_PARTITION_BY_COUNTS, 1, 2, 3, 0}) == List{CL_DEVICE_PARTITION_BY_COUNTS, 1, 2, 3});
  CHECK(sent({0x7777}) == List{0x7777});
  CHECK(sent({0}) == List{});
}

TEST_CASE("an answer that cannot be is no success, and nothing is written beyond the list") {
  Divided one;
  std::vector<cl_device_id> found(3);
  cl_uint number = 77;
  for (const auto& [count, listed] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{3, 2}, {4, 4}, {0, 3}, {1 << 30, 0}}) {
    one.count = count;
    one.listed = listed;
    CHECK(clCreateSubDevices(one.device, Divided::kThirds, 3, found.data(), &number) == CL_OUT_OF_RESOURCES);
  }
  one.status = CL_DEVICE_PARTITION_FAILED;
  CHECK(clCreateSubDevices(one.device, Divided::kThirds, 3, found.data(), &number) == CL_DEVICE_PARTITION_FAILED);
  CHECK(number == 77);
  one.place.link().close();
  CHECK(clCreateSubDevices(one.device, Divided::kThirds, 3, found.data(), &number) == CL_DEVICE_NOT_AVAILABLE);
}
