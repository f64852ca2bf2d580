// Launching: one message a part, with the bytes that leave with it; what lands here and what runs here is noted, and
// nothing is waited for.
#include <algorithm>

#include "client/cuda/capture.h"
#include "client/cuda/event.h"
#include "client/cuda/graph_across.h"
#include "client/cuda/graph_exec.h"
#include "client/cuda/graph_work.h"
#include "client/cuda/host_function.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// Bytes in messages of launches, together: what is more goes beside them.
constexpr std::size_t kMostInline = wire::kInlinePayload;

bool is_one_piece(const Side& side, const cu::Extent& extent) {
  return (extent.height == 1 || side.pitch == extent.width) &&
         (extent.depth == 1 || side.slice == side.pitch * extent.height);
}

/// A box of this process's memory as bytes of its own.
std::shared_ptr<wire::Bytes> take(const Work& work) {
  return std::make_shared<wire::Bytes>(packed(work.source, work.extent));
}

void copy_here(const Work& work) { unpack(work.target, work.extent, packed(work.source, work.extent)); }

void push(Session& session, std::uint64_t ticket, const std::shared_ptr<wire::Bytes>& bytes) {
  session.link().push(ticket, *bytes, [bytes](bool) {}, false);
}

/// One launch being put together.
class Launch {
 public:
  Launch(CUgraphExec exec, CUstream stream) : exec_(exec), stream_(stream) {
    if (has_host_work()) behind_ = before_next(stream);
    writing_ = only_writing(behind_);
  }

  CUresult send() {
    bool is_sent = false;
    if (is_across(exec_, stream_)) {
      is_sent = launch_across(exec_, stream_, [this](std::size_t part, const StreamAt& at) { return put(part, at); });
    } else {
      note_put(stream_);
      is_sent = put(0, place_of(stream_));
    }
    for (const auto& one : works_) {
      if (is_sent) put_host_work(stream_, one);
      else one->finish(false);
    }
    if (!is_sent) return kLost;
    if (!exec_->stops.empty()) {
      for (const auto& part : exec_->parts) part.server->session->link().flush();
    }
    for (auto& one : later_) one();
    return CUDA_SUCCESS;
  }

 private:
  /// What a part does here, and its message.
  bool put(std::size_t number, const StreamAt& at) {
    const auto& part = exec_->parts[number];
    const auto first = works_.size();
    session_ = part.server->session.get();
    message_ = {.context = at.context, .exec = part.handle, .stream = at.stream};
    std::size_t bytes = 0;
    for (const auto node : exec_->stops) {
      if (node->part != number) continue;
      const auto& work = *node->work;
      if (work.is_output()) want(node);
      else if (work.is_call()) add_call(node);
      else if (node->stop->is_late) add_late(node);
      else add_input(node, bytes);
    }
    if (exec_->parts.size() > 1) {
      for (auto i = first; i < works_.size(); ++i) part.server->inbox.fail_when_lost(works_[i]);
    }
    return session_->send(message_);
  }

  /// Its bytes are read here when what runs here for the stream before is over: now where there is no such thing.
  void add_input(CUgraphNode node, std::size_t& inline_bytes) {
    auto& reported = message_.inputs.emplace_back();
    reported.node = node->stop->node;
    if (!node->is_enabled) return;
    const auto work = node->work;
    const auto size = work->bytes();
    if (writing_.empty() && inline_bytes + size < kMostInline) {
      inline_bytes += size;
      wire::View bytes(work->source.host, size);
      if (!is_one_piece(work->source, work->extent)) bytes = *kept_.emplace_back(take(*work));
      reported.data = {0, size, bytes};
      return;
    }
    const auto ticket = session_->link().ticket();
    reported.data = {ticket, size, {}};
    if (writing_.empty()) {
      later_.push_back([&session = *session_, ticket, bytes = take(*work)] { push(session, ticket, bytes); });
      return;
    }
    const auto reading = works_.emplace_back(std::make_shared<HostWork>(*session_, false));
    later_.push_back([&session = *session_, ticket, work, reading, writing = writing_] {
      after(writing, [&session, ticket, work, reading] {
        push(session, ticket, take(*work));
        reading->finish(true);
      });
    });
  }

  void want(CUgraphNode node) {
    auto& reported = message_.outputs.emplace_back();
    reported.node = node->stop->node;
    if (!node->is_enabled) return;
    const auto work = node->work;
    const auto landing = works_.emplace_back(std::make_shared<HostWork>(*session_));
    landings_[node] = landing;
    reported.ticket = session_->link().ticket();
    if (is_one_piece(work->target, work->extent)) {
      session_->link().land(reported.ticket, {work->target.host, work->bytes()},
                            [landing](bool has_arrived) { landing->finish(has_arrived); });
      return;
    }
    const auto box = std::make_shared<wire::Bytes>(work->bytes());
    session_->link().land(reported.ticket, *box, [landing, box, work](bool has_arrived) {
      if (has_arrived) unpack(work->target, work->extent, *box);
      landing->finish(has_arrived);
    });
  }

  void add_call(CUgraphNode node) {
    const auto work = node->work;
    if (work->type == CU_GRAPH_NODE_TYPE_HOST) {
      put(node, true, [work] {
        const InHostFunction here;
        work->host.fn(work->host.userData);
      });
    } else {
      put(node, true, [work, is_enabled = node->is_enabled] {
        if (is_enabled) copy_here(*work);
      });
    }
  }

  void add_late(CUgraphNode node) {
    put(node, false,
        [&session = *session_, work = node->work, handle = node->stop->node, is_enabled = node->is_enabled] {
          if (!is_enabled) return static_cast<void>(session.send(cu::GraphInput{.node = handle, .data = {}}));
          const auto bytes = take(*work);
          if (bytes->size() < wire::kInlinePayload)
            return static_cast<void>(session.send(cu::GraphInput{.node = handle, .data = {0, bytes->size(), *bytes}}));
          const auto ticket = session.link().ticket();
          if (session.send(cu::GraphInput{.node = handle, .data = {ticket, bytes->size(), {}}}))
            push(session, ticket, bytes);
        });
  }

  void put(CUgraphNode node, bool writes, std::function<void()> action) {
    auto& stop = *node->stop;
    Pending pending{.work = works_.emplace_back(std::make_shared<HostWork>(*session_, writes)),
                    .behind = behind_,
                    .action = std::move(action)};
    pending.work->set_function();
    for (const auto output : stop.outputs) {
      if (const auto found = landings_.find(output); found != landings_.end()) pending.behind.push_back(found->second);
    }
    const std::lock_guard guard(stop.lock);
    stop.pending.push_back(std::move(pending));
  }

  CUgraphExec exec_;
  CUstream stream_;
  Session* session_ = nullptr;         ///< of the part that is being put together, as the message
  cu::LaunchGraph message_;
  HostWorks behind_, writing_, works_;
  std::vector<std::shared_ptr<wire::Bytes>> kept_;     ///< what the message shows
  std::map<CUgraphNode, std::shared_ptr<HostWork>> landings_;
  std::vector<std::function<void()>> later_;
};

/// What the graph allocates and does not free is there until somebody frees it (cuda.h 13.0,
/// CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH).
CUresult take_memory(CUgraphExec exec) {
  const auto is_freed = [&](const GraphMemory& memory) {
    return std::find(exec->freed.begin(), exec->freed.end(), memory.address) != exec->freed.end();
  };
  const bool frees_first = (exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  for (const auto& one : exec->memory)
    if (one->kept && !frees_first) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& one : exec->memory) free_kept(*one);
  std::uint64_t bytes = 0;
  for (const auto& one : exec->memory) {
    if (is_freed(*one)) bytes += one->size;
    else keep(*one);
  }
  if (bytes > 0) note_use(*exec->context->device, bytes);
  for (const auto address : exec->freed) {
    if (const auto memory = graph_memory_at(address)) free_kept(*memory);
  }
  return CUDA_SUCCESS;
}

}  // namespace

void run_stop(Stop& stop) {
  Pending next;
  {
    const std::lock_guard guard(stop.lock);
    if (stop.pending.empty()) return;
    next = std::move(stop.pending.front());
    stop.pending.pop_front();
    if (stop.is_gone && stop.pending.empty()) remove_host_function(stop.function);
  }
  wait_for(next.behind);
  next.action();
  next.work->finish(true);
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
  Call call, of;
  const auto stream = call.stream(hStream);
  const std::lock_guard guard(graphs_lock());
  call.check(is_live(hGraphExec));
  if (!call.settle()) return call.error();
  if (!of.use(hGraphExec) || !of.settle()) return of.error();
  if (is_capturing(stream)) return capture_graph(stream, hGraphExec->graph);
  if (const auto status = refuse_implicit(stream); status != CUDA_SUCCESS) return status;
  if (!are_contexts_there(hGraphExec->across)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (const auto status = take_memory(hGraphExec); status != CUDA_SUCCESS) return status;
  if (has_mirrors.load(std::memory_order_relaxed)) {
    for (const auto& [server, lane] : hGraphExec->across.lanes)
      if (const auto status = before_launch(lane.context, stream); status != CUDA_SUCCESS) return status;
  }
  const auto status = Launch(hGraphExec, stream).send();
  for (const auto node : hGraphExec->records)
    if (is_live(node->work->event)) note_record(node->work->event, stream);
  return status;
}

CUresult cuGraphUpload(CUgraphExec hGraph, CUstream hStream) {
  Call call, of;
  const auto stream = call.stream(hStream);
  const std::lock_guard guard(graphs_lock());
  call.check(is_live(hGraph));
  if (!call.settle()) return call.error();
  if (!of.use(hGraph) || !of.settle()) return of.error();
  if (const auto status = refuse_captured(stream); status != CUDA_SUCCESS) return status;
  // What is at other servers is uploaded by its first launch.
  for (const auto& part : hGraph->parts) {
    if (part.server != stream->server) continue;
    note_put(stream);
    if (!call.session().send(
            cu::GraphUpload{.context = stream->context_handle, .graph = part.handle, .stream = stream->handle}))
      return kLost;
  }
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
