// Payloads between this server and others, which do not pass the client.
#include "backend/cuda/turn.h"

namespace flexrack::backend::cuda {

void Session::on(const cu::PeerAccept& m, Respond<cu::PeerAcceptReply> respond) {
  respond({.status = as_wire(peers_->accept(m.peer, m.key) ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM)});
}

void Session::on(const cu::PeerOpen& m, Respond<cu::PeerOpenReply> respond) {
  if (m.port == 0 || m.port > 0xffff) return respond({.status = as_wire(CUDA_ERROR_INVALID_VALUE)});
  auto answer = std::make_shared<Respond<cu::PeerOpenReply>>(std::move(respond));
  dialler_.add([peers = peers_, answer, peer = m.peer, key = wire::Bytes(m.key.begin(), m.key.end()), address = std::string(m.address),
                port = static_cast<std::uint16_t>(m.port), session = wire::Bytes(m.session.begin(), m.session.end())] {
    (*answer)({.status = as_wire(peers->open(peer, key, address, port, session) ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM)});
  });
}

void Session::on(const cu::ExportMemory& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  auto* link = peers_->link(m.peer);
  auto copy = rows(turn, &m.source, nullptr, m.extent);
  const auto size = box_bytes(m.extent);
  turn.check(link != nullptr && size.has_value());
  if (link) {
    send_out(turn, stream, size.value_or(0), m.ticket, link, [&](void* target) {
      to_host(copy, target);
      return table_.cuMemcpy3DAsync_v2(&copy, stream);
    });
  }
  turn.end();
}

void Session::on(const cu::ImportMemory& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  auto* link = peers_->link(m.peer);
  auto copy = rows(turn, nullptr, &m.target, m.extent);
  const auto size = box_bytes(m.extent);
  turn.check(link != nullptr && size.has_value());
  if (link) {
    bring_from(turn, stream, *link, m.ticket, size.value_or(0), [&](const void* source) {
      from_host(copy, source);
      return table_.cuMemcpy3DAsync_v2(&copy, stream);
    });
  }
  turn.end();
}

}  // namespace flexrack::backend::cuda
