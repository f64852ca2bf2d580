#include "client/cuda/peer.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "client/cuda/event.h"
#include "client/cuda/transfer.h"

namespace flexrack::client::cuda {
namespace {

using Pair = std::pair<CudaServer*, CudaServer*>;   ///< the lower address first: one link serves both ways

/// A stream of ours in the context of a copy's other side, for one of the application's: copies of two streams never
/// wait for each other.
struct Helper {
  CudaServer* server = nullptr;        ///< where it is
  std::uint64_t handle = 0;
  CudaServer* of_server = nullptr;     ///< the application's stream
  std::uint64_t of_context = 0;
};

/// Never destroyed: links are read until the process is gone.
struct Known {
  std::mutex connecting;                           ///< one link at a time
  std::mutex lock;
  std::map<Pair, std::uint64_t> links;             ///< under lock; 0: the two do not reach each other
  std::set<Pair> doubted;  ///< under lock: something of a copy failed at one of them since their link was looked at
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, Helper>
      helpers;  ///< under lock: by the stream's context, the stream, the other context
  std::map<std::uint64_t, Helper> lent;            ///< under lock: others that are noted, by their handles
};

Known& peers() {
  static auto& all = *new Known;
  return all;
}

Pair pair_of(CudaServer* one, CudaServer* other) { return std::minmax(one, other); }

std::string name_of(CudaServer& server) {
  return server.session->dialled().address + ":" + std::to_string(server.session->dialled().port);
}

template <class Message>
bool is_done(CudaServer& server, const Message& message) {
  auto status = CUDA_ERROR_UNKNOWN;
  return server.session->call(message, [&](const auto& reply) { status = static_cast<CUresult>(reply.status); }) &&
         status == CUDA_SUCCESS;
}

/// `from` dials `to`. The id of the link, or 0.
std::uint64_t dial(CudaServer& from, CudaServer& to) {
  const auto& there = to.session->dialled();
  std::array<std::uint8_t, 32> key;
  std::uint64_t peer = 0;
  if (there.address.empty() || getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()) ||
      getrandom(&peer, sizeof peer, 0) != sizeof peer || peer == 0)
    return 0;
  const bool is_open = is_done(to, cu::PeerAccept{.peer = peer, .key = key}) &&
                       is_done(from, cu::PeerOpen{.peer = peer,
                                                  .key = key,
                                                  .address = there.address,
                                                  .port = there.port,
                                                  .session = to.session->session_id()}) &&
                       is_done(to, cu::PeerReady{.peer = peer});
  return is_open ? peer : 0;
}

/// What is known of the link; nothing where it has to be looked at first.
std::optional<std::uint64_t> known_link(const Pair& pair) {
  const std::lock_guard guard(peers().lock);
  const auto found = peers().links.find(pair);
  return found == peers().links.end() || peers().doubted.contains(pair) ? std::nullopt : std::optional(found->second);
}

/// The stream of that side: the application's own where that is there, else its helper. 0 as a handle is a default
/// stream.
bool find_stream(CUstream stream, const Side& side, std::uint64_t& handle) {
  if (side.server == stream->server) return handle = stream->handle, true;
  const std::lock_guard guard(peers().lock);
  auto& helper = peers().helpers[{stream->context_handle, stream->handle, side.context->handle}];
  handle = helper.handle;
  if (handle != 0) return true;
  helper = {side.server, mint(), stream->server, stream->context_handle};
  handle = helper.handle;
  return side.server->session->send(
      cu::CreateStream{.context = side.context->handle, .stream = handle, .flags = CU_STREAM_NON_BLOCKING});
}

/// Both sides wait for what runs on either, as between contexts of one server (copy.cpp), and for the copy.
CUresult copy_on_default_streams(CUstream stream, std::uint64_t peer, const Side& from, const Side& to,
                                 const cu::Extent& extent) {
  for (const auto context : {stream->context, from.context, to.context}) {
    if (const auto status = wait_stream(context->default_stream); status != CUDA_SUCCESS) return status;
  }
  const StreamAt source{from.server, from.context->handle, 0}, target{to.server, to.context->handle, 0};
  note_put(from.context->default_stream);
  note_put(to.context->default_stream);
  const auto sent = send_over(peer, from, source, to, target, extent);
  const auto left = wait_stream(from.context->default_stream), arrived = wait_stream(to.context->default_stream);
  return left != CUDA_SUCCESS ? left : arrived != CUDA_SUCCESS ? arrived : sent;
}

}  // namespace

std::uint64_t link_between(CudaServer& from, CudaServer& to) {
  const auto pair = pair_of(&from, &to);
  if (const auto peer = known_link(pair)) return *peer;
  const std::lock_guard one_at_a_time(peers().connecting);
  if (const auto peer = known_link(pair)) return *peer;
  std::uint64_t peer = 0;
  {
    const std::lock_guard guard(peers().lock);
    peers().doubted.erase(pair);
    peer = peers().links[pair];
  }
  if (peer && is_done(from, cu::PeerReady{.peer = peer}) && is_done(to, cu::PeerReady{.peer = peer})) return peer;
  if (peer)
    for (auto* const server : {&from, &to}) server->session->send(cu::PeerClose{.peer = peer});
  peer = dial(from, to);
  if (!peer) peer = dial(to, from);
  trace("copies between " + name_of(from) + " and " + name_of(to) +
        (peer ? " go from server to server" : " go through this process"));
  const std::lock_guard guard(peers().lock);
  return peers().links[pair] = peer;
}

bool put_after(const StreamAt& later, const StreamAt& first) {
  const auto event = mint(), latch = mint();
  auto& there = *first.server->session;
  auto& here = *later.server->session;
  const bool is_sent =
      there.send(cu::CreateEvent{.context = first.context, .event = event, .flags = CU_EVENT_DISABLE_TIMING}) &&
      there.send(cu::EventRecord{.context = first.context, .event = event, .stream = first.stream}) &&
      here.send(cu::WaitLatch{.context = later.context, .stream = later.stream, .latch = latch});
  if (!is_sent) return false;
  first.server->inbox.when_reached(event, 1, [&there, &here, event, latch, later] {
    // What was lost with its server has not happened.
    if (!there.is_alive()) later.server->inbox.fail(later.context, kLost);
    there.send(cu::Release{.object = event});
    here.send(cu::OpenLatch{.latch = latch});
    here.link().flush();
  });
  return there.send(cu::WatchEvent{.event = event, .number = 1});
}

CUresult send_over(std::uint64_t peer, const Side& from, const StreamAt& source, const Side& to, const StreamAt& target,
                   const cu::Extent& extent) {
  return each_part(extent, kPiece, [&](std::size_t x, std::size_t y, std::size_t z, const cu::Extent& part) {
    const auto ticket = mint();
    const auto out = from_there(from, x, y, z), in = from_there(to, x, y, z);
    const bool is_sent = source.server->session->send(cu::ExportMemory{.context = source.context,
                                                                       .stream = source.stream,
                                                                       .source = out.place,
                                                                       .extent = part,
                                                                       .peer = peer,
                                                                       .ticket = ticket}) &&
                         target.server->session->send(cu::ImportMemory{.context = target.context,
                                                                       .stream = target.stream,
                                                                       .target = in.place,
                                                                       .extent = part,
                                                                       .peer = peer,
                                                                       .ticket = ticket});
    return is_sent ? CUDA_SUCCESS : kLost;
  });
}

CUresult send_through_here(const Side& from, const StreamAt& source, const Side& to, const StreamAt& target,
                           const cu::Extent& extent) {
  return each_part(extent, kPiece, [&](std::size_t x, std::size_t y, std::size_t z, const cu::Extent& part) {
    auto& there = *source.server->session;
    auto& here = *target.server->session;
    const auto size = part.width * part.height * part.depth;
    const auto bytes = std::make_shared<wire::Bytes>(size);
    const auto out = there.link().ticket(), in = here.link().ticket();
    there.link().land(out, *bytes, [&here, bytes, in](bool has_arrived) {
      if (has_arrived) here.link().push(in, *bytes, [bytes](bool) {}, false);
      else here.link().cancel(in);
    });
    const bool is_sent = there.send(cu::ReadRows{.context = source.context,
                                                 .stream = source.stream,
                                                 .source = from_there(from, x, y, z).place,
                                                 .extent = part,
                                                 .ticket = out}) &&
                         here.send(cu::WriteRows{.context = target.context,
                                                 .stream = target.stream,
                                                 .target = from_there(to, x, y, z).place,
                                                 .extent = part,
                                                 .data = {in, size, {}}});
    return is_sent ? CUDA_SUCCESS : kLost;
  });
}

void note_helper(const StreamAt& ours, CUstream of) {
  const std::lock_guard guard(peers().lock);
  peers().lent[ours.stream] = {ours.server, ours.stream, of->server, of->context_handle};
}

void forget_helper(const StreamAt& ours) {
  const std::lock_guard guard(peers().lock);
  peers().lent.erase(ours.stream);
}

std::optional<CUresult> copy_directly(CUstream stream, const Side& from, const Side& to, const cu::Extent& extent) {
  Call reading, writing;
  if (!reading.use(from.context) || !reading.settle()) return reading.error();
  if (!writing.use(to.context) || !writing.settle()) return writing.error();
  const auto peer = link_between(*from.server, *to.server);
  if (!peer) return std::nullopt;
  if (stream->is_default) return copy_on_default_streams(stream, peer, from, to, extent);

  const auto context_of = [&](const Side& side) {
    return side.server == stream->server ? stream->context_handle : side.context->handle;
  };
  StreamAt source{from.server, context_of(from), 0}, target{to.server, context_of(to), 0};
  if (!find_stream(stream, from, source.stream) || !find_stream(stream, to, target.stream)) return kLost;
  const auto own = place_of(stream);
  if (from.server != stream->server && !is_quiet(stream) && !put_after(source, own)) return kLost;
  // Who waits for a context waits for its part of the copy.
  for (const auto* side : {&from, &to}) {
    if (side->server != stream->server) side->context->progress.put.fetch_add(1, std::memory_order_relaxed);
  }
  note_put(stream);
  if (const auto status = send_over(peer, from, source, to, target, extent); status != CUDA_SUCCESS) return status;
  if (to.server != stream->server && !put_after(own, target)) return kLost;
  for (auto* const server : {from.server, to.server, stream->server}) server->session->link().flush();
  return CUDA_SUCCESS;
}

void forget_peer_streams(CUstream stream) {
  const std::lock_guard guard(peers().lock);
  const auto first = peers().helpers.lower_bound({stream->context_handle, stream->handle, 0});
  auto last = first;
  for (; last != peers().helpers.end() && std::get<0>(last->first) == stream->context_handle &&
         std::get<1>(last->first) == stream->handle;
       ++last) {
    last->second.server->session->send(cu::Release{.object = last->second.handle});
  }
  peers().helpers.erase(first, last);
}

void fail_peer_copy(CudaServer& server, std::uint64_t stream, CUresult status) {
  Helper of;
  {
    const std::lock_guard guard(peers().lock);
    for (const auto& [pair, peer] : peers().links) {
      if (peer != 0 && (pair.first == &server || pair.second == &server)) peers().doubted.insert(pair);
    }
    const auto found = std::find_if(peers().helpers.begin(), peers().helpers.end(),
                                    [&](const auto& one) { return one.second.handle == stream; });
    if (found != peers().helpers.end()) of = found->second;
    if (const auto lent = peers().lent.find(stream); lent != peers().lent.end()) of = lent->second;
  }
  if (of.server) of.of_server->inbox.fail(of.of_context, status);
}

void lose_peers(CudaServer& lost) {
  decltype(Known::links) gone;
  {
    const std::lock_guard guard(peers().lock);
    for (const auto& one : peers().links) {
      if (one.second != 0 && (one.first.first == &lost || one.first.second == &lost)) gone.insert(one);
    }
  }
  for (const auto& [pair, peer] : gone) {
    auto& other = *(pair.first == &lost ? pair.second : pair.first)->session;
    other.send(cu::PeerClose{.peer = peer});
    other.link().flush();
  }
}

}  // namespace flexrack::client::cuda
