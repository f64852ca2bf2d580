// Points where a stream stops until we let it go on: a payload has landed, the client has run a host function, a
// share's turn has come.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/cuda/pages.h"

namespace flexrack::backend::cuda {

class Latches;

struct Latch {
  std::uint32_t* word = nullptr;   ///< in host memory
  CUdeviceptr address = 0;         ///< the same for the device
  std::uint32_t number = 0;  ///< open from this number on, as cuStreamWaitValue32 compares (cyclic): whoever waited
                             ///< before is never held up again
  Latches* latches = nullptr;
  std::shared_ptr<void> owner{};  ///< of those

  explicit operator bool() const { return word != nullptr; }
  void open() const { __atomic_store_n(word, number, __ATOMIC_RELEASE); }
  bool is_open() const { return static_cast<std::int32_t>(__atomic_load_n(word, __ATOMIC_ACQUIRE) - number) >= 0; }
  /// It is open for good: its word may be made a latch again, whatever streams have still to look at it.
  void open_and_recycle() const;
  void recycle() const;
  /// Work put on the stream after this waits for it.
  CUresult wait(CUstream stream) const;
};

/// Thread-safe. A latch is a word of pinned memory that the stream waits on (cuStreamWaitValue32), so nothing of ours
/// is in the way of other streams.
class Latches {
 public:
  Latches(const cu::DriverTable& driver, Pages& pages) : driver_(driver), pages_(pages) {}

  /// A closed one; null where there is no memory for more, or there are a million. With a current context.
  Latch make(std::shared_ptr<void> owner);

 private:
  friend struct Latch;
  struct Word {
    std::uint32_t* at;
    CUdeviceptr address;
    std::uint32_t number;
  };

  const cu::DriverTable driver_;  ///< a copy: this may outlive the session
  Pages& pages_;
  std::mutex lock_;
  std::vector<Word> free_;
  std::size_t made_ = 0;
};

}  // namespace flexrack::backend::cuda
