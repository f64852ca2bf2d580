// One client at this machine's OpenCL: carries out every message of the API.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.h"
#include "backend/opencl/engine.h"
#include "backend/opencl/records.h"
#include "backend/opencl/route.h"
#include "backend/opencl/staging.h"
#include "gen/opencl/requests.h"
#include "gen/opencl/revision.h"

namespace flexrack::backend::opencl {

/// A command on its way to the driver. Lives during one message.
struct Command {
  std::uint16_t op;
  std::uint64_t event;                 ///< the client's handle, 0 where it wants none
  Route route;                         ///< of the payload, which is cancelled if this fails
  QueueRecord* queue = nullptr;
  std::vector<cl_event>* waits = nullptr;
  cl_event made = nullptr;
  bool wants_event = false;            ///< we need one ourselves

  cl_uint count() const { return static_cast<cl_uint>(waits->size()); }
  const cl_event* list() const { return waits->empty() ? nullptr : waits->data(); }
  cl_event* out() { return event || wants_event ? &made : nullptr; }
  Origin origin() const { return {op, queue ? queue->handle : 0, event}; }
};

class Session final : public Backend, private cl::Requests {
 public:
  explicit Session(Grant& grant) : grant_(grant) {}
  ~Session() override;

  wire::Api api() const override { return cl::kApi; }
  void start(wire::Link& link, Peers& peers) override;
  void stop() override;
  void on_frame(const wire::Header& header, wire::View body) override;
  void on_over(std::string_view why) override;

 private:
  template <class Reply>
  using Respond = wire::Respond<Reply>;
  using Triple = cl::Triple;

  void on(const cl::Describe& call, Respond<cl::DescribeReply> respond) override;
  void on(const cl::CreateContext& call, Respond<cl::CreateContextReply> respond) override;
  void on(const cl::CreateQueue& call, Respond<cl::CreateQueueReply> respond) override;
  void on(const cl::Release& message) override;
  void on(const cl::Flush& message) override;
  void on(const cl::DeviceTime& call, Respond<cl::DeviceTimeReply> respond) override;
  void on(const cl::CreateSubDevices& call, Respond<cl::CreateSubDevicesReply> respond) override;
  void on(const cl::ReleaseDevice& message) override;
  void on(const cl::CreateBuffer& call, Respond<cl::CreateBufferReply> respond) override;
  void on(const cl::CreateSubBuffer& call, Respond<cl::CreateSubBufferReply> respond) override;
  void on(const cl::CreateImage& call, Respond<cl::CreateImageReply> respond) override;
  void on(const cl::ImageFormats& call, Respond<cl::ImageFormatsReply> respond) override;
  void on(const cl::CreateSampler& call, Respond<cl::CreateSamplerReply> respond) override;
  void on(const cl::CreatePipe& call, Respond<cl::CreatePipeReply> respond) override;
  void on(const cl::Reserve& call, Respond<cl::ReserveReply> respond) override;
  void on(const cl::CreateProgram& call, Respond<cl::CreateProgramReply> respond) override;
  void on(const cl::BuildProgram& call, Respond<cl::BuildProgramReply> respond) override;
  void on(const cl::CompileProgram& call, Respond<cl::CompileProgramReply> respond) override;
  void on(const cl::LinkProgram& call, Respond<cl::LinkProgramReply> respond) override;
  void on(const cl::ProgramBinaries& call, Respond<cl::ProgramBinariesReply> respond) override;
  void on(const cl::ProgramInfo& call, Respond<cl::ProgramInfoReply> respond) override;
  void on(const cl::SpecializeProgram& call, Respond<cl::SpecializeProgramReply> respond) override;
  void on(const cl::BuildInfo& call, Respond<cl::BuildInfoReply> respond) override;
  void on(const cl::CreateKernel& call, Respond<cl::CreateKernelReply> respond) override;
  void on(const cl::CloneKernel& call, Respond<cl::CloneKernelReply> respond) override;
  void on(const cl::SubGroupInfo& call, Respond<cl::SubGroupInfoReply> respond) override;
  void on(const cl::KernelExecInfo& call, Respond<cl::KernelExecInfoReply> respond) override;
  void on(const cl::CheckArgument& call, Respond<cl::CheckArgumentReply> respond) override;
  void on(const cl::SuggestLocalSize& call, Respond<cl::SuggestLocalSizeReply> respond) override;
  void on(const cl::Launch& message) override;
  void on(const cl::WriteBuffer& message) override;
  void on(const cl::ReadBuffer& message) override;
  void on(const cl::WriteRect& message) override;
  void on(const cl::ReadRect& message) override;
  void on(const cl::CopyBuffer& message) override;
  void on(const cl::CopyRect& message) override;
  void on(const cl::FillBuffer& message) override;
  void on(const cl::WriteImage& message) override;
  void on(const cl::ReadImage& message) override;
  void on(const cl::CopyImage& message) override;
  void on(const cl::CopyImageToBuffer& message) override;
  void on(const cl::CopyBufferToImage& message) override;
  void on(const cl::FillImage& message) override;
  void on(const cl::Migrate& message) override;
  void on(const cl::Marker& message) override;
  void on(const cl::Barrier& message) override;
  void on(const cl::CreateUserEvent& message) override;
  void on(const cl::SetUserEvent& message) override;
  void on(const cl::Watch& message) override;
  void on(const cl::WatchStage& message) override;
  void on(const cl::Fence& message) override;
  void on(const cl::EventStatus& call, Respond<cl::EventStatusReply> respond) override;
  void on(const cl::SvmAllocate& call, Respond<cl::SvmAllocateReply> respond) override;
  void on(const cl::SvmWrite& message) override;
  void on(const cl::SvmRead& message) override;
  void on(const cl::SvmCopy& message) override;
  void on(const cl::SvmFill& message) override;
  void on(const cl::SvmMigrate& message) override;
  void on(const cl::PeerAccept& call, Respond<cl::PeerAcceptReply> respond) override;
  void on(const cl::PeerOpen& call, Respond<cl::PeerOpenReply> respond) override;
  void on(const cl::ExportMemory& message) override;
  void on(const cl::ImportMemory& message) override;

  // ---- commands (command.cpp)
  /// Finds the queue and the events to wait for. False: the command has been refused.
  template <class Message>
  bool begin(const Message& message, Command& command, Route route = {}) {
    command = {Message::kOp, message.event, route};
    return begin_command(command, message.queue, message.waits);
  }
  bool begin_command(Command& command, std::uint64_t queue, std::span<const std::uint64_t> waits);
  void add_fences(const QueueRecord& queue);
  /// Puts the event under the client's handle, or says what the driver refused. False for a refusal.
  bool end(Command& command, cl_int status);
  /// The same for a command of several native ones that were accepted: takes over both events, `last` is over last.
  void end_as(Command& command, cl_event first, cl_event last);
  void refuse(Command& command, cl_int status);
  /// A buffer or image of the queue's context that the command may use; null: refused.
  MemoryRecord* memory(Command& command, std::uint64_t handle, MemoryRecord::Sort sort);
  cl_int devices_of(const ContextRecord& context, std::span<const std::uint32_t> indexes,
                    std::vector<cl_device_id>& out) const;

  // ---- bulk data (read.cpp, write.cpp)
  /// Where the bytes of a payload go, or come from.
  struct Place {
    MemoryRecord* memory = nullptr;   ///< null: shared virtual memory at `address`
    std::uint8_t* address = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  using Enqueue = std::function<cl_int(void* staging, Command& command)>;
  void write(Command& command, const wire::Payload& data, const Enqueue& enqueue);
  void read(Command& command, std::uint64_t size, const Enqueue& enqueue);
  void write_staged(Command& command, std::uint64_t size, const Enqueue& enqueue);
  void write_place(Command& command, const Place& place, const wire::Payload& data);
  void read_place(Command& command, const Place& place);
  void write_mapped(Command& command, const Place& place);
  void read_mapped(Command& command, const Place& place);
  bool is_mapped(const Command& command, std::uint64_t size) const;
  cl_int map(Command& command, const Place& place, cl_map_flags flags, void** at, cl_event* mapped);
  cl_int unmap(Command& command, const Place& place, void* at, cl_event wait, cl_event* unmapped);
  /// The bytes [address, address + size) are in one allocation of the context; else null.
  SvmRecord* shared(const ContextRecord& context, std::uint64_t address, std::uint64_t size);

  cl_int set_argument(KernelRecord& kernel, const cl::Argument& argument);
  cl_int check_launch(const cl::Launch& message, const KernelRecord& kernel) const;
  void launch_time_sliced(Command& command, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                          const size_t* global, const size_t* local);
  void watch(EventRecord& event);

  Grant& grant_;
  std::unique_ptr<Engine> engine_;
  /// Held during a message; recursive because a payload that is there already may finish a creation at once.
  std::recursive_mutex lock_;
  HandleTable table_;
  std::map<std::uint64_t, SvmRecord*> svm_;      ///< by address
  std::vector<cl_event> waits_;                  ///< of the command at hand
  std::shared_ptr<Outstanding> outstanding_ = std::make_shared<Outstanding>();
  bool is_broken_ = false;
};

}  // namespace flexrack::backend::opencl
