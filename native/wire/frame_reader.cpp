#include "wire/frame_reader.h"

#include <cstring>

namespace flexrack::wire {
namespace {
constexpr std::size_t kUsual = 128 * 1024;
constexpr std::size_t kLeastRoom = 4096;
}  // namespace

FrameReader::FrameReader() : memory_(kUsual / 8) {}

std::span<std::uint8_t> FrameReader::room() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (memory_.size() * 8 > kUsual && wanted_ == 0) std::vector<std::uint64_t>(kUsual / 8).swap(memory_);
  }
  const auto needed = std::max(wanted_, end_ - begin_ + kLeastRoom);
  if (begin_ > 0 && begin_ + needed > memory_.size() * 8) {
    std::memmove(bytes(), bytes() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // Grows with what has come, not with what a header claims: a claim costs its sender as much as us.
  if (end_ + kLeastRoom > memory_.size() * 8)
    memory_.resize(std::min((memory_.size() * 2), (kMaximumBody + kUsual) / 8));
  return {bytes() + end_, memory_.size() * 8 - end_};
}

FrameReader::Next FrameReader::next(Header& header, View& body) {
  wanted_ = 0;
  if (end_ - begin_ < sizeof(Header)) return Next::more;
  std::memcpy(&header, bytes() + begin_, sizeof header);
  if (header.length > kMaximumBody || header.length % 8 != 0) return Next::malformed;
  const auto size = sizeof header + header.length;
  if (end_ - begin_ < size) {
    wanted_ = size;
    return Next::more;
  }
  body = {bytes() + begin_ + sizeof header, header.length};
  begin_ += size;
  return Next::frame;
}

}  // namespace flexrack::wire
