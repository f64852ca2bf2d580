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
wire::Bytes make_CreateBufferReply() {
  CreateBufferReply m;
  m.status = 26;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateBuffer() {
  CreateBuffer m;
  m.context = 27;
  m.memory = 28;
  m.flags = 29;
  m.size = 30;
  m.content = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSubBufferReply() {
  CreateSubBufferReply m;
  m.status = 31;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSubBuffer() {
  CreateSubBuffer m;
  m.parent = 32;
  m.memory = 33;
  m.flags = 34;
  m.origin = 35;
  m.size = 36;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateImageReply() {
  CreateImageReply m;
  m.status = 37;
  m.infos.resize(2);
  m.infos[0].name = 38;
  m.infos[0].value = kBytes;
  m.infos[1].name = 39;
  m.infos[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateImage() {
  CreateImage m;
  m.context = 40;
  m.memory = 41;
  m.flags = 42;
  m.format.order = 43;
  m.format.type = 44;
  m.shape.type = 45;
  m.shape.samples = 46;
  m.shape.mips = 47;
  m.shape.reserved = 48;
  m.shape.width = 49;
  m.shape.height = 50;
  m.shape.depth = 51;
  m.shape.array_size = 52;
  m.shape.row_pitch = 53;
  m.shape.slice_pitch = 54;
  m.buffer = 55;
  m.content = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ImageFormatsReply() {
  ImageFormatsReply m;
  m.status = 56;
  m.formats.resize(2);
  m.formats[0].order = 57;
  m.formats[0].type = 58;
  m.formats[1].order = 59;
  m.formats[1].type = 60;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ImageFormats() {
  ImageFormats m;
  m.context = 61;
  m.flags = 62;
  m.type = 63;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSamplerReply() {
  CreateSamplerReply m;
  m.status = 64;
  m.infos.resize(2);
  m.infos[0].name = 65;
  m.infos[0].value = kBytes;
  m.infos[1].name = 66;
  m.infos[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSampler() {
  CreateSampler m;
  m.context = 67;
  m.sampler = 68;
  m.properties = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreatePipeReply() {
  CreatePipeReply m;
  m.status = 69;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreatePipe() {
  CreatePipe m;
  m.context = 70;
  m.memory = 71;
  m.flags = 72;
  m.packet_size = 73;
  m.max_packets = 74;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReserveReply() {
  ReserveReply m;
  m.status = 75;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Reserve() {
  Reserve m;
  m.memory = 76;
  m.device = 77;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateProgramReply() {
  CreateProgramReply m;
  m.status = 78;
  m.binary_status = k_i32;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateProgram() {
  CreateProgram m;
  m.context = 79;
  m.program = 80;
  m.form = 81;
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
  m.status = 82;
  m.outcomes.resize(2);
  m.outcomes[0].device = 83;
  m.outcomes[0].status = 84;
  m.outcomes[0].binary_type = 85;
  m.outcomes[0].global_variable_bytes = 86;
  m.outcomes[0].options = "options 87";
  m.outcomes[0].log = "log 88";
  m.outcomes[1].device = 89;
  m.outcomes[1].status = 90;
  m.outcomes[1].binary_type = 91;
  m.outcomes[1].global_variable_bytes = 92;
  m.outcomes[1].options = "options 93";
  m.outcomes[1].log = "log 94";
  m.kernel_names = "kernel_names 95";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_BuildProgram() {
  BuildProgram m;
  m.program = 96;
  m.devices = k_u32;
  m.has_options = 97;
  m.options = "options 98";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CompileProgramReply() {
  CompileProgramReply m;
  m.status = 99;
  m.outcomes.resize(2);
  m.outcomes[0].device = 100;
  m.outcomes[0].status = 1;
  m.outcomes[0].binary_type = 2;
  m.outcomes[0].global_variable_bytes = 3;
  m.outcomes[0].options = "options 4";
  m.outcomes[0].log = "log 5";
  m.outcomes[1].device = 6;
  m.outcomes[1].status = 7;
  m.outcomes[1].binary_type = 8;
  m.outcomes[1].global_variable_bytes = 9;
  m.outcomes[1].options = "options 10";
  m.outcomes[1].log = "log 11";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CompileProgram() {
  CompileProgram m;
  m.program = 12;
  m.devices = k_u32;
  m.has_options = 13;
  m.options = "options 14";
  m.headers.resize(2);
  m.headers[0].name = "name 15";
  m.headers[0].program = 16;
  m.headers[1].name = "name 17";
  m.headers[1].program = 18;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_LinkProgramReply() {
  LinkProgramReply m;
  m.status = 19;
  m.created = 20;
  m.outcomes.resize(2);
  m.outcomes[0].device = 21;
  m.outcomes[0].status = 22;
  m.outcomes[0].binary_type = 23;
  m.outcomes[0].global_variable_bytes = 24;
  m.outcomes[0].options = "options 25";
  m.outcomes[0].log = "log 26";
  m.outcomes[1].device = 27;
  m.outcomes[1].status = 28;
  m.outcomes[1].binary_type = 29;
  m.outcomes[1].global_variable_bytes = 30;
  m.outcomes[1].options = "options 31";
  m.outcomes[1].log = "log 32";
  m.kernel_names = "kernel_names 33";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_LinkProgram() {
  LinkProgram m;
  m.context = 34;
  m.program = 35;
  m.devices = k_u32;
  m.has_options = 36;
  m.options = "options 37";
  m.inputs = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ProgramBinariesReply() {
  ProgramBinariesReply m;
  m.status = 38;
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
  m.program = 39;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ProgramInfoReply() {
  ProgramInfoReply m;
  m.status = 40;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ProgramInfo() {
  ProgramInfo m;
  m.program = 41;
  m.param = 42;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SpecializeProgramReply() {
  SpecializeProgramReply m;
  m.status = 43;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SpecializeProgram() {
  SpecializeProgram m;
  m.program = 44;
  m.id = 45;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_BuildInfoReply() {
  BuildInfoReply m;
  m.status = 46;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_BuildInfo() {
  BuildInfo m;
  m.program = 47;
  m.device = 48;
  m.param = 49;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateKernelReply() {
  CreateKernelReply m;
  m.status = 50;
  m.attributes = "attributes 51";
  m.arguments.resize(2);
  m.arguments[0].kind = 52;
  m.arguments[0].address = 53;
  m.arguments[0].access = 54;
  m.arguments[0].qualifier = 55;
  m.arguments[0].size = 56;
  m.arguments[0].type_name = "type_name 57";
  m.arguments[0].name = "name 58";
  m.arguments[1].kind = 59;
  m.arguments[1].address = 60;
  m.arguments[1].access = 61;
  m.arguments[1].qualifier = 62;
  m.arguments[1].size = 63;
  m.arguments[1].type_name = "type_name 64";
  m.arguments[1].name = "name 65";
  m.devices.resize(2);
  m.devices[0].device = 66;
  m.devices[0].infos.resize(2);
  m.devices[0].infos[0].name = 67;
  m.devices[0].infos[0].value = kBytes;
  m.devices[0].infos[1].name = 68;
  m.devices[0].infos[1].value = kBytes;
  m.devices[1].device = 69;
  m.devices[1].infos.resize(2);
  m.devices[1].infos[0].name = 70;
  m.devices[1].infos[0].value = kBytes;
  m.devices[1].infos[1].name = 71;
  m.devices[1].infos[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateKernel() {
  CreateKernel m;
  m.program = 72;
  m.kernel = 73;
  m.name = "name 74";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CloneKernelReply() {
  CloneKernelReply m;
  m.status = 75;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CloneKernel() {
  CloneKernel m;
  m.source = 76;
  m.kernel = 77;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SubGroupInfoReply() {
  SubGroupInfoReply m;
  m.status = 78;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SubGroupInfo() {
  SubGroupInfo m;
  m.kernel = 79;
  m.device = 80;
  m.param = 81;
  m.input = kBytes;
  m.capacity = 82;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_KernelExecInfoReply() {
  KernelExecInfoReply m;
  m.status = 83;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_KernelExecInfo() {
  KernelExecInfo m;
  m.kernel = 84;
  m.param = 85;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CheckArgumentReply() {
  CheckArgumentReply m;
  m.status = 86;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CheckArgument() {
  CheckArgument m;
  m.kernel = 87;
  m.argument.index = 88;
  m.argument.kind = 89;
  m.argument.object = 90;
  m.argument.size = 91;
  m.argument.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SuggestLocalSizeReply() {
  SuggestLocalSizeReply m;
  m.status = 92;
  m.local.x = 93;
  m.local.y = 94;
  m.local.z = 95;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SuggestLocalSize() {
  SuggestLocalSize m;
  m.queue = 96;
  m.kernel = 97;
  m.dimensions = 98;
  m.offset.x = 99;
  m.offset.y = 100;
  m.offset.z = 1;
  m.global.x = 2;
  m.global.y = 3;
  m.global.z = 4;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Launch() {
  Launch m;
  m.queue = 5;
  m.kernel = 6;
  m.event = 7;
  m.waits = k_u64;
  m.dimensions = 8;
  m.has_local = 9;
  m.offset.x = 10;
  m.offset.y = 11;
  m.offset.z = 12;
  m.global.x = 13;
  m.global.y = 14;
  m.global.z = 15;
  m.local.x = 16;
  m.local.y = 17;
  m.local.z = 18;
  m.arguments.resize(2);
  m.arguments[0].index = 19;
  m.arguments[0].kind = 20;
  m.arguments[0].object = 21;
  m.arguments[0].size = 22;
  m.arguments[0].value = kBytes;
  m.arguments[1].index = 23;
  m.arguments[1].kind = 24;
  m.arguments[1].object = 25;
  m.arguments[1].size = 26;
  m.arguments[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteBuffer() {
  WriteBuffer m;
  m.queue = 27;
  m.memory = 28;
  m.event = 29;
  m.waits = k_u64;
  m.offset = 30;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReadBuffer() {
  ReadBuffer m;
  m.queue = 31;
  m.memory = 32;
  m.event = 33;
  m.waits = k_u64;
  m.offset = 34;
  m.size = 35;
  m.ticket = 36;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteRect() {
  WriteRect m;
  m.queue = 37;
  m.memory = 38;
  m.event = 39;
  m.waits = k_u64;
  m.origin.x = 40;
  m.origin.y = 41;
  m.origin.z = 42;
  m.region.x = 43;
  m.region.y = 44;
  m.region.z = 45;
  m.row_pitch = 46;
  m.slice_pitch = 47;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReadRect() {
  ReadRect m;
  m.queue = 48;
  m.memory = 49;
  m.event = 50;
  m.waits = k_u64;
  m.origin.x = 51;
  m.origin.y = 52;
  m.origin.z = 53;
  m.region.x = 54;
  m.region.y = 55;
  m.region.z = 56;
  m.row_pitch = 57;
  m.slice_pitch = 58;
  m.ticket = 59;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyBuffer() {
  CopyBuffer m;
  m.queue = 60;
  m.source = 61;
  m.target = 62;
  m.event = 63;
  m.waits = k_u64;
  m.source_offset = 64;
  m.target_offset = 65;
  m.size = 66;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyRect() {
  CopyRect m;
  m.queue = 67;
  m.source = 68;
  m.target = 69;
  m.event = 70;
  m.waits = k_u64;
  m.source_origin.x = 71;
  m.source_origin.y = 72;
  m.source_origin.z = 73;
  m.target_origin.x = 74;
  m.target_origin.y = 75;
  m.target_origin.z = 76;
  m.region.x = 77;
  m.region.y = 78;
  m.region.z = 79;
  m.source_row_pitch = 80;
  m.source_slice_pitch = 81;
  m.target_row_pitch = 82;
  m.target_slice_pitch = 83;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FillBuffer() {
  FillBuffer m;
  m.queue = 84;
  m.memory = 85;
  m.event = 86;
  m.waits = k_u64;
  m.offset = 87;
  m.size = 88;
  m.pattern = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteImage() {
  WriteImage m;
  m.queue = 89;
  m.memory = 90;
  m.event = 91;
  m.waits = k_u64;
  m.origin.x = 92;
  m.origin.y = 93;
  m.origin.z = 94;
  m.region.x = 95;
  m.region.y = 96;
  m.region.z = 97;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReadImage() {
  ReadImage m;
  m.queue = 98;
  m.memory = 99;
  m.event = 100;
  m.waits = k_u64;
  m.origin.x = 1;
  m.origin.y = 2;
  m.origin.z = 3;
  m.region.x = 4;
  m.region.y = 5;
  m.region.z = 6;
  m.size = 7;
  m.ticket = 8;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyImage() {
  CopyImage m;
  m.queue = 9;
  m.source = 10;
  m.target = 11;
  m.event = 12;
  m.waits = k_u64;
  m.source_origin.x = 13;
  m.source_origin.y = 14;
  m.source_origin.z = 15;
  m.target_origin.x = 16;
  m.target_origin.y = 17;
  m.target_origin.z = 18;
  m.region.x = 19;
  m.region.y = 20;
  m.region.z = 21;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyImageToBuffer() {
  CopyImageToBuffer m;
  m.queue = 22;
  m.source = 23;
  m.target = 24;
  m.event = 25;
  m.waits = k_u64;
  m.origin.x = 26;
  m.origin.y = 27;
  m.origin.z = 28;
  m.region.x = 29;
  m.region.y = 30;
  m.region.z = 31;
  m.offset = 32;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyBufferToImage() {
  CopyBufferToImage m;
  m.queue = 33;
  m.source = 34;
  m.target = 35;
  m.event = 36;
  m.waits = k_u64;
  m.offset = 37;
  m.origin.x = 38;
  m.origin.y = 39;
  m.origin.z = 40;
  m.region.x = 41;
  m.region.y = 42;
  m.region.z = 43;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FillImage() {
  FillImage m;
  m.queue = 44;
  m.memory = 45;
  m.event = 46;
  m.waits = k_u64;
  m.origin.x = 47;
  m.origin.y = 48;
  m.origin.z = 49;
  m.region.x = 50;
  m.region.y = 51;
  m.region.z = 52;
  m.color = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Migrate() {
  Migrate m;
  m.queue = 53;
  m.event = 54;
  m.waits = k_u64;
  m.flags = 55;
  m.objects = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Marker() {
  Marker m;
  m.queue = 56;
  m.event = 57;
  m.waits = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Barrier() {
  Barrier m;
  m.queue = 58;
  m.event = 59;
  m.waits = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateUserEvent() {
  CreateUserEvent m;
  m.context = 60;
  m.event = 61;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetUserEvent() {
  SetUserEvent m;
  m.event = 62;
  m.status = 63;
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
  m.event = 64;
  m.stage = 65;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EventStatusReply() {
  EventStatusReply m;
  m.status = 66;
  m.reserved = 67;
  m.queued = 68;
  m.submitted = 69;
  m.started = 70;
  m.ended = 71;
  m.completed = 72;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EventStatus() {
  EventStatus m;
  m.event = 73;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmAllocateReply() {
  SvmAllocateReply m;
  m.address = 74;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmAllocate() {
  SvmAllocate m;
  m.context = 75;
  m.memory = 76;
  m.flags = 77;
  m.size = 78;
  m.alignment = 79;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmWrite() {
  SvmWrite m;
  m.queue = 80;
  m.event = 81;
  m.waits = k_u64;
  m.address = 82;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmRead() {
  SvmRead m;
  m.queue = 83;
  m.event = 84;
  m.waits = k_u64;
  m.address = 85;
  m.size = 86;
  m.ticket = 87;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmCopy() {
  SvmCopy m;
  m.queue = 88;
  m.event = 89;
  m.waits = k_u64;
  m.source = 90;
  m.target = 91;
  m.size = 92;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmFill() {
  SvmFill m;
  m.queue = 93;
  m.event = 94;
  m.waits = k_u64;
  m.address = 95;
  m.size = 96;
  m.pattern = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SvmMigrate() {
  SvmMigrate m;
  m.queue = 97;
  m.event = 98;
  m.waits = k_u64;
  m.flags = 99;
  m.addresses = k_u64;
  m.sizes = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerAcceptReply() {
  PeerAcceptReply m;
  m.status = 100;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerAccept() {
  PeerAccept m;
  m.peer = 1;
  m.key = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerOpenReply() {
  PeerOpenReply m;
  m.status = 2;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerOpen() {
  PeerOpen m;
  m.peer = 3;
  m.key = kBytes;
  m.address = "address 4";
  m.port = 5;
  m.session = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ExportMemory() {
  ExportMemory m;
  m.queue = 6;
  m.memory = 7;
  m.event = 8;
  m.waits = k_u64;
  m.offset = 9;
  m.size = 10;
  m.peer = 11;
  m.ticket = 12;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ImportMemory() {
  ImportMemory m;
  m.queue = 13;
  m.memory = 14;
  m.event = 15;
  m.waits = k_u64;
  m.offset = 16;
  m.size = 17;
  m.peer = 18;
  m.ticket = 19;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Completed() {
  Completed m;
  m.events.resize(2);
  m.events[0].event = 20;
  m.events[0].status = 21;
  m.events[0].reserved = 22;
  m.events[0].queued = 23;
  m.events[0].submitted = 24;
  m.events[0].started = 25;
  m.events[0].ended = 26;
  m.events[0].completed = 27;
  m.events[1].event = 28;
  m.events[1].status = 29;
  m.events[1].reserved = 30;
  m.events[1].queued = 31;
  m.events[1].submitted = 32;
  m.events[1].started = 33;
  m.events[1].ended = 34;
  m.events[1].completed = 35;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Reached() {
  Reached m;
  m.event = 36;
  m.stage = 37;
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
  m.context = 38;
  m.text = "text 39";
  m.private_info = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Failed() {
  Failed m;
  m.queue = 40;
  m.event = 41;
  m.op = 42;
  m.status = 43;
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
