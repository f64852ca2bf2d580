// Writing and reading message bodies: every field on its natural alignment, little-endian, every length checked.
#pragma once

#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "wire/frame.h"

namespace flexrack::wire {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian and arrays are read in place");

/// Appends fields to a buffer whose start is 8-byte aligned on the wire.
class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out), start_(out.size()) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    const auto at = aligned(alignof(T));
    out_.resize(at + sizeof value);
    std::memcpy(out_.data() + at, &value, sizeof value);
  }

  /// A u64 count, then the elements as they are.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put_array(std::span<const T> values) {
    put<std::uint64_t>(values.size());
    align(alignof(T));
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    out_.insert(out_.end(), bytes, bytes + values.size_bytes());  // they may be many: not zeroed first
  }

  void put_text(std::string_view text) {
    put_array(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  }

  void align(std::size_t to) { out_.resize(aligned(to)); }

 private:
  /// Where the next field of that alignment begins; what is left out before it becomes zero.
  std::size_t aligned(std::size_t to) const { return start_ + ((out_.size() - start_ + to - 1) & ~(to - 1)); }

  Bytes& out_;
  std::size_t start_;
};

/// Reads fields from a body; after the first thing that does not fit, ok() is false and everything reads as zero or
/// empty.
class Reader {
 public:
  explicit Reader(View body) : body_(body) {}

  bool ok() const { return ok_; }
  std::size_t left() const { return ok_ ? body_.size() - at_ : 0; }

  template <class T>
    requires std::is_trivially_copyable_v<T>
  T get() {
    T value{};
    align(alignof(T));
    if (left() < sizeof(T)) return fail(), value;
    std::memcpy(&value, body_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  /// A view of the array inside the body; valid as long as the body is. The body must start on an 8-byte boundary.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::span<const T> get_array() {
    const auto count = get<std::uint64_t>();
    align(alignof(T));
    if (count > left() / sizeof(T)) return fail(), std::span<const T>{};
    const auto* first = reinterpret_cast<const T*>(body_.data() + at_);
    at_ += count * sizeof(T);
    return {first, static_cast<std::size_t>(count)};
  }

  std::string_view get_text() {
    const auto bytes = get_array<std::uint8_t>();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  /// How many elements follow, for arrays of structs: never more than the bytes left could hold at `smallest` bytes
  /// each.
  std::size_t get_count(std::size_t smallest) {
    const auto count = get<std::uint64_t>();
    if (count > left() / smallest) return fail(), 0;
    return static_cast<std::size_t>(count);
  }

  void fail() { ok_ = false; }

 private:
  void align(std::size_t to) {
    const auto next = (at_ + to - 1) / to * to;
    if (next > body_.size()) return fail();
    at_ = next;
  }

  View body_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

/// Bulk data of a message: `inline_data` when it came with the frame, else it travels on the bulk path under `ticket`.
struct Payload {
  std::uint64_t ticket = 0;
  std::uint64_t size = 0;
  View inline_data{};
  bool is_inline() const { return inline_data.size() == size; }
};

}  // namespace flexrack::wire
