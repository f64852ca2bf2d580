// Finds the handler of a message of cuda.
// Generated from native/spec/cuda.* by native/codegen/generate.ts; change those.
#include "gen/cuda/requests.h"

namespace flexrack::cu {

namespace {

template <class Message, class To>
Dispatch pass(To& to, wire::View body) {
  Message message;
  if (!decode(body, message)) return Dispatch::malformed;
  to.on(message);
  return Dispatch::ok;
}

template <class Message>
Dispatch call(Requests& requests, wire::Link& link, const wire::Header& header, wire::View body) {
  Message message;
  if (!decode(body, message)) return Dispatch::malformed;
  requests.on(message, wire::Respond<typename Message::Reply>(link, header));
  return Dispatch::ok;
}

}  // namespace

Dispatch dispatch(Requests& requests, wire::Link& link, const wire::Header& header, wire::View body) {
  switch (header.op) {
    case Describe::kOp: return call<Describe>(requests, link, header, body);
    case Usage::kOp: return call<Usage>(requests, link, header, body);
    case CreateContext::kOp: return call<CreateContext>(requests, link, header, body);
    case ReleaseContext::kOp: return pass<ReleaseContext>(requests, body);
    case WaitContext::kOp: return call<WaitContext>(requests, link, header, body);
    case SetLimit::kOp: return call<SetLimit>(requests, link, header, body);
    case MemoryInfo::kOp: return call<MemoryInfo>(requests, link, header, body);
    case Release::kOp: return pass<Release>(requests, body);
    case ReserveAddresses::kOp: return call<ReserveAddresses>(requests, link, header, body);
    case FreeAddresses::kOp: return pass<FreeAddresses>(requests, body);
    case Allocate::kOp: return call<Allocate>(requests, link, header, body);
    case Free::kOp: return pass<Free>(requests, body);
    case CreateMemory::kOp: return call<CreateMemory>(requests, link, header, body);
    case MapMemory::kOp: return pass<MapMemory>(requests, body);
    case UnmapMemory::kOp: return call<UnmapMemory>(requests, link, header, body);
    case SetAccess::kOp: return pass<SetAccess>(requests, body);
    case MemoryGranularity::kOp: return call<MemoryGranularity>(requests, link, header, body);
    case DefaultPool::kOp: return pass<DefaultPool>(requests, body);
    case CreatePool::kOp: return call<CreatePool>(requests, link, header, body);
    case AllocateFromPool::kOp: return call<AllocateFromPool>(requests, link, header, body);
    case FreeToPool::kOp: return pass<FreeToPool>(requests, body);
    case SetPoolAttribute::kOp: return pass<SetPoolAttribute>(requests, body);
    case PoolAttribute::kOp: return call<PoolAttribute>(requests, link, header, body);
    case CreateArray::kOp: return call<CreateArray>(requests, link, header, body);
    case CreateTexture::kOp: return call<CreateTexture>(requests, link, header, body);
    case CreateSurface::kOp: return call<CreateSurface>(requests, link, header, body);
    case HaveImages::kOp: return call<HaveImages>(requests, link, header, body);
    case Load::kOp: return call<Load>(requests, link, header, body);
    case FindKernel::kOp: return call<FindKernel>(requests, link, header, body);
    case FindVariable::kOp: return call<FindVariable>(requests, link, header, body);
    case Link::kOp: return call<Link>(requests, link, header, body);
    case OccupancyOfClusters::kOp: return call<OccupancyOfClusters>(requests, link, header, body);
    case Launch::kOp: return pass<Launch>(requests, body);
    case WriteMemory::kOp: return pass<WriteMemory>(requests, body);
    case ReadMemory::kOp: return pass<ReadMemory>(requests, body);
    case CopyMemory::kOp: return pass<CopyMemory>(requests, body);
    case WriteRows::kOp: return pass<WriteRows>(requests, body);
    case ReadRows::kOp: return pass<ReadRows>(requests, body);
    case CopyRows::kOp: return pass<CopyRows>(requests, body);
    case Fill::kOp: return pass<Fill>(requests, body);
    case WriteRanges::kOp: return pass<WriteRanges>(requests, body);
    case HostFunction::kOp: return pass<HostFunction>(requests, body);
    case RanHostFunction::kOp: return pass<RanHostFunction>(requests, body);
    case WaitLatch::kOp: return pass<WaitLatch>(requests, body);
    case OpenLatch::kOp: return pass<OpenLatch>(requests, body);
    case CreateStream::kOp: return pass<CreateStream>(requests, body);
    case WaitStream::kOp: return call<WaitStream>(requests, link, header, body);
    case QueryStream::kOp: return call<QueryStream>(requests, link, header, body);
    case SetStreamAttribute::kOp: return pass<SetStreamAttribute>(requests, body);
    case StreamAttribute::kOp: return call<StreamAttribute>(requests, link, header, body);
    case CreateEvent::kOp: return pass<CreateEvent>(requests, body);
    case WaitEvent::kOp: return call<WaitEvent>(requests, link, header, body);
    case QueryEvent::kOp: return call<QueryEvent>(requests, link, header, body);
    case WatchEvent::kOp: return pass<WatchEvent>(requests, body);
    case ElapsedTime::kOp: return call<ElapsedTime>(requests, link, header, body);
    case CreateGraph::kOp: return pass<CreateGraph>(requests, body);
    case AddNode::kOp: return pass<AddNode>(requests, body);
    case ConditionalHandle::kOp: return call<ConditionalHandle>(requests, link, header, body);
    case AddCondition::kOp: return pass<AddCondition>(requests, body);
    case ClearGraph::kOp: return pass<ClearGraph>(requests, body);
    case Instantiate::kOp: return call<Instantiate>(requests, link, header, body);
    case UpdateExec::kOp: return call<UpdateExec>(requests, link, header, body);
    case SetExecNode::kOp: return pass<SetExecNode>(requests, body);
    case EnableNode::kOp: return pass<EnableNode>(requests, body);
    case LaunchGraph::kOp: return pass<LaunchGraph>(requests, body);
    case GraphInput::kOp: return pass<GraphInput>(requests, body);
    case PeerAccept::kOp: return call<PeerAccept>(requests, link, header, body);
    case PeerOpen::kOp: return call<PeerOpen>(requests, link, header, body);
    case ExportMemory::kOp: return pass<ExportMemory>(requests, body);
    case ImportMemory::kOp: return pass<ImportMemory>(requests, body);
    case PeerReady::kOp: return call<PeerReady>(requests, link, header, body);
    case PeerClose::kOp: return pass<PeerClose>(requests, body);
    case SignalPeer::kOp: return pass<SignalPeer>(requests, body);
    case AwaitPeer::kOp: return pass<AwaitPeer>(requests, body);
    case CollectiveVersion::kOp: return call<CollectiveVersion>(requests, link, header, body);
    case CollectiveId::kOp: return call<CollectiveId>(requests, link, header, body);
    case JoinCollectives::kOp: return call<JoinCollectives>(requests, link, header, body);
    case Collectives::kOp: return pass<Collectives>(requests, body);
    case SplitCollectives::kOp: return call<SplitCollectives>(requests, link, header, body);
    case EndCollectives::kOp: return call<EndCollectives>(requests, link, header, body);
    case RestoreImage::kOp: return call<RestoreImage>(requests, link, header, body);
    case RestoreMessage::kOp: return call<RestoreMessage>(requests, link, header, body);
    case RestoreMemory::kOp: return call<RestoreMemory>(requests, link, header, body);
    case RestoreVariables::kOp: return call<RestoreVariables>(requests, link, header, body);
    case RestoreBytes::kOp: return call<RestoreBytes>(requests, link, header, body);
    case RestoreContext::kOp: return call<RestoreContext>(requests, link, header, body);
    case RestoreEvent::kOp: return pass<RestoreEvent>(requests, body);
    case TakeOver::kOp: return call<TakeOver>(requests, link, header, body);
    case Replicate::kOp: return call<Replicate>(requests, link, header, body);
    case ShareObject::kOp: return call<ShareObject>(requests, link, header, body);
    case OpenMemory::kOp: return call<OpenMemory>(requests, link, header, body);
    case CloseMemory::kOp: return call<CloseMemory>(requests, link, header, body);
    case OpenEvent::kOp: return call<OpenEvent>(requests, link, header, body);
    case OpenPhysical::kOp: return call<OpenPhysical>(requests, link, header, body);
    case DeviceGetTexture1dLinearMaxWidth::kOp: return call<DeviceGetTexture1dLinearMaxWidth>(requests, link, header, body);
    case CtxSetFlags::kOp: return pass<CtxSetFlags>(requests, body);
    case CtxSetCacheConfig::kOp: return pass<CtxSetCacheConfig>(requests, body);
    case CtxResetPersistingL2Cache::kOp: return pass<CtxResetPersistingL2Cache>(requests, body);
    case CtxRecordEvent::kOp: return pass<CtxRecordEvent>(requests, body);
    case CtxWaitEvent::kOp: return pass<CtxWaitEvent>(requests, body);
    case KernelSetAttribute::kOp: return call<KernelSetAttribute>(requests, link, header, body);
    case KernelSetCacheConfig::kOp: return pass<KernelSetCacheConfig>(requests, body);
    case ArrayGetMemoryRequirements::kOp: return call<ArrayGetMemoryRequirements>(requests, link, header, body);
    case MipmappedArrayGetMemoryRequirements::kOp: return call<MipmappedArrayGetMemoryRequirements>(requests, link, header, body);
    case ArrayGetPlane::kOp: return call<ArrayGetPlane>(requests, link, header, body);
    case MipmappedArrayGetLevel::kOp: return call<MipmappedArrayGetLevel>(requests, link, header, body);
    case MemGetAccess::kOp: return call<MemGetAccess>(requests, link, header, body);
    case MemPoolTrimTo::kOp: return pass<MemPoolTrimTo>(requests, body);
    case MemPoolSetAccess::kOp: return pass<MemPoolSetAccess>(requests, body);
    case MemPoolGetAccess::kOp: return call<MemPoolGetAccess>(requests, link, header, body);
    case StreamWaitEvent::kOp: return pass<StreamWaitEvent>(requests, body);
    case StreamCopyAttributes::kOp: return pass<StreamCopyAttributes>(requests, body);
    case EventRecord::kOp: return pass<EventRecord>(requests, body);
    case EventRecordWithFlags::kOp: return pass<EventRecordWithFlags>(requests, body);
    case StreamWaitValue32::kOp: return pass<StreamWaitValue32>(requests, body);
    case StreamWaitValue64::kOp: return pass<StreamWaitValue64>(requests, body);
    case StreamWriteValue32::kOp: return pass<StreamWriteValue32>(requests, body);
    case StreamWriteValue64::kOp: return pass<StreamWriteValue64>(requests, body);
    case StreamBatchMemOp::kOp: return pass<StreamBatchMemOp>(requests, body);
    case FuncSetAttribute::kOp: return call<FuncSetAttribute>(requests, link, header, body);
    case FuncSetCacheConfig::kOp: return pass<FuncSetCacheConfig>(requests, body);
    case FuncIsLoaded::kOp: return call<FuncIsLoaded>(requests, link, header, body);
    case FuncLoad::kOp: return pass<FuncLoad>(requests, body);
    case FuncSetSharedMemConfig::kOp: return pass<FuncSetSharedMemConfig>(requests, body);
    case GraphUpload::kOp: return pass<GraphUpload>(requests, body);
    case OccupancyMaxActiveBlocksPerMultiprocessorWithFlags::kOp: return call<OccupancyMaxActiveBlocksPerMultiprocessorWithFlags>(requests, link, header, body);
    case OccupancyAvailableDynamicSmemPerBlock::kOp: return call<OccupancyAvailableDynamicSmemPerBlock>(requests, link, header, body);
    case TexObjectDestroy::kOp: return pass<TexObjectDestroy>(requests, body);
    case SurfObjectDestroy::kOp: return pass<SurfObjectDestroy>(requests, body);
    case CtxEnablePeerAccess::kOp: return call<CtxEnablePeerAccess>(requests, link, header, body);
    case CtxDisablePeerAccess::kOp: return call<CtxDisablePeerAccess>(requests, link, header, body);
    default: return Dispatch::unknown;
  }
}

Dispatch dispatch(Notices& notices, const wire::Header& header, wire::View body) {
  switch (header.op) {
    case Failed::kOp: return pass<Failed>(notices, body);
    case RunHostFunction::kOp: return pass<RunHostFunction>(notices, body);
    case EventReached::kOp: return pass<EventReached>(notices, body);
    case Printed::kOp: return pass<Printed>(notices, body);
    case Changed::kOp: return pass<Changed>(notices, body);
    case CollectivesFailed::kOp: return pass<CollectivesFailed>(notices, body);
    default: return Dispatch::unknown;
  }
}

const char* name_of(std::uint16_t op) {
  switch (op) {
    case Describe::kOp: return Describe::kName;
    case Usage::kOp: return Usage::kName;
    case CreateContext::kOp: return CreateContext::kName;
    case ReleaseContext::kOp: return ReleaseContext::kName;
    case WaitContext::kOp: return WaitContext::kName;
    case SetLimit::kOp: return SetLimit::kName;
    case MemoryInfo::kOp: return MemoryInfo::kName;
    case Release::kOp: return Release::kName;
    case ReserveAddresses::kOp: return ReserveAddresses::kName;
    case FreeAddresses::kOp: return FreeAddresses::kName;
    case Allocate::kOp: return Allocate::kName;
    case Free::kOp: return Free::kName;
    case CreateMemory::kOp: return CreateMemory::kName;
    case MapMemory::kOp: return MapMemory::kName;
    case UnmapMemory::kOp: return UnmapMemory::kName;
    case SetAccess::kOp: return SetAccess::kName;
    case MemoryGranularity::kOp: return MemoryGranularity::kName;
    case DefaultPool::kOp: return DefaultPool::kName;
    case CreatePool::kOp: return CreatePool::kName;
    case AllocateFromPool::kOp: return AllocateFromPool::kName;
    case FreeToPool::kOp: return FreeToPool::kName;
    case SetPoolAttribute::kOp: return SetPoolAttribute::kName;
    case PoolAttribute::kOp: return PoolAttribute::kName;
    case CreateArray::kOp: return CreateArray::kName;
    case CreateTexture::kOp: return CreateTexture::kName;
    case CreateSurface::kOp: return CreateSurface::kName;
    case HaveImages::kOp: return HaveImages::kName;
    case Load::kOp: return Load::kName;
    case FindKernel::kOp: return FindKernel::kName;
    case FindVariable::kOp: return FindVariable::kName;
    case Link::kOp: return Link::kName;
    case OccupancyOfClusters::kOp: return OccupancyOfClusters::kName;
    case Launch::kOp: return Launch::kName;
    case WriteMemory::kOp: return WriteMemory::kName;
    case ReadMemory::kOp: return ReadMemory::kName;
    case CopyMemory::kOp: return CopyMemory::kName;
    case WriteRows::kOp: return WriteRows::kName;
    case ReadRows::kOp: return ReadRows::kName;
    case CopyRows::kOp: return CopyRows::kName;
    case Fill::kOp: return Fill::kName;
    case WriteRanges::kOp: return WriteRanges::kName;
    case HostFunction::kOp: return HostFunction::kName;
    case RanHostFunction::kOp: return RanHostFunction::kName;
    case WaitLatch::kOp: return WaitLatch::kName;
    case OpenLatch::kOp: return OpenLatch::kName;
    case CreateStream::kOp: return CreateStream::kName;
    case WaitStream::kOp: return WaitStream::kName;
    case QueryStream::kOp: return QueryStream::kName;
    case SetStreamAttribute::kOp: return SetStreamAttribute::kName;
    case StreamAttribute::kOp: return StreamAttribute::kName;
    case CreateEvent::kOp: return CreateEvent::kName;
    case WaitEvent::kOp: return WaitEvent::kName;
    case QueryEvent::kOp: return QueryEvent::kName;
    case WatchEvent::kOp: return WatchEvent::kName;
    case ElapsedTime::kOp: return ElapsedTime::kName;
    case CreateGraph::kOp: return CreateGraph::kName;
    case AddNode::kOp: return AddNode::kName;
    case ConditionalHandle::kOp: return ConditionalHandle::kName;
    case AddCondition::kOp: return AddCondition::kName;
    case ClearGraph::kOp: return ClearGraph::kName;
    case Instantiate::kOp: return Instantiate::kName;
    case UpdateExec::kOp: return UpdateExec::kName;
    case SetExecNode::kOp: return SetExecNode::kName;
    case EnableNode::kOp: return EnableNode::kName;
    case LaunchGraph::kOp: return LaunchGraph::kName;
    case GraphInput::kOp: return GraphInput::kName;
    case PeerAccept::kOp: return PeerAccept::kName;
    case PeerOpen::kOp: return PeerOpen::kName;
    case ExportMemory::kOp: return ExportMemory::kName;
    case ImportMemory::kOp: return ImportMemory::kName;
    case PeerReady::kOp: return PeerReady::kName;
    case PeerClose::kOp: return PeerClose::kName;
    case SignalPeer::kOp: return SignalPeer::kName;
    case AwaitPeer::kOp: return AwaitPeer::kName;
    case CollectiveVersion::kOp: return CollectiveVersion::kName;
    case CollectiveId::kOp: return CollectiveId::kName;
    case JoinCollectives::kOp: return JoinCollectives::kName;
    case Collectives::kOp: return Collectives::kName;
    case SplitCollectives::kOp: return SplitCollectives::kName;
    case EndCollectives::kOp: return EndCollectives::kName;
    case RestoreImage::kOp: return RestoreImage::kName;
    case RestoreMessage::kOp: return RestoreMessage::kName;
    case RestoreMemory::kOp: return RestoreMemory::kName;
    case RestoreVariables::kOp: return RestoreVariables::kName;
    case RestoreBytes::kOp: return RestoreBytes::kName;
    case RestoreContext::kOp: return RestoreContext::kName;
    case RestoreEvent::kOp: return RestoreEvent::kName;
    case TakeOver::kOp: return TakeOver::kName;
    case Replicate::kOp: return Replicate::kName;
    case ShareObject::kOp: return ShareObject::kName;
    case OpenMemory::kOp: return OpenMemory::kName;
    case CloseMemory::kOp: return CloseMemory::kName;
    case OpenEvent::kOp: return OpenEvent::kName;
    case OpenPhysical::kOp: return OpenPhysical::kName;
    case DeviceGetTexture1dLinearMaxWidth::kOp: return DeviceGetTexture1dLinearMaxWidth::kName;
    case CtxSetFlags::kOp: return CtxSetFlags::kName;
    case CtxSetCacheConfig::kOp: return CtxSetCacheConfig::kName;
    case CtxResetPersistingL2Cache::kOp: return CtxResetPersistingL2Cache::kName;
    case CtxRecordEvent::kOp: return CtxRecordEvent::kName;
    case CtxWaitEvent::kOp: return CtxWaitEvent::kName;
    case KernelSetAttribute::kOp: return KernelSetAttribute::kName;
    case KernelSetCacheConfig::kOp: return KernelSetCacheConfig::kName;
    case ArrayGetMemoryRequirements::kOp: return ArrayGetMemoryRequirements::kName;
    case MipmappedArrayGetMemoryRequirements::kOp: return MipmappedArrayGetMemoryRequirements::kName;
    case ArrayGetPlane::kOp: return ArrayGetPlane::kName;
    case MipmappedArrayGetLevel::kOp: return MipmappedArrayGetLevel::kName;
    case MemGetAccess::kOp: return MemGetAccess::kName;
    case MemPoolTrimTo::kOp: return MemPoolTrimTo::kName;
    case MemPoolSetAccess::kOp: return MemPoolSetAccess::kName;
    case MemPoolGetAccess::kOp: return MemPoolGetAccess::kName;
    case StreamWaitEvent::kOp: return StreamWaitEvent::kName;
    case StreamCopyAttributes::kOp: return StreamCopyAttributes::kName;
    case EventRecord::kOp: return EventRecord::kName;
    case EventRecordWithFlags::kOp: return EventRecordWithFlags::kName;
    case StreamWaitValue32::kOp: return StreamWaitValue32::kName;
    case StreamWaitValue64::kOp: return StreamWaitValue64::kName;
    case StreamWriteValue32::kOp: return StreamWriteValue32::kName;
    case StreamWriteValue64::kOp: return StreamWriteValue64::kName;
    case StreamBatchMemOp::kOp: return StreamBatchMemOp::kName;
    case FuncSetAttribute::kOp: return FuncSetAttribute::kName;
    case FuncSetCacheConfig::kOp: return FuncSetCacheConfig::kName;
    case FuncIsLoaded::kOp: return FuncIsLoaded::kName;
    case FuncLoad::kOp: return FuncLoad::kName;
    case FuncSetSharedMemConfig::kOp: return FuncSetSharedMemConfig::kName;
    case GraphUpload::kOp: return GraphUpload::kName;
    case OccupancyMaxActiveBlocksPerMultiprocessorWithFlags::kOp: return OccupancyMaxActiveBlocksPerMultiprocessorWithFlags::kName;
    case OccupancyAvailableDynamicSmemPerBlock::kOp: return OccupancyAvailableDynamicSmemPerBlock::kName;
    case TexObjectDestroy::kOp: return TexObjectDestroy::kName;
    case SurfObjectDestroy::kOp: return SurfObjectDestroy::kName;
    case CtxEnablePeerAccess::kOp: return CtxEnablePeerAccess::kName;
    case CtxDisablePeerAccess::kOp: return CtxDisablePeerAccess::kName;
    default: return nullptr;
  }
}

bool is_call(std::uint16_t op) {
  switch (op) {
    case Describe::kOp:
    case Usage::kOp:
    case CreateContext::kOp:
    case WaitContext::kOp:
    case SetLimit::kOp:
    case MemoryInfo::kOp:
    case ReserveAddresses::kOp:
    case Allocate::kOp:
    case CreateMemory::kOp:
    case UnmapMemory::kOp:
    case MemoryGranularity::kOp:
    case CreatePool::kOp:
    case AllocateFromPool::kOp:
    case PoolAttribute::kOp:
    case CreateArray::kOp:
    case CreateTexture::kOp:
    case CreateSurface::kOp:
    case HaveImages::kOp:
    case Load::kOp:
    case FindKernel::kOp:
    case FindVariable::kOp:
    case Link::kOp:
    case OccupancyOfClusters::kOp:
    case WaitStream::kOp:
    case QueryStream::kOp:
    case StreamAttribute::kOp:
    case WaitEvent::kOp:
    case QueryEvent::kOp:
    case ElapsedTime::kOp:
    case ConditionalHandle::kOp:
    case Instantiate::kOp:
    case UpdateExec::kOp:
    case PeerAccept::kOp:
    case PeerOpen::kOp:
    case PeerReady::kOp:
    case CollectiveVersion::kOp:
    case CollectiveId::kOp:
    case JoinCollectives::kOp:
    case SplitCollectives::kOp:
    case EndCollectives::kOp:
    case RestoreImage::kOp:
    case RestoreMessage::kOp:
    case RestoreMemory::kOp:
    case RestoreVariables::kOp:
    case RestoreBytes::kOp:
    case RestoreContext::kOp:
    case TakeOver::kOp:
    case Replicate::kOp:
    case ShareObject::kOp:
    case OpenMemory::kOp:
    case CloseMemory::kOp:
    case OpenEvent::kOp:
    case OpenPhysical::kOp:
    case DeviceGetTexture1dLinearMaxWidth::kOp:
    case KernelSetAttribute::kOp:
    case ArrayGetMemoryRequirements::kOp:
    case MipmappedArrayGetMemoryRequirements::kOp:
    case ArrayGetPlane::kOp:
    case MipmappedArrayGetLevel::kOp:
    case MemGetAccess::kOp:
    case MemPoolGetAccess::kOp:
    case FuncSetAttribute::kOp:
    case FuncIsLoaded::kOp:
    case OccupancyMaxActiveBlocksPerMultiprocessorWithFlags::kOp:
    case OccupancyAvailableDynamicSmemPerBlock::kOp:
    case CtxEnablePeerAccess::kOp:
    case CtxDisablePeerAccess::kOp:
      return true;
    default: return false;
  }
}

}  // namespace flexrack::cu
