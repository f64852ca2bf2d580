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
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_UsageReply() {
  UsageReply m;
  m.status = 45;
  m.reserved = 46;
  m.total = 47;
  m.used = 48;
  m.busy = 49;
  m.memory_busy = 50;
  m.temperature = 51;
  m.power = 52;
  m.clock = 53;
  m.memory_clock = 54;
  m.processes.resize(2);
  m.processes[0].id = 55;
  m.processes[0].memory = 56;
  m.processes[1].id = 57;
  m.processes[1].memory = 58;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Usage() {
  Usage m;
  m.device = 59;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateContextReply() {
  CreateContextReply m;
  m.status = 60;
  m.api_version = 61;
  m.id = 62;
  m.least_priority = 63;
  m.greatest_priority = 64;
  m.cache_config = 65;
  m.shared_config = 66;
  m.limits.resize(2);
  m.limits[0].which = 67;
  m.limits[0].reserved = 68;
  m.limits[0].value = 69;
  m.limits[1].which = 70;
  m.limits[1].reserved = 71;
  m.limits[1].value = 72;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateContext() {
  CreateContext m;
  m.context = 73;
  m.device = 74;
  m.is_primary = 75;
  m.flags = 76;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReleaseContext() {
  ReleaseContext m;
  m.context = 77;
  m.is_reset = 78;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitContextReply() {
  WaitContextReply m;
  m.status = 79;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitContext() {
  WaitContext m;
  m.context = 80;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetLimitReply() {
  SetLimitReply m;
  m.status = 81;
  m.reserved = 82;
  m.value = 83;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetLimit() {
  SetLimit m;
  m.context = 84;
  m.which = 85;
  m.reserved = 86;
  m.value = 87;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemoryInfoReply() {
  MemoryInfoReply m;
  m.status = 88;
  m.reserved = 89;
  m.free = 90;
  m.total = 91;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemoryInfo() {
  MemoryInfo m;
  m.context = 92;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Release() {
  Release m;
  m.object = 93;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReserveAddressesReply() {
  ReserveAddressesReply m;
  m.status = 94;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReserveAddresses() {
  ReserveAddresses m;
  m.at = 95;
  m.size = 96;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FreeAddresses() {
  FreeAddresses m;
  m.at = 97;
  m.size = 98;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AllocateReply() {
  AllocateReply m;
  m.status = 99;
  m.reserved = 100;
  m.address = 1;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Allocate() {
  Allocate m;
  m.context = 2;
  m.at = 3;
  m.size = 4;
  m.kind = 5;
  m.flags = 6;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Free() {
  Free m;
  m.context = 7;
  m.address = 8;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateMemoryReply() {
  CreateMemoryReply m;
  m.status = 9;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateMemory() {
  CreateMemory m;
  m.memory = 10;
  m.device = 11;
  m.flags = 12;
  m.size = 13;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MapMemory() {
  MapMemory m;
  m.memory = 14;
  m.at = 15;
  m.size = 16;
  m.offset = 17;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_UnmapMemory() {
  UnmapMemory m;
  m.at = 18;
  m.size = 19;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetAccess() {
  SetAccess m;
  m.at = 20;
  m.size = 21;
  m.accesses.resize(2);
  m.accesses[0].kind = 22;
  m.accesses[0].device = 23;
  m.accesses[0].flags = 24;
  m.accesses[0].reserved = 25;
  m.accesses[1].kind = 26;
  m.accesses[1].device = 27;
  m.accesses[1].flags = 28;
  m.accesses[1].reserved = 29;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemoryGranularityReply() {
  MemoryGranularityReply m;
  m.status = 30;
  m.reserved = 31;
  m.size = 32;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemoryGranularity() {
  MemoryGranularity m;
  m.device = 33;
  m.option = 34;
  m.flags = 35;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_DefaultPool() {
  DefaultPool m;
  m.pool = 36;
  m.device = 37;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreatePoolReply() {
  CreatePoolReply m;
  m.status = 38;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreatePool() {
  CreatePool m;
  m.pool = 39;
  m.device = 40;
  m.flags = 41;
  m.maximum = 42;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AllocateFromPoolReply() {
  AllocateFromPoolReply m;
  m.status = 43;
  m.reserved = 44;
  m.address = 45;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AllocateFromPool() {
  AllocateFromPool m;
  m.context = 46;
  m.stream = 47;
  m.pool = 48;
  m.size = 49;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FreeToPool() {
  FreeToPool m;
  m.context = 50;
  m.stream = 51;
  m.address = 52;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetPoolAttribute() {
  SetPoolAttribute m;
  m.pool = 53;
  m.which = 54;
  m.reserved = 55;
  m.value = 56;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PoolAttributeReply() {
  PoolAttributeReply m;
  m.status = 57;
  m.reserved = 58;
  m.value = 59;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PoolAttribute() {
  PoolAttribute m;
  m.pool = 60;
  m.which = 61;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetGraphMemory() {
  SetGraphMemory m;
  m.device = 62;
  m.which = 63;
  m.value = 64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphMemoryReply() {
  GraphMemoryReply m;
  m.status = 65;
  m.reserved = 66;
  m.value = 67;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphMemory() {
  GraphMemory m;
  m.device = 68;
  m.which = 69;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateArrayReply() {
  CreateArrayReply m;
  m.status = 70;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateArray() {
  CreateArray m;
  m.context = 71;
  m.array = 72;
  m.shape.width = 73;
  m.shape.height = 74;
  m.shape.depth = 75;
  m.shape.format = 76;
  m.shape.channels = 77;
  m.shape.flags = 78;
  m.shape.levels = 79;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateTextureReply() {
  CreateTextureReply m;
  m.status = 80;
  m.reserved = 81;
  m.object = 82;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateTexture() {
  CreateTexture m;
  m.context = 83;
  m.resource.kind = 84;
  m.resource.flags = 85;
  m.resource.object = 86;
  m.resource.format = 87;
  m.resource.channels = 88;
  m.resource.width = 89;
  m.resource.height = 90;
  m.resource.pitch = 91;
  m.texture = kBytes;
  m.view = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSurfaceReply() {
  CreateSurfaceReply m;
  m.status = 92;
  m.reserved = 93;
  m.object = 94;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateSurface() {
  CreateSurface m;
  m.context = 95;
  m.resource.kind = 96;
  m.resource.flags = 97;
  m.resource.object = 98;
  m.resource.format = 99;
  m.resource.channels = 100;
  m.resource.width = 1;
  m.resource.height = 2;
  m.resource.pitch = 3;
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
  m.status = 4;
  m.is_unknown = 5;
  m.info_log = "info_log 6";
  m.error_log = "error_log 7";
  m.names.resize(2);
  m.names[0] = "names 8";
  m.names[1] = "names 9";
  m.kernels.resize(2);
  m.kernels[0].kernel = 10;
  m.kernels[0].name = "name 11";
  m.kernels[0].parameter_bytes = 12;
  m.kernels[0].reserved = 13;
  m.kernels[0].parameters.resize(2);
  m.kernels[0].parameters[0].offset = 14;
  m.kernels[0].parameters[0].size = 15;
  m.kernels[0].parameters[1].offset = 16;
  m.kernels[0].parameters[1].size = 17;
  m.kernels[0].attributes.resize(2);
  m.kernels[0].attributes[0].which = 18;
  m.kernels[0].attributes[0].value = 19;
  m.kernels[0].attributes[1].which = 20;
  m.kernels[0].attributes[1].value = 21;
  m.kernels[1].kernel = 22;
  m.kernels[1].name = "name 23";
  m.kernels[1].parameter_bytes = 24;
  m.kernels[1].reserved = 25;
  m.kernels[1].parameters.resize(2);
  m.kernels[1].parameters[0].offset = 26;
  m.kernels[1].parameters[0].size = 27;
  m.kernels[1].parameters[1].offset = 28;
  m.kernels[1].parameters[1].size = 29;
  m.kernels[1].attributes.resize(2);
  m.kernels[1].attributes[0].which = 30;
  m.kernels[1].attributes[0].value = 31;
  m.kernels[1].attributes[1].which = 32;
  m.kernels[1].attributes[1].value = 33;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Load() {
  Load m;
  m.context = 34;
  m.module = 35;
  m.is_library = 36;
  m.reserved = 37;
  m.hash = kBytes;
  m.image = {0, sizeof kBytes, kBytes};
  m.options.resize(2);
  m.options[0].which = 38;
  m.options[0].reserved = 39;
  m.options[0].value = 40;
  m.options[0].text = kBytes;
  m.options[1].which = 41;
  m.options[1].reserved = 42;
  m.options[1].value = 43;
  m.options[1].text = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FindKernelReply() {
  FindKernelReply m;
  m.status = 44;
  m.reserved = 45;
  m.kernel.resize(2);
  m.kernel[0].kernel = 46;
  m.kernel[0].name = "name 47";
  m.kernel[0].parameter_bytes = 48;
  m.kernel[0].reserved = 49;
  m.kernel[0].parameters.resize(2);
  m.kernel[0].parameters[0].offset = 50;
  m.kernel[0].parameters[0].size = 51;
  m.kernel[0].parameters[1].offset = 52;
  m.kernel[0].parameters[1].size = 53;
  m.kernel[0].attributes.resize(2);
  m.kernel[0].attributes[0].which = 54;
  m.kernel[0].attributes[0].value = 55;
  m.kernel[0].attributes[1].which = 56;
  m.kernel[0].attributes[1].value = 57;
  m.kernel[1].kernel = 58;
  m.kernel[1].name = "name 59";
  m.kernel[1].parameter_bytes = 60;
  m.kernel[1].reserved = 61;
  m.kernel[1].parameters.resize(2);
  m.kernel[1].parameters[0].offset = 62;
  m.kernel[1].parameters[0].size = 63;
  m.kernel[1].parameters[1].offset = 64;
  m.kernel[1].parameters[1].size = 65;
  m.kernel[1].attributes.resize(2);
  m.kernel[1].attributes[0].which = 66;
  m.kernel[1].attributes[0].value = 67;
  m.kernel[1].attributes[1].which = 68;
  m.kernel[1].attributes[1].value = 69;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FindKernel() {
  FindKernel m;
  m.context = 70;
  m.module = 71;
  m.name = "name 72";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FindVariableReply() {
  FindVariableReply m;
  m.status = 73;
  m.reserved = 74;
  m.address = 75;
  m.size = 76;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FindVariable() {
  FindVariable m;
  m.context = 77;
  m.module = 78;
  m.is_managed = 79;
  m.reserved = 80;
  m.name = "name 81";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_LinkReply() {
  LinkReply m;
  m.status = 82;
  m.reserved = 83;
  m.info_log = "info_log 84";
  m.error_log = "error_log 85";
  m.image = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Link() {
  Link m;
  m.context = 86;
  m.options.resize(2);
  m.options[0].which = 87;
  m.options[0].reserved = 88;
  m.options[0].value = 89;
  m.options[0].text = kBytes;
  m.options[1].which = 90;
  m.options[1].reserved = 91;
  m.options[1].value = 92;
  m.options[1].text = kBytes;
  m.inputs.resize(2);
  m.inputs[0].kind = 93;
  m.inputs[0].reserved = 94;
  m.inputs[0].name = "name 95";
  m.inputs[0].data = {0, sizeof kBytes, kBytes};
  m.inputs[0].options.resize(2);
  m.inputs[0].options[0].which = 96;
  m.inputs[0].options[0].reserved = 97;
  m.inputs[0].options[0].value = 98;
  m.inputs[0].options[0].text = kBytes;
  m.inputs[0].options[1].which = 99;
  m.inputs[0].options[1].reserved = 100;
  m.inputs[0].options[1].value = 1;
  m.inputs[0].options[1].text = kBytes;
  m.inputs[1].kind = 2;
  m.inputs[1].reserved = 3;
  m.inputs[1].name = "name 4";
  m.inputs[1].data = {0, sizeof kBytes, kBytes};
  m.inputs[1].options.resize(2);
  m.inputs[1].options[0].which = 5;
  m.inputs[1].options[0].reserved = 6;
  m.inputs[1].options[0].value = 7;
  m.inputs[1].options[0].text = kBytes;
  m.inputs[1].options[1].which = 8;
  m.inputs[1].options[1].reserved = 9;
  m.inputs[1].options[1].value = 10;
  m.inputs[1].options[1].text = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyOfClustersReply() {
  OccupancyOfClustersReply m;
  m.status = 11;
  m.value = 12;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyOfClusters() {
  OccupancyOfClusters m;
  m.context = 13;
  m.kernel = 14;
  m.grid.x = 15;
  m.grid.y = 16;
  m.grid.z = 17;
  m.block.x = 18;
  m.block.y = 19;
  m.block.z = 20;
  m.shared_bytes = 21;
  m.is_active = 22;
  m.stream = 23;
  m.attributes.resize(2);
  m.attributes[0].which = 24;
  m.attributes[0].reserved = 25;
  m.attributes[0].event = 26;
  m.attributes[0].value = kBytes;
  m.attributes[1].which = 27;
  m.attributes[1].reserved = 28;
  m.attributes[1].event = 29;
  m.attributes[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Launch() {
  Launch m;
  m.context = 30;
  m.kernel = 31;
  m.stream = 32;
  m.grid.x = 33;
  m.grid.y = 34;
  m.grid.z = 35;
  m.block.x = 36;
  m.block.y = 37;
  m.block.z = 38;
  m.shared_bytes = 39;
  m.is_cooperative = 40;
  m.parameters = kBytes;
  m.attributes.resize(2);
  m.attributes[0].which = 41;
  m.attributes[0].reserved = 42;
  m.attributes[0].event = 43;
  m.attributes[0].value = kBytes;
  m.attributes[1].which = 44;
  m.attributes[1].reserved = 45;
  m.attributes[1].event = 46;
  m.attributes[1].value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteMemory() {
  WriteMemory m;
  m.context = 47;
  m.stream = 48;
  m.address = 49;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReadMemory() {
  ReadMemory m;
  m.context = 50;
  m.stream = 51;
  m.address = 52;
  m.size = 53;
  m.ticket = 54;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyMemory() {
  CopyMemory m;
  m.context = 55;
  m.stream = 56;
  m.source_context = 57;
  m.source = 58;
  m.target = 59;
  m.size = 60;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteRows() {
  WriteRows m;
  m.context = 61;
  m.stream = 62;
  m.target.kind = 63;
  m.target.level = 64;
  m.target.object = 65;
  m.target.x = 66;
  m.target.y = 67;
  m.target.z = 68;
  m.target.pitch = 69;
  m.target.height = 70;
  m.extent.width = 71;
  m.extent.height = 72;
  m.extent.depth = 73;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReadRows() {
  ReadRows m;
  m.context = 74;
  m.stream = 75;
  m.source.kind = 76;
  m.source.level = 77;
  m.source.object = 78;
  m.source.x = 79;
  m.source.y = 80;
  m.source.z = 81;
  m.source.pitch = 82;
  m.source.height = 83;
  m.extent.width = 84;
  m.extent.height = 85;
  m.extent.depth = 86;
  m.ticket = 87;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CopyRows() {
  CopyRows m;
  m.context = 88;
  m.stream = 89;
  m.source_context = 90;
  m.source.kind = 91;
  m.source.level = 92;
  m.source.object = 93;
  m.source.x = 94;
  m.source.y = 95;
  m.source.z = 96;
  m.source.pitch = 97;
  m.source.height = 98;
  m.target.kind = 99;
  m.target.level = 100;
  m.target.object = 1;
  m.target.x = 2;
  m.target.y = 3;
  m.target.z = 4;
  m.target.pitch = 5;
  m.target.height = 6;
  m.extent.width = 7;
  m.extent.height = 8;
  m.extent.depth = 9;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Fill() {
  Fill m;
  m.context = 10;
  m.stream = 11;
  m.address = 12;
  m.pitch = 13;
  m.width = 14;
  m.height = 15;
  m.value = 16;
  m.element = 17;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WriteRanges() {
  WriteRanges m;
  m.context = 18;
  m.stream = 19;
  m.ranges.resize(2);
  m.ranges[0].address = 20;
  m.ranges[0].size = 21;
  m.ranges[1].address = 22;
  m.ranges[1].size = 23;
  m.data = {0, sizeof kBytes, kBytes};
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ReadRanges() {
  ReadRanges m;
  m.context = 24;
  m.stream = 25;
  m.ranges.resize(2);
  m.ranges[0].address = 26;
  m.ranges[0].size = 27;
  m.ranges[1].address = 28;
  m.ranges[1].size = 29;
  m.ticket = 30;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_HostFunction() {
  HostFunction m;
  m.context = 31;
  m.stream = 32;
  m.function = 33;
  m.wants_status = 34;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RanHostFunction() {
  RanHostFunction m;
  m.turn = 35;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitGate() {
  WaitGate m;
  m.context = 36;
  m.stream = 37;
  m.gate = 38;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OpenGate() {
  OpenGate m;
  m.gate = 39;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateStream() {
  CreateStream m;
  m.context = 40;
  m.stream = 41;
  m.flags = 42;
  m.priority = 43;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitStreamReply() {
  WaitStreamReply m;
  m.status = 44;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitStream() {
  WaitStream m;
  m.context = 45;
  m.stream = 46;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_QueryStreamReply() {
  QueryStreamReply m;
  m.status = 47;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_QueryStream() {
  QueryStream m;
  m.context = 48;
  m.stream = 49;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetStreamAttribute() {
  SetStreamAttribute m;
  m.context = 50;
  m.stream = 51;
  m.attribute.which = 52;
  m.attribute.reserved = 53;
  m.attribute.event = 54;
  m.attribute.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamAttributeReply() {
  StreamAttributeReply m;
  m.status = 55;
  m.reserved = 56;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamAttribute() {
  StreamAttribute m;
  m.context = 57;
  m.stream = 58;
  m.which = 59;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateEvent() {
  CreateEvent m;
  m.context = 60;
  m.event = 61;
  m.flags = 62;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitEventReply() {
  WaitEventReply m;
  m.status = 63;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WaitEvent() {
  WaitEvent m;
  m.event = 64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_QueryEventReply() {
  QueryEventReply m;
  m.status = 65;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_QueryEvent() {
  QueryEvent m;
  m.event = 66;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_WatchEvent() {
  WatchEvent m;
  m.event = 67;
  m.number = 68;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ElapsedTimeReply() {
  ElapsedTimeReply m;
  m.status = 69;
  m.reserved = 70;
  m.milliseconds = 71;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ElapsedTime() {
  ElapsedTime m;
  m.start = 72;
  m.end = 73;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_BeginCapture() {
  BeginCapture m;
  m.context = 74;
  m.stream = 75;
  m.mode = 76;
  m.has_graph = 77;
  m.graph = 78;
  m.dependencies = k_u64;
  m.edges = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EndCaptureReply() {
  EndCaptureReply m;
  m.status = 79;
  m.is_empty = 80;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EndCapture() {
  EndCapture m;
  m.context = 81;
  m.stream = 82;
  m.graph = 83;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CaptureInfoReply() {
  CaptureInfoReply m;
  m.status = 84;
  m.capture = 85;
  m.id = 86;
  m.graph = 87;
  m.dependencies = k_u64;
  m.edges = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CaptureInfo() {
  CaptureInfo m;
  m.context = 88;
  m.stream = 89;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_UpdateCapture() {
  UpdateCapture m;
  m.context = 90;
  m.stream = 91;
  m.flags = 92;
  m.reserved = 93;
  m.dependencies = k_u64;
  m.edges = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CreateGraph() {
  CreateGraph m;
  m.context = 94;
  m.graph = 95;
  m.flags = 96;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AddNode() {
  AddNode m;
  m.graph = 97;
  m.node = 98;
  m.dependencies = k_u64;
  m.edges = kBytes;
  m.work.kind = 99;
  m.work.shared_bytes = 100;
  m.work.context = 1;
  m.work.object = 2;
  m.work.grid.x = 3;
  m.work.grid.y = 4;
  m.work.grid.z = 5;
  m.work.block.x = 6;
  m.work.block.y = 7;
  m.work.block.z = 8;
  m.work.parameters = kBytes;
  m.work.attributes.resize(2);
  m.work.attributes[0].which = 9;
  m.work.attributes[0].reserved = 10;
  m.work.attributes[0].event = 11;
  m.work.attributes[0].value = kBytes;
  m.work.attributes[1].which = 12;
  m.work.attributes[1].reserved = 13;
  m.work.attributes[1].event = 14;
  m.work.attributes[1].value = kBytes;
  m.work.source.kind = 15;
  m.work.source.level = 16;
  m.work.source.object = 17;
  m.work.source.x = 18;
  m.work.source.y = 19;
  m.work.source.z = 20;
  m.work.source.pitch = 21;
  m.work.source.height = 22;
  m.work.target.kind = 23;
  m.work.target.level = 24;
  m.work.target.object = 25;
  m.work.target.x = 26;
  m.work.target.y = 27;
  m.work.target.z = 28;
  m.work.target.pitch = 29;
  m.work.target.height = 30;
  m.work.extent.width = 31;
  m.work.extent.height = 32;
  m.work.extent.depth = 33;
  m.work.value = 34;
  m.work.element = 35;
  m.work.flags = 36;
  m.work.accesses.resize(2);
  m.work.accesses[0].kind = 37;
  m.work.accesses[0].device = 38;
  m.work.accesses[0].flags = 39;
  m.work.accesses[0].reserved = 40;
  m.work.accesses[1].kind = 41;
  m.work.accesses[1].device = 42;
  m.work.accesses[1].flags = 43;
  m.work.accesses[1].reserved = 44;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AddAnsweredNodeReply() {
  AddAnsweredNodeReply m;
  m.status = 45;
  m.reserved = 46;
  m.address = 47;
  m.graphs = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AddAnsweredNode() {
  AddAnsweredNode m;
  m.graph = 48;
  m.node = 49;
  m.dependencies = k_u64;
  m.edges = kBytes;
  m.work.kind = 50;
  m.work.shared_bytes = 51;
  m.work.context = 52;
  m.work.object = 53;
  m.work.grid.x = 54;
  m.work.grid.y = 55;
  m.work.grid.z = 56;
  m.work.block.x = 57;
  m.work.block.y = 58;
  m.work.block.z = 59;
  m.work.parameters = kBytes;
  m.work.attributes.resize(2);
  m.work.attributes[0].which = 60;
  m.work.attributes[0].reserved = 61;
  m.work.attributes[0].event = 62;
  m.work.attributes[0].value = kBytes;
  m.work.attributes[1].which = 63;
  m.work.attributes[1].reserved = 64;
  m.work.attributes[1].event = 65;
  m.work.attributes[1].value = kBytes;
  m.work.source.kind = 66;
  m.work.source.level = 67;
  m.work.source.object = 68;
  m.work.source.x = 69;
  m.work.source.y = 70;
  m.work.source.z = 71;
  m.work.source.pitch = 72;
  m.work.source.height = 73;
  m.work.target.kind = 74;
  m.work.target.level = 75;
  m.work.target.object = 76;
  m.work.target.x = 77;
  m.work.target.y = 78;
  m.work.target.z = 79;
  m.work.target.pitch = 80;
  m.work.target.height = 81;
  m.work.extent.width = 82;
  m.work.extent.height = 83;
  m.work.extent.depth = 84;
  m.work.value = 85;
  m.work.element = 86;
  m.work.flags = 87;
  m.work.accesses.resize(2);
  m.work.accesses[0].kind = 88;
  m.work.accesses[0].device = 89;
  m.work.accesses[0].flags = 90;
  m.work.accesses[0].reserved = 91;
  m.work.accesses[1].kind = 92;
  m.work.accesses[1].device = 93;
  m.work.accesses[1].flags = 94;
  m.work.accesses[1].reserved = 95;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetNode() {
  SetNode m;
  m.node = 96;
  m.work.kind = 97;
  m.work.shared_bytes = 98;
  m.work.context = 99;
  m.work.object = 100;
  m.work.grid.x = 1;
  m.work.grid.y = 2;
  m.work.grid.z = 3;
  m.work.block.x = 4;
  m.work.block.y = 5;
  m.work.block.z = 6;
  m.work.parameters = kBytes;
  m.work.attributes.resize(2);
  m.work.attributes[0].which = 7;
  m.work.attributes[0].reserved = 8;
  m.work.attributes[0].event = 9;
  m.work.attributes[0].value = kBytes;
  m.work.attributes[1].which = 10;
  m.work.attributes[1].reserved = 11;
  m.work.attributes[1].event = 12;
  m.work.attributes[1].value = kBytes;
  m.work.source.kind = 13;
  m.work.source.level = 14;
  m.work.source.object = 15;
  m.work.source.x = 16;
  m.work.source.y = 17;
  m.work.source.z = 18;
  m.work.source.pitch = 19;
  m.work.source.height = 20;
  m.work.target.kind = 21;
  m.work.target.level = 22;
  m.work.target.object = 23;
  m.work.target.x = 24;
  m.work.target.y = 25;
  m.work.target.z = 26;
  m.work.target.pitch = 27;
  m.work.target.height = 28;
  m.work.extent.width = 29;
  m.work.extent.height = 30;
  m.work.extent.depth = 31;
  m.work.value = 32;
  m.work.element = 33;
  m.work.flags = 34;
  m.work.accesses.resize(2);
  m.work.accesses[0].kind = 35;
  m.work.accesses[0].device = 36;
  m.work.accesses[0].flags = 37;
  m.work.accesses[0].reserved = 38;
  m.work.accesses[1].kind = 39;
  m.work.accesses[1].device = 40;
  m.work.accesses[1].flags = 41;
  m.work.accesses[1].reserved = 42;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetExecNodeReply() {
  SetExecNodeReply m;
  m.status = 43;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetExecNode() {
  SetExecNode m;
  m.exec = 44;
  m.node = 45;
  m.work.kind = 46;
  m.work.shared_bytes = 47;
  m.work.context = 48;
  m.work.object = 49;
  m.work.grid.x = 50;
  m.work.grid.y = 51;
  m.work.grid.z = 52;
  m.work.block.x = 53;
  m.work.block.y = 54;
  m.work.block.z = 55;
  m.work.parameters = kBytes;
  m.work.attributes.resize(2);
  m.work.attributes[0].which = 56;
  m.work.attributes[0].reserved = 57;
  m.work.attributes[0].event = 58;
  m.work.attributes[0].value = kBytes;
  m.work.attributes[1].which = 59;
  m.work.attributes[1].reserved = 60;
  m.work.attributes[1].event = 61;
  m.work.attributes[1].value = kBytes;
  m.work.source.kind = 62;
  m.work.source.level = 63;
  m.work.source.object = 64;
  m.work.source.x = 65;
  m.work.source.y = 66;
  m.work.source.z = 67;
  m.work.source.pitch = 68;
  m.work.source.height = 69;
  m.work.target.kind = 70;
  m.work.target.level = 71;
  m.work.target.object = 72;
  m.work.target.x = 73;
  m.work.target.y = 74;
  m.work.target.z = 75;
  m.work.target.pitch = 76;
  m.work.target.height = 77;
  m.work.extent.width = 78;
  m.work.extent.height = 79;
  m.work.extent.depth = 80;
  m.work.value = 81;
  m.work.element = 82;
  m.work.flags = 83;
  m.work.accesses.resize(2);
  m.work.accesses[0].kind = 84;
  m.work.accesses[0].device = 85;
  m.work.accesses[0].flags = 86;
  m.work.accesses[0].reserved = 87;
  m.work.accesses[1].kind = 88;
  m.work.accesses[1].device = 89;
  m.work.accesses[1].flags = 90;
  m.work.accesses[1].reserved = 91;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AskNodeReply() {
  AskNodeReply m;
  m.status = 92;
  m.reserved = 93;
  m.work.kind = 94;
  m.work.shared_bytes = 95;
  m.work.context = 96;
  m.work.object = 97;
  m.work.grid.x = 98;
  m.work.grid.y = 99;
  m.work.grid.z = 100;
  m.work.block.x = 1;
  m.work.block.y = 2;
  m.work.block.z = 3;
  m.work.parameters = kBytes;
  m.work.attributes.resize(2);
  m.work.attributes[0].which = 4;
  m.work.attributes[0].reserved = 5;
  m.work.attributes[0].event = 6;
  m.work.attributes[0].value = kBytes;
  m.work.attributes[1].which = 7;
  m.work.attributes[1].reserved = 8;
  m.work.attributes[1].event = 9;
  m.work.attributes[1].value = kBytes;
  m.work.source.kind = 10;
  m.work.source.level = 11;
  m.work.source.object = 12;
  m.work.source.x = 13;
  m.work.source.y = 14;
  m.work.source.z = 15;
  m.work.source.pitch = 16;
  m.work.source.height = 17;
  m.work.target.kind = 18;
  m.work.target.level = 19;
  m.work.target.object = 20;
  m.work.target.x = 21;
  m.work.target.y = 22;
  m.work.target.z = 23;
  m.work.target.pitch = 24;
  m.work.target.height = 25;
  m.work.extent.width = 26;
  m.work.extent.height = 27;
  m.work.extent.depth = 28;
  m.work.value = 29;
  m.work.element = 30;
  m.work.flags = 31;
  m.work.accesses.resize(2);
  m.work.accesses[0].kind = 32;
  m.work.accesses[0].device = 33;
  m.work.accesses[0].flags = 34;
  m.work.accesses[0].reserved = 35;
  m.work.accesses[1].kind = 36;
  m.work.accesses[1].device = 37;
  m.work.accesses[1].flags = 38;
  m.work.accesses[1].reserved = 39;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_AskNode() {
  AskNode m;
  m.node = 40;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphContentReply() {
  GraphContentReply m;
  m.status = 41;
  m.reserved = 42;
  m.nodes.resize(2);
  m.nodes[0].node = 43;
  m.nodes[0].kind = 44;
  m.nodes[0].reserved = 45;
  m.nodes[1].node = 46;
  m.nodes[1].kind = 47;
  m.nodes[1].reserved = 48;
  m.edges.resize(2);
  m.edges[0].from = 49;
  m.edges[0].to = 50;
  m.edges[0].data = kBytes;
  m.edges[1].from = 51;
  m.edges[1].to = 52;
  m.edges[1].data = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphContent() {
  GraphContent m;
  m.graph = 53;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CloneGraphReply() {
  CloneGraphReply m;
  m.status = 54;
  m.reserved = 55;
  m.originals = k_u64;
  m.clones = k_u64;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CloneGraph() {
  CloneGraph m;
  m.graph = 56;
  m.clone = 57;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_InstantiateReply() {
  InstantiateReply m;
  m.status = 58;
  m.result = 59;
  m.node = 60;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Instantiate() {
  Instantiate m;
  m.context = 61;
  m.graph = 62;
  m.exec = 63;
  m.flags = 64;
  m.upload_stream = 65;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_UpdateExecReply() {
  UpdateExecReply m;
  m.status = 66;
  m.result = 67;
  m.node = 68;
  m.from = 69;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_UpdateExec() {
  UpdateExec m;
  m.exec = 70;
  m.graph = 71;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SetNodeAttribute() {
  SetNodeAttribute m;
  m.node = 72;
  m.attribute.which = 73;
  m.attribute.reserved = 74;
  m.attribute.event = 75;
  m.attribute.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_NodeAttributeReply() {
  NodeAttributeReply m;
  m.status = 76;
  m.reserved = 77;
  m.event = 78;
  m.value = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_NodeAttribute() {
  NodeAttribute m;
  m.node = 79;
  m.which = 80;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphAsDotReply() {
  GraphAsDotReply m;
  m.status = 81;
  m.reserved = 82;
  m.text = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphAsDot() {
  GraphAsDot m;
  m.graph = 83;
  m.flags = 84;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ConditionalHandleReply() {
  ConditionalHandleReply m;
  m.status = 85;
  m.reserved = 86;
  m.value = 87;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ConditionalHandle() {
  ConditionalHandle m;
  m.context = 88;
  m.graph = 89;
  m.initial = 90;
  m.flags = 91;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerAcceptReply() {
  PeerAcceptReply m;
  m.status = 92;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerAccept() {
  PeerAccept m;
  m.peer = 93;
  m.key = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerOpenReply() {
  PeerOpenReply m;
  m.status = 94;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_PeerOpen() {
  PeerOpen m;
  m.peer = 95;
  m.key = kBytes;
  m.address = "address 96";
  m.port = 97;
  m.session = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ExportMemory() {
  ExportMemory m;
  m.context = 98;
  m.stream = 99;
  m.source.kind = 100;
  m.source.level = 1;
  m.source.object = 2;
  m.source.x = 3;
  m.source.y = 4;
  m.source.z = 5;
  m.source.pitch = 6;
  m.source.height = 7;
  m.extent.width = 8;
  m.extent.height = 9;
  m.extent.depth = 10;
  m.peer = 11;
  m.ticket = 12;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ImportMemory() {
  ImportMemory m;
  m.context = 13;
  m.stream = 14;
  m.target.kind = 15;
  m.target.level = 16;
  m.target.object = 17;
  m.target.x = 18;
  m.target.y = 19;
  m.target.z = 20;
  m.target.pitch = 21;
  m.target.height = 22;
  m.extent.width = 23;
  m.extent.height = 24;
  m.extent.depth = 25;
  m.peer = 26;
  m.ticket = 27;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_Failed() {
  Failed m;
  m.context = 28;
  m.op = 29;
  m.status = 30;
  m.object = 31;
  m.text = "text 32";
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_RunHostFunction() {
  RunHostFunction m;
  m.function = 33;
  m.turn = 34;
  m.status = 35;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EventReached() {
  EventReached m;
  m.event = 36;
  m.number = 37;
  m.status = 38;
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
wire::Bytes make_DeviceGetTexture1dLinearMaxWidthReply() {
  DeviceGetTexture1dLinearMaxWidthReply m;
  m.status = 39;
  m.max_width_in_elements = 40;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_DeviceGetTexture1dLinearMaxWidth() {
  DeviceGetTexture1dLinearMaxWidth m;
  m.context = 41;
  m.format = 42;
  m.num_channels = 43;
  m.dev = 44;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxSetFlags() {
  CtxSetFlags m;
  m.context = 45;
  m.flags = 46;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxSetCacheConfig() {
  CtxSetCacheConfig m;
  m.context = 47;
  m.config = 48;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxResetPersistingL2Cache() {
  CtxResetPersistingL2Cache m;
  m.context = 49;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxRecordEvent() {
  CtxRecordEvent m;
  m.context = 50;
  m.ctx = 51;
  m.event = 52;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxWaitEvent() {
  CtxWaitEvent m;
  m.context = 53;
  m.ctx = 54;
  m.event = 55;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_KernelSetAttributeReply() {
  KernelSetAttributeReply m;
  m.status = 56;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_KernelSetAttribute() {
  KernelSetAttribute m;
  m.context = 57;
  m.attrib = 58;
  m.val = 59;
  m.kernel = 60;
  m.dev = 61;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_KernelSetCacheConfig() {
  KernelSetCacheConfig m;
  m.context = 62;
  m.kernel = 63;
  m.config = 64;
  m.dev = 65;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ArrayGetMemoryRequirementsReply() {
  ArrayGetMemoryRequirementsReply m;
  m.status = 66;
  m.memory_requirements = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ArrayGetMemoryRequirements() {
  ArrayGetMemoryRequirements m;
  m.context = 67;
  m.array = 68;
  m.device = 69;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MipmappedArrayGetMemoryRequirementsReply() {
  MipmappedArrayGetMemoryRequirementsReply m;
  m.status = 70;
  m.memory_requirements = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MipmappedArrayGetMemoryRequirements() {
  MipmappedArrayGetMemoryRequirements m;
  m.context = 71;
  m.mipmap = 72;
  m.device = 73;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ArrayGetPlaneReply() {
  ArrayGetPlaneReply m;
  m.status = 74;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_ArrayGetPlane() {
  ArrayGetPlane m;
  m.context = 75;
  m.plane_array = 76;
  m.array = 77;
  m.plane_idx = 78;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MipmappedArrayGetLevelReply() {
  MipmappedArrayGetLevelReply m;
  m.status = 79;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MipmappedArrayGetLevel() {
  MipmappedArrayGetLevel m;
  m.context = 80;
  m.level_array = 81;
  m.mipmapped_array = 82;
  m.level = 83;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemGetAccessReply() {
  MemGetAccessReply m;
  m.status = 84;
  m.flags = 85;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemGetAccess() {
  MemGetAccess m;
  m.context = 86;
  m.location = kBytes;
  m.ptr = 87;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemPoolTrimTo() {
  MemPoolTrimTo m;
  m.context = 88;
  m.pool = 89;
  m.min_bytes_to_keep = 90;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemPoolSetAccess() {
  MemPoolSetAccess m;
  m.context = 91;
  m.pool = 92;
  m.map = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemPoolGetAccessReply() {
  MemPoolGetAccessReply m;
  m.status = 93;
  m.flags = 94;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_MemPoolGetAccess() {
  MemPoolGetAccess m;
  m.context = 95;
  m.mem_pool = 96;
  m.location = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamWaitEvent() {
  StreamWaitEvent m;
  m.context = 97;
  m.stream = 98;
  m.event = 99;
  m.flags = 100;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamCopyAttributes() {
  StreamCopyAttributes m;
  m.context = 1;
  m.dst_stream = 2;
  m.src_stream = 3;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EventRecord() {
  EventRecord m;
  m.context = 4;
  m.event = 5;
  m.stream = 6;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_EventRecordWithFlags() {
  EventRecordWithFlags m;
  m.context = 7;
  m.event = 8;
  m.stream = 9;
  m.flags = 10;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamWaitValue32() {
  StreamWaitValue32 m;
  m.context = 11;
  m.stream = 12;
  m.addr = 13;
  m.value = 14;
  m.flags = 15;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamWaitValue64() {
  StreamWaitValue64 m;
  m.context = 16;
  m.stream = 17;
  m.addr = 18;
  m.value = 19;
  m.flags = 20;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamWriteValue32() {
  StreamWriteValue32 m;
  m.context = 21;
  m.stream = 22;
  m.addr = 23;
  m.value = 24;
  m.flags = 25;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamWriteValue64() {
  StreamWriteValue64 m;
  m.context = 26;
  m.stream = 27;
  m.addr = 28;
  m.value = 29;
  m.flags = 30;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_StreamBatchMemOp() {
  StreamBatchMemOp m;
  m.context = 31;
  m.stream = 32;
  m.param_array = kBytes;
  m.flags = 33;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncSetAttributeReply() {
  FuncSetAttributeReply m;
  m.status = 34;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncSetAttribute() {
  FuncSetAttribute m;
  m.context = 35;
  m.hfunc = 36;
  m.attrib = 37;
  m.value = 38;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncSetCacheConfig() {
  FuncSetCacheConfig m;
  m.context = 39;
  m.hfunc = 40;
  m.config = 41;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncIsLoadedReply() {
  FuncIsLoadedReply m;
  m.status = 42;
  m.state = 43;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncIsLoaded() {
  FuncIsLoaded m;
  m.context = 44;
  m.function = 45;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncLoad() {
  FuncLoad m;
  m.context = 46;
  m.function = 47;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_FuncSetSharedMemConfig() {
  FuncSetSharedMemConfig m;
  m.context = 48;
  m.hfunc = 49;
  m.config = 50;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_DeviceGraphMemTrim() {
  DeviceGraphMemTrim m;
  m.context = 51;
  m.device = 52;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphAddDependencies() {
  GraphAddDependencies m;
  m.context = 53;
  m.graph = 54;
  m.from = k_u64;
  m.to = k_u64;
  m.edge_data = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphRemoveDependencies() {
  GraphRemoveDependencies m;
  m.context = 55;
  m.graph = 56;
  m.from = k_u64;
  m.to = k_u64;
  m.edge_data = kBytes;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphDestroyNode() {
  GraphDestroyNode m;
  m.context = 57;
  m.node = 58;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphNodeSetEnabledReply() {
  GraphNodeSetEnabledReply m;
  m.status = 59;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphNodeSetEnabled() {
  GraphNodeSetEnabled m;
  m.context = 60;
  m.graph_exec = 61;
  m.node = 62;
  m.is_enabled = 63;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphNodeGetEnabledReply() {
  GraphNodeGetEnabledReply m;
  m.status = 64;
  m.is_enabled = 65;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphNodeGetEnabled() {
  GraphNodeGetEnabled m;
  m.context = 66;
  m.graph_exec = 67;
  m.node = 68;
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
wire::Bytes make_GraphLaunch() {
  GraphLaunch m;
  m.context = 72;
  m.graph = 73;
  m.stream = 74;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_GraphKernelNodeCopyAttributes() {
  GraphKernelNodeCopyAttributes m;
  m.context = 75;
  m.dst = 76;
  m.src = 77;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply() {
  OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply m;
  m.status = 78;
  m.num_blocks = 79;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags() {
  OccupancyMaxActiveBlocksPerMultiprocessorWithFlags m;
  m.context = 80;
  m.func = 81;
  m.block_size = 82;
  m.dynamic_smem_size = 83;
  m.flags = 84;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyAvailableDynamicSmemPerBlockReply() {
  OccupancyAvailableDynamicSmemPerBlockReply m;
  m.status = 85;
  m.dynamic_smem_size = 86;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_OccupancyAvailableDynamicSmemPerBlock() {
  OccupancyAvailableDynamicSmemPerBlock m;
  m.context = 87;
  m.func = 88;
  m.num_blocks = 89;
  m.block_size = 90;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_TexObjectDestroy() {
  TexObjectDestroy m;
  m.context = 91;
  m.tex_object = 92;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_SurfObjectDestroy() {
  SurfObjectDestroy m;
  m.context = 93;
  m.surf_object = 94;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxEnablePeerAccessReply() {
  CtxEnablePeerAccessReply m;
  m.status = 95;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxEnablePeerAccess() {
  CtxEnablePeerAccess m;
  m.context = 96;
  m.peer_context = 97;
  m.flags = 98;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxDisablePeerAccessReply() {
  CtxDisablePeerAccessReply m;
  m.status = 99;
  wire::Bytes out;
  encode(out, m);
  return out;
}
wire::Bytes make_CtxDisablePeerAccess() {
  CtxDisablePeerAccess m;
  m.context = 100;
  m.peer_context = 1;
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
    {"set_graph_memory", 0x201f, false, false, make_SetGraphMemory, again<SetGraphMemory>},
    {"graph_memory_reply", 0x2020, true, false, make_GraphMemoryReply, again<GraphMemoryReply>},
    {"graph_memory", 0x2020, false, false, make_GraphMemory, again<GraphMemory>},
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
    {"read_ranges", 0x2049, false, false, make_ReadRanges, again<ReadRanges>},
    {"host_function", 0x204a, false, false, make_HostFunction, again<HostFunction>},
    {"ran_host_function", 0x204b, false, false, make_RanHostFunction, again<RanHostFunction>},
    {"wait_gate", 0x204c, false, false, make_WaitGate, again<WaitGate>},
    {"open_gate", 0x204d, false, false, make_OpenGate, again<OpenGate>},
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
    {"begin_capture", 0x2060, false, false, make_BeginCapture, again<BeginCapture>},
    {"end_capture_reply", 0x2061, true, false, make_EndCaptureReply, again<EndCaptureReply>},
    {"end_capture", 0x2061, false, false, make_EndCapture, again<EndCapture>},
    {"capture_info_reply", 0x2062, true, false, make_CaptureInfoReply, again<CaptureInfoReply>},
    {"capture_info", 0x2062, false, false, make_CaptureInfo, again<CaptureInfo>},
    {"update_capture", 0x2063, false, false, make_UpdateCapture, again<UpdateCapture>},
    {"create_graph", 0x2064, false, false, make_CreateGraph, again<CreateGraph>},
    {"add_node", 0x2065, false, false, make_AddNode, again<AddNode>},
    {"add_answered_node_reply", 0x2066, true, false, make_AddAnsweredNodeReply, again<AddAnsweredNodeReply>},
    {"add_answered_node", 0x2066, false, false, make_AddAnsweredNode, again<AddAnsweredNode>},
    {"set_node", 0x2067, false, false, make_SetNode, again<SetNode>},
    {"set_exec_node_reply", 0x2068, true, false, make_SetExecNodeReply, again<SetExecNodeReply>},
    {"set_exec_node", 0x2068, false, false, make_SetExecNode, again<SetExecNode>},
    {"ask_node_reply", 0x2069, true, false, make_AskNodeReply, again<AskNodeReply>},
    {"ask_node", 0x2069, false, false, make_AskNode, again<AskNode>},
    {"graph_content_reply", 0x206a, true, false, make_GraphContentReply, again<GraphContentReply>},
    {"graph_content", 0x206a, false, false, make_GraphContent, again<GraphContent>},
    {"clone_graph_reply", 0x206b, true, false, make_CloneGraphReply, again<CloneGraphReply>},
    {"clone_graph", 0x206b, false, false, make_CloneGraph, again<CloneGraph>},
    {"instantiate_reply", 0x206c, true, false, make_InstantiateReply, again<InstantiateReply>},
    {"instantiate", 0x206c, false, false, make_Instantiate, again<Instantiate>},
    {"update_exec_reply", 0x206d, true, false, make_UpdateExecReply, again<UpdateExecReply>},
    {"update_exec", 0x206d, false, false, make_UpdateExec, again<UpdateExec>},
    {"set_node_attribute", 0x206e, false, false, make_SetNodeAttribute, again<SetNodeAttribute>},
    {"node_attribute_reply", 0x206f, true, false, make_NodeAttributeReply, again<NodeAttributeReply>},
    {"node_attribute", 0x206f, false, false, make_NodeAttribute, again<NodeAttribute>},
    {"graph_as_dot_reply", 0x2070, true, false, make_GraphAsDotReply, again<GraphAsDotReply>},
    {"graph_as_dot", 0x2070, false, false, make_GraphAsDot, again<GraphAsDot>},
    {"conditional_handle_reply", 0x2071, true, false, make_ConditionalHandleReply, again<ConditionalHandleReply>},
    {"conditional_handle", 0x2071, false, false, make_ConditionalHandle, again<ConditionalHandle>},
    {"peer_accept_reply", 0x2078, true, false, make_PeerAcceptReply, again<PeerAcceptReply>},
    {"peer_accept", 0x2078, false, false, make_PeerAccept, again<PeerAccept>},
    {"peer_open_reply", 0x2079, true, false, make_PeerOpenReply, again<PeerOpenReply>},
    {"peer_open", 0x2079, false, false, make_PeerOpen, again<PeerOpen>},
    {"export_memory", 0x207a, false, false, make_ExportMemory, again<ExportMemory>},
    {"import_memory", 0x207b, false, false, make_ImportMemory, again<ImportMemory>},
    {"failed", 0x20f0, false, true, make_Failed, again<Failed>},
    {"run_host_function", 0x20f1, false, true, make_RunHostFunction, again<RunHostFunction>},
    {"event_reached", 0x20f2, false, true, make_EventReached, again<EventReached>},
    {"printed", 0x20f3, false, true, make_Printed, again<Printed>},
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
    {"device_graph_mem_trim", 0x211e, false, false, make_DeviceGraphMemTrim, again<DeviceGraphMemTrim>},
    {"graph_add_dependencies", 0x211f, false, false, make_GraphAddDependencies, again<GraphAddDependencies>},
    {"graph_remove_dependencies", 0x2120, false, false, make_GraphRemoveDependencies, again<GraphRemoveDependencies>},
    {"graph_destroy_node", 0x2121, false, false, make_GraphDestroyNode, again<GraphDestroyNode>},
    {"graph_node_set_enabled_reply", 0x2122, true, false, make_GraphNodeSetEnabledReply, again<GraphNodeSetEnabledReply>},
    {"graph_node_set_enabled", 0x2122, false, false, make_GraphNodeSetEnabled, again<GraphNodeSetEnabled>},
    {"graph_node_get_enabled_reply", 0x2123, true, false, make_GraphNodeGetEnabledReply, again<GraphNodeGetEnabledReply>},
    {"graph_node_get_enabled", 0x2123, false, false, make_GraphNodeGetEnabled, again<GraphNodeGetEnabled>},
    {"graph_upload", 0x2124, false, false, make_GraphUpload, again<GraphUpload>},
    {"graph_launch", 0x2125, false, false, make_GraphLaunch, again<GraphLaunch>},
    {"graph_kernel_node_copy_attributes", 0x2126, false, false, make_GraphKernelNodeCopyAttributes, again<GraphKernelNodeCopyAttributes>},
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
