// Links to other servers' workers.
#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {

void Session::on(const cl::PeerAccept& m, Respond<cl::PeerAcceptReply> respond) {
  respond({.status = engine_->peers.accept(m.peer, m.key) ? CL_SUCCESS : CL_OUT_OF_RESOURCES});
}

void Session::on(const cl::PeerOpen& m, Respond<cl::PeerOpenReply> respond) {
  if (m.port == 0 || m.port > 0xffff) return respond({.status = CL_INVALID_VALUE});
  auto later = std::make_shared<Respond<cl::PeerOpenReply>>(std::move(respond));
  engine_->peers.open(m.peer, m.key, m.address, static_cast<std::uint16_t>(m.port), m.session,
                      [later](bool is_open) { (*later)({.status = is_open ? CL_SUCCESS : CL_OUT_OF_RESOURCES}); });
}

}  // namespace flexrack::backend::opencl
