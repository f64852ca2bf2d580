// Memory of a session that takes turns on its device (docs/adr/0081): mapped at addresses that stay, so that what lies
// there can go to the host's memory and come back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "backend/grant.h"
#include "gen/cuda/driver_table.h"

namespace flexrack::backend::cuda {

/// Thread-safe. Small pieces share the steps of the device's memory (2 MiB on NVIDIA's); what is large has steps of its
/// own. Each step is held at the grant while it is on the device, and each piece is charged to the share by the byte.
class SwapSpace : public std::enable_shared_from_this<SwapSpace> {
 public:
  SwapSpace(const cu::DriverTable& driver, Grant& grant, CUdevice device)
      : driver_(driver), grant_(grant), device_(device) {}
  ~SwapSpace();
  SwapSpace(const SwapSpace&) = delete;

  /// Memory on the device, with the context current. `held` has it: when that goes, it is given back to the driver.
  CUresult allocate(std::uint64_t size, CUdeviceptr& address, std::shared_ptr<void>& held);
  /// What the device would have to have more of for that, at most.
  std::uint64_t cost_of(std::uint64_t size);

  /// Everything, with a context current in which nothing runs. Where `out` fails, `in` brings back what has left; `in`
  /// may be called again, and goes on.
  CUresult out();
  CUresult in();
  /// What is not back does not come any more. It counts as before until it is freed.
  void lose();
  /// A context ends, and with it what the driver knows of the host's pages by way of it.
  void leave_context(CUcontext context);
  /// The session is over: nothing is asked of the driver any more.
  void abandon();

 private:
  struct Block {
    std::uint64_t size = 0, used = 0;
    CUmemGenericAllocationHandle memory = 0;
    bool is_there = false;                          ///< on the device
    bool is_away = false;                           ///< what is in it is in the host's memory alone
    bool is_lost = false;
    void* host = nullptr;
    CUcontext registered = nullptr;                 ///< in which the driver knows the host's pages
    std::map<std::uint64_t, std::uint64_t> gaps{};  ///< free in it: offset and size
  };
  using Blocks = std::map<std::uint64_t, Block>;

  CUresult find_step();
  CUresult make_block(std::uint64_t size, Blocks::iterator& made);
  CUresult bring_memory(std::uint64_t at, Block& block);
  CUresult take_host(Block& block);
  void put(std::uint64_t at, std::uint64_t size, std::uint64_t charged);
  void end_block(Blocks::iterator block);
  std::uint64_t most() const;

  const cu::DriverTable driver_;   ///< a copy: this may outlive the session
  Grant& grant_;
  const CUdevice device_;
  std::mutex lock_;
  Blocks blocks_;                  ///< by address
  std::uint64_t step_ = 0, all_ = 0, next_ = 0;
  bool is_abandoned_ = false;
};

}  // namespace flexrack::backend::cuda
