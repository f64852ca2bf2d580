// Points where a stream stops until we let it go on: a payload has landed, the client has run a host function, a share's turn has come.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "gen/cuda/driver_table.h"

namespace flexrack::backend::cuda {

/// Thread-safe. A gate is a word of pinned memory that the stream waits on (cuStreamWaitValue32), so nothing of ours is in the way of other streams.
class Gates {
 public:
  explicit Gates(const cu::DriverTable& driver) : driver_(driver) {}

  struct Gate {
    std::uint32_t* word = nullptr;   ///< in host memory
    CUdeviceptr address = 0;         ///< the same for the device
    explicit operator bool() const { return word != nullptr; }
  };

  /// A closed one; null where the driver has no memory for more. With a current context.
  Gate make();
  /// Work put on the stream after this waits for it.
  CUresult wait(CUstream stream, const Gate& gate) const;
  static void open(const Gate& gate) { __atomic_store_n(gate.word, 1u, __ATOMIC_RELEASE); }
  /// Nobody waits on it any more: it may be made again.
  void recycle(const Gate& gate);

 private:
  const cu::DriverTable& driver_;
  std::mutex lock_;
  std::vector<Gate> free_;
};

}  // namespace flexrack::backend::cuda
