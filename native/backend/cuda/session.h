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
#include "backend/cuda/driver_library.h"
#include "backend/cuda/gates.h"
#include "backend/cuda/handles.h"
#include "backend/cuda/staging.h"
#include "backend/cuda/waiters.h"
#include "backend/opencl/printing.h"
#include "backend/opencl/worker_thread.h"
#include "cuda/sticky.h"
#include "gen/cuda/driver_table.h"
#include "gen/cuda/requests.h"
#include "gen/cuda/revision.h"

namespace flexrack::backend::cuda {

class NodeParams;
class Turn;
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
};

/// Memory of the client's, by its address.
struct Allocation {
  enum class Sort : std::uint8_t { plain, mapped, pinned, from_pool };
  Sort sort = Sort::plain;
  std::uint32_t device = 0;
  std::uint64_t context = 0;
  std::uint64_t size = 0;
  std::uint64_t charged = 0;
  std::uint64_t mapped = 0;        ///< bytes of address space of a mapped one
  CUmemGenericAllocationHandle memory = 0;   ///< of a mapped one
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
  friend class Turn;
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
  void refused(std::uint64_t context, std::uint16_t op, CUresult status, std::uint64_t object);
  /// Off the dispatch, under the context: what blocks in the driver. Answers `respond` by what it returns.
  void later(std::uint64_t context, std::function<void()> work);
  template <class Notice>
  void tell(const Notice& notice) {
    link_->send(Notice::kOp, 0, [&](wire::Bytes& out) { encode(out, notice); });
    link_->flush();
  }
  void printed();

  // ---- memory (memory.cpp)
  void behind_frees(std::uint64_t context, std::function<void()> work);
  void allocate(const cu::Allocate& m, Respond<cu::AllocateReply>& respond);
  void allocate(const cu::AllocateFromPool& m, Respond<cu::AllocateFromPoolReply>& respond);
  bool charge(std::uint32_t device, std::uint64_t bytes) { return bytes == 0 || grant_.charge(device, bytes); }
  void refund(std::uint32_t device, std::uint64_t bytes) { if (bytes) grant_.refund(device, bytes); }
  void map_at(Turn& turn, const cu::Allocate& m, Allocation& made);
  /// Nothing of the client's lies there yet.
  bool is_free(std::uint64_t at, std::uint64_t size) const;
  std::uint32_t device_of(std::uint64_t context) const;

  // ---- bulk data (transfer.cpp)
  /// Puts a payload into `enqueue(source)` on that stream: at once where it is here, else behind a gate until it has landed.
  void bring(Turn& turn, CUstream stream, const wire::Payload& data, const std::function<CUresult(const void* source)>& enqueue);
  /// The other way: `enqueue(target)` puts it on the stream, the payload goes when the stream has got there.
  void send_out(Turn& turn, CUstream stream, std::uint64_t size, std::uint64_t ticket, wire::Link* to, const std::function<CUresult(void* target)>& enqueue);
  /// Runs `reached(status)` on another thread when the stream has got to where it is now. False: `turn` has failed.
  bool when_reached(Turn& turn, CUstream stream, std::function<void(CUresult)> reached);
  void bring_from(Turn& turn, CUstream stream, wire::Link& from, std::uint64_t ticket, std::uint64_t size, const std::function<CUresult(const void* source)>& enqueue);
  CUDA_MEMCPY3D rows(Turn& turn, const cu::Place* source, const cu::Place* target, const cu::Extent& extent);

  CUDA_RESOURCE_DESC resource(Turn& turn, const cu::Resource& told);

  // ---- kernels (launch.cpp, modules.cpp)
  std::vector<CUlaunchAttribute> launch_attributes(Turn& turn, std::span<const cu::LaunchAttribute> told);
  void launch_gated(Turn& turn, std::uint32_t device, CUstream stream, const std::function<bool()>& launch);
  /// A reply and the texts it shows.
  struct LoadReply {
    cu::LoadReply message;
    std::string info_log, error_log;
    bool is_library = false;
  };
  void load_image(LoadReply& reply, std::uint64_t context, std::uint64_t module, const wire::Bytes& image, LoadOptions& options);
  void list_kernels(LoadReply& reply, std::uint64_t context, std::uint64_t module);
  /// Puts it under a handle of ours and says all about it; `name` is shown. False: there is no room for more.
  bool describe_kernel(cu::Kernel& told, std::uint64_t context, std::uint64_t module, bool is_library, void* native, std::string_view name);
  std::uint64_t mint() { return next_own_++; }

  // ---- graphs (graphs.cpp)
  friend class NodeParams;
  /// A host function of graphs; what the driver is given lives as long as the session.
  struct GraphCall {
    Session* session = nullptr;
    std::uint64_t function = 0;
    CUhostFn run = nullptr;
  };
  static constexpr std::uint64_t kGraphTurn = std::uint64_t{1} << 63;
  GraphCall* graph_call(std::uint64_t function);
  void run_in_graph(std::uint64_t function);
  bool ran_in_graph(std::uint64_t turn);
  std::uint64_t handle_of(CUgraphNode node, std::uint64_t graph);
  std::uint64_t handle_of(CUgraph graph, std::uint64_t owner);
  CUgraphNode add_node(Turn& turn, std::uint64_t graph, std::uint64_t handle, std::span<const std::uint64_t> dependencies, wire::View edges, NodeParams& params);

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
  void on(const cu::UnmapMemory& m) override;
  void on(const cu::SetAccess& m) override;
  void on(const cu::MemoryGranularity& m, Respond<cu::MemoryGranularityReply> respond) override;
  void on(const cu::DefaultPool& m) override;
  void on(const cu::CreatePool& m, Respond<cu::CreatePoolReply> respond) override;
  void on(const cu::AllocateFromPool& m, Respond<cu::AllocateFromPoolReply> respond) override;
  void on(const cu::FreeToPool& m) override;
  void on(const cu::SetPoolAttribute& m) override;
  void on(const cu::PoolAttribute& m, Respond<cu::PoolAttributeReply> respond) override;
  void on(const cu::SetGraphMemory& m) override;
  void on(const cu::GraphMemory& m, Respond<cu::GraphMemoryReply> respond) override;
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
  void on(const cu::ReadRanges& m) override;
  void on(const cu::HostFunction& m) override;
  void on(const cu::RanHostFunction& m) override;
  void on(const cu::WaitGate& m) override;
  void on(const cu::OpenGate& m) override;
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
  void on(const cu::BeginCapture& m) override;
  void on(const cu::EndCapture& m, Respond<cu::EndCaptureReply> respond) override;
  void on(const cu::CaptureInfo& m, Respond<cu::CaptureInfoReply> respond) override;
  void on(const cu::UpdateCapture& m) override;
  void on(const cu::CreateGraph& m) override;
  void on(const cu::AddNode& m) override;
  void on(const cu::AddAnsweredNode& m, Respond<cu::AddAnsweredNodeReply> respond) override;
  void on(const cu::SetNode& m) override;
  void on(const cu::SetExecNode& m, Respond<cu::SetExecNodeReply> respond) override;
  void on(const cu::AskNode& m, Respond<cu::AskNodeReply> respond) override;
  void on(const cu::GraphContent& m, Respond<cu::GraphContentReply> respond) override;
  void on(const cu::CloneGraph& m, Respond<cu::CloneGraphReply> respond) override;
  void on(const cu::Instantiate& m, Respond<cu::InstantiateReply> respond) override;
  void on(const cu::UpdateExec& m, Respond<cu::UpdateExecReply> respond) override;
  void on(const cu::SetNodeAttribute& m) override;
  void on(const cu::NodeAttribute& m, Respond<cu::NodeAttributeReply> respond) override;
  void on(const cu::GraphAsDot& m, Respond<cu::GraphAsDotReply> respond) override;
  void on(const cu::ConditionalHandle& m, Respond<cu::ConditionalHandleReply> respond) override;
  void on(const cu::PeerAccept& m, Respond<cu::PeerAcceptReply> respond) override;
  void on(const cu::PeerOpen& m, Respond<cu::PeerOpenReply> respond) override;
  void on(const cu::ExportMemory& m) override;
  void on(const cu::ImportMemory& m) override;

  Grant& grant_;
  DriverLibrary library_;
  cu::DriverTable table_;
  std::vector<Device> devices_;
  wire::Link* link_ = nullptr;
  Peers* peers_ = nullptr;
  std::unique_ptr<opencl::Printing> printing_;
  StagingPool staging_{table_};
  Gates gates_{table_};
  Waiters waiters_;
  opencl::WorkerThread dialler_;

  /// Held during a message; recursive because a payload that is there already may finish a message at once.
  std::recursive_mutex lock_;
  HandleTable handles_;
  std::mutex frees_lock_;
  std::condition_variable frees_over_;
  std::size_t frees_ = 0;                                        ///< under way at the driver
  std::map<std::uint64_t, Allocation> allocations_;
  std::map<std::uint64_t, std::uint64_t> reservations_;          ///< address ranges the client keeps free: start -> size
  std::map<std::string, std::shared_ptr<const wire::Bytes>> images_;   ///< by SHA-256
  std::map<std::uint64_t, Gates::Gate> turns_;                   ///< host functions the client is running
  std::map<std::uint64_t, CUdeviceptr> gate_addresses_;          ///< of the client's gates that are closed
  std::set<std::uint64_t> broken_;                               ///< contexts in which something failed for good, told to the client
  std::uint64_t current_ = 0;                                    ///< handle of the context that is current on the dispatching thread
  std::thread::id dispatcher_{};
  std::uint64_t next_own_ = std::uint64_t{1} << 63;
  std::uint64_t next_turn_ = 1;
  bool is_broken_ = false;

  std::map<CUgraphNode, std::uint64_t> nodes_;                   ///< handles of nodes, by what the driver calls them
  std::map<std::uint64_t, std::unique_ptr<GraphCall>> graph_calls_;
  std::mutex graph_turns_lock_;
  std::condition_variable graph_turns_over_;
  std::set<std::uint64_t> graph_turns_;                          ///< host functions of graphs that the client is running
  std::uint64_t next_graph_turn_ = 1;
  bool is_ending_ = false;
};

}  // namespace flexrack::backend::cuda
