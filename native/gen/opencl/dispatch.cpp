// Finds the handler of a message of opencl.
// Generated from native/spec/opencl.* by native/codegen/generate.ts; change those.
#include "gen/opencl/requests.h"

namespace flexrack::cl {

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
    case CreateContext::kOp: return call<CreateContext>(requests, link, header, body);
    case CreateQueue::kOp: return call<CreateQueue>(requests, link, header, body);
    case Release::kOp: return pass<Release>(requests, body);
    case Flush::kOp: return pass<Flush>(requests, body);
    case DeviceTime::kOp: return call<DeviceTime>(requests, link, header, body);
    case CreateSubDevices::kOp: return call<CreateSubDevices>(requests, link, header, body);
    case ReleaseDevice::kOp: return pass<ReleaseDevice>(requests, body);
    case CreateBuffer::kOp: return call<CreateBuffer>(requests, link, header, body);
    case CreateSubBuffer::kOp: return call<CreateSubBuffer>(requests, link, header, body);
    case CreateImage::kOp: return call<CreateImage>(requests, link, header, body);
    case ImageFormats::kOp: return call<ImageFormats>(requests, link, header, body);
    case CreateSampler::kOp: return call<CreateSampler>(requests, link, header, body);
    case CreatePipe::kOp: return call<CreatePipe>(requests, link, header, body);
    case Reserve::kOp: return call<Reserve>(requests, link, header, body);
    case CreateProgram::kOp: return call<CreateProgram>(requests, link, header, body);
    case BuildProgram::kOp: return call<BuildProgram>(requests, link, header, body);
    case CompileProgram::kOp: return call<CompileProgram>(requests, link, header, body);
    case LinkProgram::kOp: return call<LinkProgram>(requests, link, header, body);
    case ProgramBinaries::kOp: return call<ProgramBinaries>(requests, link, header, body);
    case ProgramInfo::kOp: return call<ProgramInfo>(requests, link, header, body);
    case SpecializeProgram::kOp: return call<SpecializeProgram>(requests, link, header, body);
    case BuildInfo::kOp: return call<BuildInfo>(requests, link, header, body);
    case CreateKernel::kOp: return call<CreateKernel>(requests, link, header, body);
    case CloneKernel::kOp: return call<CloneKernel>(requests, link, header, body);
    case SubGroupInfo::kOp: return call<SubGroupInfo>(requests, link, header, body);
    case KernelExecInfo::kOp: return call<KernelExecInfo>(requests, link, header, body);
    case CheckArgument::kOp: return call<CheckArgument>(requests, link, header, body);
    case SuggestLocalSize::kOp: return call<SuggestLocalSize>(requests, link, header, body);
    case Launch::kOp: return pass<Launch>(requests, body);
    case WriteBuffer::kOp: return pass<WriteBuffer>(requests, body);
    case ReadBuffer::kOp: return pass<ReadBuffer>(requests, body);
    case WriteRect::kOp: return pass<WriteRect>(requests, body);
    case ReadRect::kOp: return pass<ReadRect>(requests, body);
    case CopyBuffer::kOp: return pass<CopyBuffer>(requests, body);
    case CopyRect::kOp: return pass<CopyRect>(requests, body);
    case FillBuffer::kOp: return pass<FillBuffer>(requests, body);
    case WriteImage::kOp: return pass<WriteImage>(requests, body);
    case ReadImage::kOp: return pass<ReadImage>(requests, body);
    case CopyImage::kOp: return pass<CopyImage>(requests, body);
    case CopyImageToBuffer::kOp: return pass<CopyImageToBuffer>(requests, body);
    case CopyBufferToImage::kOp: return pass<CopyBufferToImage>(requests, body);
    case FillImage::kOp: return pass<FillImage>(requests, body);
    case Migrate::kOp: return pass<Migrate>(requests, body);
    case Marker::kOp: return pass<Marker>(requests, body);
    case Barrier::kOp: return pass<Barrier>(requests, body);
    case CreateUserEvent::kOp: return pass<CreateUserEvent>(requests, body);
    case SetUserEvent::kOp: return pass<SetUserEvent>(requests, body);
    case Watch::kOp: return pass<Watch>(requests, body);
    case WatchStage::kOp: return pass<WatchStage>(requests, body);
    case Fence::kOp: return pass<Fence>(requests, body);
    case EventStatus::kOp: return call<EventStatus>(requests, link, header, body);
    case SvmAllocate::kOp: return call<SvmAllocate>(requests, link, header, body);
    case SvmWrite::kOp: return pass<SvmWrite>(requests, body);
    case SvmRead::kOp: return pass<SvmRead>(requests, body);
    case SvmCopy::kOp: return pass<SvmCopy>(requests, body);
    case SvmFill::kOp: return pass<SvmFill>(requests, body);
    case SvmMigrate::kOp: return pass<SvmMigrate>(requests, body);
    case PeerAccept::kOp: return call<PeerAccept>(requests, link, header, body);
    case PeerOpen::kOp: return call<PeerOpen>(requests, link, header, body);
    case ExportMemory::kOp: return pass<ExportMemory>(requests, body);
    case ImportMemory::kOp: return pass<ImportMemory>(requests, body);
    default: return Dispatch::unknown;
  }
}

Dispatch dispatch(Notices& notices, const wire::Header& header, wire::View body) {
  switch (header.op) {
    case Completed::kOp: return pass<Completed>(notices, body);
    case Reached::kOp: return pass<Reached>(notices, body);
    case Printed::kOp: return pass<Printed>(notices, body);
    case ContextError::kOp: return pass<ContextError>(notices, body);
    case Failed::kOp: return pass<Failed>(notices, body);
    default: return Dispatch::unknown;
  }
}

const char* name_of(std::uint16_t op) {
  switch (op) {
    case Describe::kOp: return Describe::kName;
    case CreateContext::kOp: return CreateContext::kName;
    case CreateQueue::kOp: return CreateQueue::kName;
    case Release::kOp: return Release::kName;
    case Flush::kOp: return Flush::kName;
    case DeviceTime::kOp: return DeviceTime::kName;
    case CreateSubDevices::kOp: return CreateSubDevices::kName;
    case ReleaseDevice::kOp: return ReleaseDevice::kName;
    case CreateBuffer::kOp: return CreateBuffer::kName;
    case CreateSubBuffer::kOp: return CreateSubBuffer::kName;
    case CreateImage::kOp: return CreateImage::kName;
    case ImageFormats::kOp: return ImageFormats::kName;
    case CreateSampler::kOp: return CreateSampler::kName;
    case CreatePipe::kOp: return CreatePipe::kName;
    case Reserve::kOp: return Reserve::kName;
    case CreateProgram::kOp: return CreateProgram::kName;
    case BuildProgram::kOp: return BuildProgram::kName;
    case CompileProgram::kOp: return CompileProgram::kName;
    case LinkProgram::kOp: return LinkProgram::kName;
    case ProgramBinaries::kOp: return ProgramBinaries::kName;
    case ProgramInfo::kOp: return ProgramInfo::kName;
    case SpecializeProgram::kOp: return SpecializeProgram::kName;
    case BuildInfo::kOp: return BuildInfo::kName;
    case CreateKernel::kOp: return CreateKernel::kName;
    case CloneKernel::kOp: return CloneKernel::kName;
    case SubGroupInfo::kOp: return SubGroupInfo::kName;
    case KernelExecInfo::kOp: return KernelExecInfo::kName;
    case CheckArgument::kOp: return CheckArgument::kName;
    case SuggestLocalSize::kOp: return SuggestLocalSize::kName;
    case Launch::kOp: return Launch::kName;
    case WriteBuffer::kOp: return WriteBuffer::kName;
    case ReadBuffer::kOp: return ReadBuffer::kName;
    case WriteRect::kOp: return WriteRect::kName;
    case ReadRect::kOp: return ReadRect::kName;
    case CopyBuffer::kOp: return CopyBuffer::kName;
    case CopyRect::kOp: return CopyRect::kName;
    case FillBuffer::kOp: return FillBuffer::kName;
    case WriteImage::kOp: return WriteImage::kName;
    case ReadImage::kOp: return ReadImage::kName;
    case CopyImage::kOp: return CopyImage::kName;
    case CopyImageToBuffer::kOp: return CopyImageToBuffer::kName;
    case CopyBufferToImage::kOp: return CopyBufferToImage::kName;
    case FillImage::kOp: return FillImage::kName;
    case Migrate::kOp: return Migrate::kName;
    case Marker::kOp: return Marker::kName;
    case Barrier::kOp: return Barrier::kName;
    case CreateUserEvent::kOp: return CreateUserEvent::kName;
    case SetUserEvent::kOp: return SetUserEvent::kName;
    case Watch::kOp: return Watch::kName;
    case WatchStage::kOp: return WatchStage::kName;
    case Fence::kOp: return Fence::kName;
    case EventStatus::kOp: return EventStatus::kName;
    case SvmAllocate::kOp: return SvmAllocate::kName;
    case SvmWrite::kOp: return SvmWrite::kName;
    case SvmRead::kOp: return SvmRead::kName;
    case SvmCopy::kOp: return SvmCopy::kName;
    case SvmFill::kOp: return SvmFill::kName;
    case SvmMigrate::kOp: return SvmMigrate::kName;
    case PeerAccept::kOp: return PeerAccept::kName;
    case PeerOpen::kOp: return PeerOpen::kName;
    case ExportMemory::kOp: return ExportMemory::kName;
    case ImportMemory::kOp: return ImportMemory::kName;
    default: return nullptr;
  }
}

bool is_call(std::uint16_t op) {
  switch (op) {
    case Describe::kOp:
    case CreateContext::kOp:
    case CreateQueue::kOp:
    case DeviceTime::kOp:
    case CreateSubDevices::kOp:
    case CreateBuffer::kOp:
    case CreateSubBuffer::kOp:
    case CreateImage::kOp:
    case ImageFormats::kOp:
    case CreateSampler::kOp:
    case CreatePipe::kOp:
    case Reserve::kOp:
    case CreateProgram::kOp:
    case BuildProgram::kOp:
    case CompileProgram::kOp:
    case LinkProgram::kOp:
    case ProgramBinaries::kOp:
    case ProgramInfo::kOp:
    case SpecializeProgram::kOp:
    case BuildInfo::kOp:
    case CreateKernel::kOp:
    case CloneKernel::kOp:
    case SubGroupInfo::kOp:
    case KernelExecInfo::kOp:
    case CheckArgument::kOp:
    case SuggestLocalSize::kOp:
    case EventStatus::kOp:
    case SvmAllocate::kOp:
    case PeerAccept::kOp:
    case PeerOpen::kOp:
      return true;
    default: return false;
  }
}

}  // namespace flexrack::cl
