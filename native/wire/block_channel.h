// The bytes of a bulk connection in blocks, of which those that are worth it are compressed: on a slow link, with cores
// to spare.
#pragma once

#include "wire/channel.h"

namespace flexrack::wire {

/// A bit of Hello::features, of bulk connections: both sides say so, and the chunks come in blocks.
inline constexpr std::uint64_t kBlocks = 1;

/// Before every block, little-endian.
struct BlockHead {
  std::uint32_t length;  ///< bytes that follow
  std::uint32_t content;  ///< bytes that they are: as many, or more where they are a frame of zstd
};
static_assert(sizeof(BlockHead) == 8);
inline constexpr std::size_t kPackedContent = 256 * 1024;  ///< of one frame at most, on either side

/// When to compress.
struct Packing {
  double slow_below = 300e6;  ///< bytes a second that the link takes
  std::size_t measured_over = 4 * 1024 * 1024;  ///< bytes, again and again
  bool only_with_free_cores = true;  ///< a busy machine is slow at sending because it is busy
};

/// What is written is cut into blocks, and blocks are read. Takes the channel.
std::unique_ptr<Channel> make_block_channel(std::unique_ptr<Channel> channel, const Packing& packing = {});

}  // namespace flexrack::wire
