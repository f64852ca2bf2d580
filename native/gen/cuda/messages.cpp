// How the messages of cuda are written and read.
// Generated from native/spec/cuda.* by native/codegen/generate.ts; change those.
#include "gen/cuda/messages.h"

#include <algorithm>

namespace flexrack::cu {

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

void write(wire::Writer& w, const Peer& m) {
  w.put(m.device);
  w.put(m.can_access);
  w.put<std::uint64_t>(m.attributes.size());
  for (const auto& one : m.attributes) w.put(one);
}
void read(wire::Reader& r, Peer& m) {
  m.device = r.get<std::uint32_t>();
  m.can_access = r.get<std::uint32_t>();
  m.attributes.resize(r.get_count(8));
  for (auto& one : m.attributes) one = r.get<Attribute>();
}

void write(wire::Writer& w, const Device& m) {
  w.put(m.index);
  w.put(m.reserved);
  w.put(m.memory);
  w.put_text(m.name);
  w.put_array(m.uuid);
  w.put_text(m.pci);
  w.put<std::uint64_t>(m.attributes.size());
  for (const auto& one : m.attributes) w.put(one);
  w.put<std::uint64_t>(m.peers.size());
  for (const auto& one : m.peers) write(w, one);
}
void read(wire::Reader& r, Device& m) {
  m.index = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.memory = r.get<std::uint64_t>();
  m.name = r.get_text();
  m.uuid = r.get_array<std::uint8_t>();
  m.pci = r.get_text();
  m.attributes.resize(r.get_count(8));
  for (auto& one : m.attributes) one = r.get<Attribute>();
  m.peers.resize(r.get_count(16));
  for (auto& one : m.peers) read(r, one);
}

void write(wire::Writer& w, const Limit& m) {
  w.put(m.which);
  w.put(m.reserved);
  w.put(m.value);
}
void read(wire::Reader& r, Limit& m) {
  m.which = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.value = r.get<std::uint64_t>();
}

void write(wire::Writer& w, const Place& m) {
  w.put(m.kind);
  w.put(m.level);
  w.put(m.object);
  w.put(m.x);
  w.put(m.y);
  w.put(m.z);
  w.put(m.pitch);
  w.put(m.height);
}
void read(wire::Reader& r, Place& m) {
  m.kind = r.get<std::uint32_t>();
  m.level = r.get<std::uint32_t>();
  m.object = r.get<std::uint64_t>();
  m.x = r.get<std::uint64_t>();
  m.y = r.get<std::uint64_t>();
  m.z = r.get<std::uint64_t>();
  m.pitch = r.get<std::uint64_t>();
  m.height = r.get<std::uint64_t>();
}

void write(wire::Writer& w, const Shape& m) {
  w.put(m.width);
  w.put(m.height);
  w.put(m.depth);
  w.put(m.format);
  w.put(m.channels);
  w.put(m.flags);
  w.put(m.levels);
}
void read(wire::Reader& r, Shape& m) {
  m.width = r.get<std::uint64_t>();
  m.height = r.get<std::uint64_t>();
  m.depth = r.get<std::uint64_t>();
  m.format = r.get<std::uint32_t>();
  m.channels = r.get<std::uint32_t>();
  m.flags = r.get<std::uint32_t>();
  m.levels = r.get<std::uint32_t>();
}

void write(wire::Writer& w, const Resource& m) {
  w.put(m.kind);
  w.put(m.flags);
  w.put(m.object);
  w.put(m.format);
  w.put(m.channels);
  w.put(m.width);
  w.put(m.height);
  w.put(m.pitch);
}
void read(wire::Reader& r, Resource& m) {
  m.kind = r.get<std::uint32_t>();
  m.flags = r.get<std::uint32_t>();
  m.object = r.get<std::uint64_t>();
  m.format = r.get<std::uint32_t>();
  m.channels = r.get<std::uint32_t>();
  m.width = r.get<std::uint64_t>();
  m.height = r.get<std::uint64_t>();
  m.pitch = r.get<std::uint64_t>();
}

void write(wire::Writer& w, const Option& m) {
  w.put(m.which);
  w.put(m.reserved);
  w.put(m.value);
  w.put_array(m.text);
}
void read(wire::Reader& r, Option& m) {
  m.which = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.value = r.get<std::uint64_t>();
  m.text = r.get_array<std::uint8_t>();
}

void write(wire::Writer& w, const Kernel& m) {
  w.put(m.kernel);
  w.put_text(m.name);
  w.put(m.parameter_bytes);
  w.put(m.reserved);
  w.put<std::uint64_t>(m.parameters.size());
  for (const auto& one : m.parameters) w.put(one);
  w.put<std::uint64_t>(m.attributes.size());
  for (const auto& one : m.attributes) w.put(one);
}
void read(wire::Reader& r, Kernel& m) {
  m.kernel = r.get<std::uint64_t>();
  m.name = r.get_text();
  m.parameter_bytes = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.parameters.resize(r.get_count(8));
  for (auto& one : m.parameters) one = r.get<Parameter>();
  m.attributes.resize(r.get_count(8));
  for (auto& one : m.attributes) one = r.get<Attribute>();
}

void write(wire::Writer& w, const LinkInput& m) {
  w.put(m.kind);
  w.put(m.reserved);
  w.put_text(m.name);
  write_payload(w, m.data);
  w.put<std::uint64_t>(m.options.size());
  for (const auto& one : m.options) write(w, one);
}
void read(wire::Reader& r, LinkInput& m) {
  m.kind = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.name = r.get_text();
  m.data = read_payload(r);
  m.options.resize(r.get_count(24));
  for (auto& one : m.options) read(r, one);
}

void write(wire::Writer& w, const LaunchAttribute& m) {
  w.put(m.which);
  w.put(m.reserved);
  w.put(m.event);
  w.put_array(m.value);
}
void read(wire::Reader& r, LaunchAttribute& m) {
  m.which = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.event = r.get<std::uint64_t>();
  m.value = r.get_array<std::uint8_t>();
}

void write(wire::Writer& w, const NodeWork& m) {
  w.put(m.kind);
  w.put(m.shared_bytes);
  w.put(m.context);
  w.put(m.object);
  w.put(m.grid);
  w.put(m.block);
  w.put_array(m.parameters);
  w.put<std::uint64_t>(m.attributes.size());
  for (const auto& one : m.attributes) write(w, one);
  write(w, m.source);
  write(w, m.target);
  w.put(m.extent);
  w.put(m.value);
  w.put(m.element);
  w.put(m.flags);
}
void read(wire::Reader& r, NodeWork& m) {
  m.kind = r.get<std::uint32_t>();
  m.shared_bytes = r.get<std::uint32_t>();
  m.context = r.get<std::uint64_t>();
  m.object = r.get<std::uint64_t>();
  m.grid = r.get<Grid>();
  m.block = r.get<Grid>();
  m.parameters = r.get_array<std::uint8_t>();
  m.attributes.resize(r.get_count(24));
  for (auto& one : m.attributes) read(r, one);
  read(r, m.source);
  read(r, m.target);
  m.extent = r.get<Extent>();
  m.value = r.get<std::uint64_t>();
  m.element = r.get<std::uint32_t>();
  m.flags = r.get<std::uint32_t>();
}

void write(wire::Writer& w, const NodeInput& m) {
  w.put(m.node);
  write_payload(w, m.data);
}
void read(wire::Reader& r, NodeInput& m) {
  m.node = r.get<std::uint64_t>();
  m.data = read_payload(r);
}

void write(wire::Writer& w, const NodeOutput& m) {
  w.put(m.node);
  w.put(m.ticket);
}
void read(wire::Reader& r, NodeOutput& m) {
  m.node = r.get<std::uint64_t>();
  m.ticket = r.get<std::uint64_t>();
}

void write(wire::Writer& w, const Collective& m) {
  w.put(m.which);
  w.put(m.type);
  w.put(m.reduction);
  w.put(m.peer);
  w.put(m.count);
  w.put(m.source);
  w.put(m.target);
}
void read(wire::Reader& r, Collective& m) {
  m.which = r.get<std::uint32_t>();
  m.type = r.get<std::uint32_t>();
  m.reduction = r.get<std::uint32_t>();
  m.peer = r.get<std::uint32_t>();
  m.count = r.get<std::uint64_t>();
  m.source = r.get<std::uint64_t>();
  m.target = r.get<std::uint64_t>();
}

}  // namespace

static void write(wire::Writer& w, const DescribeReply& m) {
  w.put(m.driver_version);
  w.put(m.reserved);
  w.put<std::uint64_t>(m.devices.size());
  for (const auto& one : m.devices) write(w, one);
}
static void read(wire::Reader& r, DescribeReply& m) {
  m.driver_version = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.devices.resize(r.get_count(56));
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

static void write(wire::Writer& w, const Describe& m) {
  w.put(m.process);
}
static void read(wire::Reader& r, Describe& m) {
  m.process = r.get<std::uint64_t>();
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

static void write(wire::Writer& w, const UsageReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.total);
  w.put(m.used);
  w.put(m.busy);
  w.put(m.memory_busy);
  w.put(m.temperature);
  w.put(m.power);
  w.put(m.clock);
  w.put(m.memory_clock);
  w.put_text(m.driver);
  w.put<std::uint64_t>(m.processes.size());
  for (const auto& one : m.processes) w.put(one);
}
static void read(wire::Reader& r, UsageReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.total = r.get<std::uint64_t>();
  m.used = r.get<std::uint64_t>();
  m.busy = r.get<std::uint32_t>();
  m.memory_busy = r.get<std::uint32_t>();
  m.temperature = r.get<std::int32_t>();
  m.power = r.get<std::uint32_t>();
  m.clock = r.get<std::uint32_t>();
  m.memory_clock = r.get<std::uint32_t>();
  m.driver = r.get_text();
  m.processes.resize(r.get_count(16));
  for (auto& one : m.processes) one = r.get<Process>();
}

void encode(wire::Bytes& out, const UsageReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, UsageReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Usage& m) {
  w.put(m.device);
}
static void read(wire::Reader& r, Usage& m) {
  m.device = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const Usage& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Usage& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateContextReply& m) {
  w.put(m.status);
  w.put(m.api_version);
  w.put(m.id);
  w.put(m.least_priority);
  w.put(m.greatest_priority);
  w.put(m.cache_config);
  w.put(m.shared_config);
  w.put<std::uint64_t>(m.limits.size());
  for (const auto& one : m.limits) write(w, one);
}
static void read(wire::Reader& r, CreateContextReply& m) {
  m.status = r.get<std::int32_t>();
  m.api_version = r.get<std::uint32_t>();
  m.id = r.get<std::uint64_t>();
  m.least_priority = r.get<std::int32_t>();
  m.greatest_priority = r.get<std::int32_t>();
  m.cache_config = r.get<std::uint32_t>();
  m.shared_config = r.get<std::uint32_t>();
  m.limits.resize(r.get_count(16));
  for (auto& one : m.limits) read(r, one);
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
  w.put(m.device);
  w.put(m.is_primary);
  w.put(m.flags);
}
static void read(wire::Reader& r, CreateContext& m) {
  m.context = r.get<std::uint64_t>();
  m.device = r.get<std::uint32_t>();
  m.is_primary = r.get<std::uint32_t>();
  m.flags = r.get<std::uint32_t>();
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

static void write(wire::Writer& w, const ReleaseContext& m) {
  w.put(m.context);
  w.put(m.is_reset);
}
static void read(wire::Reader& r, ReleaseContext& m) {
  m.context = r.get<std::uint64_t>();
  m.is_reset = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const ReleaseContext& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ReleaseContext& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WaitContextReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, WaitContextReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const WaitContextReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WaitContextReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WaitContext& m) {
  w.put(m.context);
}
static void read(wire::Reader& r, WaitContext& m) {
  m.context = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const WaitContext& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WaitContext& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SetLimitReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.value);
}
static void read(wire::Reader& r, SetLimitReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.value = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const SetLimitReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SetLimitReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SetLimit& m) {
  w.put(m.context);
  w.put(m.which);
  w.put(m.reserved);
  w.put(m.value);
}
static void read(wire::Reader& r, SetLimit& m) {
  m.context = r.get<std::uint64_t>();
  m.which = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.value = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const SetLimit& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SetLimit& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MemoryInfoReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.free);
  w.put(m.total);
}
static void read(wire::Reader& r, MemoryInfoReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.free = r.get<std::uint64_t>();
  m.total = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const MemoryInfoReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MemoryInfoReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MemoryInfo& m) {
  w.put(m.context);
}
static void read(wire::Reader& r, MemoryInfo& m) {
  m.context = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const MemoryInfo& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MemoryInfo& m) {
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

static void write(wire::Writer& w, const ReserveAddressesReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, ReserveAddressesReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const ReserveAddressesReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ReserveAddressesReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ReserveAddresses& m) {
  w.put(m.at);
  w.put(m.size);
}
static void read(wire::Reader& r, ReserveAddresses& m) {
  m.at = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ReserveAddresses& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ReserveAddresses& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FreeAddresses& m) {
  w.put(m.at);
  w.put(m.size);
}
static void read(wire::Reader& r, FreeAddresses& m) {
  m.at = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const FreeAddresses& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FreeAddresses& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const AllocateReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.address);
}
static void read(wire::Reader& r, AllocateReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.address = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const AllocateReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, AllocateReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Allocate& m) {
  w.put(m.context);
  w.put(m.at);
  w.put(m.size);
  w.put(m.kind);
  w.put(m.flags);
}
static void read(wire::Reader& r, Allocate& m) {
  m.context = r.get<std::uint64_t>();
  m.at = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.kind = r.get<std::uint32_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const Allocate& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Allocate& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Free& m) {
  w.put(m.context);
  w.put(m.address);
}
static void read(wire::Reader& r, Free& m) {
  m.context = r.get<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const Free& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Free& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateMemoryReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CreateMemoryReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CreateMemoryReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateMemoryReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateMemory& m) {
  w.put(m.memory);
  w.put(m.device);
  w.put(m.flags);
  w.put(m.size);
}
static void read(wire::Reader& r, CreateMemory& m) {
  m.memory = r.get<std::uint64_t>();
  m.device = r.get<std::uint32_t>();
  m.flags = r.get<std::uint32_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CreateMemory& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateMemory& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MapMemory& m) {
  w.put(m.memory);
  w.put(m.at);
  w.put(m.size);
  w.put(m.offset);
}
static void read(wire::Reader& r, MapMemory& m) {
  m.memory = r.get<std::uint64_t>();
  m.at = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.offset = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const MapMemory& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MapMemory& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const UnmapMemoryReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, UnmapMemoryReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const UnmapMemoryReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, UnmapMemoryReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const UnmapMemory& m) {
  w.put(m.at);
  w.put(m.size);
}
static void read(wire::Reader& r, UnmapMemory& m) {
  m.at = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const UnmapMemory& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, UnmapMemory& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SetAccess& m) {
  w.put(m.at);
  w.put(m.size);
  w.put<std::uint64_t>(m.accesses.size());
  for (const auto& one : m.accesses) w.put(one);
}
static void read(wire::Reader& r, SetAccess& m) {
  m.at = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.accesses.resize(r.get_count(16));
  for (auto& one : m.accesses) one = r.get<Access>();
}

void encode(wire::Bytes& out, const SetAccess& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SetAccess& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MemoryGranularityReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.size);
}
static void read(wire::Reader& r, MemoryGranularityReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const MemoryGranularityReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MemoryGranularityReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MemoryGranularity& m) {
  w.put(m.device);
  w.put(m.option);
  w.put(m.flags);
}
static void read(wire::Reader& r, MemoryGranularity& m) {
  m.device = r.get<std::uint32_t>();
  m.option = r.get<std::uint32_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const MemoryGranularity& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MemoryGranularity& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const DefaultPool& m) {
  w.put(m.pool);
  w.put(m.device);
}
static void read(wire::Reader& r, DefaultPool& m) {
  m.pool = r.get<std::uint64_t>();
  m.device = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const DefaultPool& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, DefaultPool& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreatePoolReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CreatePoolReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CreatePoolReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreatePoolReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreatePool& m) {
  w.put(m.pool);
  w.put(m.device);
  w.put(m.flags);
  w.put(m.maximum);
}
static void read(wire::Reader& r, CreatePool& m) {
  m.pool = r.get<std::uint64_t>();
  m.device = r.get<std::uint32_t>();
  m.flags = r.get<std::uint32_t>();
  m.maximum = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CreatePool& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreatePool& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const AllocateFromPoolReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.address);
}
static void read(wire::Reader& r, AllocateFromPoolReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.address = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const AllocateFromPoolReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, AllocateFromPoolReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const AllocateFromPool& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.pool);
  w.put(m.size);
}
static void read(wire::Reader& r, AllocateFromPool& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.pool = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const AllocateFromPool& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, AllocateFromPool& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FreeToPool& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.address);
}
static void read(wire::Reader& r, FreeToPool& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const FreeToPool& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FreeToPool& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SetPoolAttribute& m) {
  w.put(m.pool);
  w.put(m.which);
  w.put(m.reserved);
  w.put(m.value);
}
static void read(wire::Reader& r, SetPoolAttribute& m) {
  m.pool = r.get<std::uint64_t>();
  m.which = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.value = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const SetPoolAttribute& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SetPoolAttribute& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const PoolAttributeReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.value);
}
static void read(wire::Reader& r, PoolAttributeReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.value = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const PoolAttributeReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, PoolAttributeReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const PoolAttribute& m) {
  w.put(m.pool);
  w.put(m.which);
}
static void read(wire::Reader& r, PoolAttribute& m) {
  m.pool = r.get<std::uint64_t>();
  m.which = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const PoolAttribute& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, PoolAttribute& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateArrayReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CreateArrayReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CreateArrayReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateArrayReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateArray& m) {
  w.put(m.context);
  w.put(m.array);
  write(w, m.shape);
}
static void read(wire::Reader& r, CreateArray& m) {
  m.context = r.get<std::uint64_t>();
  m.array = r.get<std::uint64_t>();
  read(r, m.shape);
}

void encode(wire::Bytes& out, const CreateArray& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateArray& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateTextureReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.object);
}
static void read(wire::Reader& r, CreateTextureReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.object = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CreateTextureReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateTextureReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateTexture& m) {
  w.put(m.context);
  write(w, m.resource);
  w.put_array(m.texture);
  w.put_array(m.view);
}
static void read(wire::Reader& r, CreateTexture& m) {
  m.context = r.get<std::uint64_t>();
  read(r, m.resource);
  m.texture = r.get_array<std::uint8_t>();
  m.view = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const CreateTexture& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateTexture& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateSurfaceReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.object);
}
static void read(wire::Reader& r, CreateSurfaceReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.object = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CreateSurfaceReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateSurfaceReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateSurface& m) {
  w.put(m.context);
  write(w, m.resource);
}
static void read(wire::Reader& r, CreateSurface& m) {
  m.context = r.get<std::uint64_t>();
  read(r, m.resource);
}

void encode(wire::Bytes& out, const CreateSurface& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateSurface& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const HaveImagesReply& m) {
  w.put_array(m.known);
}
static void read(wire::Reader& r, HaveImagesReply& m) {
  m.known = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const HaveImagesReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, HaveImagesReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const HaveImages& m) {
  w.put<std::uint64_t>(m.hashes.size());
  for (const auto& one : m.hashes) w.put_array(one);
}
static void read(wire::Reader& r, HaveImages& m) {
  m.hashes.resize(r.get_count(8));
  for (auto& one : m.hashes) one = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const HaveImages& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, HaveImages& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const LoadReply& m) {
  w.put(m.status);
  w.put(m.is_unknown);
  w.put_text(m.info_log);
  w.put_text(m.error_log);
  w.put<std::uint64_t>(m.names.size());
  for (const auto& one : m.names) w.put_text(one);
  w.put<std::uint64_t>(m.kernels.size());
  for (const auto& one : m.kernels) write(w, one);
}
static void read(wire::Reader& r, LoadReply& m) {
  m.status = r.get<std::int32_t>();
  m.is_unknown = r.get<std::uint32_t>();
  m.info_log = r.get_text();
  m.error_log = r.get_text();
  m.names.resize(r.get_count(8));
  for (auto& one : m.names) one = r.get_text();
  m.kernels.resize(r.get_count(40));
  for (auto& one : m.kernels) read(r, one);
}

void encode(wire::Bytes& out, const LoadReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, LoadReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Load& m) {
  w.put(m.context);
  w.put(m.module);
  w.put(m.is_library);
  w.put(m.reserved);
  w.put_array(m.hash);
  write_payload(w, m.image);
  w.put<std::uint64_t>(m.options.size());
  for (const auto& one : m.options) write(w, one);
}
static void read(wire::Reader& r, Load& m) {
  m.context = r.get<std::uint64_t>();
  m.module = r.get<std::uint64_t>();
  m.is_library = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.hash = r.get_array<std::uint8_t>();
  m.image = read_payload(r);
  m.options.resize(r.get_count(24));
  for (auto& one : m.options) read(r, one);
}

void encode(wire::Bytes& out, const Load& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Load& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FindKernelReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put<std::uint64_t>(m.kernel.size());
  for (const auto& one : m.kernel) write(w, one);
}
static void read(wire::Reader& r, FindKernelReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.kernel.resize(r.get_count(40));
  for (auto& one : m.kernel) read(r, one);
}

void encode(wire::Bytes& out, const FindKernelReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FindKernelReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FindKernel& m) {
  w.put(m.context);
  w.put(m.module);
  w.put_text(m.name);
}
static void read(wire::Reader& r, FindKernel& m) {
  m.context = r.get<std::uint64_t>();
  m.module = r.get<std::uint64_t>();
  m.name = r.get_text();
}

void encode(wire::Bytes& out, const FindKernel& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FindKernel& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FindVariableReply& m) {
  w.put(m.status);
  w.put(m.is_managed);
  w.put(m.address);
  w.put(m.size);
  w.put_array(m.content);
}
static void read(wire::Reader& r, FindVariableReply& m) {
  m.status = r.get<std::int32_t>();
  m.is_managed = r.get<std::uint32_t>();
  m.address = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.content = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const FindVariableReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FindVariableReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FindVariable& m) {
  w.put(m.context);
  w.put(m.module);
  w.put(m.is_managed);
  w.put(m.reserved);
  w.put_text(m.name);
}
static void read(wire::Reader& r, FindVariable& m) {
  m.context = r.get<std::uint64_t>();
  m.module = r.get<std::uint64_t>();
  m.is_managed = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.name = r.get_text();
}

void encode(wire::Bytes& out, const FindVariable& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FindVariable& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const LinkReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put_text(m.info_log);
  w.put_text(m.error_log);
  w.put_array(m.image);
}
static void read(wire::Reader& r, LinkReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.info_log = r.get_text();
  m.error_log = r.get_text();
  m.image = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const LinkReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, LinkReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Link& m) {
  w.put(m.context);
  w.put<std::uint64_t>(m.options.size());
  for (const auto& one : m.options) write(w, one);
  w.put<std::uint64_t>(m.inputs.size());
  for (const auto& one : m.inputs) write(w, one);
}
static void read(wire::Reader& r, Link& m) {
  m.context = r.get<std::uint64_t>();
  m.options.resize(r.get_count(24));
  for (auto& one : m.options) read(r, one);
  m.inputs.resize(r.get_count(48));
  for (auto& one : m.inputs) read(r, one);
}

void encode(wire::Bytes& out, const Link& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Link& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OccupancyOfClustersReply& m) {
  w.put(m.status);
  w.put(m.value);
}
static void read(wire::Reader& r, OccupancyOfClustersReply& m) {
  m.status = r.get<std::int32_t>();
  m.value = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const OccupancyOfClustersReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OccupancyOfClustersReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OccupancyOfClusters& m) {
  w.put(m.context);
  w.put(m.kernel);
  w.put(m.grid);
  w.put(m.block);
  w.put(m.shared_bytes);
  w.put(m.is_active);
  w.put(m.stream);
  w.put<std::uint64_t>(m.attributes.size());
  for (const auto& one : m.attributes) write(w, one);
}
static void read(wire::Reader& r, OccupancyOfClusters& m) {
  m.context = r.get<std::uint64_t>();
  m.kernel = r.get<std::uint64_t>();
  m.grid = r.get<Grid>();
  m.block = r.get<Grid>();
  m.shared_bytes = r.get<std::uint32_t>();
  m.is_active = r.get<std::uint32_t>();
  m.stream = r.get<std::uint64_t>();
  m.attributes.resize(r.get_count(24));
  for (auto& one : m.attributes) read(r, one);
}

void encode(wire::Bytes& out, const OccupancyOfClusters& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OccupancyOfClusters& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Launch& m) {
  w.put(m.context);
  w.put(m.kernel);
  w.put(m.stream);
  w.put(m.grid);
  w.put(m.block);
  w.put(m.shared_bytes);
  w.put(m.is_cooperative);
  w.put_array(m.parameters);
  w.put<std::uint64_t>(m.attributes.size());
  for (const auto& one : m.attributes) write(w, one);
}
static void read(wire::Reader& r, Launch& m) {
  m.context = r.get<std::uint64_t>();
  m.kernel = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.grid = r.get<Grid>();
  m.block = r.get<Grid>();
  m.shared_bytes = r.get<std::uint32_t>();
  m.is_cooperative = r.get<std::uint32_t>();
  m.parameters = r.get_array<std::uint8_t>();
  m.attributes.resize(r.get_count(24));
  for (auto& one : m.attributes) read(r, one);
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

static void write(wire::Writer& w, const WriteMemory& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.address);
  write_payload(w, m.data);
}
static void read(wire::Reader& r, WriteMemory& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
  m.data = read_payload(r);
}

void encode(wire::Bytes& out, const WriteMemory& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WriteMemory& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ReadMemory& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.address);
  w.put(m.size);
  w.put(m.ticket);
}
static void read(wire::Reader& r, ReadMemory& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.ticket = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ReadMemory& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ReadMemory& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CopyMemory& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.source_context);
  w.put(m.source);
  w.put(m.target);
  w.put(m.size);
}
static void read(wire::Reader& r, CopyMemory& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.source_context = r.get<std::uint64_t>();
  m.source = r.get<std::uint64_t>();
  m.target = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CopyMemory& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CopyMemory& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WriteRows& m) {
  w.put(m.context);
  w.put(m.stream);
  write(w, m.target);
  w.put(m.extent);
  write_payload(w, m.data);
}
static void read(wire::Reader& r, WriteRows& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  read(r, m.target);
  m.extent = r.get<Extent>();
  m.data = read_payload(r);
}

void encode(wire::Bytes& out, const WriteRows& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WriteRows& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ReadRows& m) {
  w.put(m.context);
  w.put(m.stream);
  write(w, m.source);
  w.put(m.extent);
  w.put(m.ticket);
}
static void read(wire::Reader& r, ReadRows& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  read(r, m.source);
  m.extent = r.get<Extent>();
  m.ticket = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ReadRows& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ReadRows& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CopyRows& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.source_context);
  write(w, m.source);
  write(w, m.target);
  w.put(m.extent);
}
static void read(wire::Reader& r, CopyRows& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.source_context = r.get<std::uint64_t>();
  read(r, m.source);
  read(r, m.target);
  m.extent = r.get<Extent>();
}

void encode(wire::Bytes& out, const CopyRows& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CopyRows& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Fill& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.address);
  w.put(m.pitch);
  w.put(m.width);
  w.put(m.height);
  w.put(m.value);
  w.put(m.element);
}
static void read(wire::Reader& r, Fill& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
  m.pitch = r.get<std::uint64_t>();
  m.width = r.get<std::uint64_t>();
  m.height = r.get<std::uint64_t>();
  m.value = r.get<std::uint32_t>();
  m.element = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const Fill& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Fill& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WriteRanges& m) {
  w.put<std::uint64_t>(m.ranges.size());
  for (const auto& one : m.ranges) w.put(one);
  w.put_array(m.data);
}
static void read(wire::Reader& r, WriteRanges& m) {
  m.ranges.resize(r.get_count(16));
  for (auto& one : m.ranges) one = r.get<Range>();
  m.data = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const WriteRanges& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WriteRanges& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const HostFunction& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.function);
  w.put(m.wants_status);
}
static void read(wire::Reader& r, HostFunction& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.function = r.get<std::uint64_t>();
  m.wants_status = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const HostFunction& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, HostFunction& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RanHostFunction& m) {
  w.put(m.run);
}
static void read(wire::Reader& r, RanHostFunction& m) {
  m.run = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const RanHostFunction& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RanHostFunction& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WaitLatch& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.latch);
}
static void read(wire::Reader& r, WaitLatch& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.latch = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const WaitLatch& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WaitLatch& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OpenLatch& m) {
  w.put(m.latch);
}
static void read(wire::Reader& r, OpenLatch& m) {
  m.latch = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const OpenLatch& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OpenLatch& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateStream& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.flags);
  w.put(m.priority);
}
static void read(wire::Reader& r, CreateStream& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.flags = r.get<std::uint32_t>();
  m.priority = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CreateStream& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateStream& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WaitStreamReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, WaitStreamReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const WaitStreamReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WaitStreamReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WaitStream& m) {
  w.put(m.context);
  w.put(m.stream);
}
static void read(wire::Reader& r, WaitStream& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const WaitStream& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WaitStream& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const QueryStreamReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, QueryStreamReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const QueryStreamReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, QueryStreamReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const QueryStream& m) {
  w.put(m.context);
  w.put(m.stream);
}
static void read(wire::Reader& r, QueryStream& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const QueryStream& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, QueryStream& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SetStreamAttribute& m) {
  w.put(m.context);
  w.put(m.stream);
  write(w, m.attribute);
}
static void read(wire::Reader& r, SetStreamAttribute& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  read(r, m.attribute);
}

void encode(wire::Bytes& out, const SetStreamAttribute& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SetStreamAttribute& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const StreamAttributeReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put_array(m.value);
}
static void read(wire::Reader& r, StreamAttributeReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.value = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const StreamAttributeReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, StreamAttributeReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const StreamAttribute& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.which);
}
static void read(wire::Reader& r, StreamAttribute& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.which = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const StreamAttribute& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, StreamAttribute& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateEvent& m) {
  w.put(m.context);
  w.put(m.event);
  w.put(m.flags);
}
static void read(wire::Reader& r, CreateEvent& m) {
  m.context = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const CreateEvent& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateEvent& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WaitEventReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, WaitEventReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const WaitEventReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WaitEventReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WaitEvent& m) {
  w.put(m.event);
}
static void read(wire::Reader& r, WaitEvent& m) {
  m.event = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const WaitEvent& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WaitEvent& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const QueryEventReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, QueryEventReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const QueryEventReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, QueryEventReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const QueryEvent& m) {
  w.put(m.event);
}
static void read(wire::Reader& r, QueryEvent& m) {
  m.event = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const QueryEvent& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, QueryEvent& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const WatchEvent& m) {
  w.put(m.event);
  w.put(m.number);
}
static void read(wire::Reader& r, WatchEvent& m) {
  m.event = r.get<std::uint64_t>();
  m.number = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const WatchEvent& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, WatchEvent& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ElapsedTimeReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.milliseconds);
}
static void read(wire::Reader& r, ElapsedTimeReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.milliseconds = r.get<double>();
}

void encode(wire::Bytes& out, const ElapsedTimeReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ElapsedTimeReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ElapsedTime& m) {
  w.put(m.start);
  w.put(m.end);
}
static void read(wire::Reader& r, ElapsedTime& m) {
  m.start = r.get<std::uint64_t>();
  m.end = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ElapsedTime& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ElapsedTime& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CreateGraph& m) {
  w.put(m.context);
  w.put(m.graph);
  w.put(m.flags);
}
static void read(wire::Reader& r, CreateGraph& m) {
  m.context = r.get<std::uint64_t>();
  m.graph = r.get<std::uint64_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const CreateGraph& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CreateGraph& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const AddNode& m) {
  w.put(m.graph);
  w.put(m.node);
  w.put_array(m.dependencies);
  w.put_array(m.edges);
  write(w, m.work);
}
static void read(wire::Reader& r, AddNode& m) {
  m.graph = r.get<std::uint64_t>();
  m.node = r.get<std::uint64_t>();
  m.dependencies = r.get_array<std::uint64_t>();
  m.edges = r.get_array<std::uint8_t>();
  read(r, m.work);
}

void encode(wire::Bytes& out, const AddNode& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, AddNode& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ConditionalHandleReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put(m.condition);
}
static void read(wire::Reader& r, ConditionalHandleReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.condition = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ConditionalHandleReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ConditionalHandleReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ConditionalHandle& m) {
  w.put(m.context);
  w.put(m.graph);
  w.put(m.value);
  w.put(m.flags);
}
static void read(wire::Reader& r, ConditionalHandle& m) {
  m.context = r.get<std::uint64_t>();
  m.graph = r.get<std::uint64_t>();
  m.value = r.get<std::uint32_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const ConditionalHandle& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ConditionalHandle& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const AddCondition& m) {
  w.put(m.graph);
  w.put(m.node);
  w.put_array(m.dependencies);
  w.put_array(m.edges);
  w.put(m.context);
  w.put(m.condition);
  w.put(m.type);
  w.put(m.reserved);
  w.put_array(m.bodies);
}
static void read(wire::Reader& r, AddCondition& m) {
  m.graph = r.get<std::uint64_t>();
  m.node = r.get<std::uint64_t>();
  m.dependencies = r.get_array<std::uint64_t>();
  m.edges = r.get_array<std::uint8_t>();
  m.context = r.get<std::uint64_t>();
  m.condition = r.get<std::uint64_t>();
  m.type = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.bodies = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const AddCondition& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, AddCondition& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ClearGraph& m) {
  w.put(m.graph);
}
static void read(wire::Reader& r, ClearGraph& m) {
  m.graph = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ClearGraph& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ClearGraph& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const InstantiateReply& m) {
  w.put(m.status);
  w.put(m.result);
  w.put(m.node);
}
static void read(wire::Reader& r, InstantiateReply& m) {
  m.status = r.get<std::int32_t>();
  m.result = r.get<std::uint32_t>();
  m.node = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const InstantiateReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, InstantiateReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Instantiate& m) {
  w.put(m.context);
  w.put(m.graph);
  w.put(m.exec);
  w.put(m.flags);
  w.put(m.upload_stream);
}
static void read(wire::Reader& r, Instantiate& m) {
  m.context = r.get<std::uint64_t>();
  m.graph = r.get<std::uint64_t>();
  m.exec = r.get<std::uint64_t>();
  m.flags = r.get<std::uint64_t>();
  m.upload_stream = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const Instantiate& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Instantiate& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const UpdateExecReply& m) {
  w.put(m.status);
  w.put(m.result);
  w.put(m.node);
  w.put(m.reserved);
}
static void read(wire::Reader& r, UpdateExecReply& m) {
  m.status = r.get<std::int32_t>();
  m.result = r.get<std::uint32_t>();
  m.node = r.get<std::uint64_t>();
  m.reserved = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const UpdateExecReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, UpdateExecReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const UpdateExec& m) {
  w.put(m.exec);
  w.put(m.graph);
}
static void read(wire::Reader& r, UpdateExec& m) {
  m.exec = r.get<std::uint64_t>();
  m.graph = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const UpdateExec& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, UpdateExec& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SetExecNode& m) {
  w.put(m.exec);
  w.put(m.node);
  write(w, m.work);
}
static void read(wire::Reader& r, SetExecNode& m) {
  m.exec = r.get<std::uint64_t>();
  m.node = r.get<std::uint64_t>();
  read(r, m.work);
}

void encode(wire::Bytes& out, const SetExecNode& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SetExecNode& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const EnableNode& m) {
  w.put(m.exec);
  w.put(m.node);
  w.put(m.is_enabled);
}
static void read(wire::Reader& r, EnableNode& m) {
  m.exec = r.get<std::uint64_t>();
  m.node = r.get<std::uint64_t>();
  m.is_enabled = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const EnableNode& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, EnableNode& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const LaunchGraph& m) {
  w.put(m.context);
  w.put(m.exec);
  w.put(m.stream);
  w.put<std::uint64_t>(m.inputs.size());
  for (const auto& one : m.inputs) write(w, one);
  w.put<std::uint64_t>(m.outputs.size());
  for (const auto& one : m.outputs) write(w, one);
}
static void read(wire::Reader& r, LaunchGraph& m) {
  m.context = r.get<std::uint64_t>();
  m.exec = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.inputs.resize(r.get_count(32));
  for (auto& one : m.inputs) read(r, one);
  m.outputs.resize(r.get_count(16));
  for (auto& one : m.outputs) read(r, one);
}

void encode(wire::Bytes& out, const LaunchGraph& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, LaunchGraph& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const GraphInput& m) {
  w.put(m.node);
  write_payload(w, m.data);
}
static void read(wire::Reader& r, GraphInput& m) {
  m.node = r.get<std::uint64_t>();
  m.data = read_payload(r);
}

void encode(wire::Bytes& out, const GraphInput& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, GraphInput& m) {
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
  w.put(m.context);
  w.put(m.stream);
  write(w, m.source);
  w.put(m.extent);
  w.put(m.peer);
  w.put(m.ticket);
}
static void read(wire::Reader& r, ExportMemory& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  read(r, m.source);
  m.extent = r.get<Extent>();
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
  w.put(m.context);
  w.put(m.stream);
  write(w, m.target);
  w.put(m.extent);
  w.put(m.peer);
  w.put(m.ticket);
}
static void read(wire::Reader& r, ImportMemory& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  read(r, m.target);
  m.extent = r.get<Extent>();
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

static void write(wire::Writer& w, const PeerReadyReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, PeerReadyReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const PeerReadyReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, PeerReadyReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const PeerReady& m) {
  w.put(m.peer);
}
static void read(wire::Reader& r, PeerReady& m) {
  m.peer = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const PeerReady& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, PeerReady& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const PeerClose& m) {
  w.put(m.peer);
}
static void read(wire::Reader& r, PeerClose& m) {
  m.peer = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const PeerClose& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, PeerClose& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SignalPeer& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.peer);
  w.put(m.ticket);
}
static void read(wire::Reader& r, SignalPeer& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.peer = r.get<std::uint64_t>();
  m.ticket = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const SignalPeer& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SignalPeer& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const AwaitPeer& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.peer);
  w.put(m.ticket);
}
static void read(wire::Reader& r, AwaitPeer& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.peer = r.get<std::uint64_t>();
  m.ticket = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const AwaitPeer& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, AwaitPeer& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CollectiveVersionReply& m) {
  w.put(m.status);
  w.put(m.version);
  w.put_text(m.text);
}
static void read(wire::Reader& r, CollectiveVersionReply& m) {
  m.status = r.get<std::int32_t>();
  m.version = r.get<std::int32_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const CollectiveVersionReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CollectiveVersionReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write([[maybe_unused]] wire::Writer& w, [[maybe_unused]] const CollectiveVersion& m) {
}
static void read([[maybe_unused]] wire::Reader& r, [[maybe_unused]] CollectiveVersion& m) {
}

void encode(wire::Bytes& out, const CollectiveVersion& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CollectiveVersion& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CollectiveIdReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put_array(m.id);
  w.put_text(m.text);
}
static void read(wire::Reader& r, CollectiveIdReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.id = r.get_array<std::uint8_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const CollectiveIdReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CollectiveIdReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write([[maybe_unused]] wire::Writer& w, [[maybe_unused]] const CollectiveId& m) {
}
static void read([[maybe_unused]] wire::Reader& r, [[maybe_unused]] CollectiveId& m) {
}

void encode(wire::Bytes& out, const CollectiveId& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CollectiveId& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const JoinCollectivesReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put_text(m.text);
}
static void read(wire::Reader& r, JoinCollectivesReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const JoinCollectivesReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, JoinCollectivesReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const JoinCollectives& m) {
  w.put(m.context);
  w.put(m.communicator);
  w.put(m.ranks);
  w.put(m.rank);
  w.put_array(m.id);
}
static void read(wire::Reader& r, JoinCollectives& m) {
  m.context = r.get<std::uint64_t>();
  m.communicator = r.get<std::uint64_t>();
  m.ranks = r.get<std::uint32_t>();
  m.rank = r.get<std::uint32_t>();
  m.id = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const JoinCollectives& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, JoinCollectives& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Collectives& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.communicator);
  w.put<std::uint64_t>(m.calls.size());
  for (const auto& one : m.calls) write(w, one);
}
static void read(wire::Reader& r, Collectives& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.communicator = r.get<std::uint64_t>();
  m.calls.resize(r.get_count(40));
  for (auto& one : m.calls) read(r, one);
}

void encode(wire::Bytes& out, const Collectives& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Collectives& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SplitCollectivesReply& m) {
  w.put(m.status);
  w.put(m.ranks);
  w.put(m.rank);
  w.put(m.reserved);
  w.put_text(m.text);
}
static void read(wire::Reader& r, SplitCollectivesReply& m) {
  m.status = r.get<std::int32_t>();
  m.ranks = r.get<std::uint32_t>();
  m.rank = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const SplitCollectivesReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SplitCollectivesReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SplitCollectives& m) {
  w.put(m.communicator);
  w.put(m.made);
  w.put(m.color);
  w.put(m.key);
}
static void read(wire::Reader& r, SplitCollectives& m) {
  m.communicator = r.get<std::uint64_t>();
  m.made = r.get<std::uint64_t>();
  m.color = r.get<std::int32_t>();
  m.key = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const SplitCollectives& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SplitCollectives& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const EndCollectivesReply& m) {
  w.put(m.status);
  w.put(m.reserved);
}
static void read(wire::Reader& r, EndCollectivesReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const EndCollectivesReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, EndCollectivesReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const EndCollectives& m) {
  w.put(m.communicator);
  w.put(m.how);
  w.put(m.reserved);
}
static void read(wire::Reader& r, EndCollectives& m) {
  m.communicator = r.get<std::uint64_t>();
  m.how = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const EndCollectives& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, EndCollectives& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreImageReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put_text(m.text);
}
static void read(wire::Reader& r, RestoreImageReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const RestoreImageReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreImageReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreImage& m) {
  w.put_array(m.hash);
  write_payload(w, m.image);
}
static void read(wire::Reader& r, RestoreImage& m) {
  m.hash = r.get_array<std::uint8_t>();
  m.image = read_payload(r);
}

void encode(wire::Bytes& out, const RestoreImage& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreImage& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreMessageReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put_text(m.text);
}
static void read(wire::Reader& r, RestoreMessageReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const RestoreMessageReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreMessageReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreMessage& m) {
  w.put(m.op);
  w.put(m.reserved);
  w.put(m.number);
  w.put_array(m.body);
  w.put_array(m.expected);
}
static void read(wire::Reader& r, RestoreMessage& m) {
  m.op = r.get<std::uint32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.number = r.get<std::uint64_t>();
  m.body = r.get_array<std::uint8_t>();
  m.expected = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const RestoreMessage& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreMessage& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreMemoryReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put_text(m.text);
}
static void read(wire::Reader& r, RestoreMemoryReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const RestoreMemoryReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreMemoryReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreMemory& m) {
  w.put(m.context);
  w.put(m.address);
  w.put(m.size);
  w.put(m.device);
  w.put(m.is_from_pool);
}
static void read(wire::Reader& r, RestoreMemory& m) {
  m.context = r.get<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
  m.device = r.get<std::uint32_t>();
  m.is_from_pool = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const RestoreMemory& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreMemory& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreVariablesReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put_text(m.text);
}
static void read(wire::Reader& r, RestoreVariablesReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const RestoreVariablesReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreVariablesReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreVariables& m) {
  w.put(m.context);
  w.put(m.module);
  w.put_array(m.addresses);
}
static void read(wire::Reader& r, RestoreVariables& m) {
  m.context = r.get<std::uint64_t>();
  m.module = r.get<std::uint64_t>();
  m.addresses = r.get_array<std::uint64_t>();
}

void encode(wire::Bytes& out, const RestoreVariables& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreVariables& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreBytesReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put_text(m.text);
}
static void read(wire::Reader& r, RestoreBytesReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const RestoreBytesReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreBytesReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreBytes& m) {
  w.put(m.context);
  w.put(m.address);
  write_payload(w, m.data);
}
static void read(wire::Reader& r, RestoreBytes& m) {
  m.context = r.get<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
  m.data = read_payload(r);
}

void encode(wire::Bytes& out, const RestoreBytes& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreBytes& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreContextReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put_text(m.text);
}
static void read(wire::Reader& r, RestoreContextReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const RestoreContextReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreContextReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreContext& m) {
  w.put(m.context);
  w.put(m.stack);
}
static void read(wire::Reader& r, RestoreContext& m) {
  m.context = r.get<std::uint64_t>();
  m.stack = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const RestoreContext& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreContext& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const RestoreEvent& m) {
  w.put(m.event);
  w.put(m.reserved);
  w.put(m.milliseconds);
}
static void read(wire::Reader& r, RestoreEvent& m) {
  m.event = r.get<std::uint64_t>();
  m.reserved = r.get<std::uint64_t>();
  m.milliseconds = r.get<double>();
}

void encode(wire::Bytes& out, const RestoreEvent& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RestoreEvent& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const TakeOverReply& m) {
  w.put(m.status);
  w.put(m.reserved);
  w.put_text(m.text);
}
static void read(wire::Reader& r, TakeOverReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const TakeOverReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, TakeOverReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const TakeOver& m) {
  w.put(m.number);
  w.put_array(m.session);
  write_payload(w, m.state);
}
static void read(wire::Reader& r, TakeOver& m) {
  m.number = r.get<std::uint64_t>();
  m.session = r.get_array<std::uint8_t>();
  m.state = read_payload(r);
}

void encode(wire::Bytes& out, const TakeOver& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, TakeOver& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ReplicateReply& m) {
  w.put(m.status);
  w.put(m.reserved);
}
static void read(wire::Reader& r, ReplicateReply& m) {
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const ReplicateReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ReplicateReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Replicate& m) {
  w.put(m.layout);
}
static void read(wire::Reader& r, Replicate& m) {
  m.layout = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const Replicate& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Replicate& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ShareObjectReply& m) {
  w.put(m.status);
  w.put(m.is_mapped);
  w.put(m.size);
  w.put_array(m.secret);
}
static void read(wire::Reader& r, ShareObjectReply& m) {
  m.status = r.get<std::int32_t>();
  m.is_mapped = r.get<std::uint32_t>();
  m.size = r.get<std::uint64_t>();
  m.secret = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const ShareObjectReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ShareObjectReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ShareObject& m) {
  w.put(m.object);
  w.put(m.address);
}
static void read(wire::Reader& r, ShareObject& m) {
  m.object = r.get<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const ShareObject& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ShareObject& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OpenMemoryReply& m) {
  w.put(m.status);
  w.put(m.device);
  w.put(m.address);
  w.put(m.size);
}
static void read(wire::Reader& r, OpenMemoryReply& m) {
  m.status = r.get<std::int32_t>();
  m.device = r.get<std::uint32_t>();
  m.address = r.get<std::uint64_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const OpenMemoryReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OpenMemoryReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OpenMemory& m) {
  w.put(m.context);
  w.put(m.at);
  w.put_array(m.secret);
}
static void read(wire::Reader& r, OpenMemory& m) {
  m.context = r.get<std::uint64_t>();
  m.at = r.get<std::uint64_t>();
  m.secret = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const OpenMemory& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OpenMemory& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CloseMemoryReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CloseMemoryReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CloseMemoryReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CloseMemoryReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CloseMemory& m) {
  w.put(m.context);
  w.put(m.address);
}
static void read(wire::Reader& r, CloseMemory& m) {
  m.context = r.get<std::uint64_t>();
  m.address = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CloseMemory& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CloseMemory& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OpenEventReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, OpenEventReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const OpenEventReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OpenEventReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OpenEvent& m) {
  w.put(m.context);
  w.put(m.event);
  w.put_array(m.secret);
}
static void read(wire::Reader& r, OpenEvent& m) {
  m.context = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.secret = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const OpenEvent& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OpenEvent& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OpenPhysicalReply& m) {
  w.put(m.status);
  w.put(m.device);
  w.put(m.size);
}
static void read(wire::Reader& r, OpenPhysicalReply& m) {
  m.status = r.get<std::int32_t>();
  m.device = r.get<std::uint32_t>();
  m.size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const OpenPhysicalReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OpenPhysicalReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OpenPhysical& m) {
  w.put(m.memory);
  w.put_array(m.secret);
}
static void read(wire::Reader& r, OpenPhysical& m) {
  m.memory = r.get<std::uint64_t>();
  m.secret = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const OpenPhysical& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OpenPhysical& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const Failed& m) {
  w.put(m.context);
  w.put(m.op);
  w.put(m.status);
  w.put(m.object);
  w.put_text(m.text);
}
static void read(wire::Reader& r, Failed& m) {
  m.context = r.get<std::uint64_t>();
  m.op = r.get<std::uint32_t>();
  m.status = r.get<std::int32_t>();
  m.object = r.get<std::uint64_t>();
  m.text = r.get_text();
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

static void write(wire::Writer& w, const RunHostFunction& m) {
  w.put(m.function);
  w.put(m.run);
  w.put(m.status);
}
static void read(wire::Reader& r, RunHostFunction& m) {
  m.function = r.get<std::uint64_t>();
  m.run = r.get<std::uint64_t>();
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const RunHostFunction& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, RunHostFunction& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const EventReached& m) {
  w.put(m.event);
  w.put(m.number);
  w.put(m.status);
}
static void read(wire::Reader& r, EventReached& m) {
  m.event = r.get<std::uint64_t>();
  m.number = r.get<std::uint64_t>();
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const EventReached& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, EventReached& m) {
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

static void write(wire::Writer& w, const Changed& m) {
  w.put<std::uint64_t>(m.ranges.size());
  for (const auto& one : m.ranges) w.put(one);
  w.put_array(m.data);
}
static void read(wire::Reader& r, Changed& m) {
  m.ranges.resize(r.get_count(16));
  for (auto& one : m.ranges) one = r.get<Range>();
  m.data = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const Changed& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, Changed& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CollectivesFailed& m) {
  w.put(m.communicator);
  w.put(m.status);
  w.put(m.reserved);
  w.put_text(m.text);
}
static void read(wire::Reader& r, CollectivesFailed& m) {
  m.communicator = r.get<std::uint64_t>();
  m.status = r.get<std::int32_t>();
  m.reserved = r.get<std::uint32_t>();
  m.text = r.get_text();
}

void encode(wire::Bytes& out, const CollectivesFailed& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CollectivesFailed& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const DeviceGetTexture1dLinearMaxWidthReply& m) {
  w.put(m.status);
  w.put(m.max_width_in_elements);
}
static void read(wire::Reader& r, DeviceGetTexture1dLinearMaxWidthReply& m) {
  m.status = r.get<std::int32_t>();
  m.max_width_in_elements = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const DeviceGetTexture1dLinearMaxWidthReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, DeviceGetTexture1dLinearMaxWidthReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const DeviceGetTexture1dLinearMaxWidth& m) {
  w.put(m.context);
  w.put(m.format);
  w.put(m.num_channels);
  w.put(m.dev);
}
static void read(wire::Reader& r, DeviceGetTexture1dLinearMaxWidth& m) {
  m.context = r.get<std::uint64_t>();
  m.format = r.get<std::uint32_t>();
  m.num_channels = r.get<std::uint32_t>();
  m.dev = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const DeviceGetTexture1dLinearMaxWidth& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, DeviceGetTexture1dLinearMaxWidth& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CtxSetFlags& m) {
  w.put(m.context);
  w.put(m.flags);
}
static void read(wire::Reader& r, CtxSetFlags& m) {
  m.context = r.get<std::uint64_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const CtxSetFlags& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CtxSetFlags& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CtxSetCacheConfig& m) {
  w.put(m.context);
  w.put(m.config);
}
static void read(wire::Reader& r, CtxSetCacheConfig& m) {
  m.context = r.get<std::uint64_t>();
  m.config = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const CtxSetCacheConfig& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CtxSetCacheConfig& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CtxResetPersistingL2Cache& m) {
  w.put(m.context);
}
static void read(wire::Reader& r, CtxResetPersistingL2Cache& m) {
  m.context = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CtxResetPersistingL2Cache& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CtxResetPersistingL2Cache& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CtxRecordEvent& m) {
  w.put(m.context);
  w.put(m.ctx);
  w.put(m.event);
}
static void read(wire::Reader& r, CtxRecordEvent& m) {
  m.context = r.get<std::uint64_t>();
  m.ctx = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CtxRecordEvent& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CtxRecordEvent& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CtxWaitEvent& m) {
  w.put(m.context);
  w.put(m.ctx);
  w.put(m.event);
}
static void read(wire::Reader& r, CtxWaitEvent& m) {
  m.context = r.get<std::uint64_t>();
  m.ctx = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CtxWaitEvent& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CtxWaitEvent& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const KernelSetAttributeReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, KernelSetAttributeReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const KernelSetAttributeReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, KernelSetAttributeReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const KernelSetAttribute& m) {
  w.put(m.context);
  w.put(m.attrib);
  w.put(m.val);
  w.put(m.kernel);
  w.put(m.dev);
}
static void read(wire::Reader& r, KernelSetAttribute& m) {
  m.context = r.get<std::uint64_t>();
  m.attrib = r.get<std::uint32_t>();
  m.val = r.get<std::int32_t>();
  m.kernel = r.get<std::uint64_t>();
  m.dev = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const KernelSetAttribute& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, KernelSetAttribute& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const KernelSetCacheConfig& m) {
  w.put(m.context);
  w.put(m.kernel);
  w.put(m.config);
  w.put(m.dev);
}
static void read(wire::Reader& r, KernelSetCacheConfig& m) {
  m.context = r.get<std::uint64_t>();
  m.kernel = r.get<std::uint64_t>();
  m.config = r.get<std::uint32_t>();
  m.dev = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const KernelSetCacheConfig& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, KernelSetCacheConfig& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ArrayGetMemoryRequirementsReply& m) {
  w.put(m.status);
  w.put_array(m.memory_requirements);
}
static void read(wire::Reader& r, ArrayGetMemoryRequirementsReply& m) {
  m.status = r.get<std::int32_t>();
  m.memory_requirements = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const ArrayGetMemoryRequirementsReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ArrayGetMemoryRequirementsReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ArrayGetMemoryRequirements& m) {
  w.put(m.context);
  w.put(m.array);
  w.put(m.device);
}
static void read(wire::Reader& r, ArrayGetMemoryRequirements& m) {
  m.context = r.get<std::uint64_t>();
  m.array = r.get<std::uint64_t>();
  m.device = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const ArrayGetMemoryRequirements& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ArrayGetMemoryRequirements& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MipmappedArrayGetMemoryRequirementsReply& m) {
  w.put(m.status);
  w.put_array(m.memory_requirements);
}
static void read(wire::Reader& r, MipmappedArrayGetMemoryRequirementsReply& m) {
  m.status = r.get<std::int32_t>();
  m.memory_requirements = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const MipmappedArrayGetMemoryRequirementsReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MipmappedArrayGetMemoryRequirementsReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MipmappedArrayGetMemoryRequirements& m) {
  w.put(m.context);
  w.put(m.mipmap);
  w.put(m.device);
}
static void read(wire::Reader& r, MipmappedArrayGetMemoryRequirements& m) {
  m.context = r.get<std::uint64_t>();
  m.mipmap = r.get<std::uint64_t>();
  m.device = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const MipmappedArrayGetMemoryRequirements& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MipmappedArrayGetMemoryRequirements& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ArrayGetPlaneReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, ArrayGetPlaneReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const ArrayGetPlaneReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ArrayGetPlaneReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const ArrayGetPlane& m) {
  w.put(m.context);
  w.put(m.plane_array);
  w.put(m.array);
  w.put(m.plane_idx);
}
static void read(wire::Reader& r, ArrayGetPlane& m) {
  m.context = r.get<std::uint64_t>();
  m.plane_array = r.get<std::uint64_t>();
  m.array = r.get<std::uint64_t>();
  m.plane_idx = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const ArrayGetPlane& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ArrayGetPlane& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MipmappedArrayGetLevelReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, MipmappedArrayGetLevelReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const MipmappedArrayGetLevelReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MipmappedArrayGetLevelReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MipmappedArrayGetLevel& m) {
  w.put(m.context);
  w.put(m.level_array);
  w.put(m.mipmapped_array);
  w.put(m.level);
}
static void read(wire::Reader& r, MipmappedArrayGetLevel& m) {
  m.context = r.get<std::uint64_t>();
  m.level_array = r.get<std::uint64_t>();
  m.mipmapped_array = r.get<std::uint64_t>();
  m.level = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const MipmappedArrayGetLevel& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MipmappedArrayGetLevel& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MemGetAccessReply& m) {
  w.put(m.status);
  w.put(m.flags);
}
static void read(wire::Reader& r, MemGetAccessReply& m) {
  m.status = r.get<std::int32_t>();
  m.flags = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const MemGetAccessReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MemGetAccessReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MemGetAccess& m) {
  w.put(m.context);
  w.put_array(m.location);
  w.put(m.ptr);
}
static void read(wire::Reader& r, MemGetAccess& m) {
  m.context = r.get<std::uint64_t>();
  m.location = r.get_array<std::uint8_t>();
  m.ptr = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const MemGetAccess& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MemGetAccess& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MemPoolTrimTo& m) {
  w.put(m.context);
  w.put(m.pool);
  w.put(m.min_bytes_to_keep);
}
static void read(wire::Reader& r, MemPoolTrimTo& m) {
  m.context = r.get<std::uint64_t>();
  m.pool = r.get<std::uint64_t>();
  m.min_bytes_to_keep = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const MemPoolTrimTo& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MemPoolTrimTo& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MemPoolSetAccess& m) {
  w.put(m.context);
  w.put(m.pool);
  w.put_array(m.map);
}
static void read(wire::Reader& r, MemPoolSetAccess& m) {
  m.context = r.get<std::uint64_t>();
  m.pool = r.get<std::uint64_t>();
  m.map = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const MemPoolSetAccess& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MemPoolSetAccess& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MemPoolGetAccessReply& m) {
  w.put(m.status);
  w.put(m.flags);
}
static void read(wire::Reader& r, MemPoolGetAccessReply& m) {
  m.status = r.get<std::int32_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const MemPoolGetAccessReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MemPoolGetAccessReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const MemPoolGetAccess& m) {
  w.put(m.context);
  w.put(m.mem_pool);
  w.put_array(m.location);
}
static void read(wire::Reader& r, MemPoolGetAccess& m) {
  m.context = r.get<std::uint64_t>();
  m.mem_pool = r.get<std::uint64_t>();
  m.location = r.get_array<std::uint8_t>();
}

void encode(wire::Bytes& out, const MemPoolGetAccess& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, MemPoolGetAccess& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const StreamWaitEvent& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.event);
  w.put(m.flags);
}
static void read(wire::Reader& r, StreamWaitEvent& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const StreamWaitEvent& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, StreamWaitEvent& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const StreamCopyAttributes& m) {
  w.put(m.context);
  w.put(m.dst_stream);
  w.put(m.src_stream);
}
static void read(wire::Reader& r, StreamCopyAttributes& m) {
  m.context = r.get<std::uint64_t>();
  m.dst_stream = r.get<std::uint64_t>();
  m.src_stream = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const StreamCopyAttributes& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, StreamCopyAttributes& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const EventRecord& m) {
  w.put(m.context);
  w.put(m.event);
  w.put(m.stream);
}
static void read(wire::Reader& r, EventRecord& m) {
  m.context = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const EventRecord& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, EventRecord& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const EventRecordWithFlags& m) {
  w.put(m.context);
  w.put(m.event);
  w.put(m.stream);
  w.put(m.flags);
}
static void read(wire::Reader& r, EventRecordWithFlags& m) {
  m.context = r.get<std::uint64_t>();
  m.event = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const EventRecordWithFlags& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, EventRecordWithFlags& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const StreamWaitValue32& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.addr);
  w.put(m.value);
  w.put(m.flags);
}
static void read(wire::Reader& r, StreamWaitValue32& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.addr = r.get<std::uint64_t>();
  m.value = r.get<std::uint32_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const StreamWaitValue32& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, StreamWaitValue32& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const StreamWaitValue64& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.addr);
  w.put(m.value);
  w.put(m.flags);
}
static void read(wire::Reader& r, StreamWaitValue64& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.addr = r.get<std::uint64_t>();
  m.value = r.get<std::uint64_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const StreamWaitValue64& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, StreamWaitValue64& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const StreamWriteValue32& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.addr);
  w.put(m.value);
  w.put(m.flags);
}
static void read(wire::Reader& r, StreamWriteValue32& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.addr = r.get<std::uint64_t>();
  m.value = r.get<std::uint32_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const StreamWriteValue32& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, StreamWriteValue32& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const StreamWriteValue64& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put(m.addr);
  w.put(m.value);
  w.put(m.flags);
}
static void read(wire::Reader& r, StreamWriteValue64& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.addr = r.get<std::uint64_t>();
  m.value = r.get<std::uint64_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const StreamWriteValue64& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, StreamWriteValue64& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const StreamBatchMemOp& m) {
  w.put(m.context);
  w.put(m.stream);
  w.put_array(m.param_array);
  w.put(m.flags);
}
static void read(wire::Reader& r, StreamBatchMemOp& m) {
  m.context = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
  m.param_array = r.get_array<std::uint8_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const StreamBatchMemOp& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, StreamBatchMemOp& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FuncSetAttributeReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, FuncSetAttributeReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const FuncSetAttributeReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FuncSetAttributeReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FuncSetAttribute& m) {
  w.put(m.context);
  w.put(m.hfunc);
  w.put(m.attrib);
  w.put(m.value);
}
static void read(wire::Reader& r, FuncSetAttribute& m) {
  m.context = r.get<std::uint64_t>();
  m.hfunc = r.get<std::uint64_t>();
  m.attrib = r.get<std::uint32_t>();
  m.value = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const FuncSetAttribute& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FuncSetAttribute& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FuncSetCacheConfig& m) {
  w.put(m.context);
  w.put(m.hfunc);
  w.put(m.config);
}
static void read(wire::Reader& r, FuncSetCacheConfig& m) {
  m.context = r.get<std::uint64_t>();
  m.hfunc = r.get<std::uint64_t>();
  m.config = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const FuncSetCacheConfig& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FuncSetCacheConfig& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FuncIsLoadedReply& m) {
  w.put(m.status);
  w.put(m.state);
}
static void read(wire::Reader& r, FuncIsLoadedReply& m) {
  m.status = r.get<std::int32_t>();
  m.state = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const FuncIsLoadedReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FuncIsLoadedReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FuncIsLoaded& m) {
  w.put(m.context);
  w.put(m.function);
}
static void read(wire::Reader& r, FuncIsLoaded& m) {
  m.context = r.get<std::uint64_t>();
  m.function = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const FuncIsLoaded& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FuncIsLoaded& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FuncLoad& m) {
  w.put(m.context);
  w.put(m.function);
}
static void read(wire::Reader& r, FuncLoad& m) {
  m.context = r.get<std::uint64_t>();
  m.function = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const FuncLoad& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FuncLoad& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const FuncSetSharedMemConfig& m) {
  w.put(m.context);
  w.put(m.hfunc);
  w.put(m.config);
}
static void read(wire::Reader& r, FuncSetSharedMemConfig& m) {
  m.context = r.get<std::uint64_t>();
  m.hfunc = r.get<std::uint64_t>();
  m.config = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const FuncSetSharedMemConfig& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, FuncSetSharedMemConfig& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const GraphUpload& m) {
  w.put(m.context);
  w.put(m.graph);
  w.put(m.stream);
}
static void read(wire::Reader& r, GraphUpload& m) {
  m.context = r.get<std::uint64_t>();
  m.graph = r.get<std::uint64_t>();
  m.stream = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const GraphUpload& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, GraphUpload& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply& m) {
  w.put(m.status);
  w.put(m.num_blocks);
}
static void read(wire::Reader& r, OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply& m) {
  m.status = r.get<std::int32_t>();
  m.num_blocks = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OccupancyMaxActiveBlocksPerMultiprocessorWithFlags& m) {
  w.put(m.context);
  w.put(m.func);
  w.put(m.block_size);
  w.put(m.dynamic_smem_size);
  w.put(m.flags);
}
static void read(wire::Reader& r, OccupancyMaxActiveBlocksPerMultiprocessorWithFlags& m) {
  m.context = r.get<std::uint64_t>();
  m.func = r.get<std::uint64_t>();
  m.block_size = r.get<std::int32_t>();
  m.dynamic_smem_size = r.get<std::uint64_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const OccupancyMaxActiveBlocksPerMultiprocessorWithFlags& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OccupancyMaxActiveBlocksPerMultiprocessorWithFlags& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OccupancyAvailableDynamicSmemPerBlockReply& m) {
  w.put(m.status);
  w.put(m.dynamic_smem_size);
}
static void read(wire::Reader& r, OccupancyAvailableDynamicSmemPerBlockReply& m) {
  m.status = r.get<std::int32_t>();
  m.dynamic_smem_size = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const OccupancyAvailableDynamicSmemPerBlockReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OccupancyAvailableDynamicSmemPerBlockReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const OccupancyAvailableDynamicSmemPerBlock& m) {
  w.put(m.context);
  w.put(m.func);
  w.put(m.num_blocks);
  w.put(m.block_size);
}
static void read(wire::Reader& r, OccupancyAvailableDynamicSmemPerBlock& m) {
  m.context = r.get<std::uint64_t>();
  m.func = r.get<std::uint64_t>();
  m.num_blocks = r.get<std::int32_t>();
  m.block_size = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const OccupancyAvailableDynamicSmemPerBlock& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, OccupancyAvailableDynamicSmemPerBlock& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const TexObjectDestroy& m) {
  w.put(m.context);
  w.put(m.tex_object);
}
static void read(wire::Reader& r, TexObjectDestroy& m) {
  m.context = r.get<std::uint64_t>();
  m.tex_object = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const TexObjectDestroy& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, TexObjectDestroy& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const SurfObjectDestroy& m) {
  w.put(m.context);
  w.put(m.surf_object);
}
static void read(wire::Reader& r, SurfObjectDestroy& m) {
  m.context = r.get<std::uint64_t>();
  m.surf_object = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const SurfObjectDestroy& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, SurfObjectDestroy& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CtxEnablePeerAccessReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CtxEnablePeerAccessReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CtxEnablePeerAccessReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CtxEnablePeerAccessReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CtxEnablePeerAccess& m) {
  w.put(m.context);
  w.put(m.peer_context);
  w.put(m.flags);
}
static void read(wire::Reader& r, CtxEnablePeerAccess& m) {
  m.context = r.get<std::uint64_t>();
  m.peer_context = r.get<std::uint64_t>();
  m.flags = r.get<std::uint32_t>();
}

void encode(wire::Bytes& out, const CtxEnablePeerAccess& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CtxEnablePeerAccess& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CtxDisablePeerAccessReply& m) {
  w.put(m.status);
}
static void read(wire::Reader& r, CtxDisablePeerAccessReply& m) {
  m.status = r.get<std::int32_t>();
}

void encode(wire::Bytes& out, const CtxDisablePeerAccessReply& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CtxDisablePeerAccessReply& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

static void write(wire::Writer& w, const CtxDisablePeerAccess& m) {
  w.put(m.context);
  w.put(m.peer_context);
}
static void read(wire::Reader& r, CtxDisablePeerAccess& m) {
  m.context = r.get<std::uint64_t>();
  m.peer_context = r.get<std::uint64_t>();
}

void encode(wire::Bytes& out, const CtxDisablePeerAccess& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, CtxDisablePeerAccess& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}

}  // namespace flexrack::cu
