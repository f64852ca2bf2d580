#include "backend/cuda/journal.h"

#include <algorithm>
#include <cstring>

#include "gen/cuda/messages.h"

namespace flexrack::backend::cuda {
namespace {

/// A call whose reply is kept as well: it names what the server has chosen.
bool is_journaled_call(std::uint16_t op) {
  switch (op) {
    case cu::Describe::kOp:
    case cu::CreateContext::kOp:
    case cu::SetLimit::kOp:
    case cu::Load::kOp:
    case cu::FindKernel::kOp:
    case cu::FindVariable::kOp:
    case cu::KernelSetAttribute::kOp:
    case cu::FuncSetAttribute::kOp:
    case cu::Instantiate::kOp: return true;
    default: return false;
  }
}

/// A later message of the same setting replaces it.
bool is_setting(std::uint16_t op) {
  switch (op) {
    case cu::SetLimit::kOp:
    case cu::SetStreamAttribute::kOp:
    case cu::CtxSetFlags::kOp:
    case cu::CtxSetCacheConfig::kOp:
    case cu::KernelSetAttribute::kOp:
    case cu::KernelSetCacheConfig::kOp:
    case cu::FuncSetAttribute::kOp:
    case cu::FuncSetCacheConfig::kOp:
    case cu::FuncSetSharedMemConfig::kOp:
    case cu::SetExecNode::kOp:
    case cu::EnableNode::kOp: return true;
    default: return false;
  }
}

template <class Message>
std::uint64_t object_in(wire::View body, std::uint64_t Message::* field) {
  Message message;
  return decode(body, message) ? message.*field : 0;
}

/// The object that a message makes or changes; 0: it does neither.
std::uint64_t object_of(std::uint16_t op, wire::View body) {
  switch (op) {
    case cu::CreateContext::kOp: return object_in(body, &cu::CreateContext::context);
    case cu::SetLimit::kOp: return object_in(body, &cu::SetLimit::context);
    case cu::CtxSetFlags::kOp: return object_in(body, &cu::CtxSetFlags::context);
    case cu::CtxSetCacheConfig::kOp: return object_in(body, &cu::CtxSetCacheConfig::context);
    case cu::Load::kOp: return object_in(body, &cu::Load::module);
    case cu::FindKernel::kOp: return object_in(body, &cu::FindKernel::module);
    case cu::FindVariable::kOp: return object_in(body, &cu::FindVariable::module);
    case cu::KernelSetAttribute::kOp: return object_in(body, &cu::KernelSetAttribute::kernel);
    case cu::KernelSetCacheConfig::kOp: return object_in(body, &cu::KernelSetCacheConfig::kernel);
    case cu::FuncSetAttribute::kOp: return object_in(body, &cu::FuncSetAttribute::hfunc);
    case cu::FuncSetCacheConfig::kOp: return object_in(body, &cu::FuncSetCacheConfig::hfunc);
    case cu::FuncSetSharedMemConfig::kOp: return object_in(body, &cu::FuncSetSharedMemConfig::hfunc);
    case cu::CreateStream::kOp: return object_in(body, &cu::CreateStream::stream);
    case cu::SetStreamAttribute::kOp: return object_in(body, &cu::SetStreamAttribute::stream);
    case cu::StreamCopyAttributes::kOp: return object_in(body, &cu::StreamCopyAttributes::dst_stream);
    case cu::CreateEvent::kOp: return object_in(body, &cu::CreateEvent::event);
    case cu::DefaultPool::kOp: return object_in(body, &cu::DefaultPool::pool);
    case cu::CreateGraph::kOp: return object_in(body, &cu::CreateGraph::graph);
    case cu::AddNode::kOp: return object_in(body, &cu::AddNode::graph);
    case cu::Instantiate::kOp: return object_in(body, &cu::Instantiate::exec);
    case cu::SetExecNode::kOp: return object_in(body, &cu::SetExecNode::exec);
    case cu::EnableNode::kOp: return object_in(body, &cu::EnableNode::exec);
    default: return 0;
  }
}

/// Names the setting: the message without its value, where the value stands at the end.
std::string setting_of(std::uint16_t op, wire::View body) {
  std::size_t bytes = body.size();
  switch (op) {
    case cu::SetLimit::kOp: bytes = 12; break;  // context, which
    case cu::CtxSetFlags::kOp:
    case cu::CtxSetCacheConfig::kOp: bytes = 8; break;   // context
    case cu::FuncSetAttribute::kOp: bytes = 20; break;  // context, function, attribute
    default: break;
  }
  std::string said(reinterpret_cast<const char*>(&op), sizeof op);
  return said.append(reinterpret_cast<const char*>(body.data()), std::min(bytes, body.size()));
}

/// Why a session that has sent this message can never move; null: it can.
const char* obstacle_of(std::uint16_t op) {
  switch (op) {
    case cu::PeerAccept::kOp:
    case cu::PeerOpen::kOp: return "it copies between servers";
    case cu::CreatePool::kOp:
    case cu::SetPoolAttribute::kOp:
    case cu::MemPoolSetAccess::kOp: return "it has set up memory pools";
    case cu::ConditionalHandle::kOp: return "its graphs have conditions, whose numbers each driver chooses";
    case cu::CtxEnablePeerAccess::kOp: return "its GPUs use each other's memory";
    default: return nullptr;
  }
}

}  // namespace

bool Journal::keeps(std::uint16_t op, wire::View body) { return object_of(op, body) != 0; }

void Journal::note(const wire::Header& header, wire::View body) {
  if (header.op == cu::Describe::kOp) {
    describing_ = header.sequence;
    process_ = object_in(body, &cu::Describe::process);
  }
  if (!obstacle_.empty()) return;
  if (const auto* what = obstacle_of(header.op)) return stays(what);
  const auto object = object_of(header.op, body);
  if (object == 0) return;
  if (header.op != cu::Load::kOp) return add(header, object, body);
  // The image itself is known by its hash.
  cu::Load load;
  if (!decode(body, load)) return;
  load.image = {};
  wire::Bytes shorter;
  encode(shorter, load);
  add(header, object, shorter);
}

void Journal::add(const wire::Header& header, std::uint64_t object, wire::View body) {
  bytes_ += body.size();
  if (entries_.size() >= look_at_ || bytes_ > kMostBytes) drop_gone();
  if (entries_.size() >= kMost || bytes_ > kMostBytes) return stays("it has made more than can be said again");
  const bool is_call = is_journaled_call(header.op);
  entries_.push_back({header.op, object, {body.begin(), body.end()}, {}, !is_call});
  const auto made = std::prev(entries_.end());
  if (is_call) waiting_[header.sequence] = made;
  else if (is_setting(header.op)) take_place(made);
}

/// For good: nothing is kept any more.
void Journal::stays(const char* why) {
  obstacle_ = why;
  settings_.clear();
  waiting_.clear();
  entries_.clear();
}

/// Drops the entry of an earlier message of the same setting.
void Journal::take_place(std::list<Entry>::iterator made) {
  const auto [before, is_new] = settings_.try_emplace({made->object, setting_of(made->op, made->body)}, made);
  if (is_new) return;
  entries_.erase(before->second);
  before->second = made;
}

void Journal::answered(std::uint64_t sequence, wire::View reply) {
  if (sequence == describing_ && described_.empty()) described_.assign(reply.begin(), reply.end());
  const auto found = waiting_.find(sequence);
  if (found == waiting_.end()) return;
  const auto entry = found->second;
  waiting_.erase(found);
  std::int32_t status = -1;
  if (reply.size() >= sizeof status) std::memcpy(&status, reply.data(), sizeof status);
  entry->is_answered = true;
  if (status == 0) {
    entry->reply.assign(reply.begin(), reply.end());
    bytes_ += reply.size();
    if (is_setting(entry->op)) take_place(entry);
    return;
  }
  entries_.erase(entry);
}

std::list<Journal::Entry> Journal::entries() {
  drop_gone();
  std::list<Entry> counting;
  for (const auto& entry : entries_)
    if (entry.is_answered) counting.push_back(entry);
  return counting;
}

void Journal::drop_gone() {
  const auto is_gone = [&](const Entry& entry) { return entry.is_answered && handles_.find(entry.object) == nullptr; };
  std::erase_if(settings_, [&](const auto& one) { return is_gone(*one.second); });
  entries_.remove_if(is_gone);
  bytes_ = 0;
  for (const auto& entry : entries_) bytes_ += entry.body.size() + entry.reply.size();
  look_at_ = std::max(kFirstLook, 2 * entries_.size());
}

std::optional<std::vector<std::uint64_t>> kernels_in(std::uint32_t op, wire::View reply) {
  std::vector<cu::Kernel> kernels;
  if (cu::LoadReply loaded; op == cu::Load::kOp && decode(reply, loaded)) kernels = std::move(loaded.kernels);
  else if (cu::FindKernelReply found; op == cu::FindKernel::kOp && decode(reply, found))
    kernels = std::move(found.kernel);
  else return std::nullopt;
  std::vector<std::uint64_t> handles;
  for (const auto& one : kernels) handles.push_back(one.kernel);
  return handles;
}

std::uint64_t JournalLink::send(std::uint16_t op, std::uint16_t flags,
                                const std::function<void(wire::Bytes&)>& encode) {
  if ((flags & wire::kReply) == 0 || !is_journaled_call(op)) return to().send(op, flags, encode);
  wire::Bytes reply;
  const auto sent = to().send(op, flags, [&](wire::Bytes& out) {
    const auto at = out.size();
    encode(out);
    reply.assign(out.begin() + static_cast<std::ptrdiff_t>(at), out.end());
  });
  std::uint64_t sequence = 0;
  if (reply.size() < sizeof sequence) return sent;
  std::memcpy(&sequence, reply.data(), sizeof sequence);
  const bool is_refused = (flags & wire::kRefused) != 0;
  answered_(sequence, is_refused ? wire::View() : wire::View(reply).subspan(sizeof sequence));
  return sent;
}

}  // namespace flexrack::backend::cuda
