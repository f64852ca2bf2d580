#include "backend/opencl/sub_devices.h"

#include <algorithm>

#include "backend/opencl/describe.h"
#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {

cl_int SubDevices::divide(cl_device_id device, const Partition& how, std::size_t count,
                          std::vector<cl_device_id>& parts) {
  const std::lock_guard guard(lock_);
  auto& idle = idle_[{device, how}];
  idle.resize(count);
  if (std::any_of(idle.begin(), idle.end(), [](const auto& same) { return same.empty(); })) {
    if (count > kMost - made_) return CL_OUT_OF_RESOURCES;
    std::vector<cl_device_id> made(count);
    if (const auto status =
            native().clCreateSubDevices(device, how.data(), static_cast<cl_uint>(count), made.data(), nullptr))
      return status;
    made_ += count;
    for (std::size_t i = 0; i < count; ++i) idle[i].push_back(made[i]);
  }
  for (auto& same : idle) {
    parts.push_back(same.back());
    same.pop_back();
  }
  return CL_SUCCESS;
}

void SubDevices::give_back(cl_device_id device, const Partition& how, std::size_t position, cl_device_id part) {
  const std::lock_guard guard(lock_);
  idle_[{device, how}][position].push_back(part);
}

namespace {

/// Drivers read such a list up to its zeros: they are there whatever the client sent.
Partition terminated(std::span<const std::uint64_t> properties) {
  Partition list;
  for (const auto one : properties) list.push_back(static_cast<cl_device_partition_property>(one));
  list.insert(list.end(), 3, 0);
  return list;
}

/// Counts that are too large by themselves: their sum may come out small in a driver.
bool has_too_many(const Device& device, const Partition& how) {
  const auto units = device_value<cl_uint>(device.native.device, CL_DEVICE_MAX_COMPUTE_UNITS, 0);
  const auto is_too_many = [&](auto count) { return static_cast<std::uint64_t>(count) > units; };
  return how[0] == CL_DEVICE_PARTITION_BY_COUNTS && std::any_of(how.begin() + 1, how.end(), is_too_many);
}

/// Lives as long as the client's handle and every context it is in; then the driver's may be used again.
std::shared_ptr<const Device> make_part(Engine& engine, const std::shared_ptr<const Device>& of, const Partition& how,
                                        std::size_t position, cl_device_id native_part) {
  auto part = std::make_unique<Device>(*of);
  part->index = engine.next_device++;
  part->parent = of;
  part->native.device = native_part;
  const auto give_back = [pool = engine.sub_devices, of, how, position](const Device* gone) {
    pool->give_back(of->native.device, how, position, gone->native.device);
    delete gone;
  };
  return {part.release(), give_back};
}

}  // namespace

void Session::on(const cl::CreateSubDevices& call, Respond<cl::CreateSubDevicesReply> respond) {
  const auto device = engine_->device(call.device);
  if (!device) return respond({.status = CL_INVALID_DEVICE});
  if (!native().clCreateSubDevices) return respond({.status = CL_INVALID_OPERATION});
  const auto how = terminated(call.properties);
  cl::CreateSubDevicesReply reply;
  reply.status = native().clCreateSubDevices(device->native.device, how.data(), call.has_list ? 0 : call.capacity,
                                             nullptr, &reply.count);
  if (reply.status == CL_SUCCESS && has_too_many(*device, how)) reply.status = CL_INVALID_DEVICE_PARTITION_COUNT;
  if (reply.status == CL_SUCCESS && call.has_list && call.capacity < reply.count) reply.status = CL_INVALID_VALUE;
  std::vector<cl_device_id> parts;
  if (reply.status == CL_SUCCESS && call.has_list)
    reply.status = engine_->sub_devices->divide(device->native.device, how, reply.count, parts);
  InfoList known;
  std::deque<InfoList> differences;
  if (!parts.empty()) describe_device(*device, known);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto part = make_part(*engine_, device, how, i, parts[i]);
    engine_->devices.emplace(part->index, part);
    InfoList own;
    describe_device(*part, own);
    reply.devices.push_back({.index = part->index,
                             .platform = part->platform,
                             .infos = differences.emplace_back(own.without(known)).infos()});
  }
  respond(reply);
}

void Session::on(const cl::ReleaseDevice& m) {
  const auto device = engine_->device(m.device);
  if (device && device->parent) engine_->devices.erase(m.device);
}

}  // namespace flexrack::backend::opencl
