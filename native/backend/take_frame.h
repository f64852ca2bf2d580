// What every session does with a frame, whatever its API is.
#pragma once

#include <exception>
#include <utility>

#include "backend/peer_links.h"
#include "wire/respond.h"

namespace flexrack::backend {

/// Carries out a message by `dispatch`; `no_memory` tells of one that could not be, for want of memory. False: the two
/// sides do not speak the same language, and nothing after this means what it says.
template <class Reply, class Dispatch, class NoMemory>
bool take_frame(wire::Link& link, const wire::Header& header, PeerLinks& peers, Dispatch&& dispatch,
                NoMemory&& no_memory) {
  using Result = decltype(dispatch());
  auto result = Result::ok;
  try {
    result = dispatch();
  } catch (const std::exception&) {
    no_memory();  // a call has been refused by its Respond; of a send it has to be told
  }
  if (result == Result::unknown) wire::Respond<Reply>(link, header).refuse(wire::Refusal::unknown_op);
  if (result != Result::malformed) return true;
  wire::Respond<Reply>(link, header).refuse(wire::Refusal::malformed);
  peers.close_later(link);
  return false;
}

}  // namespace flexrack::backend
