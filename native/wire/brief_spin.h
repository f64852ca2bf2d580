// Whether a thread that begins to wait should look for a moment before it sleeps: to wake a thread takes longer than
// most answers do.
#pragma once

#include <algorithm>
#include <chrono>

namespace flexrack::wire {

/// Of one thread at a time, which waits again and again for the same.
class BriefSpin {
 public:
  using Clock = std::chrono::steady_clock;
  /// To sleep and be woken takes 5 to 50 µs, so no wait costs more than twice what sleeping costs.
  static constexpr std::chrono::microseconds kLongest{50};

  bool is_worth_it() const { return expects_little() && has_free_cores(); }
  /// Most waits of late were short.
  bool expects_little() const { return score_ > 0; }
  /// A wait is over; `spun`: it began with a look of kLongest. One look for nothing is paid by eight waits that are
  /// short: whoever waits long spins for at most a twentieth of that time.
  void waited(bool spun, Clock::duration took) {
    if (took <= (spun ? kLongest : kShort)) score_ = std::min(score_ + 1, kMost);
    else score_ = spun ? -kMost : std::max(score_ - 1, -kMost);
  }
  /// No more threads run or want to than there are processors for this process. Asks the kernel each 20 ms.
  static bool has_free_cores();

 private:
  static constexpr int kMost = 8;
  static constexpr std::chrono::microseconds kShort{150};  ///< of a wait that slept: both ends had to be woken
  int score_ = 0;
};

}  // namespace flexrack::wire
