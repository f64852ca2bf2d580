// Cuts a stream of bytes into frames, each body on an 8-byte boundary.
#pragma once

#include "wire/frame.h"

namespace flexrack::wire {

class FrameReader {
 public:
  FrameReader();
  /// Where the next bytes go; never empty.
  std::span<std::uint8_t> room();
  void added(std::size_t count) { end_ += count; }

  enum class Next { frame, more, malformed };
  /// The next whole frame. `body` is valid until room() is called.
  Next next(Header& header, View& body);

 private:
  std::vector<std::uint64_t> memory_;  ///< of u64 for its alignment
  std::size_t begin_ = 0, end_ = 0;    ///< what is there and not handed out; begin_ is always a multiple of 8

  std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(memory_.data()); }
  std::size_t wanted_ = 0;             ///< bytes of the frame that does not fit yet
};

}  // namespace flexrack::wire
