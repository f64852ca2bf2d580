// The examples of cuda.
// Generated from native/spec/cuda.* by native/codegen/generate.ts; change those.
#include "gen/cuda/fuzz_cases.h"

namespace flexrack::cu {

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
  m.driver_version = 1;
  m.reserved = 2;
  m.devices.resize(2);
  m.devices[0].index = 3;
  m.devices[0].reserved = 4;
  m.devices[0].memory = 5;
  m.devices[0].name = "name 6";
  m.devices[0].uuid = kBytes;
  m.devices[0].pci = "pci 7";
  m.devices[0].attributes.resize(2);
  m.devices[0].attributes[0].which = 8;
  m.devices[0].attributes[0].value = 9;
  m.devices[0].attributes[1].which = 10;
  m.devices[0].attributes[1].value = 11;
  m.devices[0].peers.resize(2);
  m.devices[0].peers[0].device = 12;
  m.devices[0].peers[0].can_access = 13;
  m.devices[0].peers[0].attributes.resize(2);
  m.devices[0].peers[0].attributes[0].which = 14;
  m.devices[0].peers[0].attributes[0].value = 15;
  m.devices[0].peers[0].attributes[1].which = 16;
  m.devices[0].peers[0].attributes[1].value = 17;
  m.devices[0].peers[1].device = 18;
  m.devices[0].peers[1].can_access = 19;
  m.devices[0].peers[1].attributes.resize(2);
  m.devices[0].peers[1].attributes[0].which = 20;
  m.devices[0].peers[1].attributes[0].value = 21;
  m.devices[0].peers[1].attributes[1].which = 22;
  m.devices[0].peers[1].attributes[1].value = 23;
  m.devices[1].index = 24;
  m.devices[1].reserved = 25;
  m.devices[1].memory = 26;
  m.devices[1].name = "name 27";
  m.devices[1].uuid = kBytes;
  m.devices[1].pci = "pci 28";
  m.devices[1].attributes.resize(2);
  m.devices[1].attributes[0].which = 29;
  m.devices[1].attributes[0].value = 30;
  m.devices[1].attributes[1].which = 31;
  m.devices[1].attributes[1].value = 32;
  m.devices[1].peers.resize(2);
  m.devices[1].peers[0].device = 33;
  m.devices[1].peers[0].can_access = 34;
  m.devices[1].peers[0].attributes.resize(2);
  m.devices[1].peers[0].attributes[0].which = 35;
  m.devices[1].peers[0].attributes[0].value = 36;
  m.devices[1].peers[0].attributes[1].which = 37;
  m.devices[1].peers[0].attributes[1].value = 38;
  m.devices[1].peers[1].device = 39;
  m.devices[1].peers[1].can_access = 40;
  m.devices[1].peers[1].attributes.resize(2);
  m.devices[1].peers[1].attributes[0].which = 41;
  m.devices[1].peers[1].attributes[0].value = 42;
  m.devices[1].peers[1].attributes[1].which = 43;
  m.devices[1].peers[1].attributes[1].value = 44;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Describe() {
  Describe m;
  m.process = 45;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_UsageReply() {
  UsageReply m;
  m.status = 46;
  m.reserved = 47;
  m.total = 48;
  m.used = 49;
  m.busy = 50;
  m.memory_busy = 51;
  m.temperature = 52;
  m.power = 53;
  m.clock = 54;
  m.memory_clock = 55;
  m.driver = "driver 56";
  m.processes.resize(2);
  m.processes[0].id = 57;
  m.processes[0].memory = 58;
  m.processes[1].id = 59;
  m.processes[1].memory = 60;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Usage() {
  Usage m;
  m.device = 61;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateContextReply() {
  CreateContextReply m;
  m.status = 62;
  m.api_version = 63;
  m.id = 64;
  m.least_priority = 65;
  m.greatest_priority = 66;
  m.cache_config = 67;
  m.shared_config = 68;
  m.limits.resize(2);
  m.limits[0].which = 69;
  m.limits[0].reserved = 70;
  m.limits[0].value = 71;
  m.limits[1].which = 72;
  m.limits[1].reserved = 73;
  m.limits[1].value = 74;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateContext() {
  CreateContext m;
  m.context = 75;
  m.device = 76;
  m.is_primary = 77;
  m.flags = 78;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReleaseContext() {
  ReleaseContext m;
  m.context = 79;
  m.is_reset = 80;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitContextReply() {
  WaitContextReply m;
  m.status = 81;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitContext() {
  WaitContext m;
  m.context = 82;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetLimitReply() {
  SetLimitReply m;
  m.status = 83;
  m.reserved = 84;
  m.value = 85;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetLimit() {
  SetLimit m;
  m.context = 86;
  m.which = 87;
  m.reserved = 88;
  m.value = 89;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemoryInfoReply() {
  MemoryInfoReply m;
  m.status = 90;
  m.reserved = 91;
  m.free = 92;
  m.total = 93;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemoryInfo() {
  MemoryInfo m;
  m.context = 94;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Release() {
  Release m;
  m.object = 95;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReserveAddressesReply() {
  ReserveAddressesReply m;
  m.status = 96;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReserveAddresses() {
  ReserveAddresses m;
  m.at = 97;
  m.size = 98;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FreeAddresses() {
  FreeAddresses m;
  m.at = 99;
  m.size = 100;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AllocateReply() {
  AllocateReply m;
  m.status = 1;
  m.reserved = 2;
  m.address = 3;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Allocate() {
  Allocate m;
  m.context = 4;
  m.at = 5;
  m.size = 6;
  m.kind = 7;
  m.flags = 8;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Free() {
  Free m;
  m.context = 9;
  m.address = 10;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateMemoryReply() {
  CreateMemoryReply m;
  m.status = 11;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateMemory() {
  CreateMemory m;
  m.memory = 12;
  m.device = 13;
  m.flags = 14;
  m.size = 15;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MapMemory() {
  MapMemory m;
  m.memory = 16;
  m.at = 17;
  m.size = 18;
  m.offset = 19;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_UnmapMemoryReply() {
  UnmapMemoryReply m;
  m.status = 20;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_UnmapMemory() {
  UnmapMemory m;
  m.at = 21;
  m.size = 22;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetAccess() {
  SetAccess m;
  m.at = 23;
  m.size = 24;
  m.accesses.resize(2);
  m.accesses[0].kind = 25;
  m.accesses[0].device = 26;
  m.accesses[0].flags = 27;
  m.accesses[0].reserved = 28;
  m.accesses[1].kind = 29;
  m.accesses[1].device = 30;
  m.accesses[1].flags = 31;
  m.accesses[1].reserved = 32;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemoryGranularityReply() {
  MemoryGranularityReply m;
  m.status = 33;
  m.reserved = 34;
  m.size = 35;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemoryGranularity() {
  MemoryGranularity m;
  m.device = 36;
  m.option = 37;
  m.flags = 38;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_DefaultPool() {
  DefaultPool m;
  m.pool = 39;
  m.device = 40;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreatePoolReply() {
  CreatePoolReply m;
  m.status = 41;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreatePool() {
  CreatePool m;
  m.pool = 42;
  m.device = 43;
  m.flags = 44;
  m.maximum = 45;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AllocateFromPoolReply() {
  AllocateFromPoolReply m;
  m.status = 46;
  m.reserved = 47;
  m.address = 48;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AllocateFromPool() {
  AllocateFromPool m;
  m.context = 49;
  m.stream = 50;
  m.pool = 51;
  m.size = 52;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FreeToPool() {
  FreeToPool m;
  m.context = 53;
  m.stream = 54;
  m.address = 55;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetPoolAttribute() {
  SetPoolAttribute m;
  m.pool = 56;
  m.which = 57;
  m.reserved = 58;
  m.value = 59;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PoolAttributeReply() {
  PoolAttributeReply m;
  m.status = 60;
  m.reserved = 61;
  m.value = 62;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PoolAttribute() {
  PoolAttribute m;
  m.pool = 63;
  m.which = 64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateArrayReply() {
  CreateArrayReply m;
  m.status = 65;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateArray() {
  CreateArray m;
  m.context = 66;
  m.array = 67;
  m.shape.width = 68;
  m.shape.height = 69;
  m.shape.depth = 70;
  m.shape.format = 71;
  m.shape.channels = 72;
  m.shape.flags = 73;
  m.shape.levels = 74;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateTextureReply() {
  CreateTextureReply m;
  m.status = 75;
  m.reserved = 76;
  m.object = 77;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateTexture() {
  CreateTexture m;
  m.context = 78;
  m.resource.kind = 79;
  m.resource.flags = 80;
  m.resource.object = 81;
  m.resource.format = 82;
  m.resource.channels = 83;
  m.resource.width = 84;
  m.resource.height = 85;
  m.resource.pitch = 86;
  m.texture = kBytes;
  m.view = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSurfaceReply() {
  CreateSurfaceReply m;
  m.status = 87;
  m.reserved = 88;
  m.object = 89;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSurface() {
  CreateSurface m;
  m.context = 90;
  m.resource.kind = 91;
  m.resource.flags = 92;
  m.resource.object = 93;
  m.resource.format = 94;
  m.resource.channels = 95;
  m.resource.width = 96;
  m.resource.height = 97;
  m.resource.pitch = 98;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_HaveImagesReply() {
  HaveImagesReply m;
  m.known = k_u8;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_HaveImages() {
  HaveImages m;
  m.hashes.resize(2);
  m.hashes[0] = kBytes;
  m.hashes[1] = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_LoadReply() {
  LoadReply m;
  m.status = 99;
  m.is_unknown = 100;
  m.info_log = "info_log 1";
  m.error_log = "error_log 2";
  m.names.resize(2);
  m.names[0] = "names 3";
  m.names[1] = "names 4";
  m.kernels.resize(2);
  m.kernels[0].kernel = 5;
  m.kernels[0].name = "name 6";
  m.kernels[0].parameter_bytes = 7;
  m.kernels[0].reserved = 8;
  m.kernels[0].parameters.resize(2);
  m.kernels[0].parameters[0].offset = 9;
  m.kernels[0].parameters[0].size = 10;
  m.kernels[0].parameters[1].offset = 11;
  m.kernels[0].parameters[1].size = 12;
  m.kernels[0].attributes.resize(2);
  m.kernels[0].attributes[0].which = 13;
  m.kernels[0].attributes[0].value = 14;
  m.kernels[0].attributes[1].which = 15;
  m.kernels[0].attributes[1].value = 16;
  m.kernels[1].kernel = 17;
  m.kernels[1].name = "name 18";
  m.kernels[1].parameter_bytes = 19;
  m.kernels[1].reserved = 20;
  m.kernels[1].parameters.resize(2);
  m.kernels[1].parameters[0].offset = 21;
  m.kernels[1].parameters[0].size = 22;
  m.kernels[1].parameters[1].offset = 23;
  m.kernels[1].parameters[1].size = 24;
  m.kernels[1].attributes.resize(2);
  m.kernels[1].attributes[0].which = 25;
  m.kernels[1].attributes[0].value = 26;
  m.kernels[1].attributes[1].which = 27;
  m.kernels[1].attributes[1].value = 28;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Load() {
  Load m;
  m.context = 29;
  m.module = 30;
  m.is_library = 31;
  m.reserved = 32;
  m.hash = kBytes;
  m.image = {0, sizeof kBytes, kBytes};
  m.options.resize(2);
  m.options[0].which = 33;
  m.options[0].reserved = 34;
  m.options[0].value = 35;
  m.options[0].text = kBytes;
  m.options[1].which = 36;
  m.options[1].reserved = 37;
  m.options[1].value = 38;
  m.options[1].text = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FindKernelReply() {
  FindKernelReply m;
  m.status = 39;
  m.reserved = 40;
  m.kernel.resize(2);
  m.kernel[0].kernel = 41;
  m.kernel[0].name = "name 42";
  m.kernel[0].parameter_bytes = 43;
  m.kernel[0].reserved = 44;
  m.kernel[0].parameters.resize(2);
  m.kernel[0].parameters[0].offset = 45;
  m.kernel[0].parameters[0].size = 46;
  m.kernel[0].parameters[1].offset = 47;
  m.kernel[0].parameters[1].size = 48;
  m.kernel[0].attributes.resize(2);
  m.kernel[0].attributes[0].which = 49;
  m.kernel[0].attributes[0].value = 50;
  m.kernel[0].attributes[1].which = 51;
  m.kernel[0].attributes[1].value = 52;
  m.kernel[1].kernel = 53;
  m.kernel[1].name = "name 54";
  m.kernel[1].parameter_bytes = 55;
  m.kernel[1].reserved = 56;
  m.kernel[1].parameters.resize(2);
  m.kernel[1].parameters[0].offset = 57;
  m.kernel[1].parameters[0].size = 58;
  m.kernel[1].parameters[1].offset = 59;
  m.kernel[1].parameters[1].size = 60;
  m.kernel[1].attributes.resize(2);
  m.kernel[1].attributes[0].which = 61;
  m.kernel[1].attributes[0].value = 62;
  m.kernel[1].attributes[1].which = 63;
  m.kernel[1].attributes[1].value = 64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FindKernel() {
  FindKernel m;
  m.context = 65;
  m.module = 66;
  m.name = "name 67";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FindVariableReply() {
  FindVariableReply m;
  m.status = 68;
  m.is_managed = 69;
  m.address = 70;
  m.size = 71;
  m.content = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FindVariable() {
  FindVariable m;
  m.context = 72;
  m.module = 73;
  m.is_managed = 74;
  m.reserved = 75;
  m.name = "name 76";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_LinkReply() {
  LinkReply m;
  m.status = 77;
  m.reserved = 78;
  m.info_log = "info_log 79";
  m.error_log = "error_log 80";
  m.image = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Link() {
  Link m;
  m.context = 81;
  m.options.resize(2);
  m.options[0].which = 82;
  m.options[0].reserved = 83;
  m.options[0].value = 84;
  m.options[0].text = kBytes;
  m.options[1].which = 85;
  m.options[1].reserved = 86;
  m.options[1].value = 87;
  m.options[1].text = kBytes;
  m.inputs.resize(2);
  m.inputs[0].kind = 88;
  m.inputs[0].reserved = 89;
  m.inputs[0].name = "name 90";
  m.inputs[0].data = {0, sizeof kBytes, kBytes};
  m.inputs[0].options.resize(2);
  m.inputs[0].options[0].which = 91;
  m.inputs[0].options[0].reserved = 92;
  m.inputs[0].options[0].value = 93;
  m.inputs[0].options[0].text = kBytes;
  m.inputs[0].options[1].which = 94;
  m.inputs[0].options[1].reserved = 95;
  m.inputs[0].options[1].value = 96;
  m.inputs[0].options[1].text = kBytes;
  m.inputs[1].kind = 97;
  m.inputs[1].reserved = 98;
  m.inputs[1].name = "name 99";
  m.inputs[1].data = {0, sizeof kBytes, kBytes};
  m.inputs[1].options.resize(2);
  m.inputs[1].options[0].which = 100;
  m.inputs[1].options[0].reserved = 1;
  m.inputs[1].options[0].value = 2;
  m.inputs[1].options[0].text = kBytes;
  m.inputs[1].options[1].which = 3;
  m.inputs[1].options[1].reserved = 4;
  m.inputs[1].options[1].value = 5;
  m.inputs[1].options[1].text = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyOfClustersReply() {
  OccupancyOfClustersReply m;
  m.status = 6;
  m.value = 7;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyOfClusters() {
  OccupancyOfClusters m;
  m.context = 8;
  m.kernel = 9;
  m.grid.x = 10;
  m.grid.y = 11;
  m.grid.z = 12;
  m.block.x = 13;
  m.block.y = 14;
  m.block.z = 15;
  m.shared_bytes = 16;
  m.is_active = 17;
  m.stream = 18;
  m.attributes.resize(2);
  m.attributes[0].which = 19;
  m.attributes[0].reserved = 20;
  m.attributes[0].event = 21;
  m.attributes[0].value = kBytes;
  m.attributes[1].which = 22;
  m.attributes[1].reserved = 23;
  m.attributes[1].event = 24;
  m.attributes[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Launch() {
  Launch m;
  m.context = 25;
  m.kernel = 26;
  m.stream = 27;
  m.grid.x = 28;
  m.grid.y = 29;
  m.grid.z = 30;
  m.block.x = 31;
  m.block.y = 32;
  m.block.z = 33;
  m.shared_bytes = 34;
  m.is_cooperative = 35;
  m.parameters = kBytes;
  m.attributes.resize(2);
  m.attributes[0].which = 36;
  m.attributes[0].reserved = 37;
  m.attributes[0].event = 38;
  m.attributes[0].value = kBytes;
  m.attributes[1].which = 39;
  m.attributes[1].reserved = 40;
  m.attributes[1].event = 41;
  m.attributes[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteMemory() {
  WriteMemory m;
  m.context = 42;
  m.stream = 43;
  m.address = 44;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReadMemory() {
  ReadMemory m;
  m.context = 45;
  m.stream = 46;
  m.address = 47;
  m.size = 48;
  m.ticket = 49;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyMemory() {
  CopyMemory m;
  m.context = 50;
  m.stream = 51;
  m.source_context = 52;
  m.source = 53;
  m.target = 54;
  m.size = 55;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteRows() {
  WriteRows m;
  m.context = 56;
  m.stream = 57;
  m.target.kind = 58;
  m.target.level = 59;
  m.target.object = 60;
  m.target.x = 61;
  m.target.y = 62;
  m.target.z = 63;
  m.target.pitch = 64;
  m.target.height = 65;
  m.extent.width = 66;
  m.extent.height = 67;
  m.extent.depth = 68;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReadRows() {
  ReadRows m;
  m.context = 69;
  m.stream = 70;
  m.source.kind = 71;
  m.source.level = 72;
  m.source.object = 73;
  m.source.x = 74;
  m.source.y = 75;
  m.source.z = 76;
  m.source.pitch = 77;
  m.source.height = 78;
  m.extent.width = 79;
  m.extent.height = 80;
  m.extent.depth = 81;
  m.ticket = 82;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyRows() {
  CopyRows m;
  m.context = 83;
  m.stream = 84;
  m.source_context = 85;
  m.source.kind = 86;
  m.source.level = 87;
  m.source.object = 88;
  m.source.x = 89;
  m.source.y = 90;
  m.source.z = 91;
  m.source.pitch = 92;
  m.source.height = 93;
  m.target.kind = 94;
  m.target.level = 95;
  m.target.object = 96;
  m.target.x = 97;
  m.target.y = 98;
  m.target.z = 99;
  m.target.pitch = 100;
  m.target.height = 1;
  m.extent.width = 2;
  m.extent.height = 3;
  m.extent.depth = 4;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Fill() {
  Fill m;
  m.context = 5;
  m.stream = 6;
  m.address = 7;
  m.pitch = 8;
  m.width = 9;
  m.height = 10;
  m.value = 11;
  m.element = 12;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteRanges() {
  WriteRanges m;
  m.ranges.resize(2);
  m.ranges[0].address = 13;
  m.ranges[0].size = 14;
  m.ranges[1].address = 15;
  m.ranges[1].size = 16;
  m.data = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_HostFunction() {
  HostFunction m;
  m.context = 17;
  m.stream = 18;
  m.function = 19;
  m.wants_status = 20;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RanHostFunction() {
  RanHostFunction m;
  m.run = 21;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitLatch() {
  WaitLatch m;
  m.context = 22;
  m.stream = 23;
  m.latch = 24;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OpenLatch() {
  OpenLatch m;
  m.latch = 25;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateStream() {
  CreateStream m;
  m.context = 26;
  m.stream = 27;
  m.flags = 28;
  m.priority = 29;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitStreamReply() {
  WaitStreamReply m;
  m.status = 30;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitStream() {
  WaitStream m;
  m.context = 31;
  m.stream = 32;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_QueryStreamReply() {
  QueryStreamReply m;
  m.status = 33;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_QueryStream() {
  QueryStream m;
  m.context = 34;
  m.stream = 35;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetStreamAttribute() {
  SetStreamAttribute m;
  m.context = 36;
  m.stream = 37;
  m.attribute.which = 38;
  m.attribute.reserved = 39;
  m.attribute.event = 40;
  m.attribute.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamAttributeReply() {
  StreamAttributeReply m;
  m.status = 41;
  m.reserved = 42;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamAttribute() {
  StreamAttribute m;
  m.context = 43;
  m.stream = 44;
  m.which = 45;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateEvent() {
  CreateEvent m;
  m.context = 46;
  m.event = 47;
  m.flags = 48;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitEventReply() {
  WaitEventReply m;
  m.status = 49;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitEvent() {
  WaitEvent m;
  m.event = 50;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_QueryEventReply() {
  QueryEventReply m;
  m.status = 51;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_QueryEvent() {
  QueryEvent m;
  m.event = 52;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WatchEvent() {
  WatchEvent m;
  m.event = 53;
  m.number = 54;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ElapsedTimeReply() {
  ElapsedTimeReply m;
  m.status = 55;
  m.reserved = 56;
  m.milliseconds = 57;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ElapsedTime() {
  ElapsedTime m;
  m.start = 58;
  m.end = 59;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateGraph() {
  CreateGraph m;
  m.context = 60;
  m.graph = 61;
  m.flags = 62;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AddNode() {
  AddNode m;
  m.graph = 63;
  m.node = 64;
  m.dependencies = k_u64;
  m.edges = kBytes;
  m.work.kind = 65;
  m.work.shared_bytes = 66;
  m.work.context = 67;
  m.work.object = 68;
  m.work.grid.x = 69;
  m.work.grid.y = 70;
  m.work.grid.z = 71;
  m.work.block.x = 72;
  m.work.block.y = 73;
  m.work.block.z = 74;
  m.work.parameters = kBytes;
  m.work.attributes.resize(2);
  m.work.attributes[0].which = 75;
  m.work.attributes[0].reserved = 76;
  m.work.attributes[0].event = 77;
  m.work.attributes[0].value = kBytes;
  m.work.attributes[1].which = 78;
  m.work.attributes[1].reserved = 79;
  m.work.attributes[1].event = 80;
  m.work.attributes[1].value = kBytes;
  m.work.source.kind = 81;
  m.work.source.level = 82;
  m.work.source.object = 83;
  m.work.source.x = 84;
  m.work.source.y = 85;
  m.work.source.z = 86;
  m.work.source.pitch = 87;
  m.work.source.height = 88;
  m.work.target.kind = 89;
  m.work.target.level = 90;
  m.work.target.object = 91;
  m.work.target.x = 92;
  m.work.target.y = 93;
  m.work.target.z = 94;
  m.work.target.pitch = 95;
  m.work.target.height = 96;
  m.work.extent.width = 97;
  m.work.extent.height = 98;
  m.work.extent.depth = 99;
  m.work.value = 100;
  m.work.element = 1;
  m.work.flags = 2;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ConditionalHandleReply() {
  ConditionalHandleReply m;
  m.status = 3;
  m.reserved = 4;
  m.condition = 5;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ConditionalHandle() {
  ConditionalHandle m;
  m.context = 6;
  m.graph = 7;
  m.value = 8;
  m.flags = 9;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AddCondition() {
  AddCondition m;
  m.graph = 10;
  m.node = 11;
  m.dependencies = k_u64;
  m.edges = kBytes;
  m.context = 12;
  m.condition = 13;
  m.type = 14;
  m.reserved = 15;
  m.bodies = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ClearGraph() {
  ClearGraph m;
  m.graph = 16;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_InstantiateReply() {
  InstantiateReply m;
  m.status = 17;
  m.result = 18;
  m.node = 19;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Instantiate() {
  Instantiate m;
  m.context = 20;
  m.graph = 21;
  m.exec = 22;
  m.flags = 23;
  m.upload_stream = 24;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_UpdateExecReply() {
  UpdateExecReply m;
  m.status = 25;
  m.result = 26;
  m.node = 27;
  m.reserved = 28;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_UpdateExec() {
  UpdateExec m;
  m.exec = 29;
  m.graph = 30;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetExecNode() {
  SetExecNode m;
  m.exec = 31;
  m.node = 32;
  m.work.kind = 33;
  m.work.shared_bytes = 34;
  m.work.context = 35;
  m.work.object = 36;
  m.work.grid.x = 37;
  m.work.grid.y = 38;
  m.work.grid.z = 39;
  m.work.block.x = 40;
  m.work.block.y = 41;
  m.work.block.z = 42;
  m.work.parameters = kBytes;
  m.work.attributes.resize(2);
  m.work.attributes[0].which = 43;
  m.work.attributes[0].reserved = 44;
  m.work.attributes[0].event = 45;
  m.work.attributes[0].value = kBytes;
  m.work.attributes[1].which = 46;
  m.work.attributes[1].reserved = 47;
  m.work.attributes[1].event = 48;
  m.work.attributes[1].value = kBytes;
  m.work.source.kind = 49;
  m.work.source.level = 50;
  m.work.source.object = 51;
  m.work.source.x = 52;
  m.work.source.y = 53;
  m.work.source.z = 54;
  m.work.source.pitch = 55;
  m.work.source.height = 56;
  m.work.target.kind = 57;
  m.work.target.level = 58;
  m.work.target.object = 59;
  m.work.target.x = 60;
  m.work.target.y = 61;
  m.work.target.z = 62;
  m.work.target.pitch = 63;
  m.work.target.height = 64;
  m.work.extent.width = 65;
  m.work.extent.height = 66;
  m.work.extent.depth = 67;
  m.work.value = 68;
  m.work.element = 69;
  m.work.flags = 70;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EnableNode() {
  EnableNode m;
  m.exec = 71;
  m.node = 72;
  m.is_enabled = 73;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_LaunchGraph() {
  LaunchGraph m;
  m.context = 74;
  m.exec = 75;
  m.stream = 76;
  m.inputs.resize(2);
  m.inputs[0].node = 77;
  m.inputs[0].data = {0, sizeof kBytes, kBytes};
  m.inputs[1].node = 78;
  m.inputs[1].data = {0, sizeof kBytes, kBytes};
  m.outputs.resize(2);
  m.outputs[0].node = 79;
  m.outputs[0].ticket = 80;
  m.outputs[1].node = 81;
  m.outputs[1].ticket = 82;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphInput() {
  GraphInput m;
  m.node = 83;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerAcceptReply() {
  PeerAcceptReply m;
  m.status = 84;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerAccept() {
  PeerAccept m;
  m.peer = 85;
  m.key = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerOpenReply() {
  PeerOpenReply m;
  m.status = 86;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerOpen() {
  PeerOpen m;
  m.peer = 87;
  m.key = kBytes;
  m.address = "address 88";
  m.port = 89;
  m.session = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ExportMemory() {
  ExportMemory m;
  m.context = 90;
  m.stream = 91;
  m.source.kind = 92;
  m.source.level = 93;
  m.source.object = 94;
  m.source.x = 95;
  m.source.y = 96;
  m.source.z = 97;
  m.source.pitch = 98;
  m.source.height = 99;
  m.extent.width = 100;
  m.extent.height = 1;
  m.extent.depth = 2;
  m.peer = 3;
  m.ticket = 4;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ImportMemory() {
  ImportMemory m;
  m.context = 5;
  m.stream = 6;
  m.target.kind = 7;
  m.target.level = 8;
  m.target.object = 9;
  m.target.x = 10;
  m.target.y = 11;
  m.target.z = 12;
  m.target.pitch = 13;
  m.target.height = 14;
  m.extent.width = 15;
  m.extent.height = 16;
  m.extent.depth = 17;
  m.peer = 18;
  m.ticket = 19;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerReadyReply() {
  PeerReadyReply m;
  m.status = 20;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerReady() {
  PeerReady m;
  m.peer = 21;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerClose() {
  PeerClose m;
  m.peer = 22;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SignalPeer() {
  SignalPeer m;
  m.context = 23;
  m.stream = 24;
  m.peer = 25;
  m.ticket = 26;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AwaitPeer() {
  AwaitPeer m;
  m.context = 27;
  m.stream = 28;
  m.peer = 29;
  m.ticket = 30;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CollectiveVersionReply() {
  CollectiveVersionReply m;
  m.status = 31;
  m.version = 32;
  m.text = "text 33";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CollectiveVersion() {
  CollectiveVersion m;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CollectiveIdReply() {
  CollectiveIdReply m;
  m.status = 34;
  m.reserved = 35;
  m.id = kBytes;
  m.text = "text 36";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CollectiveId() {
  CollectiveId m;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_JoinCollectivesReply() {
  JoinCollectivesReply m;
  m.status = 37;
  m.reserved = 38;
  m.text = "text 39";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_JoinCollectives() {
  JoinCollectives m;
  m.context = 40;
  m.communicator = 41;
  m.ranks = 42;
  m.rank = 43;
  m.id = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Collectives() {
  Collectives m;
  m.context = 44;
  m.stream = 45;
  m.communicator = 46;
  m.calls.resize(2);
  m.calls[0].which = 47;
  m.calls[0].type = 48;
  m.calls[0].reduction = 49;
  m.calls[0].peer = 50;
  m.calls[0].count = 51;
  m.calls[0].source = 52;
  m.calls[0].target = 53;
  m.calls[1].which = 54;
  m.calls[1].type = 55;
  m.calls[1].reduction = 56;
  m.calls[1].peer = 57;
  m.calls[1].count = 58;
  m.calls[1].source = 59;
  m.calls[1].target = 60;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SplitCollectivesReply() {
  SplitCollectivesReply m;
  m.status = 61;
  m.ranks = 62;
  m.rank = 63;
  m.reserved = 64;
  m.text = "text 65";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SplitCollectives() {
  SplitCollectives m;
  m.communicator = 66;
  m.made = 67;
  m.color = 68;
  m.key = 69;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EndCollectivesReply() {
  EndCollectivesReply m;
  m.status = 70;
  m.reserved = 71;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EndCollectives() {
  EndCollectives m;
  m.communicator = 72;
  m.how = 73;
  m.reserved = 74;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreImageReply() {
  RestoreImageReply m;
  m.status = 75;
  m.reserved = 76;
  m.text = "text 77";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreImage() {
  RestoreImage m;
  m.hash = kBytes;
  m.image = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreMessageReply() {
  RestoreMessageReply m;
  m.status = 78;
  m.reserved = 79;
  m.text = "text 80";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreMessage() {
  RestoreMessage m;
  m.op = 81;
  m.reserved = 82;
  m.number = 83;
  m.body = kBytes;
  m.expected = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreMemoryReply() {
  RestoreMemoryReply m;
  m.status = 84;
  m.reserved = 85;
  m.text = "text 86";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreMemory() {
  RestoreMemory m;
  m.context = 87;
  m.address = 88;
  m.size = 89;
  m.device = 90;
  m.is_from_pool = 91;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreVariablesReply() {
  RestoreVariablesReply m;
  m.status = 92;
  m.reserved = 93;
  m.text = "text 94";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreVariables() {
  RestoreVariables m;
  m.context = 95;
  m.module = 96;
  m.addresses = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreBytesReply() {
  RestoreBytesReply m;
  m.status = 97;
  m.reserved = 98;
  m.text = "text 99";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreBytes() {
  RestoreBytes m;
  m.context = 100;
  m.address = 1;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreContextReply() {
  RestoreContextReply m;
  m.status = 2;
  m.reserved = 3;
  m.text = "text 4";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreContext() {
  RestoreContext m;
  m.context = 5;
  m.stack = 6;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RestoreEvent() {
  RestoreEvent m;
  m.event = 7;
  m.reserved = 8;
  m.milliseconds = 9;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_TakeOverReply() {
  TakeOverReply m;
  m.status = 10;
  m.reserved = 11;
  m.text = "text 12";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_TakeOver() {
  TakeOver m;
  m.number = 13;
  m.session = kBytes;
  m.state = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReplicateReply() {
  ReplicateReply m;
  m.status = 14;
  m.reserved = 15;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Replicate() {
  Replicate m;
  m.layout = 16;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ShareObjectReply() {
  ShareObjectReply m;
  m.status = 17;
  m.is_mapped = 18;
  m.size = 19;
  m.secret = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ShareObject() {
  ShareObject m;
  m.object = 20;
  m.address = 21;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OpenMemoryReply() {
  OpenMemoryReply m;
  m.status = 22;
  m.device = 23;
  m.address = 24;
  m.size = 25;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OpenMemory() {
  OpenMemory m;
  m.context = 26;
  m.at = 27;
  m.secret = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CloseMemoryReply() {
  CloseMemoryReply m;
  m.status = 28;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CloseMemory() {
  CloseMemory m;
  m.context = 29;
  m.address = 30;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OpenEventReply() {
  OpenEventReply m;
  m.status = 31;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OpenEvent() {
  OpenEvent m;
  m.context = 32;
  m.event = 33;
  m.secret = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OpenPhysicalReply() {
  OpenPhysicalReply m;
  m.status = 34;
  m.device = 35;
  m.size = 36;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OpenPhysical() {
  OpenPhysical m;
  m.memory = 37;
  m.secret = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Failed() {
  Failed m;
  m.context = 38;
  m.op = 39;
  m.status = 40;
  m.object = 41;
  m.text = "text 42";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RunHostFunction() {
  RunHostFunction m;
  m.function = 43;
  m.run = 44;
  m.status = 45;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EventReached() {
  EventReached m;
  m.event = 46;
  m.number = 47;
  m.status = 48;
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
wire::Bytes make_Changed() {
  Changed m;
  m.ranges.resize(2);
  m.ranges[0].address = 49;
  m.ranges[0].size = 50;
  m.ranges[1].address = 51;
  m.ranges[1].size = 52;
  m.data = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CollectivesFailed() {
  CollectivesFailed m;
  m.communicator = 53;
  m.status = 54;
  m.reserved = 55;
  m.text = "text 56";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_DeviceGetTexture1dLinearMaxWidthReply() {
  DeviceGetTexture1dLinearMaxWidthReply m;
  m.status = 57;
  m.max_width_in_elements = 58;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_DeviceGetTexture1dLinearMaxWidth() {
  DeviceGetTexture1dLinearMaxWidth m;
  m.context = 59;
  m.format = 60;
  m.num_channels = 61;
  m.dev = 62;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxSetFlags() {
  CtxSetFlags m;
  m.context = 63;
  m.flags = 64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxSetCacheConfig() {
  CtxSetCacheConfig m;
  m.context = 65;
  m.config = 66;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxResetPersistingL2Cache() {
  CtxResetPersistingL2Cache m;
  m.context = 67;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxRecordEvent() {
  CtxRecordEvent m;
  m.context = 68;
  m.ctx = 69;
  m.event = 70;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxWaitEvent() {
  CtxWaitEvent m;
  m.context = 71;
  m.ctx = 72;
  m.event = 73;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_KernelSetAttributeReply() {
  KernelSetAttributeReply m;
  m.status = 74;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_KernelSetAttribute() {
  KernelSetAttribute m;
  m.context = 75;
  m.attrib = 76;
  m.val = 77;
  m.kernel = 78;
  m.dev = 79;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_KernelSetCacheConfig() {
  KernelSetCacheConfig m;
  m.context = 80;
  m.kernel = 81;
  m.config = 82;
  m.dev = 83;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ArrayGetMemoryRequirementsReply() {
  ArrayGetMemoryRequirementsReply m;
  m.status = 84;
  m.memory_requirements = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ArrayGetMemoryRequirements() {
  ArrayGetMemoryRequirements m;
  m.context = 85;
  m.array = 86;
  m.device = 87;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MipmappedArrayGetMemoryRequirementsReply() {
  MipmappedArrayGetMemoryRequirementsReply m;
  m.status = 88;
  m.memory_requirements = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MipmappedArrayGetMemoryRequirements() {
  MipmappedArrayGetMemoryRequirements m;
  m.context = 89;
  m.mipmap = 90;
  m.device = 91;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ArrayGetPlaneReply() {
  ArrayGetPlaneReply m;
  m.status = 92;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ArrayGetPlane() {
  ArrayGetPlane m;
  m.context = 93;
  m.plane_array = 94;
  m.array = 95;
  m.plane_idx = 96;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MipmappedArrayGetLevelReply() {
  MipmappedArrayGetLevelReply m;
  m.status = 97;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MipmappedArrayGetLevel() {
  MipmappedArrayGetLevel m;
  m.context = 98;
  m.level_array = 99;
  m.mipmapped_array = 100;
  m.level = 1;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemGetAccessReply() {
  MemGetAccessReply m;
  m.status = 2;
  m.flags = 3;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemGetAccess() {
  MemGetAccess m;
  m.context = 4;
  m.location = kBytes;
  m.ptr = 5;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemPoolTrimTo() {
  MemPoolTrimTo m;
  m.context = 6;
  m.pool = 7;
  m.min_bytes_to_keep = 8;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemPoolSetAccess() {
  MemPoolSetAccess m;
  m.context = 9;
  m.pool = 10;
  m.map = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemPoolGetAccessReply() {
  MemPoolGetAccessReply m;
  m.status = 11;
  m.flags = 12;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemPoolGetAccess() {
  MemPoolGetAccess m;
  m.context = 13;
  m.mem_pool = 14;
  m.location = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamWaitEvent() {
  StreamWaitEvent m;
  m.context = 15;
  m.stream = 16;
  m.event = 17;
  m.flags = 18;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamCopyAttributes() {
  StreamCopyAttributes m;
  m.context = 19;
  m.dst_stream = 20;
  m.src_stream = 21;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EventRecord() {
  EventRecord m;
  m.context = 22;
  m.event = 23;
  m.stream = 24;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EventRecordWithFlags() {
  EventRecordWithFlags m;
  m.context = 25;
  m.event = 26;
  m.stream = 27;
  m.flags = 28;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamWaitValue32() {
  StreamWaitValue32 m;
  m.context = 29;
  m.stream = 30;
  m.addr = 31;
  m.value = 32;
  m.flags = 33;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamWaitValue64() {
  StreamWaitValue64 m;
  m.context = 34;
  m.stream = 35;
  m.addr = 36;
  m.value = 37;
  m.flags = 38;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamWriteValue32() {
  StreamWriteValue32 m;
  m.context = 39;
  m.stream = 40;
  m.addr = 41;
  m.value = 42;
  m.flags = 43;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamWriteValue64() {
  StreamWriteValue64 m;
  m.context = 44;
  m.stream = 45;
  m.addr = 46;
  m.value = 47;
  m.flags = 48;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamBatchMemOp() {
  StreamBatchMemOp m;
  m.context = 49;
  m.stream = 50;
  m.param_array = kBytes;
  m.flags = 51;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncSetAttributeReply() {
  FuncSetAttributeReply m;
  m.status = 52;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncSetAttribute() {
  FuncSetAttribute m;
  m.context = 53;
  m.hfunc = 54;
  m.attrib = 55;
  m.value = 56;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncSetCacheConfig() {
  FuncSetCacheConfig m;
  m.context = 57;
  m.hfunc = 58;
  m.config = 59;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncIsLoadedReply() {
  FuncIsLoadedReply m;
  m.status = 60;
  m.state = 61;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncIsLoaded() {
  FuncIsLoaded m;
  m.context = 62;
  m.function = 63;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncLoad() {
  FuncLoad m;
  m.context = 64;
  m.function = 65;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncSetSharedMemConfig() {
  FuncSetSharedMemConfig m;
  m.context = 66;
  m.hfunc = 67;
  m.config = 68;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphUpload() {
  GraphUpload m;
  m.context = 69;
  m.graph = 70;
  m.stream = 71;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply() {
  OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply m;
  m.status = 72;
  m.num_blocks = 73;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags() {
  OccupancyMaxActiveBlocksPerMultiprocessorWithFlags m;
  m.context = 74;
  m.func = 75;
  m.block_size = 76;
  m.dynamic_smem_size = 77;
  m.flags = 78;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyAvailableDynamicSmemPerBlockReply() {
  OccupancyAvailableDynamicSmemPerBlockReply m;
  m.status = 79;
  m.dynamic_smem_size = 80;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyAvailableDynamicSmemPerBlock() {
  OccupancyAvailableDynamicSmemPerBlock m;
  m.context = 81;
  m.func = 82;
  m.num_blocks = 83;
  m.block_size = 84;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_TexObjectDestroy() {
  TexObjectDestroy m;
  m.context = 85;
  m.tex_object = 86;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SurfObjectDestroy() {
  SurfObjectDestroy m;
  m.context = 87;
  m.surf_object = 88;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxEnablePeerAccessReply() {
  CtxEnablePeerAccessReply m;
  m.status = 89;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxEnablePeerAccess() {
  CtxEnablePeerAccess m;
  m.context = 90;
  m.peer_context = 91;
  m.flags = 92;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxDisablePeerAccessReply() {
  CtxDisablePeerAccessReply m;
  m.status = 93;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxDisablePeerAccess() {
  CtxDisablePeerAccess m;
  m.context = 94;
  m.peer_context = 95;
  wire::Bytes out;
  encode(out, m);
  return out;
}

constexpr FuzzCase kCases[] = {
    {"describe_reply", 0x2001, true, false, make_DescribeReply, again<DescribeReply>},
    {"describe", 0x2001, false, false, make_Describe, again<Describe>},
    {"usage_reply", 0x2002, true, false, make_UsageReply, again<UsageReply>},
    {"usage", 0x2002, false, false, make_Usage, again<Usage>},
    {"create_context_reply", 0x2003, true, false, make_CreateContextReply, again<CreateContextReply>},
    {"create_context", 0x2003, false, false, make_CreateContext, again<CreateContext>},
    {"release_context", 0x2004, false, false, make_ReleaseContext, again<ReleaseContext>},
    {"wait_context_reply", 0x2005, true, false, make_WaitContextReply, again<WaitContextReply>},
    {"wait_context", 0x2005, false, false, make_WaitContext, again<WaitContext>},
    {"set_limit_reply", 0x2006, true, false, make_SetLimitReply, again<SetLimitReply>},
    {"set_limit", 0x2006, false, false, make_SetLimit, again<SetLimit>},
    {"memory_info_reply", 0x2007, true, false, make_MemoryInfoReply, again<MemoryInfoReply>},
    {"memory_info", 0x2007, false, false, make_MemoryInfo, again<MemoryInfo>},
    {"release", 0x2008, false, false, make_Release, again<Release>},
    {"reserve_addresses_reply", 0x2010, true, false, make_ReserveAddressesReply, again<ReserveAddressesReply>},
    {"reserve_addresses", 0x2010, false, false, make_ReserveAddresses, again<ReserveAddresses>},
    {"free_addresses", 0x2011, false, false, make_FreeAddresses, again<FreeAddresses>},
    {"allocate_reply", 0x2012, true, false, make_AllocateReply, again<AllocateReply>},
    {"allocate", 0x2012, false, false, make_Allocate, again<Allocate>},
    {"free", 0x2013, false, false, make_Free, again<Free>},
    {"create_memory_reply", 0x2014, true, false, make_CreateMemoryReply, again<CreateMemoryReply>},
    {"create_memory", 0x2014, false, false, make_CreateMemory, again<CreateMemory>},
    {"map_memory", 0x2015, false, false, make_MapMemory, again<MapMemory>},
    {"unmap_memory_reply", 0x2016, true, false, make_UnmapMemoryReply, again<UnmapMemoryReply>},
    {"unmap_memory", 0x2016, false, false, make_UnmapMemory, again<UnmapMemory>},
    {"set_access", 0x2017, false, false, make_SetAccess, again<SetAccess>},
    {"memory_granularity_reply", 0x2018, true, false, make_MemoryGranularityReply, again<MemoryGranularityReply>},
    {"memory_granularity", 0x2018, false, false, make_MemoryGranularity, again<MemoryGranularity>},
    {"default_pool", 0x2019, false, false, make_DefaultPool, again<DefaultPool>},
    {"create_pool_reply", 0x201a, true, false, make_CreatePoolReply, again<CreatePoolReply>},
    {"create_pool", 0x201a, false, false, make_CreatePool, again<CreatePool>},
    {"allocate_from_pool_reply", 0x201b, true, false, make_AllocateFromPoolReply, again<AllocateFromPoolReply>},
    {"allocate_from_pool", 0x201b, false, false, make_AllocateFromPool, again<AllocateFromPool>},
    {"free_to_pool", 0x201c, false, false, make_FreeToPool, again<FreeToPool>},
    {"set_pool_attribute", 0x201d, false, false, make_SetPoolAttribute, again<SetPoolAttribute>},
    {"pool_attribute_reply", 0x201e, true, false, make_PoolAttributeReply, again<PoolAttributeReply>},
    {"pool_attribute", 0x201e, false, false, make_PoolAttribute, again<PoolAttribute>},
    {"create_array_reply", 0x2021, true, false, make_CreateArrayReply, again<CreateArrayReply>},
    {"create_array", 0x2021, false, false, make_CreateArray, again<CreateArray>},
    {"create_texture_reply", 0x2022, true, false, make_CreateTextureReply, again<CreateTextureReply>},
    {"create_texture", 0x2022, false, false, make_CreateTexture, again<CreateTexture>},
    {"create_surface_reply", 0x2023, true, false, make_CreateSurfaceReply, again<CreateSurfaceReply>},
    {"create_surface", 0x2023, false, false, make_CreateSurface, again<CreateSurface>},
    {"have_images_reply", 0x2030, true, false, make_HaveImagesReply, again<HaveImagesReply>},
    {"have_images", 0x2030, false, false, make_HaveImages, again<HaveImages>},
    {"load_reply", 0x2031, true, false, make_LoadReply, again<LoadReply>},
    {"load", 0x2031, false, false, make_Load, again<Load>},
    {"find_kernel_reply", 0x2032, true, false, make_FindKernelReply, again<FindKernelReply>},
    {"find_kernel", 0x2032, false, false, make_FindKernel, again<FindKernel>},
    {"find_variable_reply", 0x2033, true, false, make_FindVariableReply, again<FindVariableReply>},
    {"find_variable", 0x2033, false, false, make_FindVariable, again<FindVariable>},
    {"link_reply", 0x2034, true, false, make_LinkReply, again<LinkReply>},
    {"link", 0x2034, false, false, make_Link, again<Link>},
    {"occupancy_of_clusters_reply", 0x2035, true, false, make_OccupancyOfClustersReply, again<OccupancyOfClustersReply>},
    {"occupancy_of_clusters", 0x2035, false, false, make_OccupancyOfClusters, again<OccupancyOfClusters>},
    {"launch", 0x2040, false, false, make_Launch, again<Launch>},
    {"write_memory", 0x2041, false, false, make_WriteMemory, again<WriteMemory>},
    {"read_memory", 0x2042, false, false, make_ReadMemory, again<ReadMemory>},
    {"copy_memory", 0x2043, false, false, make_CopyMemory, again<CopyMemory>},
    {"write_rows", 0x2044, false, false, make_WriteRows, again<WriteRows>},
    {"read_rows", 0x2045, false, false, make_ReadRows, again<ReadRows>},
    {"copy_rows", 0x2046, false, false, make_CopyRows, again<CopyRows>},
    {"fill", 0x2047, false, false, make_Fill, again<Fill>},
    {"write_ranges", 0x2048, false, false, make_WriteRanges, again<WriteRanges>},
    {"host_function", 0x204a, false, false, make_HostFunction, again<HostFunction>},
    {"ran_host_function", 0x204b, false, false, make_RanHostFunction, again<RanHostFunction>},
    {"wait_latch", 0x204c, false, false, make_WaitLatch, again<WaitLatch>},
    {"open_latch", 0x204d, false, false, make_OpenLatch, again<OpenLatch>},
    {"create_stream", 0x2050, false, false, make_CreateStream, again<CreateStream>},
    {"wait_stream_reply", 0x2051, true, false, make_WaitStreamReply, again<WaitStreamReply>},
    {"wait_stream", 0x2051, false, false, make_WaitStream, again<WaitStream>},
    {"query_stream_reply", 0x2052, true, false, make_QueryStreamReply, again<QueryStreamReply>},
    {"query_stream", 0x2052, false, false, make_QueryStream, again<QueryStream>},
    {"set_stream_attribute", 0x2053, false, false, make_SetStreamAttribute, again<SetStreamAttribute>},
    {"stream_attribute_reply", 0x2054, true, false, make_StreamAttributeReply, again<StreamAttributeReply>},
    {"stream_attribute", 0x2054, false, false, make_StreamAttribute, again<StreamAttribute>},
    {"create_event", 0x2058, false, false, make_CreateEvent, again<CreateEvent>},
    {"wait_event_reply", 0x2059, true, false, make_WaitEventReply, again<WaitEventReply>},
    {"wait_event", 0x2059, false, false, make_WaitEvent, again<WaitEvent>},
    {"query_event_reply", 0x205a, true, false, make_QueryEventReply, again<QueryEventReply>},
    {"query_event", 0x205a, false, false, make_QueryEvent, again<QueryEvent>},
    {"watch_event", 0x205b, false, false, make_WatchEvent, again<WatchEvent>},
    {"elapsed_time_reply", 0x205c, true, false, make_ElapsedTimeReply, again<ElapsedTimeReply>},
    {"elapsed_time", 0x205c, false, false, make_ElapsedTime, again<ElapsedTime>},
    {"create_graph", 0x2064, false, false, make_CreateGraph, again<CreateGraph>},
    {"add_node", 0x2065, false, false, make_AddNode, again<AddNode>},
    {"conditional_handle_reply", 0x2071, true, false, make_ConditionalHandleReply, again<ConditionalHandleReply>},
    {"conditional_handle", 0x2071, false, false, make_ConditionalHandle, again<ConditionalHandle>},
    {"add_condition", 0x2075, false, false, make_AddCondition, again<AddCondition>},
    {"clear_graph", 0x2076, false, false, make_ClearGraph, again<ClearGraph>},
    {"instantiate_reply", 0x206c, true, false, make_InstantiateReply, again<InstantiateReply>},
    {"instantiate", 0x206c, false, false, make_Instantiate, again<Instantiate>},
    {"update_exec_reply", 0x206d, true, false, make_UpdateExecReply, again<UpdateExecReply>},
    {"update_exec", 0x206d, false, false, make_UpdateExec, again<UpdateExec>},
    {"set_exec_node", 0x2068, false, false, make_SetExecNode, again<SetExecNode>},
    {"enable_node", 0x2072, false, false, make_EnableNode, again<EnableNode>},
    {"launch_graph", 0x2073, false, false, make_LaunchGraph, again<LaunchGraph>},
    {"graph_input", 0x2074, false, false, make_GraphInput, again<GraphInput>},
    {"peer_accept_reply", 0x2078, true, false, make_PeerAcceptReply, again<PeerAcceptReply>},
    {"peer_accept", 0x2078, false, false, make_PeerAccept, again<PeerAccept>},
    {"peer_open_reply", 0x2079, true, false, make_PeerOpenReply, again<PeerOpenReply>},
    {"peer_open", 0x2079, false, false, make_PeerOpen, again<PeerOpen>},
    {"export_memory", 0x207a, false, false, make_ExportMemory, again<ExportMemory>},
    {"import_memory", 0x207b, false, false, make_ImportMemory, again<ImportMemory>},
    {"peer_ready_reply", 0x207c, true, false, make_PeerReadyReply, again<PeerReadyReply>},
    {"peer_ready", 0x207c, false, false, make_PeerReady, again<PeerReady>},
    {"peer_close", 0x207d, false, false, make_PeerClose, again<PeerClose>},
    {"signal_peer", 0x207e, false, false, make_SignalPeer, again<SignalPeer>},
    {"await_peer", 0x207f, false, false, make_AwaitPeer, again<AwaitPeer>},
    {"collective_version_reply", 0x2080, true, false, make_CollectiveVersionReply, again<CollectiveVersionReply>},
    {"collective_version", 0x2080, false, false, make_CollectiveVersion, again<CollectiveVersion>},
    {"collective_id_reply", 0x2081, true, false, make_CollectiveIdReply, again<CollectiveIdReply>},
    {"collective_id", 0x2081, false, false, make_CollectiveId, again<CollectiveId>},
    {"join_collectives_reply", 0x2082, true, false, make_JoinCollectivesReply, again<JoinCollectivesReply>},
    {"join_collectives", 0x2082, false, false, make_JoinCollectives, again<JoinCollectives>},
    {"collectives", 0x2083, false, false, make_Collectives, again<Collectives>},
    {"split_collectives_reply", 0x2085, true, false, make_SplitCollectivesReply, again<SplitCollectivesReply>},
    {"split_collectives", 0x2085, false, false, make_SplitCollectives, again<SplitCollectives>},
    {"end_collectives_reply", 0x2084, true, false, make_EndCollectivesReply, again<EndCollectivesReply>},
    {"end_collectives", 0x2084, false, false, make_EndCollectives, again<EndCollectives>},
    {"restore_image_reply", 0x2090, true, false, make_RestoreImageReply, again<RestoreImageReply>},
    {"restore_image", 0x2090, false, false, make_RestoreImage, again<RestoreImage>},
    {"restore_message_reply", 0x2091, true, false, make_RestoreMessageReply, again<RestoreMessageReply>},
    {"restore_message", 0x2091, false, false, make_RestoreMessage, again<RestoreMessage>},
    {"restore_memory_reply", 0x2092, true, false, make_RestoreMemoryReply, again<RestoreMemoryReply>},
    {"restore_memory", 0x2092, false, false, make_RestoreMemory, again<RestoreMemory>},
    {"restore_variables_reply", 0x2093, true, false, make_RestoreVariablesReply, again<RestoreVariablesReply>},
    {"restore_variables", 0x2093, false, false, make_RestoreVariables, again<RestoreVariables>},
    {"restore_bytes_reply", 0x2094, true, false, make_RestoreBytesReply, again<RestoreBytesReply>},
    {"restore_bytes", 0x2094, false, false, make_RestoreBytes, again<RestoreBytes>},
    {"restore_context_reply", 0x2095, true, false, make_RestoreContextReply, again<RestoreContextReply>},
    {"restore_context", 0x2095, false, false, make_RestoreContext, again<RestoreContext>},
    {"restore_event", 0x2096, false, false, make_RestoreEvent, again<RestoreEvent>},
    {"take_over_reply", 0x2097, true, false, make_TakeOverReply, again<TakeOverReply>},
    {"take_over", 0x2097, false, false, make_TakeOver, again<TakeOver>},
    {"replicate_reply", 0x2098, true, false, make_ReplicateReply, again<ReplicateReply>},
    {"replicate", 0x2098, false, false, make_Replicate, again<Replicate>},
    {"share_object_reply", 0x20a0, true, false, make_ShareObjectReply, again<ShareObjectReply>},
    {"share_object", 0x20a0, false, false, make_ShareObject, again<ShareObject>},
    {"open_memory_reply", 0x20a1, true, false, make_OpenMemoryReply, again<OpenMemoryReply>},
    {"open_memory", 0x20a1, false, false, make_OpenMemory, again<OpenMemory>},
    {"close_memory_reply", 0x20a2, true, false, make_CloseMemoryReply, again<CloseMemoryReply>},
    {"close_memory", 0x20a2, false, false, make_CloseMemory, again<CloseMemory>},
    {"open_event_reply", 0x20a3, true, false, make_OpenEventReply, again<OpenEventReply>},
    {"open_event", 0x20a3, false, false, make_OpenEvent, again<OpenEvent>},
    {"open_physical_reply", 0x20a4, true, false, make_OpenPhysicalReply, again<OpenPhysicalReply>},
    {"open_physical", 0x20a4, false, false, make_OpenPhysical, again<OpenPhysical>},
    {"failed", 0x20f0, false, true, make_Failed, again<Failed>},
    {"run_host_function", 0x20f1, false, true, make_RunHostFunction, again<RunHostFunction>},
    {"event_reached", 0x20f2, false, true, make_EventReached, again<EventReached>},
    {"printed", 0x20f3, false, true, make_Printed, again<Printed>},
    {"changed", 0x20f4, false, true, make_Changed, again<Changed>},
    {"collectives_failed", 0x20f5, false, true, make_CollectivesFailed, again<CollectivesFailed>},
    {"device_get_texture1d_linear_max_width_reply", 0x2100, true, false, make_DeviceGetTexture1dLinearMaxWidthReply, again<DeviceGetTexture1dLinearMaxWidthReply>},
    {"device_get_texture1d_linear_max_width", 0x2100, false, false, make_DeviceGetTexture1dLinearMaxWidth, again<DeviceGetTexture1dLinearMaxWidth>},
    {"ctx_set_flags", 0x2101, false, false, make_CtxSetFlags, again<CtxSetFlags>},
    {"ctx_set_cache_config", 0x2102, false, false, make_CtxSetCacheConfig, again<CtxSetCacheConfig>},
    {"ctx_reset_persisting_l2_cache", 0x2103, false, false, make_CtxResetPersistingL2Cache, again<CtxResetPersistingL2Cache>},
    {"ctx_record_event", 0x2104, false, false, make_CtxRecordEvent, again<CtxRecordEvent>},
    {"ctx_wait_event", 0x2105, false, false, make_CtxWaitEvent, again<CtxWaitEvent>},
    {"kernel_set_attribute_reply", 0x2106, true, false, make_KernelSetAttributeReply, again<KernelSetAttributeReply>},
    {"kernel_set_attribute", 0x2106, false, false, make_KernelSetAttribute, again<KernelSetAttribute>},
    {"kernel_set_cache_config", 0x2107, false, false, make_KernelSetCacheConfig, again<KernelSetCacheConfig>},
    {"array_get_memory_requirements_reply", 0x2108, true, false, make_ArrayGetMemoryRequirementsReply, again<ArrayGetMemoryRequirementsReply>},
    {"array_get_memory_requirements", 0x2108, false, false, make_ArrayGetMemoryRequirements, again<ArrayGetMemoryRequirements>},
    {"mipmapped_array_get_memory_requirements_reply", 0x2109, true, false, make_MipmappedArrayGetMemoryRequirementsReply, again<MipmappedArrayGetMemoryRequirementsReply>},
    {"mipmapped_array_get_memory_requirements", 0x2109, false, false, make_MipmappedArrayGetMemoryRequirements, again<MipmappedArrayGetMemoryRequirements>},
    {"array_get_plane_reply", 0x210a, true, false, make_ArrayGetPlaneReply, again<ArrayGetPlaneReply>},
    {"array_get_plane", 0x210a, false, false, make_ArrayGetPlane, again<ArrayGetPlane>},
    {"mipmapped_array_get_level_reply", 0x210b, true, false, make_MipmappedArrayGetLevelReply, again<MipmappedArrayGetLevelReply>},
    {"mipmapped_array_get_level", 0x210b, false, false, make_MipmappedArrayGetLevel, again<MipmappedArrayGetLevel>},
    {"mem_get_access_reply", 0x210c, true, false, make_MemGetAccessReply, again<MemGetAccessReply>},
    {"mem_get_access", 0x210c, false, false, make_MemGetAccess, again<MemGetAccess>},
    {"mem_pool_trim_to", 0x210d, false, false, make_MemPoolTrimTo, again<MemPoolTrimTo>},
    {"mem_pool_set_access", 0x210e, false, false, make_MemPoolSetAccess, again<MemPoolSetAccess>},
    {"mem_pool_get_access_reply", 0x210f, true, false, make_MemPoolGetAccessReply, again<MemPoolGetAccessReply>},
    {"mem_pool_get_access", 0x210f, false, false, make_MemPoolGetAccess, again<MemPoolGetAccess>},
    {"stream_wait_event", 0x2110, false, false, make_StreamWaitEvent, again<StreamWaitEvent>},
    {"stream_copy_attributes", 0x2111, false, false, make_StreamCopyAttributes, again<StreamCopyAttributes>},
    {"event_record", 0x2112, false, false, make_EventRecord, again<EventRecord>},
    {"event_record_with_flags", 0x2113, false, false, make_EventRecordWithFlags, again<EventRecordWithFlags>},
    {"stream_wait_value32", 0x2114, false, false, make_StreamWaitValue32, again<StreamWaitValue32>},
    {"stream_wait_value64", 0x2115, false, false, make_StreamWaitValue64, again<StreamWaitValue64>},
    {"stream_write_value32", 0x2116, false, false, make_StreamWriteValue32, again<StreamWriteValue32>},
    {"stream_write_value64", 0x2117, false, false, make_StreamWriteValue64, again<StreamWriteValue64>},
    {"stream_batch_mem_op", 0x2118, false, false, make_StreamBatchMemOp, again<StreamBatchMemOp>},
    {"func_set_attribute_reply", 0x2119, true, false, make_FuncSetAttributeReply, again<FuncSetAttributeReply>},
    {"func_set_attribute", 0x2119, false, false, make_FuncSetAttribute, again<FuncSetAttribute>},
    {"func_set_cache_config", 0x211a, false, false, make_FuncSetCacheConfig, again<FuncSetCacheConfig>},
    {"func_is_loaded_reply", 0x211b, true, false, make_FuncIsLoadedReply, again<FuncIsLoadedReply>},
    {"func_is_loaded", 0x211b, false, false, make_FuncIsLoaded, again<FuncIsLoaded>},
    {"func_load", 0x211c, false, false, make_FuncLoad, again<FuncLoad>},
    {"func_set_shared_mem_config", 0x211d, false, false, make_FuncSetSharedMemConfig, again<FuncSetSharedMemConfig>},
    {"graph_upload", 0x2124, false, false, make_GraphUpload, again<GraphUpload>},
    {"occupancy_max_active_blocks_per_multiprocessor_with_flags_reply", 0x2127, true, false, make_OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply, again<OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply>},
    {"occupancy_max_active_blocks_per_multiprocessor_with_flags", 0x2127, false, false, make_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, again<OccupancyMaxActiveBlocksPerMultiprocessorWithFlags>},
    {"occupancy_available_dynamic_smem_per_block_reply", 0x2128, true, false, make_OccupancyAvailableDynamicSmemPerBlockReply, again<OccupancyAvailableDynamicSmemPerBlockReply>},
    {"occupancy_available_dynamic_smem_per_block", 0x2128, false, false, make_OccupancyAvailableDynamicSmemPerBlock, again<OccupancyAvailableDynamicSmemPerBlock>},
    {"tex_object_destroy", 0x2129, false, false, make_TexObjectDestroy, again<TexObjectDestroy>},
    {"surf_object_destroy", 0x212a, false, false, make_SurfObjectDestroy, again<SurfObjectDestroy>},
    {"ctx_enable_peer_access_reply", 0x212b, true, false, make_CtxEnablePeerAccessReply, again<CtxEnablePeerAccessReply>},
    {"ctx_enable_peer_access", 0x212b, false, false, make_CtxEnablePeerAccess, again<CtxEnablePeerAccess>},
    {"ctx_disable_peer_access_reply", 0x212c, true, false, make_CtxDisablePeerAccessReply, again<CtxDisablePeerAccessReply>},
    {"ctx_disable_peer_access", 0x212c, false, false, make_CtxDisablePeerAccess, again<CtxDisablePeerAccess>},
};

}  // namespace

std::span<const FuzzCase> fuzz_cases() { return kCases; }

}  // namespace flexrack::cu
