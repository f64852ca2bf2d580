// Bytes that go from one server to another without passing this process.
#pragma once

#include <optional>

#include "client/cuda/rows.h"

namespace flexrack::client::cuda {

/// A copy between sides at two servers, in the order of the stream, which may be of either or of a third. Comes back at
/// once, on the default stream of all threads when it is over. Nothing: the two do not reach each other.
std::optional<CUresult> copy_directly(CUstream stream, const Side& from, const Side& to, const cu::Extent& extent);

/// The stream is gone, and with it what was made for its copies.
void forget_peer_streams(CUstream stream);

/// The server has refused, or not got, a part of such a copy on that stream of its own: whoever asked for the copy has
/// that error too, and the next copy looks whether the servers still reach each other. On the thread that reads:
/// nothing is waited for.
void fail_peer_copy(CudaServer& server, std::uint64_t stream, CUresult status);

/// Others need not wait for what it was to send them. On the thread that reads.
void lose_peers(CudaServer& lost);

}  // namespace flexrack::client::cuda
