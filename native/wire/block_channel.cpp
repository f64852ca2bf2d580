#include "wire/block_channel.h"

#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "wire/brief_spin.h"

namespace flexrack::wire {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostStored = 16 * 1024 * 1024;  ///< bytes of a block as they are, which nobody gathers
constexpr std::size_t kWorthALook = 512 * 1024;        ///< bytes of a piece: those of a payload of 1 MiB and up
constexpr std::size_t kSample = 64 * 1024;
constexpr double kLeastRatio = 1.5;
constexpr int kRest = 8;    ///< pieces that go as they are after one that was not worth it
constexpr int kLevel = 1;

class BlockChannel final : public Channel {
 public:
  BlockChannel(std::unique_ptr<Channel> channel, const Packing& packing)
      : channel_(std::move(channel)), packing_(packing) {
    channel_->keep_waiting = [this] { return keep_waiting(); };
  }

  std::ptrdiff_t read_some(std::span<std::uint8_t> into) override { return read(into, false); }
  bool read_all(std::span<std::uint8_t> into) override {
    while (!into.empty()) {
      const auto got = read(into, true);
      if (got <= 0) return false;
      into = into.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }
  bool has_buffered() const override { return plain_at_ < plain_.size() || channel_->has_buffered(); }
  bool write(std::span<const iovec> pieces) override;
  int fd() const override { return channel_->fd(); }
  void shut() override { channel_->shut(); }

 private:
  struct FreeOut {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  struct FreeIn {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  std::ptrdiff_t read(std::span<std::uint8_t> into, bool waits) {
    const auto got = is_broken_ ? kEnded : read_block(into, waits);
    is_broken_ = got == kEnded;
    return got;
  }
  std::ptrdiff_t read_block(std::span<std::uint8_t> into, bool waits);
  std::ptrdiff_t fill(std::span<std::uint8_t> all, bool waits);
  std::ptrdiff_t unpack(std::span<std::uint8_t> into);

  bool put(std::span<const iovec> pieces, std::size_t content);
  bool put_packed(View piece);
  std::size_t pack(View plain);
  bool is_worth_packing(View piece);
  void measure(std::size_t bytes, Clock::duration took);

  std::unique_ptr<Channel> channel_;
  const Packing packing_;

  // ---- the reading thread's
  BlockHead head_{};
  std::size_t have_ = 0;     ///< bytes of what is gathered now: a head, or a block that is packed
  bool is_broken_ = false;
  bool is_packed_ = false;   ///< the head is here and said so
  std::size_t stored_ = 0;   ///< bytes still to come of a block that is as it was
  Bytes packed_in_, plain_;
  std::size_t plain_at_ = 0;
  std::unique_ptr<ZSTD_DCtx, FreeIn> unpacking_;

  // ---- the writing thread's
  Bytes packed_out_;
  std::unique_ptr<ZSTD_CCtx, FreeOut> packing_with_;
  std::vector<iovec> pieces_;
  std::size_t measured_bytes_ = 0;
  Clock::duration measured_{};
  double rate_ = 0;          ///< bytes a second; 0: not known yet
  int resting_ = 0;
};

/// What is gathered grows up to its end: 1. kNothing, kEnded.
std::ptrdiff_t BlockChannel::fill(std::span<std::uint8_t> all, bool waits) {
  while (have_ < all.size()) {
    const auto rest = all.subspan(have_);
    if (waits) {
      if (!channel_->read_all(rest)) return kEnded;
      have_ = all.size();
    } else {
      const auto got = channel_->read_some(rest);
      if (got <= 0) return got;
      have_ += static_cast<std::size_t>(got);
    }
  }
  have_ = 0;
  return 1;
}

std::ptrdiff_t BlockChannel::read_block(std::span<std::uint8_t> into, bool waits) {
  if (into.empty()) return kNothing;
  while (true) {
    if (plain_at_ < plain_.size()) {
      const auto count = std::min(into.size(), plain_.size() - plain_at_);
      std::memcpy(into.data(), plain_.data() + plain_at_, count);
      plain_at_ += count;
      return static_cast<std::ptrdiff_t>(count);
    }
    if (stored_ > 0) {
      const auto part = into.first(std::min(into.size(), stored_));
      const auto got = !waits                     ? channel_->read_some(part)
                       : channel_->read_all(part) ? static_cast<std::ptrdiff_t>(part.size())
                                                  : kEnded;
      if (got > 0) stored_ -= static_cast<std::size_t>(got);
      return got;
    }
    if (!is_packed_) {
      const auto got = fill({reinterpret_cast<std::uint8_t*>(&head_), sizeof head_}, waits);
      if (got <= 0) return got;
      is_packed_ = head_.length < head_.content;
      // A frame is never longer than what is in it, and what is in it has its room before it is opened.
      if (head_.length == 0 || head_.length > head_.content ||
          head_.content > (is_packed_ ? kPackedContent : kMostStored))
        return kEnded;
      if (!is_packed_) stored_ = head_.content;
      else packed_in_.resize(head_.length);
      continue;
    }
    const auto got = fill(packed_in_, waits);
    if (got <= 0) return got;
    is_packed_ = false;
    const auto given = unpack(into);
    if (given != kNothing) return given;
  }
}

/// Straight to its place where that has room for all of it: its bytes. Else to plain_: kNothing.
std::ptrdiff_t BlockChannel::unpack(std::span<std::uint8_t> into) {
  if (!unpacking_) unpacking_.reset(ZSTD_createDCtx());
  const bool is_direct = into.size() >= head_.content;
  if (!is_direct) plain_.resize(head_.content);
  const auto target = is_direct ? into.first(head_.content) : std::span<std::uint8_t>(plain_);
  plain_at_ = plain_.size();
  const auto size = unpacking_ ? ZSTD_decompressDCtx(unpacking_.get(), target.data(), target.size(), packed_in_.data(),
                                                     packed_in_.size())
                               : 0;
  if (size != target.size()) return kEnded;  // an error is larger than any size
  if (is_direct) return static_cast<std::ptrdiff_t>(size);
  plain_at_ = 0;
  return kNothing;
}

bool BlockChannel::write(std::span<const iovec> pieces) {
  std::size_t from = 0;
  for (std::size_t at = 0; at <= pieces.size(); ++at) {
    const View piece =
        at < pieces.size() ? View(static_cast<const std::uint8_t*>(pieces[at].iov_base), pieces[at].iov_len) : View();
    const bool is_last = at == pieces.size();
    if (!is_last && !is_worth_packing(piece)) continue;
    std::size_t content = 0;
    for (auto i = from; i < at; ++i) content += pieces[i].iov_len;
    if (content > 0 && !put(pieces.subspan(from, at - from), content)) return false;
    if (!is_last && !put_packed(piece)) return false;
    from = at + 1;
  }
  return true;
}

/// One block of these pieces as they are.
bool BlockChannel::put(std::span<const iovec> pieces, std::size_t content) {
  BlockHead head{static_cast<std::uint32_t>(content), static_cast<std::uint32_t>(content)};
  if (content > kMostStored) {
    for (const auto& piece : pieces) {
      View left(static_cast<const std::uint8_t*>(piece.iov_base), piece.iov_len);
      for (; !left.empty(); left = left.subspan(std::min(left.size(), kMostStored))) {
        const iovec part{const_cast<std::uint8_t*>(left.data()), std::min(left.size(), kMostStored)};
        if (!put({&part, 1}, part.iov_len)) return false;
      }
    }
    return true;
  }
  pieces_.assign(1, {&head, sizeof head});
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  const auto start = Clock::now();
  if (!channel_->write(pieces_)) return false;
  measure(content + sizeof head, Clock::now() - start);
  return true;
}

bool BlockChannel::put_packed(View piece) {
  while (!piece.empty()) {
    const auto plain = piece.first(std::min(piece.size(), kPackedContent));
    piece = piece.subspan(plain.size());
    const auto size = pack(plain);
    if (size == 0 || size >= plain.size()) {
      const iovec as_it_is{const_cast<std::uint8_t*>(plain.data()), plain.size()};
      if (!put({&as_it_is, 1}, plain.size())) return false;
      continue;
    }
    BlockHead head{static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(plain.size())};
    const iovec pieces[] = {{&head, sizeof head}, {packed_out_.data(), size}};
    const auto start = Clock::now();
    if (!channel_->write(pieces)) return false;
    measure(size + sizeof head, Clock::now() - start);
  }
  return true;
}

/// To packed_out_: its bytes; 0 where that cannot be.
std::size_t BlockChannel::pack(View plain) {
  if (!packing_with_) packing_with_.reset(ZSTD_createCCtx());
  packed_out_.resize(ZSTD_compressBound(kPackedContent));
  if (!packing_with_) return 0;
  const auto size = ZSTD_compressCCtx(packing_with_.get(), packed_out_.data(), packed_out_.size(), plain.data(),
                                      plain.size(), kLevel);
  return ZSTD_isError(size) != 0 ? 0 : size;
}

/// Where the link is what is waited for, and a sample out of the middle of the piece becomes small enough.
bool BlockChannel::is_worth_packing(View piece) {
  if (piece.size() < kWorthALook || rate_ == 0 || rate_ >= packing_.slow_below) return false;
  if (resting_ > 0) return --resting_, false;
  if (packing_.only_with_free_cores && !BriefSpin::has_free_cores()) return false;
  const auto size = pack(piece.subspan(piece.size() / 2 / kSample * kSample, kSample));
  if (size > 0 && static_cast<double>(size) * kLeastRatio <= static_cast<double>(kSample)) return true;
  resting_ = kRest;
  return false;
}

void BlockChannel::measure(std::size_t bytes, Clock::duration took) {
  measured_bytes_ += bytes;
  measured_ += took;
  if (measured_bytes_ < packing_.measured_over) return;
  rate_ = static_cast<double>(measured_bytes_) / std::max(std::chrono::duration<double>(measured_).count(), 1e-9);
  measured_bytes_ = 0;
  measured_ = {};
}

}  // namespace

std::unique_ptr<Channel> make_block_channel(std::unique_ptr<Channel> channel, const Packing& packing) {
  return std::make_unique<BlockChannel>(std::move(channel), packing);
}

}  // namespace flexrack::wire
