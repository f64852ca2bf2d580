// Bytes that go from one server to another without passing this process.
#pragma once

#include <optional>

#include "client/cuda/rows.h"

namespace flexrack::client::cuda {

/// A stream at its server, by its handle.
struct StreamAt {
  CudaServer* server = nullptr;
  std::uint64_t context = 0, stream = 0;
};

inline StreamAt place_of(CUstream stream) { return {stream->server, stream->context_handle, stream->handle}; }

/// The id of the link between two servers' workers, made when it is first needed; 0 where there is none.
std::uint64_t link_between(CudaServer& from, CudaServer& to);
/// A copy over such a link: both sides are put on their streams, and nothing is waited for.
CUresult send_over(std::uint64_t peer, const Side& from, const StreamAt& source, const Side& to, const StreamAt& target,
                   const cu::Extent& extent);
/// The same by way of this process.
CUresult send_through_here(const Side& from, const StreamAt& source, const Side& to, const StreamAt& target,
                           const cu::Extent& extent);
/// What is put on `later` from now on comes after what has been put on `first`: this process tells one server what it
/// hears from the other.
bool put_after(const StreamAt& later, const StreamAt& first);
/// What fails of copies and signals on `ours` is told in the context of that stream, too.
void note_helper(const StreamAt& ours, CUstream of);
void forget_helper(const StreamAt& ours);

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
