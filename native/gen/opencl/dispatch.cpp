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

}  // namespace flexrack::cl
