// One client at this machine's CUDA driver: carries out every message of the API.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/cuda/address_map.h"
#include "backend/cuda/driver_library.h"
#include "backend/cuda/graph_host.h"
#include "backend/cuda/handles.h"
#include "backend/cuda/launch_clock.h"
#include "backend/cuda/meter.h"
#include "backend/cuda/mirrors.h"
#include "backend/cuda/waiters.h"
#include "backend/opencl/printing.h"
#include "backend/opencl/worker_thread.h"
#include "cuda/sticky.h"
#include "gen/cuda/driver_table.h"
#include "gen/cuda/requests.h"
#include "gen/cuda/revision.h"

namespace flexrack::backend::cuda {

class NodeParams;
class CallContext;
class LoadOptions;

using flexrack::cuda::is_sticky;
/// A result as messages carry it.
inline std::int32_t as_wire(CUresult status) { return static_cast<std::int32_t>(status); }

/// A device of the lease.
struct Device {
  CUdevice native = 0;
  std::string name, pci;
  CUuuid uuid{};
  std::uint64_t memory = 0;        ///< the share
  bool is_whole = true;
  std::size_t contexts = 0;        ///< that the client has there
  std::uint64_t context_memory = 0;   ///< bytes that a context is expected to take
  std::uint64_t threads = 0;       ///< that it runs at a time, at most: each has local memory
  std::uint64_t busy_seen = 0;     ///< nanoseconds that the driver in software has told so far
  std::uint64_t primary = 0;       ///< handle of its primary context, while there is one
};

class Session;

/// Whom the driver's graphs tell that they are gone, for as long as there is somebody.
struct GraphOwner {
  std::mutex lock;
  Session* session = nullptr;
};

class Session final : public Backend, private cu::Requests {
 public:
  Session(Grant& grant, const std::string& driver);
  ~Session() override;

  wire::Api api() const override { return cu::kApi; }
  void start(wire::Link& link, Peers& peers) override;
  void stop() override;
  void on_frame(const wire::Header& header, wire::View body) override;
  void on_over(std::string_view why) override;

 private:
  friend class CallContext;
  template <class Reply>
  using Respond = wire::Respond<Reply>;

  const cu::DriverTable& driver() const { return table_; }
  bool make_current(std::uint64_t context);
  /// A status the client is about to see: one that breaks its context is told once more as such.
  void noticed(std::uint64_t context, CUresult status);
  /// The same from another thread than the dispatching one.
  void noticed_elsewhere(std::uint64_t context, CUresult status) {
    const std::lock_guard guard(lock_);
    noticed(context, status);
  }
  /// A message that names a stream: it may put something there that changes mirrored memory.
  void put_on(std::uint16_t op, std::uint64_t context, std::uint64_t stream);
  void refused(std::uint64_t context, std::uint16_t op, CUresult status, std::uint64_t object);
  /// Off the dispatch, under the context: what blocks in the driver. Answers `respond` by what it returns.
  void later(std::uint64_t context, std::function<void()> work);
  /// The same when what is returned is called, once, on whatever thread. The context stays until then.
  std::function<void()> to_run_later(std::uint64_t context, std::function<void()> work);
  template <class Notice>
  void tell(const Notice& notice) {
    link_->send(Notice::kOp, 0, [&](wire::Bytes& out) { encode(out, notice); });
    link_->flush();
  }
  void printed();

  void create(const cu::CreateContext& m, Respond<cu::CreateContextReply>& respond);

  // ---- memory (memory.cpp)
  void behind_frees(std::function<void()> work);
  void allocate(const cu::Allocate& m, Respond<cu::AllocateReply>& respond);
  /// Off the dispatch: `give_back` gives memory back to the driver, which may wait for what uses it. What asks for memory comes behind it.
  void free_later(std::uint64_t context, std::function<CUresult()> give_back);
  void allocate(const cu::AllocateFromPool& m, Respond<cu::AllocateFromPoolReply>& respond);
  bool charge(std::uint32_t device, std::uint64_t bytes) { return bytes == 0 || grant_.charge(device, bytes); }
  void refund(std::uint32_t device, std::uint64_t bytes) { if (bytes) grant_.refund(device, bytes); }
  /// Gives back what has been charged when the last who has it is gone.
  std::shared_ptr<void> hold(std::uint32_t device, std::uint64_t bytes);
  /// The driver has it there: from now on the client may name it.
  void know(std::uint64_t at, Allocation one);
  /// The client has reserved it, and nothing lies there yet.
  bool may_map(std::uint64_t at, std::uint64_t size) const;
  void map_at(CallContext& call, const cu::Allocate& m, Allocation& made);
  std::uint32_t device_of(std::uint64_t context) const;
  std::shared_ptr<HostSide> host_of(std::uint64_t context) const;

  // ---- what the driver takes for itself (overhead.cpp)
  /// Bytes of the device that this process has, where the driver or NVML tells of one process; nothing while something else may change it.
  std::optional<std::uint64_t> own_memory(std::uint32_t device);
  /// Of a context that was made: the share is charged what it took instead of what was expected. False: that is more than there is.
  bool settle(std::uint32_t device, std::optional<std::uint64_t> before, std::uint64_t& charged);
  /// Charges what loading an image takes, and, where it calls malloc, what that takes from once in a context. CUDA_ERROR_OUT_OF_MEMORY: the share has not that much.
  CUresult charge_image(std::uint64_t context, const ImageMemory& image);
  /// A library's code and variables are in each context where they are used, from the first use on.
  CUresult bring_in(std::uint64_t library, std::uint64_t context);
  /// For kernels with so much local memory a thread, or a limit.
  CUresult reserve_stack(std::uint64_t context, std::uint64_t bytes);
  CUresult reserve(std::uint64_t context, CUlimit which, std::uint64_t value);

  // ---- what watchers see (usage.cpp)
  void entered(std::uint32_t device);
  void left(std::uint32_t device);
  void look(std::uint32_t device, std::chrono::nanoseconds past);

  // ---- bulk data (transfer.cpp)
  /// Puts a payload into `enqueue(source)` on that stream: at once where it is here, else behind a latch until it has landed.
  void bring(CallContext& call, CUstream stream, const wire::Payload& data, const std::function<CUresult(const void* source)>& enqueue);
  /// The other way: `enqueue(target)` puts it on the stream, the payload goes when the stream has got there.
  void send_out(CallContext& call, CUstream stream, std::uint64_t size, std::uint64_t ticket, wire::Link* to, const std::function<CUresult(void* target)>& enqueue);
  /// Runs `reached(status)` on another thread when the stream has got to where it is now. False: `call` has failed.
  bool when_reached(CallContext& call, CUstream stream, std::function<void(CUresult)> reached);
  /// The same once what is returned is called; null: `call` has failed.
  std::function<void()> wait_from_here(CallContext& call, CUstream stream, std::function<void(CUresult)> reached);
  void bring_from(CallContext& call, CUstream stream, wire::Link& from, std::uint64_t ticket, std::uint64_t size, const std::function<CUresult(const void* source)>& enqueue);
  CUDA_MEMCPY3D rows(CallContext& call, const cu::Place* source, const cu::Place* target, const cu::Extent& extent);

  CUDA_RESOURCE_DESC resource(CallContext& call, const cu::Resource& reported);

  // ---- kernels (launch.cpp, modules.cpp)
  void check_attribute(CallContext& call, CUlaunchAttributeID which, CUlaunchAttributeValue& value, std::uint64_t event);
  std::vector<CUlaunchAttribute> launch_attributes(CallContext& call, std::span<const cu::LaunchAttribute> reported);
  void launch_time_sliced(CallContext& call, std::uint32_t device, CUstream stream, const std::function<bool()>& launch);
  void keep_image(const std::string& hash, std::shared_ptr<const wire::Bytes> image, CUresult status);
  /// A reply and the texts it shows.
  struct LoadReply {
    cu::LoadReply message;
    std::string info_log, error_log;
    bool is_library = false;
  };
  void load_image(LoadReply& reply, std::uint64_t context, std::uint64_t module, const wire::Bytes& image, LoadOptions& options);
  void list_kernels(LoadReply& reply, std::uint64_t context, std::uint64_t module);
  /// Puts it under a handle of ours and says all about it; `name` is shown. False: there is no room for more.
  bool describe_kernel(cu::Kernel& reported, std::uint64_t context, std::uint64_t module, bool is_library, void* native, std::string_view name);
  /// What belongs to an object that is gone, and what belongs to that.
  void drop_owned(std::uint64_t owner, Kind kind);
  std::uint64_t mint() { return next_own_++; }

  void open_latch(std::uint64_t handle);

  // ---- graphs (graphs.cpp)
  friend class NodeParams;
  /// A graph on its way to be instantiated: the first thing that was wrong with it.
  struct GraphError {
    CUresult status = CUDA_SUCCESS;
    std::uint64_t node = 0;
  };
  /// Bytes of a box of rows; nothing where there are too many to be true.
  static std::optional<std::uint64_t> box_bytes(const cu::Extent& extent);
  /// Packed bytes in host memory, on the side of a copy that has none yet.
  static void from_host(CUDA_MEMCPY3D& copy, const void* source);
  static void to_host(CUDA_MEMCPY3D& copy, void* target);
  /// Memory that the nodes of a graph name. A driver believes for ever what it was told when the node was made, so it is looked at again when the graph is launched.
  struct NamedMemory {
    std::map<std::uint64_t, std::vector<Stretch>> nodes{};   ///< by handle of the node
    std::set<std::uint64_t> disabled{};                      ///< nodes that launches leave out
    std::uint64_t seen = ~std::uint64_t{0};                  ///< AddressMap::removals() when all of it was last there
  };
  bool is_memory_there(std::uint64_t exec);
  GraphStop* make_stop(CallContext& call, const cu::AddNode& m);
  bool stage(CallContext& call, GraphStop& stop, const cu::NodeWork& work);
  GraphStop* stop_of(std::uint64_t node, GraphStop::Sort sort);
  bool expect_input(GraphStop& stop, std::uint64_t context, const wire::Payload& data);
  void forget_stop(GraphStop* stop);

#include "gen/cuda/server_overrides.inc"
  void on(const cu::Describe& m, Respond<cu::DescribeReply> respond) override;
  void on(const cu::Usage& m, Respond<cu::UsageReply> respond) override;
  void on(const cu::CreateContext& m, Respond<cu::CreateContextReply> respond) override;
  void on(const cu::ReleaseContext& m) override;
  void on(const cu::WaitContext& m, Respond<cu::WaitContextReply> respond) override;
  void on(const cu::SetLimit& m, Respond<cu::SetLimitReply> respond) override;
  void on(const cu::MemoryInfo& m, Respond<cu::MemoryInfoReply> respond) override;
  void on(const cu::Release& m) override;
  void on(const cu::ReserveAddresses& m, Respond<cu::ReserveAddressesReply> respond) override;
  void on(const cu::FreeAddresses& m) override;
  void on(const cu::Allocate& m, Respond<cu::AllocateReply> respond) override;
  void on(const cu::Free& m) override;
  void on(const cu::CreateMemory& m, Respond<cu::CreateMemoryReply> respond) override;
  void on(const cu::MapMemory& m) override;
  void on(const cu::UnmapMemory& m, Respond<cu::UnmapMemoryReply> respond) override;
  void on(const cu::SetAccess& m) override;
  void on(const cu::MemoryGranularity& m, Respond<cu::MemoryGranularityReply> respond) override;
  void on(const cu::DefaultPool& m) override;
  void on(const cu::CreatePool& m, Respond<cu::CreatePoolReply> respond) override;
  void on(const cu::AllocateFromPool& m, Respond<cu::AllocateFromPoolReply> respond) override;
  void on(const cu::FreeToPool& m) override;
  void on(const cu::SetPoolAttribute& m) override;
  void on(const cu::PoolAttribute& m, Respond<cu::PoolAttributeReply> respond) override;
  void on(const cu::CreateArray& m, Respond<cu::CreateArrayReply> respond) override;
  void on(const cu::CreateTexture& m, Respond<cu::CreateTextureReply> respond) override;
  void on(const cu::CreateSurface& m, Respond<cu::CreateSurfaceReply> respond) override;
  void on(const cu::HaveImages& m, Respond<cu::HaveImagesReply> respond) override;
  void on(const cu::Load& m, Respond<cu::LoadReply> respond) override;
  void on(const cu::FindKernel& m, Respond<cu::FindKernelReply> respond) override;
  void on(const cu::FindVariable& m, Respond<cu::FindVariableReply> respond) override;
  void on(const cu::Link& m, Respond<cu::LinkReply> respond) override;
  void on(const cu::OccupancyOfClusters& m, Respond<cu::OccupancyOfClustersReply> respond) override;
  void on(const cu::Launch& m) override;
  void on(const cu::WriteMemory& m) override;
  void on(const cu::ReadMemory& m) override;
  void on(const cu::CopyMemory& m) override;
  void on(const cu::WriteRows& m) override;
  void on(const cu::ReadRows& m) override;
  void on(const cu::CopyRows& m) override;
  void on(const cu::Fill& m) override;
  void on(const cu::WriteRanges& m) override;
  void on(const cu::HostFunction& m) override;
  void on(const cu::RanHostFunction& m) override;
  void on(const cu::WaitLatch& m) override;
  void on(const cu::OpenLatch& m) override;
  void on(const cu::CreateStream& m) override;
  void on(const cu::WaitStream& m, Respond<cu::WaitStreamReply> respond) override;
  void on(const cu::QueryStream& m, Respond<cu::QueryStreamReply> respond) override;
  void on(const cu::SetStreamAttribute& m) override;
  void on(const cu::StreamAttribute& m, Respond<cu::StreamAttributeReply> respond) override;
  void on(const cu::CreateEvent& m) override;
  void on(const cu::WaitEvent& m, Respond<cu::WaitEventReply> respond) override;
  void on(const cu::QueryEvent& m, Respond<cu::QueryEventReply> respond) override;
  void on(const cu::WatchEvent& m) override;
  void on(const cu::ElapsedTime& m, Respond<cu::ElapsedTimeReply> respond) override;
  void on(const cu::CreateGraph& m) override;
  void on(const cu::AddNode& m) override;
  void on(const cu::SetExecNode& m) override;
  void on(const cu::EnableNode& m) override;
  void on(const cu::LaunchGraph& m) override;
  void on(const cu::GraphInput& m) override;
  void on(const cu::Instantiate& m, Respond<cu::InstantiateReply> respond) override;
  void on(const cu::PeerAccept& m, Respond<cu::PeerAcceptReply> respond) override;
  void on(const cu::PeerOpen& m, Respond<cu::PeerOpenReply> respond) override;
  void on(const cu::PeerReady& m, Respond<cu::PeerReadyReply> respond) override;
  void on(const cu::PeerClose& m) override;
  void on(const cu::ExportMemory& m) override;
  void on(const cu::ImportMemory& m) override;

  Grant& grant_;
  DriverLibrary library_;
  cu::DriverTable table_;
  std::vector<Device> devices_;
  wire::Link* link_ = nullptr;
  Peers* peers_ = nullptr;
  std::unique_ptr<opencl::Printing> printing_;
  Mirrors mirrors_{table_};
  Waiters waiters_;
  opencl::WorkerThread dialler_;
  LaunchClock clock_{table_, [this](std::uint32_t device, std::uint64_t nanoseconds, std::uint32_t count) { grant_.finished(device, nanoseconds, count); }};
  std::uint64_t process_ = 0;                                    ///< as the client says it is called
  Meter meter_{[this](std::uint32_t device, std::chrono::nanoseconds past) { look(device, past); }};

  /// Held during a message; recursive because a payload that is there already may finish a message at once.
  std::recursive_mutex lock_;
  HandleTable handles_;
  std::mutex frees_lock_;
  std::condition_variable frees_over_;
  std::size_t frees_ = 0;                                        ///< under way at the driver
  std::atomic<std::size_t> loads_{0};                            ///< the same
  AddressMap allocations_;
  std::map<std::pair<bool, std::uint64_t>, std::uint64_t> shown_;   ///< textures (false) and surfaces by their numbers, and the contexts they are in
  std::map<std::uint64_t, std::uint64_t> reservations_;          ///< address ranges the client keeps free: start -> size
  std::map<std::string, std::shared_ptr<const wire::Bytes>> images_;   ///< by SHA-256
  struct HostRun {
    Latch latch;
    std::uint64_t function = 0, context = 0;
  };
  static constexpr std::size_t kMostRuns = 1 << 16;
  std::size_t image_bytes_ = 0;
  std::shared_ptr<std::atomic<std::size_t>> arriving_ = std::make_shared<std::atomic<std::size_t>>(0);   ///< bytes of images that are not loaded yet
  std::map<std::uint64_t, HostRun> runs_;                      ///< host functions the client is running, or will
  std::map<std::uint64_t, std::map<std::uint64_t, Latch>> client_latches_;   ///< closed ones, a word in each context where something waits
  std::set<std::uint64_t> broken_;                               ///< contexts in which something failed for good, told to the client
  std::uint64_t current_ = 0;                                    ///< handle of the context that is current on the dispatching thread
  std::thread::id dispatcher_{};
  std::uint64_t next_own_ = std::uint64_t{1} << 63;
  std::uint64_t next_loaded_ = std::uint64_t{3} << 62;            ///< handles that nobody is told
  std::uint64_t next_run_ = 1;
  bool is_broken_ = false;

  std::map<std::uint64_t, GraphError> graph_errors_;             ///< by handle of the graph
  std::map<std::uint64_t, NamedMemory> graph_memory_, exec_memory_;   ///< by handle, of those that name any
  std::map<std::uint64_t, GraphStop*> stops_;                    ///< by handle of the node; the driver's graphs own them
  GraphHost graph_host_;
  std::shared_ptr<GraphOwner> graph_owner_ = std::make_shared<GraphOwner>();
};

}  // namespace flexrack::backend::cuda
