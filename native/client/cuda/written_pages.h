// Which pages of this process have been written to since they were last asked about, by anybody: its threads, and the
// system for it (read(2)).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace flexrack::client::cuda {

/// From now on writes to those pages are noted. False: this kernel does not (before Linux 6.7), or may not for this
/// process.
bool watch_pages(std::uint8_t* first, std::uint64_t size);
/// Calls `use(from, to)`, in bytes from `first`, for each stretch of pages that was written to since the last time, at
/// first for all. Whatever is written while this runs is told now or the next time. False: nothing is known of these
/// pages (any more).
bool each_written(std::uint8_t* first, std::uint64_t size,
                  const std::function<void(std::uint64_t, std::uint64_t)>& use);

/// A set of pages, by their number.
class PageSet {
 public:
  /// All of them are in it, or none.
  PageSet(std::uint64_t pages, bool has_all) : words_((pages + 63) / 64, has_all ? ~std::uint64_t{0} : 0) {
    if (has_all && pages % 64 != 0) words_.back() = (std::uint64_t{1} << pages % 64) - 1;
  }
  void add(std::uint64_t from, std::uint64_t to) {
    for (auto page = from; page < to; ++page) words_[page / 64] |= std::uint64_t{1} << page % 64;
  }
  /// Calls `use(page)` for each, in order, and takes them out.
  template <class Use>
  void take(Use&& use) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (; words_[i] != 0; words_[i] &= words_[i] - 1)
        use(i * 64 + static_cast<std::uint64_t>(__builtin_ctzll(words_[i])));
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace flexrack::client::cuda
