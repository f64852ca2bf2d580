// How the messages of opencl are written and read.
// Generated from native/spec/opencl.* by native/codegen/generate.ts; change those.
#include "gen/opencl/messages.h"

#include <algorithm>

namespace flexrack::cl {

namespace {

bool is_finished(const wire::Reader& r, wire::View body) {
  return r.ok() && body.size() % 8 == 0 && r.left() < 8 && std::ranges::all_of(body.last(r.left()), [](std::uint8_t byte) { return byte == 0; });
}

void write_payload(wire::Writer& w, const wire::Payload& payload) {
  w.put(payload.ticket);
  w.put(payload.size);
  w.put_array(payload.inline_data);
}
/// Inline and whole, or nothing here and a ticket.
wire::Payload read_payload(wire::Reader& r) {
  wire::Payload payload;
  payload.ticket = r.get<std::uint64_t>();
  payload.size = r.get<std::uint64_t>();
  payload.inline_data = r.get_array<std::uint8_t>();
  if (payload.ticket == 0 ? !payload.is_inline() : !payload.inline_data.empty()) r.fail();
  return payload;
}

void write(wire::Writer& w, const Info& m) {
  w.put(m.name);
  w.put_array(m.value);
}
void read(wire::Reader& r, Info& m) {
  m.name = r.get<std::uint32_t>();
  m.value = r.get_array<std::uint8_t>();
}

void write(wire::Writer& w, const DeviceDescription& m) {
  w.put(m.index);
  w.put(m.platform);
  w.put<std::uint64_t>(m.infos.size());
  for (const auto& one : m.infos) write(w, one);
}
void read(wire::Reader& r, DeviceDescription& m) {
  m.index = r.get<std::uint32_t>();
  m.platform = r.get<std::uint32_t>();
  m.infos.resize(r.get_count(12));
  for (auto& one : m.infos) read(r, one);
}

void write(wire::Writer& w, const PlatformDescription& m) {
  w.put<std::uint64_t>(m.infos.size());
  for (const auto& one : m.infos) write(w, one);
}
void read(wire::Reader& r, PlatformDescription& m) {
  m.infos.resize(r.get_count(12));
  for (auto& one : m.infos) read(r, one);
}

void write(wire::Writer& w, const ImageShape& m) {
  w.put(m.type);
  w.put(m.samples);
  w.put(m.mips);
  w.put(m.reserved);
  w.put(m.width);
  w.put(m.height);
  w.put(m.depth);
  w.put(m.array_size);
  w.put(m.row_pitch);
  w.put(m.slice_pitch);
}
void read(wire::Reader& r, ImageShape& m) {
  m.type = r.get<std::uint32_t>();
  m.samples = r.get<std::uint32_t>();
  m.mips = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.width = r.get<std::uint64_t>();
  m.height = r.get<std::uint64_t>();
  m.depth = r.get<std::uint64_t>();
  m.array_size = r.get<std::uint64_t>();
  m.row_pitch = r.get<std::uint64_t>();
  m.slice_pitch = r.get<std::uint64_t>();
}

void write(wire::Writer& w, const NamedProgram& m) {
  w.put_text(m.name);
  w.put(m.program);
}
void read(wire::Reader& r, NamedProgram& m) {
  m.name = r.get_text();
  m.program = r.get<std::uint64_t>();
}

void write(wire::Writer& w, const BuildOutcome& m) {
  w.put(m.device);
  w.put(m.status);
  w.put(m.binary_type);
  w.put(m.global_variable_bytes);
  w.put_text(m.options);
  w.put_text(m.log);
}
void read(wire::Reader& r, BuildOutcome& m) {
  m.device = r.get<std::uint32_t>();
  m.status = r.get<std::int32_t>();
  m.binary_type = r.get<std::uint32_t>();
  m.global_variable_bytes = r.get<std::uint64_t>();
  m.options = r.get_text();
  m.log = r.get_text();
}

void write(wire::Writer& w, const KernelArgument& m) {
  w.put(m.kind);
  w.put(m.address);
  w.put(m.access);
  w.put(m.qualifier);
  w.put(m.size);
  w.put_text(m.type_name);
  w.put_text(m.name);
}
void read(wire::Reader& r, KernelArgument& m) {
  m.kind = r.get<std::uint32_t>();
  m.address = r.get<std::uint32_t>();
  m.access = r.get<std::uint32_t>();
  m.qualifier = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.type_name = r.get_text();
  m.name = r.get_text();
}

void write(wire::Writer& w, const KernelOnDevice& m) {
  w.put(m.device);
  w.put<std::uint64_t>(m.infos.size());
  for (const auto& one : m.infos) write(w, one);
}
void read(wire::Reader& r, KernelOnDevice& m) {
  m.device = r.get<std::uint32_t>();
  m.infos.resize(r.get_count(12));
  for (auto& one : m.infos) read(r, one);
}

void write(wire::Writer& w, const Argument& m) {
  w.put(m.index);
  w.put(m.kind);
  w.put(m.object);
  w.put(m.size);
  w.put_array(m.value);
}
void read(wire::Reader& r, Argument& m) {
  m.index = r.get<std::uint32_t>();
  m.kind = r.get<std::uint32_t>();
  m.object = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.value = r.get_array<std::uint8_t>();
}

void write(wire::Writer& w, const Completion& m) {
  w.put(m.event);
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.queued);
  w.put(m.submitted);
  w.put(m.started);
  w.put(m.ended);
  w.put(m.completed);
}
void read(wire::Reader& r, Completion& m) {
  m.event = r.get<std::uint64_t>();
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.queued = r.get<std::uint64_t>();
  m.submitted = r.get<std::uint64_t>();
  m.started = r.get<std::uint64_t>();
  m.ended = r.get<std::uint64_t>();
  m.completed = r.get<std::uint64_t>();
}

}  // namespace

static void write(wire::Writer& w, const DescribeReply& m) {
  w.put<std::uint64_t>(m.platforms.size());
  for (const auto& one : m.platforms) write(w, one);
  w.put<std::uint64_t>(m.devices.size());
  for (const auto& one : m.devices) write(w, one);
}
static void read(wire::Reader& r, DescribeReply& m) {
  m.platforms.resize(r.get_count(8));
  for (auto& one : m.platforms) read(r, one);
  m.devices.resize(r.get_count(16));
  for (auto& one : m.devices) read(r, one);
}

void encode(wire::Bytes& out, const DescribeReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, DescribeReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write([[maybe_unused]] wire::Writer& w, [[maybe_unused]] const Describe& m) {
}
static void read([[maybe_unused]] wire::Reader& r, [[maybe_unused]] Describe& m) {
}

void encode(wire::Bytes& out, const Describe& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Describe& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateContextReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CreateContextReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CreateContextReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateContextReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateContext& m) {
  w.put(m.context);
  w.put_array(m.devices);
  w.put_array(m.properties);
}
static void read(wire::Reader& r, CreateContext& m) {
  m.context = r.get<std::uint64_t>();
  m.devices = r.get_array<std::uint32_t>();
  m.properties = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const CreateContext& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateContext& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateQueueReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CreateQueueReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CreateQueueReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateQueueReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateQueue& m) {
  w.put(m.context);
  w.put(m.queue);
  w.put(m.device);
  w.put(m.reserved);
  w.put_array(m.properties);
}
static void read(wire::Reader& r, CreateQueue& m) {
  m.context = r.get<std::uint64_t>();
  m.queue = r.get<std::uint64_t>();
  m.device = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.properties = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const CreateQueue& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateQueue& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Release& m) {
  w.put(m.object);
}
static void read(wire::Reader& r, Release& m) {
  m.object = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const Release& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Release& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Flush& m) {
  w.put(m.queue);
}
static void read(wire::Reader& r, Flush& m) {
  m.queue = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const Flush& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Flush& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const DeviceTimeReply& m) {
  w.put(m.status);
  w.put(m.device_ns);
  w.put(m.host_ns);
}
static void read(wire::Reader& r, DeviceTimeReply& m) {
  m.status = r.get<std::int32_t>();
  m.device_ns = r.get<std::uint64_t>();
  m.host_ns = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const DeviceTimeReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, DeviceTimeReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const DeviceTime& m) {
  w.put(m.device);
}
static void read(wire::Reader& r, DeviceTime& m) {
  m.device = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const DeviceTime& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, DeviceTime& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateSubDevicesReply& m) {
  w.put(m.status);
  w.put(m.count);
  w.put<std::uint64_t>(m.devices.size());
  for (const auto& one : m.devices) write(w, one);
}
static void read(wire::Reader& r, CreateSubDevicesReply& m) {
  m.status = r.get<std::int32_t>();
  m.count = r.get<std::uint32_t>();
  m.devices.resize(r.get_count(16));
  for (auto& one : m.devices) read(r, one);
}

void encode(wire::Bytes& out, const CreateSubDevicesReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateSubDevicesReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateSubDevices& m) {
  w.put(m.device);
  w.put(m.capacity);
  w.put(m.has_list);
  w.put(m.reserved);
  w.put_array(m.properties);
}
static void read(wire::Reader& r, CreateSubDevices& m) {
  m.device = r.get<std::uint32_t>();
  m.capacity = r.get<std::uint32_t>();
  m.has_list = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.properties = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const CreateSubDevices& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateSubDevices& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ReleaseDevice& m) {
  w.put(m.device);
}
static void read(wire::Reader& r, ReleaseDevice& m) {
  m.device = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const ReleaseDevice& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ReleaseDevice& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateBufferReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CreateBufferReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CreateBufferReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateBufferReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateBuffer& m) {
  w.put(m.context);
  w.put(m.memory);
  w.put(m.flags);
  w.put(m.size);
  write_payload(w, m.content);
}
static void read(wire::Reader& r, CreateBuffer& m) {
  m.context = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.flags = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.content = read_payload(r);
}

void encode(wire::Bytes& out, const CreateBuffer& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateBuffer& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateSubBufferReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CreateSubBufferReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CreateSubBufferReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateSubBufferReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateSubBuffer& m) {
  w.put(m.parent);
  w.put(m.memory);
  w.put(m.flags);
  w.put(m.origin);
  w.put(m.size);
}
static void read(wire::Reader& r, CreateSubBuffer& m) {
  m.parent = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.flags = r.get<std::uint64_t>();
  m.origin = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CreateSubBuffer& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateSubBuffer& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateImageReply& m) {
  w.put(m.status);
  w.put<std::uint64_t>(m.infos.size());
  for (const auto& one : m.infos) write(w, one);
}
static void read(wire::Reader& r, CreateImageReply& m) {
  m.status = r.get<std::int32_t>();
  m.infos.resize(r.get_count(12));
  for (auto& one : m.infos) read(r, one);
}

void encode(wire::Bytes& out, const CreateImageReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateImageReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateImage& m) {
  w.put(m.context);
  w.put(m.memory);
  w.put(m.flags);
  w.put(m.format);
  write(w, m.shape);
  w.put(m.buffer);
  write_payload(w, m.content);
}
static void read(wire::Reader& r, CreateImage& m) {
  m.context = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.flags = r.get<std::uint64_t>();
  m.format = r.get<ImageFormat>();
  read(r, m.shape);
  m.buffer = r.get<std::uint64_t>();
  m.content = read_payload(r);
}

void encode(wire::Bytes& out, const CreateImage& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateImage& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ImageFormatsReply& m) {
  w.put(m.status);
  w.put<std::uint64_t>(m.formats.size());
  for (const auto& one : m.formats) w.put(one);
}
static void read(wire::Reader& r, ImageFormatsReply& m) {
  m.status = r.get<std::int32_t>();
  m.formats.resize(r.get_count(8));
  for (auto& one : m.formats) one = r.get<ImageFormat>();
}

void encode(wire::Bytes& out, const ImageFormatsReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ImageFormatsReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ImageFormats& m) {
  w.put(m.context);
  w.put(m.flags);
  w.put(m.type);
}
static void read(wire::Reader& r, ImageFormats& m) {
  m.context = r.get<std::uint64_t>();
  m.flags = r.get<std::uint64_t>();
  m.type = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const ImageFormats& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ImageFormats& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateSamplerReply& m) {
  w.put(m.status);
  w.put<std::uint64_t>(m.infos.size());
  for (const auto& one : m.infos) write(w, one);
}
static void read(wire::Reader& r, CreateSamplerReply& m) {
  m.status = r.get<std::int32_t>();
  m.infos.resize(r.get_count(12));
  for (auto& one : m.infos) read(r, one);
}

void encode(wire::Bytes& out, const CreateSamplerReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateSamplerReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateSampler& m) {
  w.put(m.context);
  w.put(m.sampler);
  w.put_array(m.properties);
}
static void read(wire::Reader& r, CreateSampler& m) {
  m.context = r.get<std::uint64_t>();
  m.sampler = r.get<std::uint64_t>();
  m.properties = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const CreateSampler& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateSampler& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreatePipeReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CreatePipeReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CreatePipeReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreatePipeReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreatePipe& m) {
  w.put(m.context);
  w.put(m.memory);
  w.put(m.flags);
  w.put(m.packet_size);
  w.put(m.max_packets);
}
static void read(wire::Reader& r, CreatePipe& m) {
  m.context = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.flags = r.get<std::uint64_t>();
  m.packet_size = r.get<std::uint32_t>();
  m.max_packets = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const CreatePipe& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreatePipe& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ReserveReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, ReserveReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const ReserveReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ReserveReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Reserve& m) {
  w.put(m.memory);
  w.put(m.device);
}
static void read(wire::Reader& r, Reserve& m) {
  m.memory = r.get<std::uint64_t>();
  m.device = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const Reserve& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Reserve& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateProgramReply& m) {
  w.put(m.status);
  w.put_array(m.binary_status);
}
static void read(wire::Reader& r, CreateProgramReply& m) {
  m.status = r.get<std::int32_t>();
  m.binary_status = r.get_array<std::int32_t>();
}

void encode(wire::Bytes& out, const CreateProgramReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateProgramReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateProgram& m) {
  w.put(m.context);
  w.put(m.program);
  w.put(m.form);
  w.put_array(m.devices);
  w.put<std::uint64_t>(m.parts.size());
  for (const auto& one : m.parts) w.put_array(one);
}
static void read(wire::Reader& r, CreateProgram& m) {
  m.context = r.get<std::uint64_t>();
  m.program = r.get<std::uint64_t>();
  m.form = r.get<std::uint32_t>();
  m.devices = r.get_array<std::uint32_t>();
  m.parts.resize(r.get_count(8));
  for (auto& one : m.parts) one = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const CreateProgram& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateProgram& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const BuildProgramReply& m) {
  w.put(m.status);
  w.put<std::uint64_t>(m.outcomes.size());
  for (const auto& one : m.outcomes) write(w, one);
  w.put_text(m.kernel_names);
}
static void read(wire::Reader& r, BuildProgramReply& m) {
  m.status = r.get<std::int32_t>();
  m.outcomes.resize(r.get_count(36));
  for (auto& one : m.outcomes) read(r, one);
  m.kernel_names = r.get_text();
}

void encode(wire::Bytes& out, const BuildProgramReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, BuildProgramReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const BuildProgram& m) {
  w.put(m.program);
  w.put_array(m.devices);
  w.put(m.has_options);
  w.put_text(m.options);
}
static void read(wire::Reader& r, BuildProgram& m) {
  m.program = r.get<std::uint64_t>();
  m.devices = r.get_array<std::uint32_t>();
  m.has_options = r.get<std::uint32_t>();
  m.options = r.get_text();
}

void encode(wire::Bytes& out, const BuildProgram& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, BuildProgram& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CompileProgramReply& m) {
  w.put(m.status);
  w.put<std::uint64_t>(m.outcomes.size());
  for (const auto& one : m.outcomes) write(w, one);
}
static void read(wire::Reader& r, CompileProgramReply& m) {
  m.status = r.get<std::int32_t>();
  m.outcomes.resize(r.get_count(36));
  for (auto& one : m.outcomes) read(r, one);
}

void encode(wire::Bytes& out, const CompileProgramReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CompileProgramReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CompileProgram& m) {
  w.put(m.program);
  w.put_array(m.devices);
  w.put(m.has_options);
  w.put_text(m.options);
  w.put<std::uint64_t>(m.headers.size());
  for (const auto& one : m.headers) write(w, one);
}
static void read(wire::Reader& r, CompileProgram& m) {
  m.program = r.get<std::uint64_t>();
  m.devices = r.get_array<std::uint32_t>();
  m.has_options = r.get<std::uint32_t>();
  m.options = r.get_text();
  m.headers.resize(r.get_count(16));
  for (auto& one : m.headers) read(r, one);
}

void encode(wire::Bytes& out, const CompileProgram& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CompileProgram& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const LinkProgramReply& m) {
  w.put(m.status);
  w.put(m.created);
  w.put<std::uint64_t>(m.outcomes.size());
  for (const auto& one : m.outcomes) write(w, one);
  w.put_text(m.kernel_names);
}
static void read(wire::Reader& r, LinkProgramReply& m) {
  m.status = r.get<std::int32_t>();
  m.created = r.get<std::uint32_t>();
  m.outcomes.resize(r.get_count(36));
  for (auto& one : m.outcomes) read(r, one);
  m.kernel_names = r.get_text();
}

void encode(wire::Bytes& out, const LinkProgramReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, LinkProgramReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const LinkProgram& m) {
  w.put(m.context);
  w.put(m.program);
  w.put_array(m.devices);
  w.put(m.has_options);
  w.put_text(m.options);
  w.put_array(m.inputs);
}
static void read(wire::Reader& r, LinkProgram& m) {
  m.context = r.get<std::uint64_t>();
  m.program = r.get<std::uint64_t>();
  m.devices = r.get_array<std::uint32_t>();
  m.has_options = r.get<std::uint32_t>();
  m.options = r.get_text();
  m.inputs = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const LinkProgram& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, LinkProgram& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ProgramBinariesReply& m) {
  w.put(m.status);
  w.put_array(m.devices);
  w.put<std::uint64_t>(m.binaries.size());
  for (const auto& one : m.binaries) w.put_array(one);
}
static void read(wire::Reader& r, ProgramBinariesReply& m) {
  m.status = r.get<std::int32_t>();
  m.devices = r.get_array<std::uint32_t>();
  m.binaries.resize(r.get_count(8));
  for (auto& one : m.binaries) one = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const ProgramBinariesReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ProgramBinariesReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ProgramBinaries& m) {
  w.put(m.program);
}
static void read(wire::Reader& r, ProgramBinaries& m) {
  m.program = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ProgramBinaries& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ProgramBinaries& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ProgramInfoReply& m) {
  w.put(m.status);
  w.put_array(m.value);
}
static void read(wire::Reader& r, ProgramInfoReply& m) {
  m.status = r.get<std::int32_t>();
  m.value = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const ProgramInfoReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ProgramInfoReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ProgramInfo& m) {
  w.put(m.program);
  w.put(m.param);
}
static void read(wire::Reader& r, ProgramInfo& m) {
  m.program = r.get<std::uint64_t>();
  m.param = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const ProgramInfo& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ProgramInfo& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SpecializeProgramReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, SpecializeProgramReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const SpecializeProgramReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SpecializeProgramReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SpecializeProgram& m) {
  w.put(m.program);
  w.put(m.id);
  w.put_array(m.value);
}
static void read(wire::Reader& r, SpecializeProgram& m) {
  m.program = r.get<std::uint64_t>();
  m.id = r.get<std::uint32_t>();
  m.value = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const SpecializeProgram& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SpecializeProgram& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const BuildInfoReply& m) {
  w.put(m.status);
  w.put_array(m.value);
}
static void read(wire::Reader& r, BuildInfoReply& m) {
  m.status = r.get<std::int32_t>();
  m.value = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const BuildInfoReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, BuildInfoReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const BuildInfo& m) {
  w.put(m.program);
  w.put(m.device);
  w.put(m.param);
}
static void read(wire::Reader& r, BuildInfo& m) {
  m.program = r.get<std::uint64_t>();
  m.device = r.get<std::uint32_t>();
  m.param = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const BuildInfo& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, BuildInfo& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateKernelReply& m) {
  w.put(m.status);
  w.put_text(m.attributes);
  w.put<std::uint64_t>(m.arguments.size());
  for (const auto& one : m.arguments) write(w, one);
  w.put<std::uint64_t>(m.devices.size());
  for (const auto& one : m.devices) write(w, one);
}
static void read(wire::Reader& r, CreateKernelReply& m) {
  m.status = r.get<std::int32_t>();
  m.attributes = r.get_text();
  m.arguments.resize(r.get_count(44));
  for (auto& one : m.arguments) read(r, one);
  m.devices.resize(r.get_count(12));
  for (auto& one : m.devices) read(r, one);
}

void encode(wire::Bytes& out, const CreateKernelReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateKernelReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateKernel& m) {
  w.put(m.program);
  w.put(m.kernel);
  w.put_text(m.name);
}
static void read(wire::Reader& r, CreateKernel& m) {
  m.program = r.get<std::uint64_t>();
  m.kernel = r.get<std::uint64_t>();
  m.name = r.get_text();
}

void encode(wire::Bytes& out, const CreateKernel& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateKernel& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CloneKernelReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CloneKernelReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CloneKernelReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CloneKernelReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CloneKernel& m) {
  w.put(m.source);
  w.put(m.kernel);
}
static void read(wire::Reader& r, CloneKernel& m) {
  m.source = r.get<std::uint64_t>();
  m.kernel = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CloneKernel& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CloneKernel& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SubGroupInfoReply& m) {
  w.put(m.status);
  w.put_array(m.value);
}
static void read(wire::Reader& r, SubGroupInfoReply& m) {
  m.status = r.get<std::int32_t>();
  m.value = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const SubGroupInfoReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SubGroupInfoReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SubGroupInfo& m) {
  w.put(m.kernel);
  w.put(m.device);
  w.put(m.param);
  w.put_array(m.input);
  w.put(m.capacity);
}
static void read(wire::Reader& r, SubGroupInfo& m) {
  m.kernel = r.get<std::uint64_t>();
  m.device = r.get<std::uint32_t>();
  m.param = r.get<std::uint32_t>();
  m.input = r.get_array<std::uint8_t>();
  m.capacity = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const SubGroupInfo& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SubGroupInfo& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const KernelExecInfoReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, KernelExecInfoReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const KernelExecInfoReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, KernelExecInfoReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const KernelExecInfo& m) {
  w.put(m.kernel);
  w.put(m.param);
  w.put_array(m.value);
}
static void read(wire::Reader& r, KernelExecInfo& m) {
  m.kernel = r.get<std::uint64_t>();
  m.param = r.get<std::uint32_t>();
  m.value = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const KernelExecInfo& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, KernelExecInfo& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CheckArgumentReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CheckArgumentReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CheckArgumentReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CheckArgumentReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CheckArgument& m) {
  w.put(m.kernel);
  write(w, m.argument);
}
static void read(wire::Reader& r, CheckArgument& m) {
  m.kernel = r.get<std::uint64_t>();
  read(r, m.argument);
}

void encode(wire::Bytes& out, const CheckArgument& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CheckArgument& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SuggestLocalSizeReply& m) {
  w.put(m.status);
  w.put(m.local);
}
static void read(wire::Reader& r, SuggestLocalSizeReply& m) {
  m.status = r.get<std::int32_t>();
  m.local = r.get<Triple>();
}

void encode(wire::Bytes& out, const SuggestLocalSizeReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SuggestLocalSizeReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SuggestLocalSize& m) {
  w.put(m.queue);
  w.put(m.kernel);
  w.put(m.dimensions);
  w.put(m.offset);
  w.put(m.global);
}
static void read(wire::Reader& r, SuggestLocalSize& m) {
  m.queue = r.get<std::uint64_t>();
  m.kernel = r.get<std::uint64_t>();
  m.dimensions = r.get<std::uint32_t>();
  m.offset = r.get<Triple>();
  m.global = r.get<Triple>();
}

void encode(wire::Bytes& out, const SuggestLocalSize& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SuggestLocalSize& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Launch& m) {
  w.put(m.queue);
  w.put(m.kernel);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.dimensions);
  w.put(m.has_local);
  w.put(m.offset);
  w.put(m.global);
  w.put(m.local);
  w.put<std::uint64_t>(m.arguments.size());
  for (const auto& one : m.arguments) write(w, one);
}
static void read(wire::Reader& r, Launch& m) {
  m.queue = r.get<std::uint64_t>();
  m.kernel = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.dimensions = r.get<std::uint32_t>();
  m.has_local = r.get<std::uint32_t>();
  m.offset = r.get<Triple>();
  m.global = r.get<Triple>();
  m.local = r.get<Triple>();
  m.arguments.resize(r.get_count(32));
  for (auto& one : m.arguments) read(r, one);
}

void encode(wire::Bytes& out, const Launch& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Launch& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WriteBuffer& m) {
  w.put(m.queue);
  w.put(m.memory);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.offset);
  write_payload(w, m.data);
}
static void read(wire::Reader& r, WriteBuffer& m) {
  m.queue = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.offset = r.get<std::uint64_t>();
  m.data = read_payload(r);
}

void encode(wire::Bytes& out, const WriteBuffer& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WriteBuffer& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ReadBuffer& m) {
  w.put(m.queue);
  w.put(m.memory);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.offset);
  w.put(m.size);
  w.put(m.ticket);
}
static void read(wire::Reader& r, ReadBuffer& m) {
  m.queue = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.offset = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.ticket = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ReadBuffer& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ReadBuffer& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WriteRect& m) {
  w.put(m.queue);
  w.put(m.memory);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.origin);
  w.put(m.region);
  w.put(m.row_pitch);
  w.put(m.slice_pitch);
  write_payload(w, m.data);
}
static void read(wire::Reader& r, WriteRect& m) {
  m.queue = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.origin = r.get<Triple>();
  m.region = r.get<Triple>();
  m.row_pitch = r.get<std::uint64_t>();
  m.slice_pitch = r.get<std::uint64_t>();
  m.data = read_payload(r);
}

void encode(wire::Bytes& out, const WriteRect& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WriteRect& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ReadRect& m) {
  w.put(m.queue);
  w.put(m.memory);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.origin);
  w.put(m.region);
  w.put(m.row_pitch);
  w.put(m.slice_pitch);
  w.put(m.ticket);
}
static void read(wire::Reader& r, ReadRect& m) {
  m.queue = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.origin = r.get<Triple>();
  m.region = r.get<Triple>();
  m.row_pitch = r.get<std::uint64_t>();
  m.slice_pitch = r.get<std::uint64_t>();
  m.ticket = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ReadRect& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ReadRect& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CopyBuffer& m) {
  w.put(m.queue);
  w.put(m.source);
  w.put(m.target);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.source_offset);
  w.put(m.target_offset);
  w.put(m.size);
}
static void read(wire::Reader& r, CopyBuffer& m) {
  m.queue = r.get<std::uint64_t>();
  m.source = r.get<std::uint64_t>();
  m.target = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.source_offset = r.get<std::uint64_t>();
  m.target_offset = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CopyBuffer& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CopyBuffer& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CopyRect& m) {
  w.put(m.queue);
  w.put(m.source);
  w.put(m.target);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.source_origin);
  w.put(m.target_origin);
  w.put(m.region);
  w.put(m.source_row_pitch);
  w.put(m.source_slice_pitch);
  w.put(m.target_row_pitch);
  w.put(m.target_slice_pitch);
}
static void read(wire::Reader& r, CopyRect& m) {
  m.queue = r.get<std::uint64_t>();
  m.source = r.get<std::uint64_t>();
  m.target = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.source_origin = r.get<Triple>();
  m.target_origin = r.get<Triple>();
  m.region = r.get<Triple>();
  m.source_row_pitch = r.get<std::uint64_t>();
  m.source_slice_pitch = r.get<std::uint64_t>();
  m.target_row_pitch = r.get<std::uint64_t>();
  m.target_slice_pitch = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CopyRect& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CopyRect& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FillBuffer& m) {
  w.put(m.queue);
  w.put(m.memory);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.offset);
  w.put(m.size);
  w.put_array(m.pattern);
}
static void read(wire::Reader& r, FillBuffer& m) {
  m.queue = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.offset = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.pattern = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const FillBuffer& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FillBuffer& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WriteImage& m) {
  w.put(m.queue);
  w.put(m.memory);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.origin);
  w.put(m.region);
  write_payload(w, m.data);
}
static void read(wire::Reader& r, WriteImage& m) {
  m.queue = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.origin = r.get<Triple>();
  m.region = r.get<Triple>();
  m.data = read_payload(r);
}

void encode(wire::Bytes& out, const WriteImage& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WriteImage& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ReadImage& m) {
  w.put(m.queue);
  w.put(m.memory);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.origin);
  w.put(m.region);
  w.put(m.size);
  w.put(m.ticket);
}
static void read(wire::Reader& r, ReadImage& m) {
  m.queue = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.origin = r.get<Triple>();
  m.region = r.get<Triple>();
  m.size = r.get<std::uint64_t>();
  m.ticket = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ReadImage& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ReadImage& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CopyImage& m) {
  w.put(m.queue);
  w.put(m.source);
  w.put(m.target);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.source_origin);
  w.put(m.target_origin);
  w.put(m.region);
}
static void read(wire::Reader& r, CopyImage& m) {
  m.queue = r.get<std::uint64_t>();
  m.source = r.get<std::uint64_t>();
  m.target = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.source_origin = r.get<Triple>();
  m.target_origin = r.get<Triple>();
  m.region = r.get<Triple>();
}

void encode(wire::Bytes& out, const CopyImage& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CopyImage& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CopyImageToBuffer& m) {
  w.put(m.queue);
  w.put(m.source);
  w.put(m.target);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.origin);
  w.put(m.region);
  w.put(m.offset);
}
static void read(wire::Reader& r, CopyImageToBuffer& m) {
  m.queue = r.get<std::uint64_t>();
  m.source = r.get<std::uint64_t>();
  m.target = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.origin = r.get<Triple>();
  m.region = r.get<Triple>();
  m.offset = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CopyImageToBuffer& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CopyImageToBuffer& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CopyBufferToImage& m) {
  w.put(m.queue);
  w.put(m.source);
  w.put(m.target);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.offset);
  w.put(m.origin);
  w.put(m.region);
}
static void read(wire::Reader& r, CopyBufferToImage& m) {
  m.queue = r.get<std::uint64_t>();
  m.source = r.get<std::uint64_t>();
  m.target = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.offset = r.get<std::uint64_t>();
  m.origin = r.get<Triple>();
  m.region = r.get<Triple>();
}

void encode(wire::Bytes& out, const CopyBufferToImage& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CopyBufferToImage& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FillImage& m) {
  w.put(m.queue);
  w.put(m.memory);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.origin);
  w.put(m.region);
  w.put_array(m.color);
}
static void read(wire::Reader& r, FillImage& m) {
  m.queue = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.origin = r.get<Triple>();
  m.region = r.get<Triple>();
  m.color = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const FillImage& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FillImage& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Migrate& m) {
  w.put(m.queue);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.flags);
  w.put_array(m.objects);
}
static void read(wire::Reader& r, Migrate& m) {
  m.queue = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.flags = r.get<std::uint64_t>();
  m.objects = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const Migrate& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Migrate& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Marker& m) {
  w.put(m.queue);
  w.put(m.event);
  w.put_array(m.waits);
}
static void read(wire::Reader& r, Marker& m) {
  m.queue = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const Marker& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Marker& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Barrier& m) {
  w.put(m.queue);
  w.put(m.event);
  w.put_array(m.waits);
}
static void read(wire::Reader& r, Barrier& m) {
  m.queue = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const Barrier& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Barrier& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateUserEvent& m) {
  w.put(m.context);
  w.put(m.event);
}
static void read(wire::Reader& r, CreateUserEvent& m) {
  m.context = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CreateUserEvent& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateUserEvent& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SetUserEvent& m) {
  w.put(m.event);
  w.put(m.status);
}
static void read(wire::Reader& r, SetUserEvent& m) {
  m.event = r.get<std::uint64_t>();
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const SetUserEvent& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SetUserEvent& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Watch& m) {
  w.put_array(m.events);
}
static void read(wire::Reader& r, Watch& m) {
  m.events = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const Watch& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Watch& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WatchStage& m) {
  w.put(m.event);
  w.put(m.stage);
}
static void read(wire::Reader& r, WatchStage& m) {
  m.event = r.get<std::uint64_t>();
  m.stage = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const WatchStage& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WatchStage& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Fence& m) {
  w.put(m.queue);
}
static void read(wire::Reader& r, Fence& m) {
  m.queue = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const Fence& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Fence& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const EventStatusReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.queued);
  w.put(m.submitted);
  w.put(m.started);
  w.put(m.ended);
  w.put(m.completed);
}
static void read(wire::Reader& r, EventStatusReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.queued = r.get<std::uint64_t>();
  m.submitted = r.get<std::uint64_t>();
  m.started = r.get<std::uint64_t>();
  m.ended = r.get<std::uint64_t>();
  m.completed = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const EventStatusReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, EventStatusReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const EventStatus& m) {
  w.put(m.event);
}
static void read(wire::Reader& r, EventStatus& m) {
  m.event = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const EventStatus& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, EventStatus& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SvmAllocateReply& m) {
  w.put(m.address);
}
static void read(wire::Reader& r, SvmAllocateReply& m) {
  m.address = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const SvmAllocateReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SvmAllocateReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SvmAllocate& m) {
  w.put(m.context);
  w.put(m.memory);
  w.put(m.flags);
  w.put(m.size);
  w.put(m.alignment);
}
static void read(wire::Reader& r, SvmAllocate& m) {
  m.context = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.flags = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.alignment = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const SvmAllocate& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SvmAllocate& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SvmWrite& m) {
  w.put(m.queue);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.address);
  write_payload(w, m.data);
}
static void read(wire::Reader& r, SvmWrite& m) {
  m.queue = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
  m.data = read_payload(r);
}

void encode(wire::Bytes& out, const SvmWrite& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SvmWrite& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SvmRead& m) {
  w.put(m.queue);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.address);
  w.put(m.size);
  w.put(m.ticket);
}
static void read(wire::Reader& r, SvmRead& m) {
  m.queue = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.ticket = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const SvmRead& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SvmRead& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SvmCopy& m) {
  w.put(m.queue);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.source);
  w.put(m.target);
  w.put(m.size);
}
static void read(wire::Reader& r, SvmCopy& m) {
  m.queue = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.source = r.get<std::uint64_t>();
  m.target = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const SvmCopy& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SvmCopy& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SvmFill& m) {
  w.put(m.queue);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.address);
  w.put(m.size);
  w.put_array(m.pattern);
}
static void read(wire::Reader& r, SvmFill& m) {
  m.queue = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.pattern = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const SvmFill& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SvmFill& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SvmMigrate& m) {
  w.put(m.queue);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.flags);
  w.put_array(m.addresses);
  w.put_array(m.sizes);
}
static void read(wire::Reader& r, SvmMigrate& m) {
  m.queue = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.flags = r.get<std::uint64_t>();
  m.addresses = r.get_array<std::uint64_t>();
  m.sizes = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const SvmMigrate& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SvmMigrate& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const PeerAcceptReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, PeerAcceptReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const PeerAcceptReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, PeerAcceptReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const PeerAccept& m) {
  w.put(m.peer);
  w.put_array(m.key);
}
static void read(wire::Reader& r, PeerAccept& m) {
  m.peer = r.get<std::uint64_t>();
  m.key = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const PeerAccept& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, PeerAccept& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const PeerOpenReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, PeerOpenReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const PeerOpenReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, PeerOpenReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const PeerOpen& m) {
  w.put(m.peer);
  w.put_array(m.key);
  w.put_text(m.address);
  w.put(m.port);
  w.put_array(m.session);
}
static void read(wire::Reader& r, PeerOpen& m) {
  m.peer = r.get<std::uint64_t>();
  m.key = r.get_array<std::uint8_t>();
  m.address = r.get_text();
  m.port = r.get<std::uint32_t>();
  m.session = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const PeerOpen& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, PeerOpen& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ExportMemory& m) {
  w.put(m.queue);
  w.put(m.memory);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.offset);
  w.put(m.size);
  w.put(m.peer);
  w.put(m.ticket);
}
static void read(wire::Reader& r, ExportMemory& m) {
  m.queue = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.offset = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.peer = r.get<std::uint64_t>();
  m.ticket = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ExportMemory& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ExportMemory& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ImportMemory& m) {
  w.put(m.queue);
  w.put(m.memory);
  w.put(m.event);
  w.put_array(m.waits);
  w.put(m.offset);
  w.put(m.size);
  w.put(m.peer);
  w.put(m.ticket);
}
static void read(wire::Reader& r, ImportMemory& m) {
  m.queue = r.get<std::uint64_t>();
  m.memory = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.waits = r.get_array<std::uint64_t>();
  m.offset = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.peer = r.get<std::uint64_t>();
  m.ticket = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ImportMemory& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ImportMemory& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Completed& m) {
  w.put<std::uint64_t>(m.events.size());
  for (const auto& one : m.events) write(w, one);
}
static void read(wire::Reader& r, Completed& m) {
  m.events.resize(r.get_count(56));
  for (auto& one : m.events) read(r, one);
}

void encode(wire::Bytes& out, const Completed& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Completed& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Reached& m) {
  w.put(m.event);
  w.put(m.stage);
}
static void read(wire::Reader& r, Reached& m) {
  m.event = r.get<std::uint64_t>();
  m.stage = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const Reached& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Reached& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Printed& m) {
  w.put_array(m.text);
}
static void read(wire::Reader& r, Printed& m) {
  m.text = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const Printed& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Printed& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ContextError& m) {
  w.put(m.context);
  w.put_text(m.text);
  w.put_array(m.private_info);
}
static void read(wire::Reader& r, ContextError& m) {
  m.context = r.get<std::uint64_t>();
  m.text = r.get_text();
  m.private_info = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const ContextError& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ContextError& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Failed& m) {
  w.put(m.queue);
  w.put(m.event);
  w.put(m.op);
  w.put(m.status);
}
static void read(wire::Reader& r, Failed& m) {
  m.queue = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.op = r.get<std::uint32_t>();
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const Failed& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Failed& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

}  // namespace flexrack::cl
