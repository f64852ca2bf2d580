// Contexts: what a process has on a device.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "gen/cuda/cuda.h"
#include "sim/driver/command.h"
#include "sim/driver/device.h"
#include "sim/driver/failure.h"
#include "sim/driver/object.h"
#include "sim/driver/printing.h"
#include "sim/exec/heap.h"
#include "sim/exec/memory_map.h"

namespace flexrack::sim {

class Stream;
struct Allocation;

/// What ends with its context at the latest.
class Owned {
 public:
  virtual ~Owned() = default;
  /// The context is being destroyed, and nothing runs in it any more: closes the handle, gives back what it has.
  virtual void context_over() noexcept = 0;
};

struct Limits {
  std::size_t stack = 1024, printf_fifo = 1 << 20, malloc_heap = 8 << 20, pending_launches = 2048;
  std::size_t highest_stack = stack, highest_printf_fifo = printf_fifo;   ///< what the device has given memory for
};

/// Thread-safe. The primary one of a device lives for ever and is active while it is retained; others from creation to
/// destruction.
class Context : public Object<Context> {
 public:
  Context(Device& device, bool is_primary, unsigned flags);
  ~Context();

  CUcontext handle() { return reinterpret_cast<CUcontext>(this); }

  Device& device;
  const bool is_primary;
  std::uint64_t id = 0;                        ///< another one each time it is started
  std::atomic<unsigned> flags;                 ///< CU_CTX_*
  std::atomic<int> uses{1};                    ///< cuCtxAttach, cuCtxDetach
  std::atomic<int> cache_config{CU_FUNC_CACHE_PREFER_NONE}, shared_config{CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE};

  /// Makes it usable; no two threads at once (lifetimes_lock()). Throws CUDA_ERROR_OUT_OF_MEMORY where the device has
  /// not what a context takes.
  void start();
  /// Waits for what runs in it, then ends all that it owns.
  void stop();
  bool is_active() const { return is_active_.load(std::memory_order_acquire); }

  std::atomic<int> captures{0};                ///< streams that are being captured
  bool has_captures() const { return captures.load(std::memory_order_relaxed) > 0; }

  // A context that has failed does nothing any more and answers every call with the same error.
  bool has_failed() const { return error() != CUDA_SUCCESS; }
  CUresult error() const { return error_.load(std::memory_order_acquire); }
  void fail_with(CUresult error, const std::string& text);
  /// By what is being caught.
  void fail_from_exception() noexcept;
  /// Asked to stop when the context fails: nothing else ends what runs in it.
  std::stop_token stop_token();

  /// A stream of its own: the legacy one, or the calling thread's.
  Ref<Stream> legacy();
  Ref<Stream> per_thread();
  /// What has to be over before a command appended to the stream now, which becomes the stream's last. Streams call
  /// this.
  std::vector<Ref<Command>> order(Stream& stream, Ref<Command> command);
  void add(Stream& stream);
  /// What it has to do is still waited for.
  void remove(Stream& stream);
  Ref<Command> last_of(const Stream& stream);
  /// Those that are not over, of all streams.
  std::vector<Ref<Command>> under_way();
  std::vector<Ref<Stream>> streams();
  /// Waits for all of them, and passes on what kernels printed. Not an error where the context has failed.
  void settle();

  /// What malloc of kernels takes from; made at the first call, of limits.malloc_heap bytes. Throws
  /// CUDA_ERROR_OUT_OF_MEMORY.
  exec::Heap& heap();

  void keep(Owned& owned);
  /// False where the context has let go of it already: then somebody else ends it.
  bool forget(Owned& owned);

  /// Of a limit that is raised: as much more of the device as `wanted` is above the highest it has been, times `each`;
  /// it stays until the context ends, as on hardware. Throws CUDA_ERROR_OUT_OF_MEMORY. Under settings_lock.
  void reserve(std::size_t& highest, std::size_t wanted, std::uint64_t each);

  std::mutex settings_lock;
  Limits limits;                               ///< guarded by settings_lock
  std::set<Context*> peers;                    ///< whose memory kernels here may use; guarded by memory's lock
  exec::MemoryMap map;
  Printing printing;

 private:
  /// Under settings_lock.
  void take_own(std::uint64_t bytes);

  std::atomic<bool> is_active_{false};
  std::atomic<CUresult> error_{CUDA_SUCCESS};
  std::stop_source stop_;                      ///< guarded by settings_lock
  std::shared_ptr<Allocation> heap_memory_;    ///< guarded by settings_lock
  std::vector<std::uint64_t> own_memory_;  ///< charges of the device for the context itself; guarded by settings_lock
  std::unique_ptr<exec::Heap> heap_;
  std::mutex order_lock_;  ///< of what follows
  Ref<Stream> legacy_;
  std::unordered_map<std::uint64_t, Ref<Stream>> per_thread_;
  std::unordered_set<Stream*> streams_;
  struct Orphan {
    Ref<Command> last;
    bool is_blocking;
  };
  std::vector<Orphan> orphans_;  ///< of streams that were destroyed
  std::mutex owned_lock_;
  std::unordered_set<Owned*> owned_;
};

/// Held while contexts are started and stopped.
std::recursive_mutex& lifetimes_lock();
/// All that are active.
std::vector<Ref<Context>> active_contexts();

/// The calling thread's. Throws CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_NOT_PERMITTED
/// in a host function, or the error with which the context has failed.
Ref<Context> current();
/// The same, and a context that has failed is given too.
Ref<Context> current_even_failed();
/// Throws where the context has failed.
inline void require_working(const Context& context) {
  if (context.has_failed()) throw Failure{context.error(), {}};
}
/// Null means the current one. Throws CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_CONTEXT_IS_DESTROYED.
Ref<Context> context_of(CUcontext handle);
/// Top of the calling thread's stack; null where it is empty. Not checked.
CUcontext current_handle() noexcept;

/// The calling thread's stack of contexts. Throws CUDA_ERROR_INVALID_CONTEXT where there is none to take off, or no
/// room.
void push_current(CUcontext handle);
CUcontext pop_current();
/// Puts it in the place of the top; null takes the top off.
void set_current(CUcontext handle);

/// While one lives on a thread, that thread runs a function of the application, which may not call the API.
class HostFunctionScope {
 public:
  HostFunctionScope();
  ~HostFunctionScope();
};

}  // namespace flexrack::sim
