#include "backend/cuda/peer_copies.h"

#include "backend/cuda/call_context.h"
#include "backend/cuda/rows.h"
#include "backend/cuda/transfers.h"

namespace flexrack::backend::cuda {
namespace {

CUresult as_status(bool is_there) { return is_there ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM; }

bool is_plain(const cu::Place& place, const cu::Extent& extent) {
  return place.kind == 0 && extent.height == 1 && extent.depth == 1;
}

/// A signal is a payload of one byte that no memory of the client's is behind: what fails or is lost of it is told as
/// it is of copies.
template <class Message, class Put>
void put_signal(Core& core, const Message& m, Put&& put) {
  CallContext call(core, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  auto* link = core.peers->find(m.peer);
  call.about(m.stream);
  if (link) put(call, stream, link);
  else call.fail(CUDA_ERROR_UNKNOWN);
  call.end();
}

}  // namespace

void PeerCopies::on(const cu::PeerAccept& m, Respond<cu::PeerAcceptReply> respond) {
  respond({.status = as_wire(as_status(core_.peers->accept(m.peer, m.key)))});
}

void PeerCopies::on(const cu::PeerOpen& m, Respond<cu::PeerOpenReply> respond) {
  if (m.port == 0 || m.port > 0xffff) return respond({.status = as_wire(CUDA_ERROR_INVALID_VALUE)});
  core_.peers->open(m.peer, m.key, m.address, static_cast<std::uint16_t>(m.port), m.session,
                    [answer = std::make_shared<Respond<cu::PeerOpenReply>>(std::move(respond))](bool is_open) {
                      (*answer)({.status = as_wire(as_status(is_open))});
                    });
}

void PeerCopies::on(const cu::PeerReady& m, Respond<cu::PeerReadyReply> respond) {
  core_.peers->when_there(
      m.peer, [answer = std::make_shared<Respond<cu::PeerReadyReply>>(std::move(respond))](wire::Link* there) {
        (*answer)({.status = as_wire(as_status(there != nullptr))});
      });
}

void PeerCopies::on(const cu::PeerClose& m) {
  if (auto* link = core_.peers->find(m.peer)) core_.peers->close_later(*link);
}

void PeerCopies::on(const cu::ExportMemory& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  auto* link = core_.peers->find(m.peer);
  auto copy = rows(call, &m.source, nullptr, m.extent);
  const auto size = box_bytes(m.extent);
  call.about(m.stream);
  call.check(size.has_value());
  // A link that was there and is gone: what it would have brought did not arrive.
  if (!link) call.fail(CUDA_ERROR_UNKNOWN);
  if (link) {
    transfers_.send_out(call, stream, size.value_or(0), m.ticket, link, [&](void* target) {
      if (is_plain(m.source, m.extent))
        return core_.table.cuMemcpyDtoHAsync_v2(target, m.source.object + m.source.x, m.extent.width, stream);
      to_host(copy, target);
      return core_.table.cuMemcpy3DAsync_v2(&copy, stream);
    });
  }
  call.end();
}

void PeerCopies::on(const cu::ImportMemory& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  auto* link = core_.peers->find(m.peer);
  auto copy = rows(call, nullptr, &m.target, m.extent);
  const auto size = box_bytes(m.extent);
  call.about(m.stream);
  call.check(size.has_value());
  if (!link) call.fail(CUDA_ERROR_UNKNOWN);
  if (link) {
    transfers_.bring_from(call, stream, *link, m.ticket, size.value_or(0), [&](const void* source) {
      if (is_plain(m.target, m.extent))
        return core_.table.cuMemcpyHtoDAsync_v2(m.target.object + m.target.x, source, m.extent.width, stream);
      from_host(copy, source);
      return core_.table.cuMemcpy3DAsync_v2(&copy, stream);
    });
  }
  call.end();
}

void PeerCopies::on(const cu::SignalPeer& m) {
  put_signal(core_, m, [&](CallContext& call, CUstream stream, wire::Link* link) {
    transfers_.send_out(call, stream, 1, m.ticket, link, [](void*) { return CUDA_SUCCESS; });
  });
}

void PeerCopies::on(const cu::AwaitPeer& m) {
  put_signal(core_, m, [&](CallContext& call, CUstream stream, wire::Link* link) {
    transfers_.bring_from(call, stream, *link, m.ticket, 1, [](const void*) { return CUDA_SUCCESS; });
  });
}

}  // namespace flexrack::backend::cuda
