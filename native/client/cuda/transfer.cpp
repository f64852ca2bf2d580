#include "client/cuda/transfer.h"

#include "client/cuda/fence.h"
#include "client/cuda/launch.h"

#include <algorithm>
#include <cstring>

namespace flexrack::client::cuda {
namespace {

/// Copied to wait for nobody; what is larger is sent from where it is.
constexpr std::size_t kMostCopied = kPiece;

/// So many payloads are over when the last of them is.
struct Count {
  std::atomic<std::size_t> left{0};
  std::atomic<bool> is_good{true};
  std::shared_ptr<HostWork> work;    ///< finished with the last; null: somebody looks at `left`
  void one_over(bool has_arrived) {
    if (!has_arrived) is_good.store(false, std::memory_order_relaxed);
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1 && work) work->finish(is_good.load());
  }
};

std::size_t pieces_of(std::size_t size) { return (size + kPiece - 1) / kPiece; }

bool is_over(const std::shared_ptr<Count>& count, Session& session) {
  return session.wait([&] { return count->left.load(std::memory_order_acquire) == 0; }) && count->is_good.load();
}

/// The whole of it with the message; its bytes are copied on the way.
CUresult write_inline(Call& call, CUstream stream, std::uint64_t address, wire::View bytes) {
  note_put(stream);
  return call.send(cu::WriteMemory{.context = stream->context_handle,
                                   .stream = stream->handle,
                                   .address = address,
                                   .data = {0, bytes.size(), bytes}});
}

/// Messages for all pieces, each with its ticket; what is to be pushed is in `pushes`.
CUresult announce(Call& call, CUstream stream, std::uint64_t address, std::size_t size,
                  std::vector<std::pair<std::uint64_t, std::size_t>>& pushes) {
  auto& link = call.session().link();
  for (std::size_t at = 0; at < size; at += kPiece) {
    const auto ticket = link.ticket();
    const cu::WriteMemory message{.context = stream->context_handle,
                                  .stream = stream->handle,
                                  .address = address + at,
                                  .data = {ticket, std::min(kPiece, size - at), {}}};
    if (const auto status = call.send(message); status != CUDA_SUCCESS) return status;
    pushes.emplace_back(ticket, at);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult why_not_arrived(Call& call, CUstream stream) {
  const auto status = call.wait(cu::WaitStream{.context = stream->context_handle, .stream = stream->handle});
  return status == CUDA_SUCCESS ? CUDA_ERROR_UNKNOWN : status;
}

Allocation device_range(Call& call, CUdeviceptr address, std::size_t size) {
  const auto first = find_allocation(address);
  if (!first || !first->server) return call.check(false), Allocation{};
  call.check(covered(address, size) == Covered::all);
  return *first;
}

CUresult write_device(Call& call, CUstream stream, std::uint64_t address, const void* from, std::size_t size,
                      Until until) {
  const wire::View bytes(static_cast<const std::uint8_t*>(from), size);
  auto behind = has_host_work() ? only_writing(before_next(stream)) : HostWorks{};
  // What runs here for the stream before may still change the bytes.
  if (!behind.empty() && until != Until::queued) {
    if (!wait_for(behind)) return why_not_arrived(call, stream);
    behind.clear();
  }
  if (behind.empty() && size < wire::kInlinePayload) {
    const auto status = write_inline(call, stream, address, bytes);
    return status == CUDA_SUCCESS && until == Until::done ? end_blocking_copy(call, stream) : status;
  }

  auto& session = call.session();
  const auto count = std::make_shared<Count>();
  count->left = pieces_of(size);
  std::shared_ptr<wire::Bytes> copy;
  if (until == Until::taken && size <= kMostCopied) copy = std::make_shared<wire::Bytes>(bytes.begin(), bytes.end());
  const bool waits = until == Until::done || (until == Until::taken && !copy);
  if (!waits) count->work = std::make_shared<HostWork>(session, false);
  note_put(stream);
  std::vector<std::pair<std::uint64_t, std::size_t>> pushes;
  const auto status = announce(call, stream, address, size, pushes);
  const auto source = copy ? wire::View(*copy) : bytes;
  count->left -= pieces_of(size) - pushes.size();
  if (count->work && !pushes.empty()) put_host_work(stream, count->work);
  const auto push = [&session, pushes = std::move(pushes), source, count, copy, waits] {
    for (const auto& [ticket, at] : pushes) {
      session.link().push(
          ticket, source.subspan(at, std::min(kPiece, source.size() - at)),
          [count, copy](bool has_arrived) { count->one_over(has_arrived); }, waits);
    }
  };
  session.link().flush();
  if (behind.empty()) push();
  else after(behind, push);
  if (waits && !is_over(count, session) && status == CUDA_SUCCESS) return why_not_arrived(call, stream);
  return status == CUDA_SUCCESS && until == Until::done ? end_blocking_copy(call, stream) : status;
}

CUresult read_device(Call& call, CUstream stream, void* into, std::uint64_t address, std::size_t size, Until until) {
  auto& session = call.session();
  const auto count = std::make_shared<Count>();
  count->left = pieces_of(size);
  if (until == Until::queued) {
    count->work = std::make_shared<HostWork>(session);
    put_host_work(stream, count->work);
  }
  const auto number = note_put(stream);
  for (std::size_t at = 0; at < size; at += kPiece) {
    const auto part = std::min(kPiece, size - at);
    const auto ticket = session.link().ticket();
    session.link().land(ticket, {static_cast<std::uint8_t*>(into) + at, part},
                        [count](bool has_arrived) { count->one_over(has_arrived); });
    const auto status = call.send(cu::ReadMemory{.context = stream->context_handle,
                                                 .stream = stream->handle,
                                                 .address = address + at,
                                                 .size = part,
                                                 .ticket = ticket});
    if (status == CUDA_SUCCESS) continue;
    session.link().cancel(ticket);
    for (auto rest = at + kPiece; rest < size; rest += kPiece) count->one_over(false);
    if (until != Until::queued) is_over(count, session);
    return status;
  }
  if (until == Until::queued) return CUDA_SUCCESS;
  if (!is_over(count, session)) return session.is_alive() ? why_not_arrived(call, stream) : kLost;
  // What kernels before it have changed here may come behind its bytes, but comes before this answer.
  if (has_mirrors.load(std::memory_order_relaxed)) {
    if (const auto status = call.wait(cu::WaitStream{.context = stream->context_handle, .stream = stream->handle});
        status != CUDA_SUCCESS)
      return status;
  }
  // It was the last on its stream, so all of that is over.
  sync_epoch.fetch_add(1, std::memory_order_relaxed);
  Progress::raise(stream->progress->over, number);
  // What was refused before it, a launch for one, has not changed what was read: this call is the first that can say
  // so.
  return take_trouble(stream->context);
}

CUresult copy_device(Call& call, CUstream stream, const Allocation& target, std::uint64_t to, const Allocation& source,
                     std::uint64_t from, std::size_t size) {
  // Memory of another device of the server: both contexts are named, where it is in contexts at all (mapped memory is
  // in none).
  const bool is_peer = source.device != target.device && source.context && target.context;
  note_put(stream);
  return call.send(cu::CopyMemory{.context = is_peer ? target.context_handle : stream->context_handle,
                                  .stream = stream->handle,
                                  .source_context = is_peer ? source.context_handle : 0,
                                  .source = from,
                                  .target = to,
                                  .size = size});
}

}  // namespace flexrack::client::cuda
