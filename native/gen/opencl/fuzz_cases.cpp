// The examples of opencl.
// Generated from native/spec/opencl.* by native/codegen/generate.ts; change those.
#include "gen/opencl/fuzz_cases.h"

namespace flexrack::cl {

namespace {

constexpr std::uint8_t kBytes[] = {0x66, 0x6c, 0x65, 0x78, 0x00, 0xff, 0x80};
[[maybe_unused]] constexpr std::uint8_t k_u8[] = {1, 2, 3};
[[maybe_unused]] constexpr std::uint16_t k_u16[] = {1, 2, 3};
[[maybe_unused]] constexpr std::uint32_t k_u32[] = {1, 2, 3};
[[maybe_unused]] constexpr std::uint64_t k_u64[] = {1, 2, 3};
[[maybe_unused]] constexpr std::int32_t k_i32[] = {1, 2, 3};
[[maybe_unused]] constexpr std::int64_t k_i64[] = {1, 2, 3};
[[maybe_unused]] constexpr double k_f64[] = {1, 2, 3};

template <class Message>
bool again(wire::View body, wire::Bytes& out) {
  Message message;
  if (!decode(body, message)) return false;
  encode(out, message);
  return true;
}

wire::Bytes make_DescribeReply() {
  DescribeReply m;
  m.platforms.resize(2);
  m.platforms[0].infos.resize(2);
  m.platforms[0].infos[0].name = 1;
  m.platforms[0].infos[0].value = kBytes;
  m.platforms[0].infos[1].name = 2;
  m.platforms[0].infos[1].value = kBytes;
  m.platforms[1].infos.resize(2);
  m.platforms[1].infos[0].name = 3;
  m.platforms[1].infos[0].value = kBytes;
  m.platforms[1].infos[1].name = 4;
  m.platforms[1].infos[1].value = kBytes;
  m.devices.resize(2);
  m.devices[0].index = 5;
  m.devices[0].platform = 6;
  m.devices[0].infos.resize(2);
  m.devices[0].infos[0].name = 7;
  m.devices[0].infos[0].value = kBytes;
  m.devices[0].infos[1].name = 8;
  m.devices[0].infos[1].value = kBytes;
  m.devices[1].index = 9;
  m.devices[1].platform = 10;
  m.devices[1].infos.resize(2);
  m.devices[1].infos[0].name = 11;
  m.devices[1].infos[0].value = kBytes;
  m.devices[1].infos[1].name = 12;
  m.devices[1].infos[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Describe() {
  Describe m;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateContextReply() {
  CreateContextReply m;
  m.status = 13;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateContext() {
  CreateContext m;
  m.context = 14;
  m.devices = k_u32;
  m.properties = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateQueueReply() {
  CreateQueueReply m;
  m.status = 15;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateQueue() {
  CreateQueue m;
  m.context = 16;
  m.queue = 17;
  m.device = 18;
  m.reserved = 19;
  m.properties = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Release() {
  Release m;
  m.object = 20;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Flush() {
  Flush m;
  m.queue = 21;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_DeviceTimeReply() {
  DeviceTimeReply m;
  m.status = 22;
  m.device_ns = 23;
  m.host_ns = 24;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_DeviceTime() {
  DeviceTime m;
  m.device = 25;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSubDevicesReply() {
  CreateSubDevicesReply m;
  m.status = 26;
  m.count = 27;
  m.devices.resize(2);
  m.devices[0].index = 28;
  m.devices[0].platform = 29;
  m.devices[0].infos.resize(2);
  m.devices[0].infos[0].name = 30;
  m.devices[0].infos[0].value = kBytes;
  m.devices[0].infos[1].name = 31;
  m.devices[0].infos[1].value = kBytes;
  m.devices[1].index = 32;
  m.devices[1].platform = 33;
  m.devices[1].infos.resize(2);
  m.devices[1].infos[0].name = 34;
  m.devices[1].infos[0].value = kBytes;
  m.devices[1].infos[1].name = 35;
  m.devices[1].infos[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSubDevices() {
  CreateSubDevices m;
  m.device = 36;
  m.capacity = 37;
  m.has_list = 38;
  m.reserved = 39;
  m.properties = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReleaseDevice() {
  ReleaseDevice m;
  m.device = 40;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateBufferReply() {
  CreateBufferReply m;
  m.status = 41;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateBuffer() {
  CreateBuffer m;
  m.context = 42;
  m.memory = 43;
  m.flags = 44;
  m.size = 45;
  m.content = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSubBufferReply() {
  CreateSubBufferReply m;
  m.status = 46;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSubBuffer() {
  CreateSubBuffer m;
  m.parent = 47;
  m.memory = 48;
  m.flags = 49;
  m.origin = 50;
  m.size = 51;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateImageReply() {
  CreateImageReply m;
  m.status = 52;
  m.infos.resize(2);
  m.infos[0].name = 53;
  m.infos[0].value = kBytes;
  m.infos[1].name = 54;
  m.infos[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateImage() {
  CreateImage m;
  m.context = 55;
  m.memory = 56;
  m.flags = 57;
  m.format.order = 58;
  m.format.type = 59;
  m.shape.type = 60;
  m.shape.samples = 61;
  m.shape.mips = 62;
  m.shape.reserved = 63;
  m.shape.width = 64;
  m.shape.height = 65;
  m.shape.depth = 66;
  m.shape.array_size = 67;
  m.shape.row_pitch = 68;
  m.shape.slice_pitch = 69;
  m.buffer = 70;
  m.content = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ImageFormatsReply() {
  ImageFormatsReply m;
  m.status = 71;
  m.formats.resize(2);
  m.formats[0].order = 72;
  m.formats[0].type = 73;
  m.formats[1].order = 74;
  m.formats[1].type = 75;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ImageFormats() {
  ImageFormats m;
  m.context = 76;
  m.flags = 77;
  m.type = 78;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSamplerReply() {
  CreateSamplerReply m;
  m.status = 79;
  m.infos.resize(2);
  m.infos[0].name = 80;
  m.infos[0].value = kBytes;
  m.infos[1].name = 81;
  m.infos[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSampler() {
  CreateSampler m;
  m.context = 82;
  m.sampler = 83;
  m.properties = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreatePipeReply() {
  CreatePipeReply m;
  m.status = 84;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreatePipe() {
  CreatePipe m;
  m.context = 85;
  m.memory = 86;
  m.flags = 87;
  m.packet_size = 88;
  m.max_packets = 89;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReserveReply() {
  ReserveReply m;
  m.status = 90;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Reserve() {
  Reserve m;
  m.memory = 91;
  m.device = 92;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateProgramReply() {
  CreateProgramReply m;
  m.status = 93;
  m.binary_status = k_i32;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateProgram() {
  CreateProgram m;
  m.context = 94;
  m.program = 95;
  m.form = 96;
  m.devices = k_u32;
  m.parts.resize(2);
  m.parts[0] = kBytes;
  m.parts[1] = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_BuildProgramReply() {
  BuildProgramReply m;
  m.status = 97;
  m.outcomes.resize(2);
  m.outcomes[0].device = 98;
  m.outcomes[0].status = 99;
  m.outcomes[0].binary_type = 100;
  m.outcomes[0].global_variable_bytes = 1;
  m.outcomes[0].options = "options 2";
  m.outcomes[0].log = "log 3";
  m.outcomes[1].device = 4;
  m.outcomes[1].status = 5;
  m.outcomes[1].binary_type = 6;
  m.outcomes[1].global_variable_bytes = 7;
  m.outcomes[1].options = "options 8";
  m.outcomes[1].log = "log 9";
  m.kernel_names = "kernel_names 10";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_BuildProgram() {
  BuildProgram m;
  m.program = 11;
  m.devices = k_u32;
  m.has_options = 12;
  m.options = "options 13";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CompileProgramReply() {
  CompileProgramReply m;
  m.status = 14;
  m.outcomes.resize(2);
  m.outcomes[0].device = 15;
  m.outcomes[0].status = 16;
  m.outcomes[0].binary_type = 17;
  m.outcomes[0].global_variable_bytes = 18;
  m.outcomes[0].options = "options 19";
  m.outcomes[0].log = "log 20";
  m.outcomes[1].device = 21;
  m.outcomes[1].status = 22;
  m.outcomes[1].binary_type = 23;
  m.outcomes[1].global_variable_bytes = 24;
  m.outcomes[1].options = "options 25";
  m.outcomes[1].log = "log 26";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CompileProgram() {
  CompileProgram m;
  m.program = 27;
  m.devices = k_u32;
  m.has_options = 28;
  m.options = "options 29";
  m.headers.resize(2);
  m.headers[0].name = "name 30";
  m.headers[0].program = 31;
  m.headers[1].name = "name 32";
  m.headers[1].program = 33;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_LinkProgramReply() {
  LinkProgramReply m;
  m.status = 34;
  m.created = 35;
  m.outcomes.resize(2);
  m.outcomes[0].device = 36;
  m.outcomes[0].status = 37;
  m.outcomes[0].binary_type = 38;
  m.outcomes[0].global_variable_bytes = 39;
  m.outcomes[0].options = "options 40";
  m.outcomes[0].log = "log 41";
  m.outcomes[1].device = 42;
  m.outcomes[1].status = 43;
  m.outcomes[1].binary_type = 44;
  m.outcomes[1].global_variable_bytes = 45;
  m.outcomes[1].options = "options 46";
  m.outcomes[1].log = "log 47";
  m.kernel_names = "kernel_names 48";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_LinkProgram() {
  LinkProgram m;
  m.context = 49;
  m.program = 50;
  m.devices = k_u32;
  m.has_options = 51;
  m.options = "options 52";
  m.inputs = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ProgramBinariesReply() {
  ProgramBinariesReply m;
  m.status = 53;
  m.devices = k_u32;
  m.binaries.resize(2);
  m.binaries[0] = kBytes;
  m.binaries[1] = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ProgramBinaries() {
  ProgramBinaries m;
  m.program = 54;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ProgramInfoReply() {
  ProgramInfoReply m;
  m.status = 55;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ProgramInfo() {
  ProgramInfo m;
  m.program = 56;
  m.param = 57;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SpecializeProgramReply() {
  SpecializeProgramReply m;
  m.status = 58;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SpecializeProgram() {
  SpecializeProgram m;
  m.program = 59;
  m.id = 60;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_BuildInfoReply() {
  BuildInfoReply m;
  m.status = 61;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_BuildInfo() {
  BuildInfo m;
  m.program = 62;
  m.device = 63;
  m.param = 64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateKernelReply() {
  CreateKernelReply m;
  m.status = 65;
  m.attributes = "attributes 66";
  m.arguments.resize(2);
  m.arguments[0].kind = 67;
  m.arguments[0].address = 68;
  m.arguments[0].access = 69;
  m.arguments[0].qualifier = 70;
  m.arguments[0].size = 71;
  m.arguments[0].type_name = "type_name 72";
  m.arguments[0].name = "name 73";
  m.arguments[1].kind = 74;
  m.arguments[1].address = 75;
  m.arguments[1].access = 76;
  m.arguments[1].qualifier = 77;
  m.arguments[1].size = 78;
  m.arguments[1].type_name = "type_name 79";
  m.arguments[1].name = "name 80";
  m.devices.resize(2);
  m.devices[0].device = 81;
  m.devices[0].infos.resize(2);
  m.devices[0].infos[0].name = 82;
  m.devices[0].infos[0].value = kBytes;
  m.devices[0].infos[1].name = 83;
  m.devices[0].infos[1].value = kBytes;
  m.devices[1].device = 84;
  m.devices[1].infos.resize(2);
  m.devices[1].infos[0].name = 85;
  m.devices[1].infos[0].value = kBytes;
  m.devices[1].infos[1].name = 86;
  m.devices[1].infos[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateKernel() {
  CreateKernel m;
  m.program = 87;
  m.kernel = 88;
  m.name = "name 89";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CloneKernelReply() {
  CloneKernelReply m;
  m.status = 90;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CloneKernel() {
  CloneKernel m;
  m.source = 91;
  m.kernel = 92;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SubGroupInfoReply() {
  SubGroupInfoReply m;
  m.status = 93;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SubGroupInfo() {
  SubGroupInfo m;
  m.kernel = 94;
  m.device = 95;
  m.param = 96;
  m.input = kBytes;
  m.capacity = 97;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_KernelExecInfoReply() {
  KernelExecInfoReply m;
  m.status = 98;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_KernelExecInfo() {
  KernelExecInfo m;
  m.kernel = 99;
  m.param = 100;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CheckArgumentReply() {
  CheckArgumentReply m;
  m.status = 1;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CheckArgument() {
  CheckArgument m;
  m.kernel = 2;
  m.argument.index = 3;
  m.argument.kind = 4;
  m.argument.object = 5;
  m.argument.size = 6;
  m.argument.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SuggestLocalSizeReply() {
  SuggestLocalSizeReply m;
  m.status = 7;
  m.local.x = 8;
  m.local.y = 9;
  m.local.z = 10;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SuggestLocalSize() {
  SuggestLocalSize m;
  m.queue = 11;
  m.kernel = 12;
  m.dimensions = 13;
  m.offset.x = 14;
  m.offset.y = 15;
  m.offset.z = 16;
  m.global.x = 17;
  m.global.y = 18;
  m.global.z = 19;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Launch() {
  Launch m;
  m.queue = 20;
  m.kernel = 21;
  m.event = 22;
  m.waits = k_u64;
  m.dimensions = 23;
  m.has_local = 24;
  m.offset.x = 25;
  m.offset.y = 26;
  m.offset.z = 27;
  m.global.x = 28;
  m.global.y = 29;
  m.global.z = 30;
  m.local.x = 31;
  m.local.y = 32;
  m.local.z = 33;
  m.arguments.resize(2);
  m.arguments[0].index = 34;
  m.arguments[0].kind = 35;
  m.arguments[0].object = 36;
  m.arguments[0].size = 37;
  m.arguments[0].value = kBytes;
  m.arguments[1].index = 38;
  m.arguments[1].kind = 39;
  m.arguments[1].object = 40;
  m.arguments[1].size = 41;
  m.arguments[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteBuffer() {
  WriteBuffer m;
  m.queue = 42;
  m.memory = 43;
  m.event = 44;
  m.waits = k_u64;
  m.offset = 45;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReadBuffer() {
  ReadBuffer m;
  m.queue = 46;
  m.memory = 47;
  m.event = 48;
  m.waits = k_u64;
  m.offset = 49;
  m.size = 50;
  m.ticket = 51;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteRect() {
  WriteRect m;
  m.queue = 52;
  m.memory = 53;
  m.event = 54;
  m.waits = k_u64;
  m.origin.x = 55;
  m.origin.y = 56;
  m.origin.z = 57;
  m.region.x = 58;
  m.region.y = 59;
  m.region.z = 60;
  m.row_pitch = 61;
  m.slice_pitch = 62;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReadRect() {
  ReadRect m;
  m.queue = 63;
  m.memory = 64;
  m.event = 65;
  m.waits = k_u64;
  m.origin.x = 66;
  m.origin.y = 67;
  m.origin.z = 68;
  m.region.x = 69;
  m.region.y = 70;
  m.region.z = 71;
  m.row_pitch = 72;
  m.slice_pitch = 73;
  m.ticket = 74;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyBuffer() {
  CopyBuffer m;
  m.queue = 75;
  m.source = 76;
  m.target = 77;
  m.event = 78;
  m.waits = k_u64;
  m.source_offset = 79;
  m.target_offset = 80;
  m.size = 81;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyRect() {
  CopyRect m;
  m.queue = 82;
  m.source = 83;
  m.target = 84;
  m.event = 85;
  m.waits = k_u64;
  m.source_origin.x = 86;
  m.source_origin.y = 87;
  m.source_origin.z = 88;
  m.target_origin.x = 89;
  m.target_origin.y = 90;
  m.target_origin.z = 91;
  m.region.x = 92;
  m.region.y = 93;
  m.region.z = 94;
  m.source_row_pitch = 95;
  m.source_slice_pitch = 96;
  m.target_row_pitch = 97;
  m.target_slice_pitch = 98;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FillBuffer() {
  FillBuffer m;
  m.queue = 99;
  m.memory = 100;
  m.event = 1;
  m.waits = k_u64;
  m.offset = 2;
  m.size = 3;
  m.pattern = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteImage() {
  WriteImage m;
  m.queue = 4;
  m.memory = 5;
  m.event = 6;
  m.waits = k_u64;
  m.origin.x = 7;
  m.origin.y = 8;
  m.origin.z = 9;
  m.region.x = 10;
  m.region.y = 11;
  m.region.z = 12;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReadImage() {
  ReadImage m;
  m.queue = 13;
  m.memory = 14;
  m.event = 15;
  m.waits = k_u64;
  m.origin.x = 16;
  m.origin.y = 17;
  m.origin.z = 18;
  m.region.x = 19;
  m.region.y = 20;
  m.region.z = 21;
  m.size = 22;
  m.ticket = 23;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyImage() {
  CopyImage m;
  m.queue = 24;
  m.source = 25;
  m.target = 26;
  m.event = 27;
  m.waits = k_u64;
  m.source_origin.x = 28;
  m.source_origin.y = 29;
  m.source_origin.z = 30;
  m.target_origin.x = 31;
  m.target_origin.y = 32;
  m.target_origin.z = 33;
  m.region.x = 34;
  m.region.y = 35;
  m.region.z = 36;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyImageToBuffer() {
  CopyImageToBuffer m;
  m.queue = 37;
  m.source = 38;
  m.target = 39;
  m.event = 40;
  m.waits = k_u64;
  m.origin.x = 41;
  m.origin.y = 42;
  m.origin.z = 43;
  m.region.x = 44;
  m.region.y = 45;
  m.region.z = 46;
  m.offset = 47;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyBufferToImage() {
  CopyBufferToImage m;
  m.queue = 48;
  m.source = 49;
  m.target = 50;
  m.event = 51;
  m.waits = k_u64;
  m.offset = 52;
  m.origin.x = 53;
  m.origin.y = 54;
  m.origin.z = 55;
  m.region.x = 56;
  m.region.y = 57;
  m.region.z = 58;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FillImage() {
  FillImage m;
  m.queue = 59;
  m.memory = 60;
  m.event = 61;
  m.waits = k_u64;
  m.origin.x = 62;
  m.origin.y = 63;
  m.origin.z = 64;
  m.region.x = 65;
  m.region.y = 66;
  m.region.z = 67;
  m.color = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Migrate() {
  Migrate m;
  m.queue = 68;
  m.event = 69;
  m.waits = k_u64;
  m.flags = 70;
  m.objects = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Marker() {
  Marker m;
  m.queue = 71;
  m.event = 72;
  m.waits = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Barrier() {
  Barrier m;
  m.queue = 73;
  m.event = 74;
  m.waits = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateUserEvent() {
  CreateUserEvent m;
  m.context = 75;
  m.event = 76;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetUserEvent() {
  SetUserEvent m;
  m.event = 77;
  m.status = 78;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Watch() {
  Watch m;
  m.events = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WatchStage() {
  WatchStage m;
  m.event = 79;
  m.stage = 80;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Fence() {
  Fence m;
  m.queue = 81;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EventStatusReply() {
  EventStatusReply m;
  m.status = 82;
  m.reserved = 83;
  m.queued = 84;
  m.submitted = 85;
  m.started = 86;
  m.ended = 87;
  m.completed = 88;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EventStatus() {
  EventStatus m;
  m.event = 89;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmAllocateReply() {
  SvmAllocateReply m;
  m.address = 90;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmAllocate() {
  SvmAllocate m;
  m.context = 91;
  m.memory = 92;
  m.flags = 93;
  m.size = 94;
  m.alignment = 95;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmWrite() {
  SvmWrite m;
  m.queue = 96;
  m.event = 97;
  m.waits = k_u64;
  m.address = 98;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmRead() {
  SvmRead m;
  m.queue = 99;
  m.event = 100;
  m.waits = k_u64;
  m.address = 1;
  m.size = 2;
  m.ticket = 3;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmCopy() {
  SvmCopy m;
  m.queue = 4;
  m.event = 5;
  m.waits = k_u64;
  m.source = 6;
  m.target = 7;
  m.size = 8;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmFill() {
  SvmFill m;
  m.queue = 9;
  m.event = 10;
  m.waits = k_u64;
  m.address = 11;
  m.size = 12;
  m.pattern = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmMigrate() {
  SvmMigrate m;
  m.queue = 13;
  m.event = 14;
  m.waits = k_u64;
  m.flags = 15;
  m.addresses = k_u64;
  m.sizes = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerAcceptReply() {
  PeerAcceptReply m;
  m.status = 16;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerAccept() {
  PeerAccept m;
  m.peer = 17;
  m.key = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerOpenReply() {
  PeerOpenReply m;
  m.status = 18;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerOpen() {
  PeerOpen m;
  m.peer = 19;
  m.key = kBytes;
  m.address = "address 20";
  m.port = 21;
  m.session = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ExportMemory() {
  ExportMemory m;
  m.queue = 22;
  m.memory = 23;
  m.event = 24;
  m.waits = k_u64;
  m.offset = 25;
  m.size = 26;
  m.peer = 27;
  m.ticket = 28;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ImportMemory() {
  ImportMemory m;
  m.queue = 29;
  m.memory = 30;
  m.event = 31;
  m.waits = k_u64;
  m.offset = 32;
  m.size = 33;
  m.peer = 34;
  m.ticket = 35;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Completed() {
  Completed m;
  m.events.resize(2);
  m.events[0].event = 36;
  m.events[0].status = 37;
  m.events[0].reserved = 38;
  m.events[0].queued = 39;
  m.events[0].submitted = 40;
  m.events[0].started = 41;
  m.events[0].ended = 42;
  m.events[0].completed = 43;
  m.events[1].event = 44;
  m.events[1].status = 45;
  m.events[1].reserved = 46;
  m.events[1].queued = 47;
  m.events[1].submitted = 48;
  m.events[1].started = 49;
  m.events[1].ended = 50;
  m.events[1].completed = 51;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Reached() {
  Reached m;
  m.event = 52;
  m.stage = 53;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Printed() {
  Printed m;
  m.text = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ContextError() {
  ContextError m;
  m.context = 54;
  m.text = "text 55";
  m.private_info = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Failed() {
  Failed m;
  m.queue = 56;
  m.event = 57;
  m.op = 58;
  m.status = 59;
  wire::Bytes out;
  encode(out, m);
  return out;
}

constexpr FuzzCase kCases[] = {
    {"describe_reply", 0x1001, true, false, make_DescribeReply, again<DescribeReply>},
    {"describe", 0x1001, false, false, make_Describe, again<Describe>},
    {"create_context_reply", 0x1002, true, false, make_CreateContextReply, again<CreateContextReply>},
    {"create_context", 0x1002, false, false, make_CreateContext, again<CreateContext>},
    {"create_queue_reply", 0x1003, true, false, make_CreateQueueReply, again<CreateQueueReply>},
    {"create_queue", 0x1003, false, false, make_CreateQueue, again<CreateQueue>},
    {"release", 0x1004, false, false, make_Release, again<Release>},
    {"flush", 0x1005, false, false, make_Flush, again<Flush>},
    {"device_time_reply", 0x1006, true, false, make_DeviceTimeReply, again<DeviceTimeReply>},
    {"device_time", 0x1006, false, false, make_DeviceTime, again<DeviceTime>},
    {"create_sub_devices_reply", 0x1007, true, false, make_CreateSubDevicesReply, again<CreateSubDevicesReply>},
    {"create_sub_devices", 0x1007, false, false, make_CreateSubDevices, again<CreateSubDevices>},
    {"release_device", 0x1008, false, false, make_ReleaseDevice, again<ReleaseDevice>},
    {"create_buffer_reply", 0x1010, true, false, make_CreateBufferReply, again<CreateBufferReply>},
    {"create_buffer", 0x1010, false, false, make_CreateBuffer, again<CreateBuffer>},
    {"create_sub_buffer_reply", 0x1011, true, false, make_CreateSubBufferReply, again<CreateSubBufferReply>},
    {"create_sub_buffer", 0x1011, false, false, make_CreateSubBuffer, again<CreateSubBuffer>},
    {"create_image_reply", 0x1012, true, false, make_CreateImageReply, again<CreateImageReply>},
    {"create_image", 0x1012, false, false, make_CreateImage, again<CreateImage>},
    {"image_formats_reply", 0x1013, true, false, make_ImageFormatsReply, again<ImageFormatsReply>},
    {"image_formats", 0x1013, false, false, make_ImageFormats, again<ImageFormats>},
    {"create_sampler_reply", 0x1014, true, false, make_CreateSamplerReply, again<CreateSamplerReply>},
    {"create_sampler", 0x1014, false, false, make_CreateSampler, again<CreateSampler>},
    {"create_pipe_reply", 0x1015, true, false, make_CreatePipeReply, again<CreatePipeReply>},
    {"create_pipe", 0x1015, false, false, make_CreatePipe, again<CreatePipe>},
    {"reserve_reply", 0x1016, true, false, make_ReserveReply, again<ReserveReply>},
    {"reserve", 0x1016, false, false, make_Reserve, again<Reserve>},
    {"create_program_reply", 0x1020, true, false, make_CreateProgramReply, again<CreateProgramReply>},
    {"create_program", 0x1020, false, false, make_CreateProgram, again<CreateProgram>},
    {"build_program_reply", 0x1021, true, false, make_BuildProgramReply, again<BuildProgramReply>},
    {"build_program", 0x1021, false, false, make_BuildProgram, again<BuildProgram>},
    {"compile_program_reply", 0x1022, true, false, make_CompileProgramReply, again<CompileProgramReply>},
    {"compile_program", 0x1022, false, false, make_CompileProgram, again<CompileProgram>},
    {"link_program_reply", 0x1023, true, false, make_LinkProgramReply, again<LinkProgramReply>},
    {"link_program", 0x1023, false, false, make_LinkProgram, again<LinkProgram>},
    {"program_binaries_reply", 0x1024, true, false, make_ProgramBinariesReply, again<ProgramBinariesReply>},
    {"program_binaries", 0x1024, false, false, make_ProgramBinaries, again<ProgramBinaries>},
    {"program_info_reply", 0x1025, true, false, make_ProgramInfoReply, again<ProgramInfoReply>},
    {"program_info", 0x1025, false, false, make_ProgramInfo, again<ProgramInfo>},
    {"specialize_program_reply", 0x1026, true, false, make_SpecializeProgramReply, again<SpecializeProgramReply>},
    {"specialize_program", 0x1026, false, false, make_SpecializeProgram, again<SpecializeProgram>},
    {"build_info_reply", 0x1027, true, false, make_BuildInfoReply, again<BuildInfoReply>},
    {"build_info", 0x1027, false, false, make_BuildInfo, again<BuildInfo>},
    {"create_kernel_reply", 0x1028, true, false, make_CreateKernelReply, again<CreateKernelReply>},
    {"create_kernel", 0x1028, false, false, make_CreateKernel, again<CreateKernel>},
    {"clone_kernel_reply", 0x1029, true, false, make_CloneKernelReply, again<CloneKernelReply>},
    {"clone_kernel", 0x1029, false, false, make_CloneKernel, again<CloneKernel>},
    {"sub_group_info_reply", 0x102a, true, false, make_SubGroupInfoReply, again<SubGroupInfoReply>},
    {"sub_group_info", 0x102a, false, false, make_SubGroupInfo, again<SubGroupInfo>},
    {"kernel_exec_info_reply", 0x102b, true, false, make_KernelExecInfoReply, again<KernelExecInfoReply>},
    {"kernel_exec_info", 0x102b, false, false, make_KernelExecInfo, again<KernelExecInfo>},
    {"check_argument_reply", 0x102c, true, false, make_CheckArgumentReply, again<CheckArgumentReply>},
    {"check_argument", 0x102c, false, false, make_CheckArgument, again<CheckArgument>},
    {"suggest_local_size_reply", 0x102d, true, false, make_SuggestLocalSizeReply, again<SuggestLocalSizeReply>},
    {"suggest_local_size", 0x102d, false, false, make_SuggestLocalSize, again<SuggestLocalSize>},
    {"launch", 0x1030, false, false, make_Launch, again<Launch>},
    {"write_buffer", 0x1031, false, false, make_WriteBuffer, again<WriteBuffer>},
    {"read_buffer", 0x1032, false, false, make_ReadBuffer, again<ReadBuffer>},
    {"write_rect", 0x1033, false, false, make_WriteRect, again<WriteRect>},
    {"read_rect", 0x1034, false, false, make_ReadRect, again<ReadRect>},
    {"copy_buffer", 0x1035, false, false, make_CopyBuffer, again<CopyBuffer>},
    {"copy_rect", 0x1036, false, false, make_CopyRect, again<CopyRect>},
    {"fill_buffer", 0x1037, false, false, make_FillBuffer, again<FillBuffer>},
    {"write_image", 0x1038, false, false, make_WriteImage, again<WriteImage>},
    {"read_image", 0x1039, false, false, make_ReadImage, again<ReadImage>},
    {"copy_image", 0x103a, false, false, make_CopyImage, again<CopyImage>},
    {"copy_image_to_buffer", 0x103b, false, false, make_CopyImageToBuffer, again<CopyImageToBuffer>},
    {"copy_buffer_to_image", 0x103c, false, false, make_CopyBufferToImage, again<CopyBufferToImage>},
    {"fill_image", 0x103d, false, false, make_FillImage, again<FillImage>},
    {"migrate", 0x103e, false, false, make_Migrate, again<Migrate>},
    {"marker", 0x103f, false, false, make_Marker, again<Marker>},
    {"barrier", 0x1040, false, false, make_Barrier, again<Barrier>},
    {"create_user_event", 0x1048, false, false, make_CreateUserEvent, again<CreateUserEvent>},
    {"set_user_event", 0x1049, false, false, make_SetUserEvent, again<SetUserEvent>},
    {"watch", 0x104a, false, false, make_Watch, again<Watch>},
    {"watch_stage", 0x104b, false, false, make_WatchStage, again<WatchStage>},
    {"fence", 0x104d, false, false, make_Fence, again<Fence>},
    {"event_status_reply", 0x104c, true, false, make_EventStatusReply, again<EventStatusReply>},
    {"event_status", 0x104c, false, false, make_EventStatus, again<EventStatus>},
    {"svm_allocate_reply", 0x1050, true, false, make_SvmAllocateReply, again<SvmAllocateReply>},
    {"svm_allocate", 0x1050, false, false, make_SvmAllocate, again<SvmAllocate>},
    {"svm_write", 0x1051, false, false, make_SvmWrite, again<SvmWrite>},
    {"svm_read", 0x1052, false, false, make_SvmRead, again<SvmRead>},
    {"svm_copy", 0x1053, false, false, make_SvmCopy, again<SvmCopy>},
    {"svm_fill", 0x1054, false, false, make_SvmFill, again<SvmFill>},
    {"svm_migrate", 0x1055, false, false, make_SvmMigrate, again<SvmMigrate>},
    {"peer_accept_reply", 0x1058, true, false, make_PeerAcceptReply, again<PeerAcceptReply>},
    {"peer_accept", 0x1058, false, false, make_PeerAccept, again<PeerAccept>},
    {"peer_open_reply", 0x1059, true, false, make_PeerOpenReply, again<PeerOpenReply>},
    {"peer_open", 0x1059, false, false, make_PeerOpen, again<PeerOpen>},
    {"export_memory", 0x105a, false, false, make_ExportMemory, again<ExportMemory>},
    {"import_memory", 0x105b, false, false, make_ImportMemory, again<ImportMemory>},
    {"completed", 0x1060, false, true, make_Completed, again<Completed>},
    {"reached", 0x1061, false, true, make_Reached, again<Reached>},
    {"printed", 0x1062, false, true, make_Printed, again<Printed>},
    {"context_error", 0x1063, false, true, make_ContextError, again<ContextError>},
    {"failed", 0x1064, false, true, make_Failed, again<Failed>},
};

}  // namespace

std::span<const FuzzCase> fuzz_cases() { return kCases; }

}  // namespace flexrack::cl
