// Graphs that are instantiated: the client has built them, and says all of them at once. What they do in the client:
// graph_host.
#include "backend/cuda/graphs.h"

#include "backend/cuda/graph_nodes.h"
#include "backend/cuda/launch_attributes.h"
#include "backend/cuda/launches.h"
#include "backend/cuda/rows.h"
#include "backend/cuda/transfers.h"

namespace flexrack::backend::cuda {

void Graphs::start() {
  owner_->graphs = this;
  host_.start(
      [this](std::uint64_t function, std::uint64_t run) {
        core_.mirrors.tell_changes();
        core_.tell(cu::RunHostFunction{.function = function, .run = run, .status = 0});
      },
      [this](std::uint64_t ticket, wire::Bytes bytes, const std::shared_ptr<void>& held) {
        if (!held) return core_.link->cancel(ticket);
        const auto kept = std::make_shared<wire::Bytes>(std::move(bytes));
        // Not by one of our threads: all of them may be waiting for launches that come behind these bytes.
        core_.link->push(ticket, *kept, [kept, held](bool) {}, false);
      });
}

void Graphs::leave() {
  const std::lock_guard no_call(owner_->lock);
  owner_->graphs = nullptr;
}

void Graphs::forget(std::uint64_t handle) {
  errors_.erase(handle);
  graph_memory_.erase(handle);
  forget_exec(handle);
  bodies_.erase(handle);
  const auto conditional = conditionals_.find(handle);
  if (conditional == conditionals_.end()) return;
  conditions_ -= conditional->second.contexts.size();
  conditionals_.erase(conditional);
  // Bodies that could not be made are remembered too, and no record of theirs is dropped.
  std::erase_if(bodies_, [&](const auto& one) { return one.second.root == handle; });
}

void Graphs::forget_exec(std::uint64_t exec) {
  exec_memory_.erase(exec);
  const auto had = exec_stops_.extract(exec);
  if (had.empty()) return;
  for (const auto node : had.mapped()) {
    const auto found = stops_.find(node);
    if (--found->second.execs == 0 && found->second.graph == 0) stops_.erase(found);
  }
}

void Graphs::dropped(const Record& gone) {
  if (const auto found = gone.kind == Kind::node ? stops_.find(gone.handle) : stops_.end(); found != stops_.end()) {
    found->second.graph = 0, found->second.copy = nullptr;
    if (found->second.execs == 0) stops_.erase(found);
  }
  if (gone.kind == Kind::graph) graph_memory_.erase(gone.handle), bodies_.erase(gone.handle);
}

void Graphs::on(const cu::CreateGraph& m) {
  CallContext call(core_, m.kOp, m.context);
  CUgraph graph = nullptr;
  call.run(core_.table.cuGraphCreate, &graph, m.flags);
  if (auto* record = call.keep(m.graph, graph)) record->context = 0;
  else if (graph) core_.table.cuGraphDestroy(graph);
  call.end();
}

/// The memory that a copy of that extent goes through. False: `call` has failed.
bool Graphs::stage(CallContext& call, GraphStop& stop, const cu::NodeWork& work) {
  const auto size = box_bytes(work.extent);
  call.check(size.has_value() && *size > 0);
  if (!call.is_good()) return false;
  if (stop.staging && stop.staging->size == *size) return true;
  auto piece = HostSide::take(core_.host_of(call.context()), *size);
  if (!piece) return call.fail(CUDA_ERROR_OUT_OF_MEMORY), false;
  host_.restage(stop, std::move(piece));
  return true;
}

/// The driver calls back that nothing of it is in use any more; memory may be given back on another thread only.
void Graphs::forget_stop(GraphStop* stop) {
  host_.forget(*stop);
  core_.waiters.run([gone = std::shared_ptr<GraphStop>(stop)] {});
}

/// That of the executable graph that is to be updated from this one: it goes on being who is waited for, and the graph
/// has it too.
GraphStop* Graphs::share_stop(CallContext& call, const cu::AddNode& m, GraphStop::Sort sort) {
  auto* const stop = stop_of(m.work.object, sort);
  const auto known = conditionals_.find(root_of(m.graph));
  call.check(stop != nullptr && known != conditionals_.end());
  call.check(!stop || sort != GraphStop::Sort::function || stop->function == m.work.value);
  if (!call.is_good() || (sort != GraphStop::Sort::function && !stage(call, *stop, m.work)) ||
      !call.run(core_.table.cuGraphRetainUserObject, call.get<CUgraph>(m.graph), stop->object, 1u, 0u))
    return nullptr;
  known->second.objects.push_back(stop->object);
  return stop;
}

/// For a host function, an input or an output: it belongs to the driver's graph from now on. Null where the node is
/// none of these, or `call` has failed.
GraphStop* Graphs::make_stop(CallContext& call, const cu::AddNode& m) {
  const bool is_function = m.work.kind == CU_GRAPH_NODE_TYPE_HOST, takes = is_input(m.work), gives = is_output(m.work);
  const auto graph = call.get<CUgraph>(m.graph);
  if (!call.is_good() || (!is_function && !takes && !gives)) return nullptr;
  const auto sort = is_function ? GraphStop::Sort::function : takes ? GraphStop::Sort::input : GraphStop::Sort::output;
  if (m.work.object != 0) return share_stop(call, m, sort);
  struct Owned {
    std::shared_ptr<GraphOwner> owner;
    GraphStop* stop;
  };
  auto stop = std::make_unique<GraphStop>();
  stop->host = &host_;
  stop->sort = sort;
  stop->function = m.work.value;
  if (!is_function && !stage(call, *stop, m.work)) return nullptr;
  auto owned = std::unique_ptr<Owned>(new Owned{owner_, stop.get()});
  // The driver calls on a thread of its own, whenever it likes: perhaps when the session is over. Its memory is left to
  // the end of the process then.
  const auto let_go = [](void* data) {
    const std::unique_ptr<Owned> gone(static_cast<Owned*>(data));
    const std::lock_guard guard(gone->owner->lock);
    if (gone->owner->graphs) gone->owner->graphs->forget_stop(gone->stop);
  };
  CUuserObject object = nullptr;
  if (!call.run(core_.table.cuUserObjectCreate, &object, static_cast<void*>(owned.get()), static_cast<CUhostFn>(let_go),
                1u, static_cast<unsigned>(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)))
    return nullptr;
  static_cast<void>(owned.release());
  auto* const made = stop.release();
  made->object = object;
  if (!call.run(core_.table.cuGraphRetainUserObject, graph, object, 1u,
                static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE))) {
    if (core_.table.cuUserObjectRelease) core_.table.cuUserObjectRelease(object, 1);
    return nullptr;
  }
  if (const auto known = conditionals_.find(m.graph); known != conditionals_.end())
    known->second.objects.push_back(object);
  return made;
}

void Graphs::on(const cu::AddNode& m) {
  CallContext call(core_, m.kOp, m.work.context);
  const auto graph = call.get<CUgraph>(m.graph);
  auto after = call.get_all<CUgraphNode>(m.dependencies);
  auto edges = call.flat_all<CUgraphEdgeData>(m.edges);
  call.check(edges.empty() || edges.size() == after.size());
  // What the driver has added stays in its graph.
  if (stops_.contains(m.node) || !core_.handles.can_take(std::initializer_list{m.node}))
    call.fail(CUDA_ERROR_INVALID_HANDLE);
  // Nothing of a body happens in the client, nor could it: a driver takes no host functions there.
  const bool is_in_body = bodies_.contains(m.graph);
  if (is_in_body && (m.work.kind == CU_GRAPH_NODE_TYPE_HOST || is_input(m.work) || is_output(m.work)))
    call.fail(CUDA_ERROR_NOT_SUPPORTED);
  auto* const stop = make_stop(call, m);
  std::vector<Stretch> named;
  call.remember(named);
  NodeParams params(call, m.work, stop);
  CUgraphNode node = nullptr;
  const auto add = [&](CUgraphNodeParams* added) {
    call.run(core_.table.cuGraphAddNode_v2, &node, graph, static_cast<const CUgraphNode*>(after.data()),
             static_cast<const CUgraphEdgeData*>(edges.empty() ? nullptr : edges.data()), after.size(), added);
    after.assign(1, node);
    edges.clear();
  };
  CUgraphNodeParams in_client{};
  if (stop) make_host_params(in_client, *stop);
  // What depends on the node depends on the last of these.
  if (is_input(m.work)) add(&in_client);
  add(params.get());
  const auto worker = node;
  if (is_output(m.work)) add(&in_client);
  for (const auto& one : launch_attributes(call, m.work.attributes)) {
    if (call.is_good()) call.run(core_.table.cuGraphKernelNodeSetAttribute, worker, one.id, &one.value);
  }
  if (auto* record = call.keep(m.node, node)) {
    record->context = 0;
    record->owner = m.graph;
    if (stop) stops_[m.node] = {.stop = stop, .graph = root_of(m.graph), .copy = worker};
    if (!named.empty()) graph_memory_[root_of(m.graph)].nodes[m.node] = std::move(named);
  }
  if (!call.is_good()) refuse_node(call, m.graph, m.node);
}

std::uint64_t Graphs::root_of(std::uint64_t graph) const {
  const auto body = bodies_.find(graph);
  return body == bodies_.end() ? graph : body->second.root;
}

void Graphs::refuse_node(CallContext& call, std::uint64_t graph, std::uint64_t node) {
  const auto root = root_of(graph);
  const auto* record = core_.handles.find(root);
  if (record && record->kind == Kind::graph) errors_.try_emplace(root, GraphError{call.status(), node});
  else call.end();
}

void Graphs::on(const cu::Instantiate& m, Respond<cu::InstantiateReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  if (const auto wrong = errors_.find(m.graph); wrong != errors_.end()) {
    const auto found = wrong->second;
    errors_.erase(wrong);
    return respond({.status = as_wire(found.status), .result = CUDA_GRAPH_INSTANTIATE_ERROR, .node = found.node});
  }
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  how.flags = m.flags;
  how.hUploadStream = call.get<CUstream>(m.upload_stream);
  call.check(!bodies_.contains(m.graph));
  CUgraphExec exec = nullptr;
  call.run(core_.table.cuGraphInstantiateWithParams, &exec, call.get<CUgraph>(m.graph), &how);
  if (!call.keep(m.exec, exec) && exec) core_.table.cuGraphExecDestroy(exec);
  if (const auto named = graph_memory_.find(m.graph); call.is_good() && named != graph_memory_.end())
    exec_memory_[m.exec] = named->second;
  if (call.is_good()) {
    for (auto& [node, one] : stops_) {
      if (one.graph != m.graph) continue;
      ++one.execs;
      exec_stops_[m.exec].push_back(node);
    }
  }
  std::uint64_t node = 0;
  if (how.hErrNode_out)
    core_.handles.each([&](const Record& one) {
      if (one.kind == Kind::node && one.native == how.hErrNode_out) node = one.handle;
    });
  respond({.status = as_wire(call.status()), .result = static_cast<std::uint32_t>(how.result_out), .node = node});
}

void Graphs::on(const cu::UpdateExec& m, Respond<cu::UpdateExecReply> respond) {
  CallContext call(core_, m.kOp, 0);
  if (const auto wrong = errors_.find(m.graph); wrong != errors_.end()) {
    const auto found = wrong->second;
    errors_.erase(wrong);
    return respond(
        {.status = as_wire(found.status), .result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, .node = found.node});
  }
  const auto exec = call.get<CUgraphExec>(m.exec);
  const auto graph = call.get<CUgraph>(m.graph);
  call.check(!bodies_.contains(m.graph));
  // What an executable graph is updated from may go before it: it keeps the stops that it was instantiated with, and
  // may have no others.
  std::set<const GraphStop*> own;
  for (const auto node : exec_stops_[m.exec]) own.insert(stops_.at(node).stop);
  for (const auto& [node, one] : stops_) call.check(one.graph != m.graph || own.contains(one.stop));
  CUgraphExecUpdateResultInfo info{CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  if (call.run(core_.table.cuGraphExecUpdate_v2, exec, graph, &info)) {
    const auto named = graph_memory_.find(m.graph);
    auto& memory = exec_memory_[m.exec];
    memory.nodes = named == graph_memory_.end() ? decltype(memory.nodes){} : named->second.nodes;
    memory.seen = ~std::uint64_t{0};
  }
  if (own.empty()) exec_stops_.erase(m.exec);
  std::uint64_t node = 0;
  if (info.errorNode)
    core_.handles.each([&](const Record& one) {
      if (one.kind == Kind::node && one.native == info.errorNode) node = one.handle;
    });
  respond({.status = as_wire(call.status()), .result = static_cast<std::uint32_t>(info.result), .node = node});
}

GraphStop* Graphs::stop_of(std::uint64_t node, GraphStop::Sort sort) {
  const auto found = stops_.find(node);
  return found != stops_.end() && found->second.stop->sort == sort ? found->second.stop : nullptr;
}

void Graphs::on(const cu::SetExecNode& m) {
  CallContext call(core_, m.kOp, m.work.context);
  auto node = call.get<CUgraphNode>(m.node);
  GraphStop* stop = nullptr;
  if (const auto sort = is_input(m.work) ? GraphStop::Sort::input : GraphStop::Sort::output;
      is_input(m.work) || is_output(m.work)) {
    stop = stop_of(m.node, sort);
    call.check(stop != nullptr);
    if (call.is_good() && stage(call, *stop, m.work)) node = stops_.at(m.node).copy;
  }
  // What a host function is to the client is the client's to change.
  call.check(m.work.kind != CU_GRAPH_NODE_TYPE_HOST);
  std::vector<Stretch> named;
  call.remember(named);
  NodeParams params(call, m.work, stop);
  if (call.run(core_.table.cuGraphExecNodeSetParams, call.get<CUgraphExec>(m.exec), node, params.get()))
    exec_memory_[m.exec].nodes[m.node] = std::move(named);
  call.end();
}

void Graphs::on(const cu::EnableNode& m) {
  CallContext call(core_, m.kOp, 0);
  auto node = call.get<CUgraphNode>(m.node);
  if (const auto found = stops_.find(m.node); found != stops_.end() && node) node = found->second.copy;
  if (call.run(core_.table.cuGraphNodeSetEnabled, call.get<CUgraphExec>(m.exec), node, m.is_enabled)) {
    auto& named = exec_memory_[m.exec];
    if (m.is_enabled == 0) named.disabled.insert(m.node);
    else named.disabled.erase(m.node);
    named.seen = ~std::uint64_t{0};
  }
  call.end();
}

// ---- launching

/// All that its nodes name is still the session's, as when they were made.
bool Graphs::is_memory_there(std::uint64_t exec) {
  const auto found = exec_memory_.find(exec);
  if (found == exec_memory_.end() || found->second.seen == core_.allocations.removals()) return true;
  auto& named = found->second;
  for (const auto& [node, stretches] : named.nodes) {
    if (named.disabled.contains(node)) continue;
    for (const auto& one : stretches)
      if (!core_.allocations.holds(one.at, one.size)) return false;
  }
  named.seen = core_.allocations.removals();
  return true;
}

/// Bytes for the node's next launch. False: they are not what the node takes; nothing is waited for then.
bool Graphs::expect_input(GraphStop& stop, std::uint64_t context, const wire::Payload& data) {
  if (data.size == 0) return host_.expect(stop, nullptr), true;
  if (!stop.staging || data.size != stop.staging->size) {
    if (!data.is_inline()) core_.link->cancel(data.ticket);
    return host_.expect(stop, nullptr), false;
  }
  const auto arrival = std::make_shared<GraphArrival>();
  arrival->held = host_.hold(data.size);
  if (!arrival->held) {
    if (!data.is_inline()) core_.link->cancel(data.ticket);
    return host_.expect(stop, nullptr), false;
  }
  if (data.is_inline()) {
    arrival->bytes.assign(data.inline_data.begin(), data.inline_data.end());
    arrival->is_over = arrival->has_arrived = true;
    return host_.expect(stop, arrival), true;
  }
  arrival->bytes.resize(data.size);
  host_.expect(stop, arrival);
  core_.link->land(data.ticket, arrival->bytes, [this, arrival, context](bool has_arrived) {
    host_.arrived(*arrival, has_arrived);
    if (!has_arrived)
      core_.tell(cu::Failed{.context = context, .op = cu::LaunchGraph::kOp, .status = as_wire(CUDA_ERROR_UNKNOWN)});
  });
  return true;
}

void Graphs::on(const cu::LaunchGraph& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto exec = call.get<CUgraphExec>(m.exec);
  const auto stream = call.get<CUstream>(m.stream);
  call.check(is_memory_there(m.exec));
  std::vector<GraphStop*> inputs, outputs;
  for (const auto& one : m.inputs) inputs.push_back(stop_of(one.node, GraphStop::Sort::input));
  for (const auto& one : m.outputs) outputs.push_back(stop_of(one.node, GraphStop::Sort::output));
  for (const auto* one : inputs) call.check(one != nullptr);
  for (const auto* one : outputs) call.check(one != nullptr);
  if (!host_.has_room(m.inputs.size() + m.outputs.size())) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (!m.outputs.empty()) call.may_wait();
  const bool is_known = call.is_good();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (is_known) call.check(expect_input(*inputs[i], m.context, m.inputs[i].data));
    else if (!m.inputs[i].data.is_inline()) core_.link->cancel(m.inputs[i].data.ticket);
  }
  for (std::size_t i = 0; is_known && i < outputs.size(); ++i) host_.want(*outputs[i], m.outputs[i].ticket);
  const auto launch = [&] { return call.run(core_.table.cuGraphLaunch, exec, stream); };
  const auto device = core_.device_of(m.context);
  if (call.is_good() && core_.grant.is_time_sliced(device)) launches_.launch_time_sliced(call, device, stream, launch);
  else launch();
  std::vector<std::uint64_t> tickets;
  for (const auto& one : m.outputs)
    if (one.ticket != 0) tickets.push_back(one.ticket);
  if (call.is_good() && !tickets.empty()) {
    // A launch that fails delivers nothing, and nobody is to wait for it.
    transfers_.when_reached(call, stream, [this, tickets = std::move(tickets)](CUresult status) {
      if (status != CUDA_SUCCESS)
        for (const auto ticket : tickets) core_.link->cancel(ticket);
    });
  } else if (!call.is_good()) {
    if (is_known) {
      for (auto* one : inputs) host_.take_back(*one);
      for (auto* one : outputs) host_.take_back(*one);
    }
    for (const auto ticket : tickets) core_.link->cancel(ticket);
  }
  call.end();
}

void Graphs::on(const cu::GraphInput& m) {
  CallContext call(core_, m.kOp, 0);
  auto* const stop = stop_of(m.node, GraphStop::Sort::input);
  call.check(stop != nullptr);
  if (!host_.has_room(1)) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (call.is_good()) call.check(expect_input(*stop, 0, m.data));
  else if (!m.data.is_inline()) core_.link->cancel(m.data.ticket);
  call.end();
}

}  // namespace flexrack::backend::cuda
