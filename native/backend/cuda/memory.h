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
  void on(const cu::ShareObject& m, Respond<cu::ShareObjectReply> respond) override;
  void on(const cu::OpenMemory& m, Respond<cu::OpenMemoryReply> respond) override;
  void on(const cu::CloseMemory& m, Respond<cu::CloseMemoryReply> respond) override;
  void on(const cu::OpenEvent& m, Respond<cu::OpenEventReply> respond) override;
  void on(const cu::OpenPhysical& m, Respond<cu::OpenPhysicalReply> respond) override;

  void allocate(const cu::Allocate& m, Respond<cu::AllocateReply>& respond);
  void allocate(const cu::AllocateFromPool& m, Respond<cu::AllocateFromPoolReply>& respond);
  /// Off the dispatch: `give_back` gives memory back to the driver, which may wait for what uses it. What asks for
  /// memory comes behind it.
  void free_later(std::uint64_t context, std::function<CUresult()> give_back);
  /// The client has reserved it, and nothing lies there yet.
  bool may_map(std::uint64_t at, std::uint64_t size) const;
  void map_at(CallContext& call, const cu::Allocate& m, Allocation& made);
  void map_whole(CallContext& call, std::uint64_t at, std::uint64_t whole, Allocation& made);
  /// Whether memory of the device can be had as a descriptor.
  bool can_share(std::uint32_t device) const;
  void share_allocation(std::uint64_t address, Respond<cu::ShareObjectReply> respond);
  cu::ShareObjectReply offer_allocation(std::uint64_t address, const Allocation& as_it_was, const SharedObject& object,
                                        CUresult status, int descriptor);
  static cu::ShareObjectReply shared_already(const Allocation& one);
  void share_physical(CallContext& call, Record& memory, cu::ShareObjectReply& reply);
  void share_event(CallContext& call, Record& event, cu::ShareObjectReply& reply);
  bool offer(CallContext& call, const SharedObject& object, std::shared_ptr<Held>& share);
  std::shared_ptr<Held> open(CallContext& call, wire::View secret, SharedObject& found);
  void open_at(CallContext& call, const cu::OpenMemory& m, const SharedObject& object, Allocation& made);
  CUmemGenericAllocationHandle take_physical(CallContext& call, const SharedObject& object);
  CUDA_RESOURCE_DESC resource(CallContext& call, const cu::Resource& reported);

  Core& core_;
  std::map<ShareSecret, std::weak_ptr<Held>> opened_;     ///< what other sessions share, each once
  std::map<std::uint64_t, std::uint64_t> reservations_;   ///< address ranges the client keeps free: start -> size
};

}  // namespace flexrack::backend::cuda
