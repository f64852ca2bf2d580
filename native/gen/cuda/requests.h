// Who handles the messages of cuda: Requests in the server, Notices in the client.
// Generated from native/spec/cuda.* by native/codegen/generate.ts; change those.
#pragma once

#include "gen/cuda/messages.h"
#include "wire/respond.h"

namespace flexrack::cu {

/// What a message's views show is gone when on() returns; a Respond may be kept and answered later, from any thread.
class Requests {
 public:
  virtual ~Requests() = default;
  virtual void on(const Describe& call, wire::Respond<Describe::Reply> respond) = 0;
  virtual void on(const Usage& call, wire::Respond<Usage::Reply> respond) = 0;
  virtual void on(const CreateContext& call, wire::Respond<CreateContext::Reply> respond) = 0;
  virtual void on(const ReleaseContext& message) = 0;
  virtual void on(const WaitContext& call, wire::Respond<WaitContext::Reply> respond) = 0;
  virtual void on(const SetLimit& call, wire::Respond<SetLimit::Reply> respond) = 0;
  virtual void on(const MemoryInfo& call, wire::Respond<MemoryInfo::Reply> respond) = 0;
  virtual void on(const Release& message) = 0;
  virtual void on(const ReserveAddresses& call, wire::Respond<ReserveAddresses::Reply> respond) = 0;
  virtual void on(const FreeAddresses& message) = 0;
  virtual void on(const Allocate& call, wire::Respond<Allocate::Reply> respond) = 0;
  virtual void on(const Free& message) = 0;
  virtual void on(const CreateMemory& call, wire::Respond<CreateMemory::Reply> respond) = 0;
  virtual void on(const MapMemory& message) = 0;
  virtual void on(const UnmapMemory& call, wire::Respond<UnmapMemory::Reply> respond) = 0;
  virtual void on(const SetAccess& message) = 0;
  virtual void on(const MemoryGranularity& call, wire::Respond<MemoryGranularity::Reply> respond) = 0;
  virtual void on(const DefaultPool& message) = 0;
  virtual void on(const CreatePool& call, wire::Respond<CreatePool::Reply> respond) = 0;
  virtual void on(const AllocateFromPool& call, wire::Respond<AllocateFromPool::Reply> respond) = 0;
  virtual void on(const FreeToPool& message) = 0;
  virtual void on(const SetPoolAttribute& message) = 0;
  virtual void on(const PoolAttribute& call, wire::Respond<PoolAttribute::Reply> respond) = 0;
  virtual void on(const CreateArray& call, wire::Respond<CreateArray::Reply> respond) = 0;
  virtual void on(const CreateTexture& call, wire::Respond<CreateTexture::Reply> respond) = 0;
  virtual void on(const CreateSurface& call, wire::Respond<CreateSurface::Reply> respond) = 0;
  virtual void on(const HaveImages& call, wire::Respond<HaveImages::Reply> respond) = 0;
  virtual void on(const Load& call, wire::Respond<Load::Reply> respond) = 0;
  virtual void on(const FindKernel& call, wire::Respond<FindKernel::Reply> respond) = 0;
  virtual void on(const FindVariable& call, wire::Respond<FindVariable::Reply> respond) = 0;
  virtual void on(const Link& call, wire::Respond<Link::Reply> respond) = 0;
  virtual void on(const OccupancyOfClusters& call, wire::Respond<OccupancyOfClusters::Reply> respond) = 0;
  virtual void on(const Launch& message) = 0;
  virtual void on(const WriteMemory& message) = 0;
  virtual void on(const ReadMemory& message) = 0;
  virtual void on(const CopyMemory& message) = 0;
  virtual void on(const WriteRows& message) = 0;
  virtual void on(const ReadRows& message) = 0;
  virtual void on(const CopyRows& message) = 0;
  virtual void on(const Fill& message) = 0;
  virtual void on(const WriteRanges& message) = 0;
  virtual void on(const HostFunction& message) = 0;
  virtual void on(const RanHostFunction& message) = 0;
  virtual void on(const WaitLatch& message) = 0;
  virtual void on(const OpenLatch& message) = 0;
  virtual void on(const CreateStream& message) = 0;
  virtual void on(const WaitStream& call, wire::Respond<WaitStream::Reply> respond) = 0;
  virtual void on(const QueryStream& call, wire::Respond<QueryStream::Reply> respond) = 0;
  virtual void on(const SetStreamAttribute& message) = 0;
  virtual void on(const StreamAttribute& call, wire::Respond<StreamAttribute::Reply> respond) = 0;
  virtual void on(const CreateEvent& message) = 0;
  virtual void on(const WaitEvent& call, wire::Respond<WaitEvent::Reply> respond) = 0;
  virtual void on(const QueryEvent& call, wire::Respond<QueryEvent::Reply> respond) = 0;
  virtual void on(const WatchEvent& message) = 0;
  virtual void on(const ElapsedTime& call, wire::Respond<ElapsedTime::Reply> respond) = 0;
  virtual void on(const CreateGraph& message) = 0;
  virtual void on(const AddNode& message) = 0;
  virtual void on(const ConditionalHandle& call, wire::Respond<ConditionalHandle::Reply> respond) = 0;
  virtual void on(const AddCondition& message) = 0;
  virtual void on(const ClearGraph& message) = 0;
  virtual void on(const Instantiate& call, wire::Respond<Instantiate::Reply> respond) = 0;
  virtual void on(const UpdateExec& call, wire::Respond<UpdateExec::Reply> respond) = 0;
  virtual void on(const SetExecNode& message) = 0;
  virtual void on(const EnableNode& message) = 0;
  virtual void on(const LaunchGraph& message) = 0;
  virtual void on(const GraphInput& message) = 0;
  virtual void on(const PeerAccept& call, wire::Respond<PeerAccept::Reply> respond) = 0;
  virtual void on(const PeerOpen& call, wire::Respond<PeerOpen::Reply> respond) = 0;
  virtual void on(const ExportMemory& message) = 0;
  virtual void on(const ImportMemory& message) = 0;
  virtual void on(const PeerReady& call, wire::Respond<PeerReady::Reply> respond) = 0;
  virtual void on(const PeerClose& message) = 0;
  virtual void on(const SignalPeer& message) = 0;
  virtual void on(const AwaitPeer& message) = 0;
  virtual void on(const CollectiveVersion& call, wire::Respond<CollectiveVersion::Reply> respond) = 0;
  virtual void on(const CollectiveId& call, wire::Respond<CollectiveId::Reply> respond) = 0;
  virtual void on(const JoinCollectives& call, wire::Respond<JoinCollectives::Reply> respond) = 0;
  virtual void on(const Collectives& message) = 0;
  virtual void on(const SplitCollectives& call, wire::Respond<SplitCollectives::Reply> respond) = 0;
  virtual void on(const EndCollectives& call, wire::Respond<EndCollectives::Reply> respond) = 0;
  virtual void on(const RestoreImage& call, wire::Respond<RestoreImage::Reply> respond) = 0;
  virtual void on(const RestoreMessage& call, wire::Respond<RestoreMessage::Reply> respond) = 0;
  virtual void on(const RestoreMemory& call, wire::Respond<RestoreMemory::Reply> respond) = 0;
  virtual void on(const RestoreVariables& call, wire::Respond<RestoreVariables::Reply> respond) = 0;
  virtual void on(const RestoreBytes& call, wire::Respond<RestoreBytes::Reply> respond) = 0;
  virtual void on(const RestoreContext& call, wire::Respond<RestoreContext::Reply> respond) = 0;
  virtual void on(const RestoreEvent& message) = 0;
  virtual void on(const TakeOver& call, wire::Respond<TakeOver::Reply> respond) = 0;
  virtual void on(const Replicate& call, wire::Respond<Replicate::Reply> respond) = 0;
  virtual void on(const ShareObject& call, wire::Respond<ShareObject::Reply> respond) = 0;
  virtual void on(const OpenMemory& call, wire::Respond<OpenMemory::Reply> respond) = 0;
  virtual void on(const CloseMemory& call, wire::Respond<CloseMemory::Reply> respond) = 0;
  virtual void on(const OpenEvent& call, wire::Respond<OpenEvent::Reply> respond) = 0;
  virtual void on(const OpenPhysical& call, wire::Respond<OpenPhysical::Reply> respond) = 0;
  virtual void on(const DeviceGetTexture1dLinearMaxWidth& call, wire::Respond<DeviceGetTexture1dLinearMaxWidth::Reply> respond) = 0;
  virtual void on(const CtxSetFlags& message) = 0;
  virtual void on(const CtxSetCacheConfig& message) = 0;
  virtual void on(const CtxResetPersistingL2Cache& message) = 0;
  virtual void on(const CtxRecordEvent& message) = 0;
  virtual void on(const CtxWaitEvent& message) = 0;
  virtual void on(const KernelSetAttribute& call, wire::Respond<KernelSetAttribute::Reply> respond) = 0;
  virtual void on(const KernelSetCacheConfig& message) = 0;
  virtual void on(const ArrayGetMemoryRequirements& call, wire::Respond<ArrayGetMemoryRequirements::Reply> respond) = 0;
  virtual void on(const MipmappedArrayGetMemoryRequirements& call, wire::Respond<MipmappedArrayGetMemoryRequirements::Reply> respond) = 0;
  virtual void on(const ArrayGetPlane& call, wire::Respond<ArrayGetPlane::Reply> respond) = 0;
  virtual void on(const MipmappedArrayGetLevel& call, wire::Respond<MipmappedArrayGetLevel::Reply> respond) = 0;
  virtual void on(const MemGetAccess& call, wire::Respond<MemGetAccess::Reply> respond) = 0;
  virtual void on(const MemPoolTrimTo& message) = 0;
  virtual void on(const MemPoolSetAccess& message) = 0;
  virtual void on(const MemPoolGetAccess& call, wire::Respond<MemPoolGetAccess::Reply> respond) = 0;
  virtual void on(const StreamWaitEvent& message) = 0;
  virtual void on(const StreamCopyAttributes& message) = 0;
  virtual void on(const EventRecord& message) = 0;
  virtual void on(const EventRecordWithFlags& message) = 0;
  virtual void on(const StreamWaitValue32& message) = 0;
  virtual void on(const StreamWaitValue64& message) = 0;
  virtual void on(const StreamWriteValue32& message) = 0;
  virtual void on(const StreamWriteValue64& message) = 0;
  virtual void on(const StreamBatchMemOp& message) = 0;
  virtual void on(const FuncSetAttribute& call, wire::Respond<FuncSetAttribute::Reply> respond) = 0;
  virtual void on(const FuncSetCacheConfig& message) = 0;
  virtual void on(const FuncIsLoaded& call, wire::Respond<FuncIsLoaded::Reply> respond) = 0;
  virtual void on(const FuncLoad& message) = 0;
  virtual void on(const FuncSetSharedMemConfig& message) = 0;
  virtual void on(const GraphUpload& message) = 0;
  virtual void on(const OccupancyMaxActiveBlocksPerMultiprocessorWithFlags& call, wire::Respond<OccupancyMaxActiveBlocksPerMultiprocessorWithFlags::Reply> respond) = 0;
  virtual void on(const OccupancyAvailableDynamicSmemPerBlock& call, wire::Respond<OccupancyAvailableDynamicSmemPerBlock::Reply> respond) = 0;
  virtual void on(const TexObjectDestroy& message) = 0;
  virtual void on(const SurfObjectDestroy& message) = 0;
  virtual void on(const CtxEnablePeerAccess& call, wire::Respond<CtxEnablePeerAccess::Reply> respond) = 0;
  virtual void on(const CtxDisablePeerAccess& call, wire::Respond<CtxDisablePeerAccess::Reply> respond) = 0;
};

class Notices {
 public:
  virtual ~Notices() = default;
  virtual void on(const Failed& message) = 0;
  virtual void on(const RunHostFunction& message) = 0;
  virtual void on(const EventReached& message) = 0;
  virtual void on(const Printed& message) = 0;
  virtual void on(const Changed& message) = 0;
  virtual void on(const CollectivesFailed& message) = 0;
};

enum class Dispatch {
  ok,
  unknown,   ///< no message of this direction has that op
  malformed  ///< the body is not what the op says; nothing was called
};

Dispatch dispatch(Requests& requests, wire::Link& link, const wire::Header& header, wire::View body);
Dispatch dispatch(Notices& notices, const wire::Header& header, wire::View body);

/// What a message of a client is called, as it is in its struct; null: it is none.
const char* name_of(std::uint16_t op);
/// Somebody waits for the answer to it.
bool is_call(std::uint16_t op);

}  // namespace flexrack::cu
