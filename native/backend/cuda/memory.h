// Addresses, memory, pools, arrays and what shows them: every byte is taken from the share before the driver is asked
// for it.
#pragma once

#include <map>

#include "backend/cuda/core.h"

namespace flexrack::backend::cuda {

class CallContext;

class Memory : public virtual cu::Requests {
 public:
  explicit Memory(Core& core) : core_(core) {}

 private:
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

  void allocate(const cu::Allocate& m, Respond<cu::AllocateReply>& respond);
  void allocate(const cu::AllocateFromPool& m, Respond<cu::AllocateFromPoolReply>& respond);
  /// Off the dispatch: `give_back` gives memory back to the driver, which may wait for what uses it. What asks for
  /// memory comes behind it.
  void free_later(std::uint64_t context, std::function<CUresult()> give_back);
  /// The client has reserved it, and nothing lies there yet.
  bool may_map(std::uint64_t at, std::uint64_t size) const;
  CUresult allocate_swappable(std::uint64_t context, std::uint64_t size, std::uint64_t& address);
  void free_in_order(CallContext& call, CUstream stream, std::shared_ptr<void> held);
  void map_at(CallContext& call, const cu::Allocate& m, Allocation& made);
  CUDA_RESOURCE_DESC resource(CallContext& call, const cu::Resource& reported);

  Core& core_;
  std::map<std::uint64_t, std::uint64_t> reservations_;   ///< address ranges the client keeps free: start -> size
};

}  // namespace flexrack::backend::cuda
