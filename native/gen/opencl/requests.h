// Who handles the messages of opencl: Requests in the server, Notices in the client.
// Generated from native/spec/opencl.* by native/codegen/generate.ts; change those.
#pragma once

#include "gen/opencl/messages.h"
#include "wire/respond.h"

namespace flexrack::cl {

/// What a message's views show is gone when on() returns; a Respond may be kept and answered later, from any thread.
class Requests {
 public:
  virtual ~Requests() = default;
  virtual void on(const Describe& call, wire::Respond<Describe::Reply> respond) = 0;
  virtual void on(const CreateContext& call, wire::Respond<CreateContext::Reply> respond) = 0;
  virtual void on(const CreateQueue& call, wire::Respond<CreateQueue::Reply> respond) = 0;
  virtual void on(const Release& message) = 0;
  virtual void on(const Flush& message) = 0;
  virtual void on(const DeviceTime& call, wire::Respond<DeviceTime::Reply> respond) = 0;
  virtual void on(const CreateSubDevices& call, wire::Respond<CreateSubDevices::Reply> respond) = 0;
  virtual void on(const ReleaseDevice& message) = 0;
  virtual void on(const CreateBuffer& call, wire::Respond<CreateBuffer::Reply> respond) = 0;
  virtual void on(const CreateSubBuffer& call, wire::Respond<CreateSubBuffer::Reply> respond) = 0;
  virtual void on(const CreateImage& call, wire::Respond<CreateImage::Reply> respond) = 0;
  virtual void on(const ImageFormats& call, wire::Respond<ImageFormats::Reply> respond) = 0;
  virtual void on(const CreateSampler& call, wire::Respond<CreateSampler::Reply> respond) = 0;
  virtual void on(const CreatePipe& call, wire::Respond<CreatePipe::Reply> respond) = 0;
  virtual void on(const Reserve& call, wire::Respond<Reserve::Reply> respond) = 0;
  virtual void on(const CreateProgram& call, wire::Respond<CreateProgram::Reply> respond) = 0;
  virtual void on(const BuildProgram& call, wire::Respond<BuildProgram::Reply> respond) = 0;
  virtual void on(const CompileProgram& call, wire::Respond<CompileProgram::Reply> respond) = 0;
  virtual void on(const LinkProgram& call, wire::Respond<LinkProgram::Reply> respond) = 0;
  virtual void on(const ProgramBinaries& call, wire::Respond<ProgramBinaries::Reply> respond) = 0;
  virtual void on(const ProgramInfo& call, wire::Respond<ProgramInfo::Reply> respond) = 0;
  virtual void on(const SpecializeProgram& call, wire::Respond<SpecializeProgram::Reply> respond) = 0;
  virtual void on(const BuildInfo& call, wire::Respond<BuildInfo::Reply> respond) = 0;
  virtual void on(const CreateKernel& call, wire::Respond<CreateKernel::Reply> respond) = 0;
  virtual void on(const CloneKernel& call, wire::Respond<CloneKernel::Reply> respond) = 0;
  virtual void on(const SubGroupInfo& call, wire::Respond<SubGroupInfo::Reply> respond) = 0;
  virtual void on(const KernelExecInfo& call, wire::Respond<KernelExecInfo::Reply> respond) = 0;
  virtual void on(const CheckArgument& call, wire::Respond<CheckArgument::Reply> respond) = 0;
  virtual void on(const SuggestLocalSize& call, wire::Respond<SuggestLocalSize::Reply> respond) = 0;
  virtual void on(const Launch& message) = 0;
  virtual void on(const WriteBuffer& message) = 0;
  virtual void on(const ReadBuffer& message) = 0;
  virtual void on(const WriteRect& message) = 0;
  virtual void on(const ReadRect& message) = 0;
  virtual void on(const CopyBuffer& message) = 0;
  virtual void on(const CopyRect& message) = 0;
  virtual void on(const FillBuffer& message) = 0;
  virtual void on(const WriteImage& message) = 0;
  virtual void on(const ReadImage& message) = 0;
  virtual void on(const CopyImage& message) = 0;
  virtual void on(const CopyImageToBuffer& message) = 0;
  virtual void on(const CopyBufferToImage& message) = 0;
  virtual void on(const FillImage& message) = 0;
  virtual void on(const Migrate& message) = 0;
  virtual void on(const Marker& message) = 0;
  virtual void on(const Barrier& message) = 0;
  virtual void on(const CreateUserEvent& message) = 0;
  virtual void on(const SetUserEvent& message) = 0;
  virtual void on(const Watch& message) = 0;
  virtual void on(const WatchStage& message) = 0;
  virtual void on(const Fence& message) = 0;
  virtual void on(const EventStatus& call, wire::Respond<EventStatus::Reply> respond) = 0;
  virtual void on(const SvmAllocate& call, wire::Respond<SvmAllocate::Reply> respond) = 0;
  virtual void on(const SvmWrite& message) = 0;
  virtual void on(const SvmRead& message) = 0;
  virtual void on(const SvmCopy& message) = 0;
  virtual void on(const SvmFill& message) = 0;
  virtual void on(const SvmMigrate& message) = 0;
  virtual void on(const PeerAccept& call, wire::Respond<PeerAccept::Reply> respond) = 0;
  virtual void on(const PeerOpen& call, wire::Respond<PeerOpen::Reply> respond) = 0;
  virtual void on(const ExportMemory& message) = 0;
  virtual void on(const ImportMemory& message) = 0;
};

class Notices {
 public:
  virtual ~Notices() = default;
  virtual void on(const Completed& message) = 0;
  virtual void on(const Reached& message) = 0;
  virtual void on(const Printed& message) = 0;
  virtual void on(const ContextError& message) = 0;
  virtual void on(const Failed& message) = 0;
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

}  // namespace flexrack::cl
