#include "client/cuda/graph_across.h"

#include <algorithm>

namespace flexrack::client::cuda {
namespace {

/// What one server tells another when a stream has got there. No peer: the two do not reach each other, and are told
/// here, when the other one is there.
struct Signal {
  std::uint64_t peer = 0, ticket = 0;
};

bool give(Signal& sent, const StreamAt& here, CudaServer& other) {
  sent.peer = link_between(*here.server, other);
  if (sent.peer == 0) return true;
  sent.ticket = mint();
  return here.server->session->send(
      cu::SignalPeer{.context = here.context, .stream = here.stream, .peer = sent.peer, .ticket = sent.ticket});
}

bool await(const Signal& sent, const StreamAt& here, const StreamAt& other) {
  if (sent.peer == 0) return put_after(here, other);
  return here.server->session->send(
      cu::AwaitPeer{.context = here.context, .stream = here.stream, .peer = sent.peer, .ticket = sent.ticket});
}

/// What is put on `later` from now on comes after what has been put on `first`.
bool put_behind(const StreamAt& later, const StreamAt& first) {
  if (later.server == first.server) {
    auto& session = *later.server->session;
    const auto event = mint();
    return session.send(cu::CreateEvent{.context = first.context, .event = event, .flags = CU_EVENT_DISABLE_TIMING}) &&
           session.send(cu::EventRecord{.context = first.context, .event = event, .stream = first.stream}) &&
           session.send(cu::StreamWaitEvent{.context = later.context, .stream = later.stream, .event = event}) &&
           session.send(cu::Release{.object = event});
  }
  Signal sent;
  return give(sent, first, *later.server) && await(sent, later, first);
}

/// One launch on its way.
class Crossing {
 public:
  Crossing(CUgraphExec exec, const std::function<bool(std::size_t, const StreamAt&)>& put)
      : across_(exec->across), put_(put), sent_(across_.signals) {}

  bool take(const Step& step) {
    const auto& here = at(step.server);
    switch (step.kind) {
      case Step::Kind::part: return put_(step.number, here);
      case Step::Kind::copy: return copy(across_.copies[step.number], here, at(step.other));
      case Step::Kind::signal: return give(sent_[step.number], here, *step.other);
      case Step::Kind::await: return await(sent_[step.number], here, at(step.other));
    }
    return false;
  }

 private:
  const StreamAt& at(CudaServer* server) const { return across_.lanes.at(server).ours; }

  static bool copy(CUgraphNode node, const StreamAt& source, const StreamAt& target) {
    if (!node->is_enabled) return true;
    const auto& work = *node->work;
    const auto peer = link_between(*source.server, *target.server);
    const auto status = peer != 0 ? send_over(peer, work.source, source, work.target, target, work.extent)
                                  : send_through_here(work.source, source, work.target, target, work.extent);
    return status == CUDA_SUCCESS;
  }

  Across& across_;
  const std::function<bool(std::size_t, const StreamAt&)>& put_;
  std::vector<Signal> sent_;
};

bool make_streams(Across& across) {
  for (auto& [server, lane] : across.lanes) {
    auto& ours = lane.ours;
    if (ours.stream != 0) continue;
    ours.stream = mint();
    if (!server->session->send(
            cu::CreateStream{.context = ours.context, .stream = ours.stream, .flags = CU_STREAM_NON_BLOCKING}))
      return false;
  }
  return true;
}

}  // namespace

bool launch_across(CUgraphExec exec, CUstream stream,
                   const std::function<bool(std::size_t part, const StreamAt& where)>& put) {
  auto& across = exec->across;
  if (!make_streams(across)) return false;
  const auto own = place_of(stream);
  const bool is_first = is_quiet(stream);
  for (const auto& [server, lane] : across.lanes) {
    const auto& [context, ours] = lane;
    note_helper(ours, stream);
    if (!is_first && !put_behind(ours, own)) return false;
    // Who waits for a context waits for its part of the launch.
    if (context != stream->context) context->progress.put.fetch_add(1, std::memory_order_relaxed);
  }
  note_put(stream);
  Crossing crossing(exec, put);
  for (const auto& step : across.steps)
    if (!crossing.take(step)) return false;
  for (const auto& [server, lane] : across.lanes)
    if (!put_behind(own, lane.ours)) return false;
  for (const auto& [server, lane] : across.lanes) server->session->link().flush();
  stream->server->session->link().flush();
  return true;
}

bool are_contexts_there(const Across& across) {
  return std::all_of(across.lanes.begin(), across.lanes.end(), [](const auto& one) {
    const auto& [context, ours] = one.second;
    return is_live(context) && context->handle == ours.context;
  });
}

void release_streams(CUgraphExec exec) {
  // With its context a stream went already.
  const bool are_there = are_contexts_there(exec->across);
  for (const auto& [server, lane] : exec->across.lanes) {
    if (lane.ours.stream == 0) continue;
    forget_helper(lane.ours);
    if (are_there) server->session->send(cu::Release{.object = lane.ours.stream});
  }
}

}  // namespace flexrack::client::cuda
