#include "client/opencl/peer.h"

#include <sys/random.h>

#include <algorithm>
#include <array>

#include "client/opencl/memory_check.h"
#include "client/trace.h"

namespace flexrack::client::opencl {

namespace {

std::mutex lock;
std::map<std::pair<Session*, Session*>, std::uint64_t> peers;  ///< the lower address first; one link serves both ways
std::map<std::pair<cl_context, std::size_t>, std::uint64_t> queues;

std::uint64_t connect(Session& from, Session& to) {
  const auto& address = to.dialled().address;
  if (&from == &to || address.empty()) return 0;
  std::array<std::uint8_t, 32> key;
  std::uint64_t peer = 0;
  if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()) ||
      getrandom(&peer, sizeof peer, 0) != sizeof peer || peer == 0)
    return 0;
  cl_int status = CL_OUT_OF_RESOURCES;
  const auto take = [&](const auto& reply) { status = reply.status; };
  if (!to.call(cl::PeerAccept{peer, key}, take) || status != CL_SUCCESS) return 0;
  status = CL_OUT_OF_RESOURCES;
  if (!from.call(cl::PeerOpen{peer, key, address, to.dialled().port, to.session_id()}, take) || status != CL_SUCCESS)
    return 0;
  return peer;
}

}  // namespace

std::uint64_t peer_between(Session& from, Session& to) {
  const std::pair<Session*, Session*> pair = std::minmax({&from, &to});
  std::lock_guard guard(lock);
  const auto found = peers.find(pair);
  if (found != peers.end()) return found->second;
  const auto peer = connect(from, to);
  trace("copies between " + from.dialled().address + ":" + std::to_string(from.dialled().port) + " and " +
        to.dialled().address + ":" + std::to_string(to.dialled().port) +
        (peer ? " go from server to server" : " go through this process"));
  return peers[pair] = peer;
}

std::uint64_t transfer_queue(cl_context context, std::size_t place) {
  std::lock_guard guard(lock);
  auto& handle = queues[{context, place}];
  if (handle) return handle;
  auto& there = context->places[place];
  auto* session = there.session;
  const auto* device = there.devices.front();
  const auto can =
      device_info<cl_command_queue_properties>(there.devices.front(), CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, 0);
  const std::array<std::uint64_t, 3> properties{CL_QUEUE_PROPERTIES, can & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  cl::CreateQueue message;
  message.context = there.context;
  message.queue = session->mint();
  message.device = device->index;
  message.properties = properties;
  cl_int status = CL_OUT_OF_RESOURCES;
  session->call(message, [&](const auto& reply) { status = reply.status; });
  if (status != CL_SUCCESS) return 0;
  handle = message.queue;
  std::lock_guard context_guard(context->lock);
  context->destructors.push_back([=, made = handle] {
    std::lock_guard inner(lock);
    queues.erase({context, place});
    session->send(cl::Release{made});
  });
  return handle;
}

}  // namespace flexrack::client::opencl
