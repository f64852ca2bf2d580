// The messages of opencl.
// Generated from native/spec/opencl.* by native/codegen/generate.ts; change those.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "wire/codec.h"

/// Texts, byte strings and arrays of scalars are views: of the caller's memory when encoding, of the body after decoding.
/// encode() appends a body, padded to 8 bytes; decode() is false for anything that encode() would not have written.
namespace flexrack::cl {

struct Info {
  std::uint32_t name = 0;
  wire::View value{};
};

struct DeviceDescription {
  std::uint32_t index = 0;
  std::uint32_t platform = 0;
  std::vector<Info> infos{};
};

struct PlatformDescription {
  std::vector<Info> infos{};
};

struct ImageFormat {
  std::uint32_t order = 0;
  std::uint32_t type = 0;
};

struct ImageShape {
  std::uint32_t type = 0;
  std::uint32_t samples = 0;
  std::uint32_t mips = 0;
  std::uint32_t reserved = 0;
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t depth = 0;
  std::uint64_t array_size = 0;
  std::uint64_t row_pitch = 0;
  std::uint64_t slice_pitch = 0;
};

struct Triple {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t z = 0;
};

struct NamedProgram {
  std::string_view name{};
  std::uint64_t program = 0;
};

struct BuildOutcome {
  std::uint32_t device = 0;
  std::int32_t status = 0;
  std::uint32_t binary_type = 0;
  std::uint64_t global_variable_bytes = 0;
  std::string_view options{};
  std::string_view log{};
};

struct KernelArgument {
  std::uint32_t kind = 0;
  std::uint32_t address = 0;
  std::uint32_t access = 0;
  std::uint64_t qualifier = 0;
  std::uint64_t size = 0;
  std::string_view type_name{};
  std::string_view name{};
};

struct KernelOnDevice {
  std::uint32_t device = 0;
  std::vector<Info> infos{};
};

struct Argument {
  std::uint32_t index = 0;
  std::uint32_t kind = 0;
  std::uint64_t object = 0;
  std::uint64_t size = 0;
  wire::View value{};
};

struct Completion {
  std::uint64_t event = 0;
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t queued = 0;
  std::uint64_t submitted = 0;
  std::uint64_t started = 0;
  std::uint64_t ended = 0;
  std::uint64_t completed = 0;
};

/// Answers Describe.
struct DescribeReply {
  std::vector<PlatformDescription> platforms{};
  std::vector<DeviceDescription> devices{};
};
void encode(wire::Bytes& out, const DescribeReply& m);
bool decode(wire::View body, DescribeReply& m);

struct Describe {
  static constexpr std::uint16_t kOp = 0x1001;
  static constexpr char kName[] = "Describe";
  using Reply = DescribeReply;
};
void encode(wire::Bytes& out, const Describe& m);
bool decode(wire::View body, Describe& m);

/// Answers CreateContext.
struct CreateContextReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CreateContextReply& m);
bool decode(wire::View body, CreateContextReply& m);

struct CreateContext {
  static constexpr std::uint16_t kOp = 0x1002;
  static constexpr char kName[] = "CreateContext";
  using Reply = CreateContextReply;
  std::uint64_t context = 0;
  std::span<const std::uint32_t> devices{};
  std::span<const std::uint64_t> properties{};
};
void encode(wire::Bytes& out, const CreateContext& m);
bool decode(wire::View body, CreateContext& m);

/// Answers CreateQueue.
struct CreateQueueReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CreateQueueReply& m);
bool decode(wire::View body, CreateQueueReply& m);

struct CreateQueue {
  static constexpr std::uint16_t kOp = 0x1003;
  static constexpr char kName[] = "CreateQueue";
  using Reply = CreateQueueReply;
  std::uint64_t context = 0;
  std::uint64_t queue = 0;
  std::uint32_t device = 0;
  std::uint32_t reserved = 0;
  std::span<const std::uint64_t> properties{};
};
void encode(wire::Bytes& out, const CreateQueue& m);
bool decode(wire::View body, CreateQueue& m);

struct Release {
  static constexpr std::uint16_t kOp = 0x1004;
  static constexpr char kName[] = "Release";
  std::uint64_t object = 0;
};
void encode(wire::Bytes& out, const Release& m);
bool decode(wire::View body, Release& m);

struct Flush {
  static constexpr std::uint16_t kOp = 0x1005;
  static constexpr char kName[] = "Flush";
  std::uint64_t queue = 0;
};
void encode(wire::Bytes& out, const Flush& m);
bool decode(wire::View body, Flush& m);

/// Answers DeviceTime.
struct DeviceTimeReply {
  std::int32_t status = 0;
  std::uint64_t device_ns = 0;
  std::uint64_t host_ns = 0;
};
void encode(wire::Bytes& out, const DeviceTimeReply& m);
bool decode(wire::View body, DeviceTimeReply& m);

struct DeviceTime {
  static constexpr std::uint16_t kOp = 0x1006;
  static constexpr char kName[] = "DeviceTime";
  using Reply = DeviceTimeReply;
  std::uint32_t device = 0;
};
void encode(wire::Bytes& out, const DeviceTime& m);
bool decode(wire::View body, DeviceTime& m);

/// Answers CreateSubDevices.
struct CreateSubDevicesReply {
  std::int32_t status = 0;
  std::uint32_t count = 0;
  std::vector<DeviceDescription> devices{};
};
void encode(wire::Bytes& out, const CreateSubDevicesReply& m);
bool decode(wire::View body, CreateSubDevicesReply& m);

struct CreateSubDevices {
  static constexpr std::uint16_t kOp = 0x1007;
  static constexpr char kName[] = "CreateSubDevices";
  using Reply = CreateSubDevicesReply;
  std::uint32_t device = 0;
  std::uint32_t capacity = 0;
  std::uint32_t has_list = 0;
  std::uint32_t reserved = 0;
  std::span<const std::uint64_t> properties{};
};
void encode(wire::Bytes& out, const CreateSubDevices& m);
bool decode(wire::View body, CreateSubDevices& m);

struct ReleaseDevice {
  static constexpr std::uint16_t kOp = 0x1008;
  static constexpr char kName[] = "ReleaseDevice";
  std::uint32_t device = 0;
};
void encode(wire::Bytes& out, const ReleaseDevice& m);
bool decode(wire::View body, ReleaseDevice& m);

/// Answers CreateBuffer.
struct CreateBufferReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CreateBufferReply& m);
bool decode(wire::View body, CreateBufferReply& m);

struct CreateBuffer {
  static constexpr std::uint16_t kOp = 0x1010;
  static constexpr char kName[] = "CreateBuffer";
  using Reply = CreateBufferReply;
  std::uint64_t context = 0;
  std::uint64_t memory = 0;
  std::uint64_t flags = 0;
  std::uint64_t size = 0;
  wire::Payload content{};
};
void encode(wire::Bytes& out, const CreateBuffer& m);
bool decode(wire::View body, CreateBuffer& m);

/// Answers CreateSubBuffer.
struct CreateSubBufferReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CreateSubBufferReply& m);
bool decode(wire::View body, CreateSubBufferReply& m);

struct CreateSubBuffer {
  static constexpr std::uint16_t kOp = 0x1011;
  static constexpr char kName[] = "CreateSubBuffer";
  using Reply = CreateSubBufferReply;
  std::uint64_t parent = 0;
  std::uint64_t memory = 0;
  std::uint64_t flags = 0;
  std::uint64_t origin = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const CreateSubBuffer& m);
bool decode(wire::View body, CreateSubBuffer& m);

/// Answers CreateImage.
struct CreateImageReply {
  std::int32_t status = 0;
  std::vector<Info> infos{};
};
void encode(wire::Bytes& out, const CreateImageReply& m);
bool decode(wire::View body, CreateImageReply& m);

struct CreateImage {
  static constexpr std::uint16_t kOp = 0x1012;
  static constexpr char kName[] = "CreateImage";
  using Reply = CreateImageReply;
  std::uint64_t context = 0;
  std::uint64_t memory = 0;
  std::uint64_t flags = 0;
  ImageFormat format{};
  ImageShape shape{};
  std::uint64_t buffer = 0;
  wire::Payload content{};
};
void encode(wire::Bytes& out, const CreateImage& m);
bool decode(wire::View body, CreateImage& m);

/// Answers ImageFormats.
struct ImageFormatsReply {
  std::int32_t status = 0;
  std::vector<ImageFormat> formats{};
};
void encode(wire::Bytes& out, const ImageFormatsReply& m);
bool decode(wire::View body, ImageFormatsReply& m);

struct ImageFormats {
  static constexpr std::uint16_t kOp = 0x1013;
  static constexpr char kName[] = "ImageFormats";
  using Reply = ImageFormatsReply;
  std::uint64_t context = 0;
  std::uint64_t flags = 0;
  std::uint32_t type = 0;
};
void encode(wire::Bytes& out, const ImageFormats& m);
bool decode(wire::View body, ImageFormats& m);

/// Answers CreateSampler.
struct CreateSamplerReply {
  std::int32_t status = 0;
  std::vector<Info> infos{};
};
void encode(wire::Bytes& out, const CreateSamplerReply& m);
bool decode(wire::View body, CreateSamplerReply& m);

struct CreateSampler {
  static constexpr std::uint16_t kOp = 0x1014;
  static constexpr char kName[] = "CreateSampler";
  using Reply = CreateSamplerReply;
  std::uint64_t context = 0;
  std::uint64_t sampler = 0;
  std::span<const std::uint64_t> properties{};
};
void encode(wire::Bytes& out, const CreateSampler& m);
bool decode(wire::View body, CreateSampler& m);

/// Answers CreatePipe.
struct CreatePipeReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CreatePipeReply& m);
bool decode(wire::View body, CreatePipeReply& m);

struct CreatePipe {
  static constexpr std::uint16_t kOp = 0x1015;
  static constexpr char kName[] = "CreatePipe";
  using Reply = CreatePipeReply;
  std::uint64_t context = 0;
  std::uint64_t memory = 0;
  std::uint64_t flags = 0;
  std::uint32_t packet_size = 0;
  std::uint32_t max_packets = 0;
};
void encode(wire::Bytes& out, const CreatePipe& m);
bool decode(wire::View body, CreatePipe& m);

/// Answers Reserve.
struct ReserveReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const ReserveReply& m);
bool decode(wire::View body, ReserveReply& m);

struct Reserve {
  static constexpr std::uint16_t kOp = 0x1016;
  static constexpr char kName[] = "Reserve";
  using Reply = ReserveReply;
  std::uint64_t memory = 0;
  std::uint32_t device = 0;
};
void encode(wire::Bytes& out, const Reserve& m);
bool decode(wire::View body, Reserve& m);

/// Answers CreateProgram.
struct CreateProgramReply {
  std::int32_t status = 0;
  std::span<const std::int32_t> binary_status{};
};
void encode(wire::Bytes& out, const CreateProgramReply& m);
bool decode(wire::View body, CreateProgramReply& m);

struct CreateProgram {
  static constexpr std::uint16_t kOp = 0x1020;
  static constexpr char kName[] = "CreateProgram";
  using Reply = CreateProgramReply;
  std::uint64_t context = 0;
  std::uint64_t program = 0;
  std::uint32_t form = 0;
  std::span<const std::uint32_t> devices{};
  std::vector<wire::View> parts{};
};
void encode(wire::Bytes& out, const CreateProgram& m);
bool decode(wire::View body, CreateProgram& m);

/// Answers BuildProgram.
struct BuildProgramReply {
  std::int32_t status = 0;
  std::vector<BuildOutcome> outcomes{};
  std::string_view kernel_names{};
};
void encode(wire::Bytes& out, const BuildProgramReply& m);
bool decode(wire::View body, BuildProgramReply& m);

struct BuildProgram {
  static constexpr std::uint16_t kOp = 0x1021;
  static constexpr char kName[] = "BuildProgram";
  using Reply = BuildProgramReply;
  std::uint64_t program = 0;
  std::span<const std::uint32_t> devices{};
  std::uint32_t has_options = 0;
  std::string_view options{};
};
void encode(wire::Bytes& out, const BuildProgram& m);
bool decode(wire::View body, BuildProgram& m);

/// Answers CompileProgram.
struct CompileProgramReply {
  std::int32_t status = 0;
  std::vector<BuildOutcome> outcomes{};
};
void encode(wire::Bytes& out, const CompileProgramReply& m);
bool decode(wire::View body, CompileProgramReply& m);

struct CompileProgram {
  static constexpr std::uint16_t kOp = 0x1022;
  static constexpr char kName[] = "CompileProgram";
  using Reply = CompileProgramReply;
  std::uint64_t program = 0;
  std::span<const std::uint32_t> devices{};
  std::uint32_t has_options = 0;
  std::string_view options{};
  std::vector<NamedProgram> headers{};
};
void encode(wire::Bytes& out, const CompileProgram& m);
bool decode(wire::View body, CompileProgram& m);

/// Answers LinkProgram.
struct LinkProgramReply {
  std::int32_t status = 0;
  std::uint32_t created = 0;
  std::vector<BuildOutcome> outcomes{};
  std::string_view kernel_names{};
};
void encode(wire::Bytes& out, const LinkProgramReply& m);
bool decode(wire::View body, LinkProgramReply& m);

struct LinkProgram {
  static constexpr std::uint16_t kOp = 0x1023;
  static constexpr char kName[] = "LinkProgram";
  using Reply = LinkProgramReply;
  std::uint64_t context = 0;
  std::uint64_t program = 0;
  std::span<const std::uint32_t> devices{};
  std::uint32_t has_options = 0;
  std::string_view options{};
  std::span<const std::uint64_t> inputs{};
};
void encode(wire::Bytes& out, const LinkProgram& m);
bool decode(wire::View body, LinkProgram& m);

/// Answers ProgramBinaries.
struct ProgramBinariesReply {
  std::int32_t status = 0;
  std::span<const std::uint32_t> devices{};
  std::vector<wire::View> binaries{};
};
void encode(wire::Bytes& out, const ProgramBinariesReply& m);
bool decode(wire::View body, ProgramBinariesReply& m);

struct ProgramBinaries {
  static constexpr std::uint16_t kOp = 0x1024;
  static constexpr char kName[] = "ProgramBinaries";
  using Reply = ProgramBinariesReply;
  std::uint64_t program = 0;
};
void encode(wire::Bytes& out, const ProgramBinaries& m);
bool decode(wire::View body, ProgramBinaries& m);

/// Answers ProgramInfo.
struct ProgramInfoReply {
  std::int32_t status = 0;
  wire::View value{};
};
void encode(wire::Bytes& out, const ProgramInfoReply& m);
bool decode(wire::View body, ProgramInfoReply& m);

struct ProgramInfo {
  static constexpr std::uint16_t kOp = 0x1025;
  static constexpr char kName[] = "ProgramInfo";
  using Reply = ProgramInfoReply;
  std::uint64_t program = 0;
  std::uint32_t param = 0;
};
void encode(wire::Bytes& out, const ProgramInfo& m);
bool decode(wire::View body, ProgramInfo& m);

/// Answers SpecializeProgram.
struct SpecializeProgramReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const SpecializeProgramReply& m);
bool decode(wire::View body, SpecializeProgramReply& m);

struct SpecializeProgram {
  static constexpr std::uint16_t kOp = 0x1026;
  static constexpr char kName[] = "SpecializeProgram";
  using Reply = SpecializeProgramReply;
  std::uint64_t program = 0;
  std::uint32_t id = 0;
  wire::View value{};
};
void encode(wire::Bytes& out, const SpecializeProgram& m);
bool decode(wire::View body, SpecializeProgram& m);

/// Answers BuildInfo.
struct BuildInfoReply {
  std::int32_t status = 0;
  wire::View value{};
};
void encode(wire::Bytes& out, const BuildInfoReply& m);
bool decode(wire::View body, BuildInfoReply& m);

struct BuildInfo {
  static constexpr std::uint16_t kOp = 0x1027;
  static constexpr char kName[] = "BuildInfo";
  using Reply = BuildInfoReply;
  std::uint64_t program = 0;
  std::uint32_t device = 0;
  std::uint32_t param = 0;
};
void encode(wire::Bytes& out, const BuildInfo& m);
bool decode(wire::View body, BuildInfo& m);

/// Answers CreateKernel.
struct CreateKernelReply {
  std::int32_t status = 0;
  std::string_view attributes{};
  std::vector<KernelArgument> arguments{};
  std::vector<KernelOnDevice> devices{};
};
void encode(wire::Bytes& out, const CreateKernelReply& m);
bool decode(wire::View body, CreateKernelReply& m);

struct CreateKernel {
  static constexpr std::uint16_t kOp = 0x1028;
  static constexpr char kName[] = "CreateKernel";
  using Reply = CreateKernelReply;
  std::uint64_t program = 0;
  std::uint64_t kernel = 0;
  std::string_view name{};
};
void encode(wire::Bytes& out, const CreateKernel& m);
bool decode(wire::View body, CreateKernel& m);

/// Answers CloneKernel.
struct CloneKernelReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CloneKernelReply& m);
bool decode(wire::View body, CloneKernelReply& m);

struct CloneKernel {
  static constexpr std::uint16_t kOp = 0x1029;
  static constexpr char kName[] = "CloneKernel";
  using Reply = CloneKernelReply;
  std::uint64_t source = 0;
  std::uint64_t kernel = 0;
};
void encode(wire::Bytes& out, const CloneKernel& m);
bool decode(wire::View body, CloneKernel& m);

/// Answers SubGroupInfo.
struct SubGroupInfoReply {
  std::int32_t status = 0;
  wire::View value{};
};
void encode(wire::Bytes& out, const SubGroupInfoReply& m);
bool decode(wire::View body, SubGroupInfoReply& m);

struct SubGroupInfo {
  static constexpr std::uint16_t kOp = 0x102a;
  static constexpr char kName[] = "SubGroupInfo";
  using Reply = SubGroupInfoReply;
  std::uint64_t kernel = 0;
  std::uint32_t device = 0;
  std::uint32_t param = 0;
  wire::View input{};
  std::uint64_t capacity = 0;
};
void encode(wire::Bytes& out, const SubGroupInfo& m);
bool decode(wire::View body, SubGroupInfo& m);

/// Answers KernelExecInfo.
struct KernelExecInfoReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const KernelExecInfoReply& m);
bool decode(wire::View body, KernelExecInfoReply& m);

struct KernelExecInfo {
  static constexpr std::uint16_t kOp = 0x102b;
  static constexpr char kName[] = "KernelExecInfo";
  using Reply = KernelExecInfoReply;
  std::uint64_t kernel = 0;
  std::uint32_t param = 0;
  wire::View value{};
};
void encode(wire::Bytes& out, const KernelExecInfo& m);
bool decode(wire::View body, KernelExecInfo& m);

/// Answers CheckArgument.
struct CheckArgumentReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CheckArgumentReply& m);
bool decode(wire::View body, CheckArgumentReply& m);

struct CheckArgument {
  static constexpr std::uint16_t kOp = 0x102c;
  static constexpr char kName[] = "CheckArgument";
  using Reply = CheckArgumentReply;
  std::uint64_t kernel = 0;
  Argument argument{};
};
void encode(wire::Bytes& out, const CheckArgument& m);
bool decode(wire::View body, CheckArgument& m);

/// Answers SuggestLocalSize.
struct SuggestLocalSizeReply {
  std::int32_t status = 0;
  Triple local{};
};
void encode(wire::Bytes& out, const SuggestLocalSizeReply& m);
bool decode(wire::View body, SuggestLocalSizeReply& m);

struct SuggestLocalSize {
  static constexpr std::uint16_t kOp = 0x102d;
  static constexpr char kName[] = "SuggestLocalSize";
  using Reply = SuggestLocalSizeReply;
  std::uint64_t queue = 0;
  std::uint64_t kernel = 0;
  std::uint32_t dimensions = 0;
  Triple offset{};
  Triple global{};
};
void encode(wire::Bytes& out, const SuggestLocalSize& m);
bool decode(wire::View body, SuggestLocalSize& m);

struct Launch {
  static constexpr std::uint16_t kOp = 0x1030;
  static constexpr char kName[] = "Launch";
  std::uint64_t queue = 0;
  std::uint64_t kernel = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint32_t dimensions = 0;
  std::uint32_t has_local = 0;
  Triple offset{};
  Triple global{};
  Triple local{};
  std::vector<Argument> arguments{};
};
void encode(wire::Bytes& out, const Launch& m);
bool decode(wire::View body, Launch& m);

struct WriteBuffer {
  static constexpr std::uint16_t kOp = 0x1031;
  static constexpr char kName[] = "WriteBuffer";
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t offset = 0;
  wire::Payload data{};
};
void encode(wire::Bytes& out, const WriteBuffer& m);
bool decode(wire::View body, WriteBuffer& m);

struct ReadBuffer {
  static constexpr std::uint16_t kOp = 0x1032;
  static constexpr char kName[] = "ReadBuffer";
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const ReadBuffer& m);
bool decode(wire::View body, ReadBuffer& m);

struct WriteRect {
  static constexpr std::uint16_t kOp = 0x1033;
  static constexpr char kName[] = "WriteRect";
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  Triple origin{};
  Triple region{};
  std::uint64_t row_pitch = 0;
  std::uint64_t slice_pitch = 0;
  wire::Payload data{};
};
void encode(wire::Bytes& out, const WriteRect& m);
bool decode(wire::View body, WriteRect& m);

struct ReadRect {
  static constexpr std::uint16_t kOp = 0x1034;
  static constexpr char kName[] = "ReadRect";
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  Triple origin{};
  Triple region{};
  std::uint64_t row_pitch = 0;
  std::uint64_t slice_pitch = 0;
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const ReadRect& m);
bool decode(wire::View body, ReadRect& m);

struct CopyBuffer {
  static constexpr std::uint16_t kOp = 0x1035;
  static constexpr char kName[] = "CopyBuffer";
  std::uint64_t queue = 0;
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t source_offset = 0;
  std::uint64_t target_offset = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const CopyBuffer& m);
bool decode(wire::View body, CopyBuffer& m);

struct CopyRect {
  static constexpr std::uint16_t kOp = 0x1036;
  static constexpr char kName[] = "CopyRect";
  std::uint64_t queue = 0;
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  Triple source_origin{};
  Triple target_origin{};
  Triple region{};
  std::uint64_t source_row_pitch = 0;
  std::uint64_t source_slice_pitch = 0;
  std::uint64_t target_row_pitch = 0;
  std::uint64_t target_slice_pitch = 0;
};
void encode(wire::Bytes& out, const CopyRect& m);
bool decode(wire::View body, CopyRect& m);

struct FillBuffer {
  static constexpr std::uint16_t kOp = 0x1037;
  static constexpr char kName[] = "FillBuffer";
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  wire::View pattern{};
};
void encode(wire::Bytes& out, const FillBuffer& m);
bool decode(wire::View body, FillBuffer& m);

struct WriteImage {
  static constexpr std::uint16_t kOp = 0x1038;
  static constexpr char kName[] = "WriteImage";
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  Triple origin{};
  Triple region{};
  wire::Payload data{};
};
void encode(wire::Bytes& out, const WriteImage& m);
bool decode(wire::View body, WriteImage& m);

struct ReadImage {
  static constexpr std::uint16_t kOp = 0x1039;
  static constexpr char kName[] = "ReadImage";
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  Triple origin{};
  Triple region{};
  std::uint64_t size = 0;
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const ReadImage& m);
bool decode(wire::View body, ReadImage& m);

struct CopyImage {
  static constexpr std::uint16_t kOp = 0x103a;
  static constexpr char kName[] = "CopyImage";
  std::uint64_t queue = 0;
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  Triple source_origin{};
  Triple target_origin{};
  Triple region{};
};
void encode(wire::Bytes& out, const CopyImage& m);
bool decode(wire::View body, CopyImage& m);

struct CopyImageToBuffer {
  static constexpr std::uint16_t kOp = 0x103b;
  static constexpr char kName[] = "CopyImageToBuffer";
  std::uint64_t queue = 0;
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  Triple origin{};
  Triple region{};
  std::uint64_t offset = 0;
};
void encode(wire::Bytes& out, const CopyImageToBuffer& m);
bool decode(wire::View body, CopyImageToBuffer& m);

struct CopyBufferToImage {
  static constexpr std::uint16_t kOp = 0x103c;
  static constexpr char kName[] = "CopyBufferToImage";
  std::uint64_t queue = 0;
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t offset = 0;
  Triple origin{};
  Triple region{};
};
void encode(wire::Bytes& out, const CopyBufferToImage& m);
bool decode(wire::View body, CopyBufferToImage& m);

struct FillImage {
  static constexpr std::uint16_t kOp = 0x103d;
  static constexpr char kName[] = "FillImage";
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  Triple origin{};
  Triple region{};
  wire::View color{};
};
void encode(wire::Bytes& out, const FillImage& m);
bool decode(wire::View body, FillImage& m);

struct Migrate {
  static constexpr std::uint16_t kOp = 0x103e;
  static constexpr char kName[] = "Migrate";
  std::uint64_t queue = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t flags = 0;
  std::span<const std::uint64_t> objects{};
};
void encode(wire::Bytes& out, const Migrate& m);
bool decode(wire::View body, Migrate& m);

struct Marker {
  static constexpr std::uint16_t kOp = 0x103f;
  static constexpr char kName[] = "Marker";
  std::uint64_t queue = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
};
void encode(wire::Bytes& out, const Marker& m);
bool decode(wire::View body, Marker& m);

struct Barrier {
  static constexpr std::uint16_t kOp = 0x1040;
  static constexpr char kName[] = "Barrier";
  std::uint64_t queue = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
};
void encode(wire::Bytes& out, const Barrier& m);
bool decode(wire::View body, Barrier& m);

struct CreateUserEvent {
  static constexpr std::uint16_t kOp = 0x1048;
  static constexpr char kName[] = "CreateUserEvent";
  std::uint64_t context = 0;
  std::uint64_t event = 0;
};
void encode(wire::Bytes& out, const CreateUserEvent& m);
bool decode(wire::View body, CreateUserEvent& m);

struct SetUserEvent {
  static constexpr std::uint16_t kOp = 0x1049;
  static constexpr char kName[] = "SetUserEvent";
  std::uint64_t event = 0;
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const SetUserEvent& m);
bool decode(wire::View body, SetUserEvent& m);

struct Watch {
  static constexpr std::uint16_t kOp = 0x104a;
  static constexpr char kName[] = "Watch";
  std::span<const std::uint64_t> events{};
};
void encode(wire::Bytes& out, const Watch& m);
bool decode(wire::View body, Watch& m);

struct WatchStage {
  static constexpr std::uint16_t kOp = 0x104b;
  static constexpr char kName[] = "WatchStage";
  std::uint64_t event = 0;
  std::int32_t stage = 0;
};
void encode(wire::Bytes& out, const WatchStage& m);
bool decode(wire::View body, WatchStage& m);

struct Fence {
  static constexpr std::uint16_t kOp = 0x104d;
  static constexpr char kName[] = "Fence";
  std::uint64_t queue = 0;
};
void encode(wire::Bytes& out, const Fence& m);
bool decode(wire::View body, Fence& m);

/// Answers EventStatus.
struct EventStatusReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t queued = 0;
  std::uint64_t submitted = 0;
  std::uint64_t started = 0;
  std::uint64_t ended = 0;
  std::uint64_t completed = 0;
};
void encode(wire::Bytes& out, const EventStatusReply& m);
bool decode(wire::View body, EventStatusReply& m);

struct EventStatus {
  static constexpr std::uint16_t kOp = 0x104c;
  static constexpr char kName[] = "EventStatus";
  using Reply = EventStatusReply;
  std::uint64_t event = 0;
};
void encode(wire::Bytes& out, const EventStatus& m);
bool decode(wire::View body, EventStatus& m);

/// Answers SvmAllocate.
struct SvmAllocateReply {
  std::uint64_t address = 0;
};
void encode(wire::Bytes& out, const SvmAllocateReply& m);
bool decode(wire::View body, SvmAllocateReply& m);

struct SvmAllocate {
  static constexpr std::uint16_t kOp = 0x1050;
  static constexpr char kName[] = "SvmAllocate";
  using Reply = SvmAllocateReply;
  std::uint64_t context = 0;
  std::uint64_t memory = 0;
  std::uint64_t flags = 0;
  std::uint64_t size = 0;
  std::uint32_t alignment = 0;
};
void encode(wire::Bytes& out, const SvmAllocate& m);
bool decode(wire::View body, SvmAllocate& m);

struct SvmWrite {
  static constexpr std::uint16_t kOp = 0x1051;
  static constexpr char kName[] = "SvmWrite";
  std::uint64_t queue = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t address = 0;
  wire::Payload data{};
};
void encode(wire::Bytes& out, const SvmWrite& m);
bool decode(wire::View body, SvmWrite& m);

struct SvmRead {
  static constexpr std::uint16_t kOp = 0x1052;
  static constexpr char kName[] = "SvmRead";
  std::uint64_t queue = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const SvmRead& m);
bool decode(wire::View body, SvmRead& m);

struct SvmCopy {
  static constexpr std::uint16_t kOp = 0x1053;
  static constexpr char kName[] = "SvmCopy";
  std::uint64_t queue = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const SvmCopy& m);
bool decode(wire::View body, SvmCopy& m);

struct SvmFill {
  static constexpr std::uint16_t kOp = 0x1054;
  static constexpr char kName[] = "SvmFill";
  std::uint64_t queue = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  wire::View pattern{};
};
void encode(wire::Bytes& out, const SvmFill& m);
bool decode(wire::View body, SvmFill& m);

struct SvmMigrate {
  static constexpr std::uint16_t kOp = 0x1055;
  static constexpr char kName[] = "SvmMigrate";
  std::uint64_t queue = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t flags = 0;
  std::span<const std::uint64_t> addresses{};
  std::span<const std::uint64_t> sizes{};
};
void encode(wire::Bytes& out, const SvmMigrate& m);
bool decode(wire::View body, SvmMigrate& m);

/// Answers PeerAccept.
struct PeerAcceptReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const PeerAcceptReply& m);
bool decode(wire::View body, PeerAcceptReply& m);

struct PeerAccept {
  static constexpr std::uint16_t kOp = 0x1058;
  static constexpr char kName[] = "PeerAccept";
  using Reply = PeerAcceptReply;
  std::uint64_t peer = 0;
  wire::View key{};
};
void encode(wire::Bytes& out, const PeerAccept& m);
bool decode(wire::View body, PeerAccept& m);

/// Answers PeerOpen.
struct PeerOpenReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const PeerOpenReply& m);
bool decode(wire::View body, PeerOpenReply& m);

struct PeerOpen {
  static constexpr std::uint16_t kOp = 0x1059;
  static constexpr char kName[] = "PeerOpen";
  using Reply = PeerOpenReply;
  std::uint64_t peer = 0;
  wire::View key{};
  std::string_view address{};
  std::uint32_t port = 0;
  wire::View session{};
};
void encode(wire::Bytes& out, const PeerOpen& m);
bool decode(wire::View body, PeerOpen& m);

struct ExportMemory {
  static constexpr std::uint16_t kOp = 0x105a;
  static constexpr char kName[] = "ExportMemory";
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t peer = 0;
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const ExportMemory& m);
bool decode(wire::View body, ExportMemory& m);

struct ImportMemory {
  static constexpr std::uint16_t kOp = 0x105b;
  static constexpr char kName[] = "ImportMemory";
  std::uint64_t queue = 0;
  std::uint64_t memory = 0;
  std::uint64_t event = 0;
  std::span<const std::uint64_t> waits{};
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t peer = 0;
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const ImportMemory& m);
bool decode(wire::View body, ImportMemory& m);

struct Completed {
  static constexpr std::uint16_t kOp = 0x1060;
  static constexpr char kName[] = "Completed";
  std::vector<Completion> events{};
};
void encode(wire::Bytes& out, const Completed& m);
bool decode(wire::View body, Completed& m);

struct Reached {
  static constexpr std::uint16_t kOp = 0x1061;
  static constexpr char kName[] = "Reached";
  std::uint64_t event = 0;
  std::int32_t stage = 0;
};
void encode(wire::Bytes& out, const Reached& m);
bool decode(wire::View body, Reached& m);

struct Printed {
  static constexpr std::uint16_t kOp = 0x1062;
  static constexpr char kName[] = "Printed";
  wire::View text{};
};
void encode(wire::Bytes& out, const Printed& m);
bool decode(wire::View body, Printed& m);

struct ContextError {
  static constexpr std::uint16_t kOp = 0x1063;
  static constexpr char kName[] = "ContextError";
  std::uint64_t context = 0;
  std::string_view text{};
  wire::View private_info{};
};
void encode(wire::Bytes& out, const ContextError& m);
bool decode(wire::View body, ContextError& m);

struct Failed {
  static constexpr std::uint16_t kOp = 0x1064;
  static constexpr char kName[] = "Failed";
  std::uint64_t queue = 0;
  std::uint64_t event = 0;
  std::uint32_t op = 0;
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const Failed& m);
bool decode(wire::View body, Failed& m);

}  // namespace flexrack::cl
