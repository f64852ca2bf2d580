#include "client/cuda/replica_rules.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "gen/cuda/cuda.h"
#include "gen/cuda/requests.h"

namespace flexrack::client::cuda {
namespace {

/// Ask how things stand: what they say depends on when they are asked, and nothing is done because of it.
bool depends_on_time(std::uint16_t op) {
  switch (op) {
    case cu::ElapsedTime::kOp:
    case cu::Usage::kOp:
    case cu::MemoryInfo::kOp:
    case cu::PoolAttribute::kOp: return true;
    default: return false;
  }
}

bool asks_progress(std::uint16_t op) { return op == cu::QueryStream::kOp || op == cu::QueryEvent::kOp; }

/// What it answers is handles or addresses that this process goes by, or what was made of the code alone.
bool must_be_alike(std::uint16_t op) {
  switch (op) {
    case cu::Allocate::kOp:
    case cu::CreateTexture::kOp:
    case cu::CreateSurface::kOp:
    case cu::FindVariable::kOp:
    case cu::FindKernel::kOp:
    case cu::Load::kOp:
    case cu::Link::kOp:
    case cu::Instantiate::kOp: return true;
    default: return false;
  }
}

/// Every answer but two begins with one.
std::optional<std::int32_t> status_of(std::uint16_t op, const ReplicaAnswer& one) {
  std::int32_t status = 0;
  if (op == cu::Describe::kOp || op == cu::HaveImages::kOp || one.body.size() < sizeof status) return std::nullopt;
  std::memcpy(&status, one.body.data(), sizeof status);
  return status;
}

std::string status_text(std::int32_t status) {
  return status == CUDA_SUCCESS ? "success" : "CUDA error " + std::to_string(status);
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Of the GPU model, its memory and its driver; not what tells two cards of one model apart.
std::string unlike_devices(const ReplicaAnswer& here, const ReplicaAnswer& there) {
  cu::DescribeReply one, other;
  if (!decode(here.body, one) || !decode(there.body, other)) return "a description that cannot be read";
  if (one.driver_version != other.driver_version)
    return "drivers of CUDA " + version_text(one.driver_version) + " and " + version_text(other.driver_version);
  if (one.devices.size() != 1 || other.devices.size() != 1)
    return std::to_string(one.devices.size()) + " and " + std::to_string(other.devices.size()) +
           " GPUs, where each is to have one";
  const auto& a = one.devices.front();
  const auto& b = other.devices.front();
  if (a.name != b.name) return "GPUs of two models, " + std::string(a.name) + " and " + std::string(b.name);
  if (a.memory != b.memory)
    return std::to_string(a.memory) + " and " + std::to_string(b.memory) + " bytes of the GPU's memory";
  const auto is_place = [](int which) {
    return which == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID || which == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID ||
           which == CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID || which == CU_DEVICE_ATTRIBUTE_NUMA_ID ||
           which == CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID;
  };
  for (const auto& [which, value] : a.attributes) {
    const auto same = std::find_if(b.attributes.begin(), b.attributes.end(),
                                   [at = which](const cu::Attribute& entry) { return entry.which == at; });
    if (!is_place(which) && (same == b.attributes.end() || same->value != value))
      return "GPUs whose attribute " + std::to_string(which) + " differs";
  }
  return {};
}

/// Without what a compiler says of its work, its time for one.
template <class Reply>
wire::Bytes without_logs(wire::View body) {
  Reply reply;
  wire::Bytes plain;
  if (!decode(body, reply)) return plain;
  reply.info_log = reply.error_log = {};
  encode(plain, reply);
  return plain;
}

bool is_alike(std::uint16_t op, wire::View here, wire::View there) {
  if (op == cu::Load::kOp) return without_logs<cu::LoadReply>(here) == without_logs<cu::LoadReply>(there);
  if (op == cu::Link::kOp) return without_logs<cu::LinkReply>(here) == without_logs<cu::LinkReply>(there);
  return std::equal(here.begin(), here.end(), there.begin(), there.end());
}

}  // namespace

bool is_for_both(std::uint16_t op) { return !depends_on_time(op); }

std::string difference(std::uint16_t op, const ReplicaAnswer& here, const ReplicaAnswer& there) {
  const auto* const known = cu::name_of(op);
  const std::string name = known ? known : "a call";
  if ((here.flags & wire::kRefused) != (there.flags & wire::kRefused)) return name + ": refused by one of them";
  if (depends_on_time(op) || (here.flags & wire::kRefused) != 0) return {};
  if (op == cu::Describe::kOp) return unlike_devices(here, there);
  const auto one = status_of(op, here), other = status_of(op, there);
  if (asks_progress(op) && (one == CUDA_ERROR_NOT_READY || other == CUDA_ERROR_NOT_READY)) return {};
  if (one != other) return name + ": " + status_text(one.value_or(-1)) + " and " + status_text(other.value_or(-1));
  // What a driver says of an error may name what is its own.
  if (one == CUDA_SUCCESS && must_be_alike(op) && !is_alike(op, here.body, there.body))
    return name + ": objects or addresses that are not the same";
  return {};
}

void join_answers(std::uint16_t op, ReplicaAnswer& here, const ReplicaAnswer& there) {
  // Who hears that something is over goes on: it is over where it is so at both.
  if (asks_progress(op) && status_of(op, there) == CUDA_ERROR_NOT_READY) here = there;
  cu::HaveImagesReply one, other;
  if (op != cu::HaveImages::kOp || !decode(here.body, one) || !decode(there.body, other)) return;
  // An image that one of them lacks is sent to both.
  wire::Bytes known(one.known.begin(), one.known.end());
  for (std::size_t i = 0; i < known.size(); ++i)
    if (i >= other.known.size() || other.known[i] == 0) known[i] = 0;
  wire::Bytes body;
  encode(body, cu::HaveImagesReply{.known = known});
  here.body = std::move(body);
}

}  // namespace flexrack::client::cuda
