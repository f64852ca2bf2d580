// Payloads between this server and others, which do not pass the client. What a peer sends lands only where the client has announced it (import_memory).
#include <thread>

#include "backend/cuda/call_context.h"

namespace flexrack::backend::cuda {
namespace {

/// A peer's link is there when the handshake is over on this side as well; its other side knows a little sooner.
constexpr auto kPeerReadyWithin = std::chrono::seconds(5);
constexpr auto kLookForPeerEvery = std::chrono::milliseconds(1);

CUresult as_status(bool is_there) { return is_there ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM; }

bool is_plain(const cu::Place& place, const cu::Extent& extent) { return place.kind == 0 && extent.height == 1 && extent.depth == 1; }

}  // namespace

void Session::on(const cu::PeerAccept& m, Respond<cu::PeerAcceptReply> respond) { respond({.status = as_wire(as_status(peers_->accept(m.peer, m.key)))}); }

void Session::on(const cu::PeerOpen& m, Respond<cu::PeerOpenReply> respond) {
  if (m.port == 0 || m.port > 0xffff) return respond({.status = as_wire(CUDA_ERROR_INVALID_VALUE)});
  auto answer = std::make_shared<Respond<cu::PeerOpenReply>>(std::move(respond));
  dialler_.add([peers = peers_, answer, peer = m.peer, key = wire::Bytes(m.key.begin(), m.key.end()), address = std::string(m.address),
                port = static_cast<std::uint16_t>(m.port), session = wire::Bytes(m.session.begin(), m.session.end())] {
    (*answer)({.status = as_wire(as_status(peers->open(peer, key, address, port, session)))});
  });
}

void Session::on(const cu::PeerReady& m, Respond<cu::PeerReadyReply> respond) {
  auto answer = std::make_shared<Respond<cu::PeerReadyReply>>(std::move(respond));
  dialler_.add([peers = peers_, link = link_, answer, peer = m.peer, end = std::chrono::steady_clock::now() + kPeerReadyWithin] {
    while (!peers->link(peer) && peers->is_expected(peer) && !link->is_over() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kLookForPeerEvery);
    (*answer)({.status = as_wire(as_status(peers->link(peer) != nullptr))});
  });
}

void Session::on(const cu::PeerClose& m) {
  // Closing waits for the thread that reads, which may be telling this session of a payload.
  if (auto* link = peers_->link(m.peer)) dialler_.add([link] { link->close(); });
}

void Session::on(const cu::ExportMemory& m) {
  CallContext call(*this, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  auto* link = peers_->link(m.peer);
  auto copy = rows(call, &m.source, nullptr, m.extent);
  const auto size = box_bytes(m.extent);
  call.about(m.stream);
  call.check(size.has_value());
  // A link that was there and is gone: what it would have brought did not arrive.
  if (!link) call.fail(CUDA_ERROR_UNKNOWN);
  if (link) {
    send_out(call, stream, size.value_or(0), m.ticket, link, [&](void* target) {
      if (is_plain(m.source, m.extent)) return table_.cuMemcpyDtoHAsync_v2(target, m.source.object + m.source.x, m.extent.width, stream);
      to_host(copy, target);
      return table_.cuMemcpy3DAsync_v2(&copy, stream);
    });
  }
  call.end();
}

void Session::on(const cu::ImportMemory& m) {
  CallContext call(*this, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  auto* link = peers_->link(m.peer);
  auto copy = rows(call, nullptr, &m.target, m.extent);
  const auto size = box_bytes(m.extent);
  call.about(m.stream);
  call.check(size.has_value());
  if (!link) call.fail(CUDA_ERROR_UNKNOWN);
  if (link) {
    bring_from(call, stream, *link, m.ticket, size.value_or(0), [&](const void* source) {
      if (is_plain(m.target, m.extent)) return table_.cuMemcpyHtoDAsync_v2(m.target.object + m.target.x, source, m.extent.width, stream);
      from_host(copy, source);
      return table_.cuMemcpy3DAsync_v2(&copy, stream);
    });
  }
  call.end();
}

}  // namespace flexrack::backend::cuda
