// The messages of cuda.
// Generated from native/spec/cuda.* by native/codegen/generate.ts; change those.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "wire/codec.h"

/// Texts, byte strings and arrays of scalars are views: of the caller's memory when encoding, of the body after decoding.
/// encode() appends a body, padded to 8 bytes; decode() is false for anything that encode() would not have written.
namespace flexrack::cu {

struct Attribute {
  std::int32_t which = 0;
  std::int32_t value = 0;
};

struct Peer {
  std::uint32_t device = 0;
  std::uint32_t can_access = 0;
  std::vector<Attribute> attributes{};
};

struct Device {
  std::uint32_t index = 0;
  std::uint32_t reserved = 0;
  std::uint64_t memory = 0;
  std::string_view name{};
  wire::View uuid{};
  std::string_view pci{};
  std::vector<Attribute> attributes{};
  std::vector<Peer> peers{};
};

struct Limit {
  std::uint32_t which = 0;
  std::uint32_t reserved = 0;
  std::uint64_t value = 0;
};

struct Range {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

struct Grid {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
};

struct Place {
  std::uint32_t kind = 0;
  std::uint32_t level = 0;
  std::uint64_t object = 0;
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t z = 0;
  std::uint64_t pitch = 0;
  std::uint64_t height = 0;
};

struct Extent {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t depth = 0;
};

struct Shape {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t depth = 0;
  std::uint32_t format = 0;
  std::uint32_t channels = 0;
  std::uint32_t flags = 0;
  std::uint32_t levels = 0;
};

struct Resource {
  std::uint32_t kind = 0;
  std::uint32_t flags = 0;
  std::uint64_t object = 0;
  std::uint32_t format = 0;
  std::uint32_t channels = 0;
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t pitch = 0;
};

struct Option {
  std::uint32_t which = 0;
  std::uint32_t reserved = 0;
  std::uint64_t value = 0;
  wire::View text{};
};

struct Parameter {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

struct Kernel {
  std::uint64_t kernel = 0;
  std::string_view name{};
  std::uint32_t parameter_bytes = 0;
  std::uint32_t reserved = 0;
  std::vector<Parameter> parameters{};
  std::vector<Attribute> attributes{};
};

struct LinkInput {
  std::uint32_t kind = 0;
  std::uint32_t reserved = 0;
  std::string_view name{};
  wire::Payload data{};
  std::vector<Option> options{};
};

struct LaunchAttribute {
  std::uint32_t which = 0;
  std::uint32_t reserved = 0;
  std::uint64_t event = 0;
  wire::View value{};
};

struct Access {
  std::uint32_t kind = 0;
  std::uint32_t device = 0;
  std::uint32_t flags = 0;
  std::uint32_t reserved = 0;
};

struct NodeWork {
  std::uint32_t kind = 0;
  std::uint32_t shared_bytes = 0;
  std::uint64_t context = 0;
  std::uint64_t object = 0;
  Grid grid{};
  Grid block{};
  wire::View parameters{};
  std::vector<LaunchAttribute> attributes{};
  Place source{};
  Place target{};
  Extent extent{};
  std::uint64_t value = 0;
  std::uint32_t element = 0;
  std::uint32_t flags = 0;
};

struct NodeInput {
  std::uint64_t node = 0;
  wire::Payload data{};
};

struct NodeOutput {
  std::uint64_t node = 0;
  std::uint64_t ticket = 0;
};

struct Process {
  std::uint64_t id = 0;
  std::uint64_t memory = 0;
};

struct Collective {
  std::uint32_t which = 0;
  std::uint32_t type = 0;
  std::uint32_t reduction = 0;
  std::uint32_t peer = 0;
  std::uint64_t count = 0;
  std::uint64_t source = 0;
  std::uint64_t target = 0;
};

/// Answers Describe.
struct DescribeReply {
  std::int32_t driver_version = 0;
  std::uint32_t reserved = 0;
  std::vector<Device> devices{};
};
void encode(wire::Bytes& out, const DescribeReply& m);
bool decode(wire::View body, DescribeReply& m);

struct Describe {
  static constexpr std::uint16_t kOp = 0x2001;
  static constexpr char kName[] = "Describe";
  using Reply = DescribeReply;
  std::uint64_t process = 0;
};
void encode(wire::Bytes& out, const Describe& m);
bool decode(wire::View body, Describe& m);

/// Answers Usage.
struct UsageReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t total = 0;
  std::uint64_t used = 0;
  std::uint32_t busy = 0;
  std::uint32_t memory_busy = 0;
  std::int32_t temperature = 0;
  std::uint32_t power = 0;
  std::uint32_t clock = 0;
  std::uint32_t memory_clock = 0;
  std::string_view driver{};
  std::vector<Process> processes{};
};
void encode(wire::Bytes& out, const UsageReply& m);
bool decode(wire::View body, UsageReply& m);

struct Usage {
  static constexpr std::uint16_t kOp = 0x2002;
  static constexpr char kName[] = "Usage";
  using Reply = UsageReply;
  std::uint32_t device = 0;
};
void encode(wire::Bytes& out, const Usage& m);
bool decode(wire::View body, Usage& m);

/// Answers CreateContext.
struct CreateContextReply {
  std::int32_t status = 0;
  std::uint32_t api_version = 0;
  std::uint64_t id = 0;
  std::int32_t least_priority = 0;
  std::int32_t greatest_priority = 0;
  std::uint32_t cache_config = 0;
  std::uint32_t shared_config = 0;
  std::vector<Limit> limits{};
};
void encode(wire::Bytes& out, const CreateContextReply& m);
bool decode(wire::View body, CreateContextReply& m);

struct CreateContext {
  static constexpr std::uint16_t kOp = 0x2003;
  static constexpr char kName[] = "CreateContext";
  using Reply = CreateContextReply;
  std::uint64_t context = 0;
  std::uint32_t device = 0;
  std::uint32_t is_primary = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const CreateContext& m);
bool decode(wire::View body, CreateContext& m);

struct ReleaseContext {
  static constexpr std::uint16_t kOp = 0x2004;
  static constexpr char kName[] = "ReleaseContext";
  std::uint64_t context = 0;
  std::uint32_t is_reset = 0;
};
void encode(wire::Bytes& out, const ReleaseContext& m);
bool decode(wire::View body, ReleaseContext& m);

/// Answers WaitContext.
struct WaitContextReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const WaitContextReply& m);
bool decode(wire::View body, WaitContextReply& m);

struct WaitContext {
  static constexpr std::uint16_t kOp = 0x2005;
  static constexpr char kName[] = "WaitContext";
  using Reply = WaitContextReply;
  std::uint64_t context = 0;
};
void encode(wire::Bytes& out, const WaitContext& m);
bool decode(wire::View body, WaitContext& m);

/// Answers SetLimit.
struct SetLimitReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t value = 0;
};
void encode(wire::Bytes& out, const SetLimitReply& m);
bool decode(wire::View body, SetLimitReply& m);

struct SetLimit {
  static constexpr std::uint16_t kOp = 0x2006;
  static constexpr char kName[] = "SetLimit";
  using Reply = SetLimitReply;
  std::uint64_t context = 0;
  std::uint32_t which = 0;
  std::uint32_t reserved = 0;
  std::uint64_t value = 0;
};
void encode(wire::Bytes& out, const SetLimit& m);
bool decode(wire::View body, SetLimit& m);

/// Answers MemoryInfo.
struct MemoryInfoReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t free = 0;
  std::uint64_t total = 0;
};
void encode(wire::Bytes& out, const MemoryInfoReply& m);
bool decode(wire::View body, MemoryInfoReply& m);

struct MemoryInfo {
  static constexpr std::uint16_t kOp = 0x2007;
  static constexpr char kName[] = "MemoryInfo";
  using Reply = MemoryInfoReply;
  std::uint64_t context = 0;
};
void encode(wire::Bytes& out, const MemoryInfo& m);
bool decode(wire::View body, MemoryInfo& m);

struct Release {
  static constexpr std::uint16_t kOp = 0x2008;
  static constexpr char kName[] = "Release";
  std::uint64_t object = 0;
};
void encode(wire::Bytes& out, const Release& m);
bool decode(wire::View body, Release& m);

/// Answers ReserveAddresses.
struct ReserveAddressesReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const ReserveAddressesReply& m);
bool decode(wire::View body, ReserveAddressesReply& m);

struct ReserveAddresses {
  static constexpr std::uint16_t kOp = 0x2010;
  static constexpr char kName[] = "ReserveAddresses";
  using Reply = ReserveAddressesReply;
  std::uint64_t at = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const ReserveAddresses& m);
bool decode(wire::View body, ReserveAddresses& m);

struct FreeAddresses {
  static constexpr std::uint16_t kOp = 0x2011;
  static constexpr char kName[] = "FreeAddresses";
  std::uint64_t at = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const FreeAddresses& m);
bool decode(wire::View body, FreeAddresses& m);

/// Answers Allocate.
struct AllocateReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t address = 0;
};
void encode(wire::Bytes& out, const AllocateReply& m);
bool decode(wire::View body, AllocateReply& m);

struct Allocate {
  static constexpr std::uint16_t kOp = 0x2012;
  static constexpr char kName[] = "Allocate";
  using Reply = AllocateReply;
  std::uint64_t context = 0;
  std::uint64_t at = 0;
  std::uint64_t size = 0;
  std::uint32_t kind = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const Allocate& m);
bool decode(wire::View body, Allocate& m);

struct Free {
  static constexpr std::uint16_t kOp = 0x2013;
  static constexpr char kName[] = "Free";
  std::uint64_t context = 0;
  std::uint64_t address = 0;
};
void encode(wire::Bytes& out, const Free& m);
bool decode(wire::View body, Free& m);

/// Answers CreateMemory.
struct CreateMemoryReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CreateMemoryReply& m);
bool decode(wire::View body, CreateMemoryReply& m);

struct CreateMemory {
  static constexpr std::uint16_t kOp = 0x2014;
  static constexpr char kName[] = "CreateMemory";
  using Reply = CreateMemoryReply;
  std::uint64_t memory = 0;
  std::uint32_t device = 0;
  std::uint32_t flags = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const CreateMemory& m);
bool decode(wire::View body, CreateMemory& m);

struct MapMemory {
  static constexpr std::uint16_t kOp = 0x2015;
  static constexpr char kName[] = "MapMemory";
  std::uint64_t memory = 0;
  std::uint64_t at = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};
void encode(wire::Bytes& out, const MapMemory& m);
bool decode(wire::View body, MapMemory& m);

/// Answers UnmapMemory.
struct UnmapMemoryReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const UnmapMemoryReply& m);
bool decode(wire::View body, UnmapMemoryReply& m);

struct UnmapMemory {
  static constexpr std::uint16_t kOp = 0x2016;
  static constexpr char kName[] = "UnmapMemory";
  using Reply = UnmapMemoryReply;
  std::uint64_t at = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const UnmapMemory& m);
bool decode(wire::View body, UnmapMemory& m);

struct SetAccess {
  static constexpr std::uint16_t kOp = 0x2017;
  static constexpr char kName[] = "SetAccess";
  std::uint64_t at = 0;
  std::uint64_t size = 0;
  std::vector<Access> accesses{};
};
void encode(wire::Bytes& out, const SetAccess& m);
bool decode(wire::View body, SetAccess& m);

/// Answers MemoryGranularity.
struct MemoryGranularityReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const MemoryGranularityReply& m);
bool decode(wire::View body, MemoryGranularityReply& m);

struct MemoryGranularity {
  static constexpr std::uint16_t kOp = 0x2018;
  static constexpr char kName[] = "MemoryGranularity";
  using Reply = MemoryGranularityReply;
  std::uint32_t device = 0;
  std::uint32_t option = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const MemoryGranularity& m);
bool decode(wire::View body, MemoryGranularity& m);

struct DefaultPool {
  static constexpr std::uint16_t kOp = 0x2019;
  static constexpr char kName[] = "DefaultPool";
  std::uint64_t pool = 0;
  std::uint32_t device = 0;
};
void encode(wire::Bytes& out, const DefaultPool& m);
bool decode(wire::View body, DefaultPool& m);

/// Answers CreatePool.
struct CreatePoolReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CreatePoolReply& m);
bool decode(wire::View body, CreatePoolReply& m);

struct CreatePool {
  static constexpr std::uint16_t kOp = 0x201a;
  static constexpr char kName[] = "CreatePool";
  using Reply = CreatePoolReply;
  std::uint64_t pool = 0;
  std::uint32_t device = 0;
  std::uint32_t flags = 0;
  std::uint64_t maximum = 0;
};
void encode(wire::Bytes& out, const CreatePool& m);
bool decode(wire::View body, CreatePool& m);

/// Answers AllocateFromPool.
struct AllocateFromPoolReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t address = 0;
};
void encode(wire::Bytes& out, const AllocateFromPoolReply& m);
bool decode(wire::View body, AllocateFromPoolReply& m);

struct AllocateFromPool {
  static constexpr std::uint16_t kOp = 0x201b;
  static constexpr char kName[] = "AllocateFromPool";
  using Reply = AllocateFromPoolReply;
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t pool = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const AllocateFromPool& m);
bool decode(wire::View body, AllocateFromPool& m);

struct FreeToPool {
  static constexpr std::uint16_t kOp = 0x201c;
  static constexpr char kName[] = "FreeToPool";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t address = 0;
};
void encode(wire::Bytes& out, const FreeToPool& m);
bool decode(wire::View body, FreeToPool& m);

struct SetPoolAttribute {
  static constexpr std::uint16_t kOp = 0x201d;
  static constexpr char kName[] = "SetPoolAttribute";
  std::uint64_t pool = 0;
  std::uint32_t which = 0;
  std::uint32_t reserved = 0;
  std::uint64_t value = 0;
};
void encode(wire::Bytes& out, const SetPoolAttribute& m);
bool decode(wire::View body, SetPoolAttribute& m);

/// Answers PoolAttribute.
struct PoolAttributeReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t value = 0;
};
void encode(wire::Bytes& out, const PoolAttributeReply& m);
bool decode(wire::View body, PoolAttributeReply& m);

struct PoolAttribute {
  static constexpr std::uint16_t kOp = 0x201e;
  static constexpr char kName[] = "PoolAttribute";
  using Reply = PoolAttributeReply;
  std::uint64_t pool = 0;
  std::uint32_t which = 0;
};
void encode(wire::Bytes& out, const PoolAttribute& m);
bool decode(wire::View body, PoolAttribute& m);

/// Answers CreateArray.
struct CreateArrayReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CreateArrayReply& m);
bool decode(wire::View body, CreateArrayReply& m);

struct CreateArray {
  static constexpr std::uint16_t kOp = 0x2021;
  static constexpr char kName[] = "CreateArray";
  using Reply = CreateArrayReply;
  std::uint64_t context = 0;
  std::uint64_t array = 0;
  Shape shape{};
};
void encode(wire::Bytes& out, const CreateArray& m);
bool decode(wire::View body, CreateArray& m);

/// Answers CreateTexture.
struct CreateTextureReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t object = 0;
};
void encode(wire::Bytes& out, const CreateTextureReply& m);
bool decode(wire::View body, CreateTextureReply& m);

struct CreateTexture {
  static constexpr std::uint16_t kOp = 0x2022;
  static constexpr char kName[] = "CreateTexture";
  using Reply = CreateTextureReply;
  std::uint64_t context = 0;
  Resource resource{};
  wire::View texture{};
  wire::View view{};
};
void encode(wire::Bytes& out, const CreateTexture& m);
bool decode(wire::View body, CreateTexture& m);

/// Answers CreateSurface.
struct CreateSurfaceReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t object = 0;
};
void encode(wire::Bytes& out, const CreateSurfaceReply& m);
bool decode(wire::View body, CreateSurfaceReply& m);

struct CreateSurface {
  static constexpr std::uint16_t kOp = 0x2023;
  static constexpr char kName[] = "CreateSurface";
  using Reply = CreateSurfaceReply;
  std::uint64_t context = 0;
  Resource resource{};
};
void encode(wire::Bytes& out, const CreateSurface& m);
bool decode(wire::View body, CreateSurface& m);

/// Answers HaveImages.
struct HaveImagesReply {
  std::span<const std::uint8_t> known{};
};
void encode(wire::Bytes& out, const HaveImagesReply& m);
bool decode(wire::View body, HaveImagesReply& m);

struct HaveImages {
  static constexpr std::uint16_t kOp = 0x2030;
  static constexpr char kName[] = "HaveImages";
  using Reply = HaveImagesReply;
  std::vector<wire::View> hashes{};
};
void encode(wire::Bytes& out, const HaveImages& m);
bool decode(wire::View body, HaveImages& m);

/// Answers Load.
struct LoadReply {
  std::int32_t status = 0;
  std::uint32_t is_unknown = 0;
  std::string_view info_log{};
  std::string_view error_log{};
  std::vector<std::string_view> names{};
  std::vector<Kernel> kernels{};
};
void encode(wire::Bytes& out, const LoadReply& m);
bool decode(wire::View body, LoadReply& m);

struct Load {
  static constexpr std::uint16_t kOp = 0x2031;
  static constexpr char kName[] = "Load";
  using Reply = LoadReply;
  std::uint64_t context = 0;
  std::uint64_t module = 0;
  std::uint32_t is_library = 0;
  std::uint32_t reserved = 0;
  wire::View hash{};
  wire::Payload image{};
  std::vector<Option> options{};
};
void encode(wire::Bytes& out, const Load& m);
bool decode(wire::View body, Load& m);

/// Answers FindKernel.
struct FindKernelReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::vector<Kernel> kernel{};
};
void encode(wire::Bytes& out, const FindKernelReply& m);
bool decode(wire::View body, FindKernelReply& m);

struct FindKernel {
  static constexpr std::uint16_t kOp = 0x2032;
  static constexpr char kName[] = "FindKernel";
  using Reply = FindKernelReply;
  std::uint64_t context = 0;
  std::uint64_t module = 0;
  std::string_view name{};
};
void encode(wire::Bytes& out, const FindKernel& m);
bool decode(wire::View body, FindKernel& m);

/// Answers FindVariable.
struct FindVariableReply {
  std::int32_t status = 0;
  std::uint32_t is_managed = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  wire::View content{};
};
void encode(wire::Bytes& out, const FindVariableReply& m);
bool decode(wire::View body, FindVariableReply& m);

struct FindVariable {
  static constexpr std::uint16_t kOp = 0x2033;
  static constexpr char kName[] = "FindVariable";
  using Reply = FindVariableReply;
  std::uint64_t context = 0;
  std::uint64_t module = 0;
  std::uint32_t is_managed = 0;
  std::uint32_t reserved = 0;
  std::string_view name{};
};
void encode(wire::Bytes& out, const FindVariable& m);
bool decode(wire::View body, FindVariable& m);

/// Answers Link.
struct LinkReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::string_view info_log{};
  std::string_view error_log{};
  wire::View image{};
};
void encode(wire::Bytes& out, const LinkReply& m);
bool decode(wire::View body, LinkReply& m);

struct Link {
  static constexpr std::uint16_t kOp = 0x2034;
  static constexpr char kName[] = "Link";
  using Reply = LinkReply;
  std::uint64_t context = 0;
  std::vector<Option> options{};
  std::vector<LinkInput> inputs{};
};
void encode(wire::Bytes& out, const Link& m);
bool decode(wire::View body, Link& m);

/// Answers OccupancyOfClusters.
struct OccupancyOfClustersReply {
  std::int32_t status = 0;
  std::int32_t value = 0;
};
void encode(wire::Bytes& out, const OccupancyOfClustersReply& m);
bool decode(wire::View body, OccupancyOfClustersReply& m);

struct OccupancyOfClusters {
  static constexpr std::uint16_t kOp = 0x2035;
  static constexpr char kName[] = "OccupancyOfClusters";
  using Reply = OccupancyOfClustersReply;
  std::uint64_t context = 0;
  std::uint64_t kernel = 0;
  Grid grid{};
  Grid block{};
  std::uint32_t shared_bytes = 0;
  std::uint32_t is_active = 0;
  std::uint64_t stream = 0;
  std::vector<LaunchAttribute> attributes{};
};
void encode(wire::Bytes& out, const OccupancyOfClusters& m);
bool decode(wire::View body, OccupancyOfClusters& m);

struct Launch {
  static constexpr std::uint16_t kOp = 0x2040;
  static constexpr char kName[] = "Launch";
  std::uint64_t context = 0;
  std::uint64_t kernel = 0;
  std::uint64_t stream = 0;
  Grid grid{};
  Grid block{};
  std::uint32_t shared_bytes = 0;
  std::uint32_t is_cooperative = 0;
  wire::View parameters{};
  std::vector<LaunchAttribute> attributes{};
};
void encode(wire::Bytes& out, const Launch& m);
bool decode(wire::View body, Launch& m);

struct WriteMemory {
  static constexpr std::uint16_t kOp = 0x2041;
  static constexpr char kName[] = "WriteMemory";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t address = 0;
  wire::Payload data{};
};
void encode(wire::Bytes& out, const WriteMemory& m);
bool decode(wire::View body, WriteMemory& m);

struct ReadMemory {
  static constexpr std::uint16_t kOp = 0x2042;
  static constexpr char kName[] = "ReadMemory";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const ReadMemory& m);
bool decode(wire::View body, ReadMemory& m);

struct CopyMemory {
  static constexpr std::uint16_t kOp = 0x2043;
  static constexpr char kName[] = "CopyMemory";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t source_context = 0;
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const CopyMemory& m);
bool decode(wire::View body, CopyMemory& m);

struct WriteRows {
  static constexpr std::uint16_t kOp = 0x2044;
  static constexpr char kName[] = "WriteRows";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  Place target{};
  Extent extent{};
  wire::Payload data{};
};
void encode(wire::Bytes& out, const WriteRows& m);
bool decode(wire::View body, WriteRows& m);

struct ReadRows {
  static constexpr std::uint16_t kOp = 0x2045;
  static constexpr char kName[] = "ReadRows";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  Place source{};
  Extent extent{};
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const ReadRows& m);
bool decode(wire::View body, ReadRows& m);

struct CopyRows {
  static constexpr std::uint16_t kOp = 0x2046;
  static constexpr char kName[] = "CopyRows";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t source_context = 0;
  Place source{};
  Place target{};
  Extent extent{};
};
void encode(wire::Bytes& out, const CopyRows& m);
bool decode(wire::View body, CopyRows& m);

struct Fill {
  static constexpr std::uint16_t kOp = 0x2047;
  static constexpr char kName[] = "Fill";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint32_t value = 0;
  std::uint32_t element = 0;
};
void encode(wire::Bytes& out, const Fill& m);
bool decode(wire::View body, Fill& m);

struct WriteRanges {
  static constexpr std::uint16_t kOp = 0x2048;
  static constexpr char kName[] = "WriteRanges";
  std::vector<Range> ranges{};
  wire::View data{};
};
void encode(wire::Bytes& out, const WriteRanges& m);
bool decode(wire::View body, WriteRanges& m);

struct HostFunction {
  static constexpr std::uint16_t kOp = 0x204a;
  static constexpr char kName[] = "HostFunction";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t function = 0;
  std::uint32_t wants_status = 0;
};
void encode(wire::Bytes& out, const HostFunction& m);
bool decode(wire::View body, HostFunction& m);

struct RanHostFunction {
  static constexpr std::uint16_t kOp = 0x204b;
  static constexpr char kName[] = "RanHostFunction";
  std::uint64_t run = 0;
};
void encode(wire::Bytes& out, const RanHostFunction& m);
bool decode(wire::View body, RanHostFunction& m);

struct WaitLatch {
  static constexpr std::uint16_t kOp = 0x204c;
  static constexpr char kName[] = "WaitLatch";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t latch = 0;
};
void encode(wire::Bytes& out, const WaitLatch& m);
bool decode(wire::View body, WaitLatch& m);

struct OpenLatch {
  static constexpr std::uint16_t kOp = 0x204d;
  static constexpr char kName[] = "OpenLatch";
  std::uint64_t latch = 0;
};
void encode(wire::Bytes& out, const OpenLatch& m);
bool decode(wire::View body, OpenLatch& m);

struct CreateStream {
  static constexpr std::uint16_t kOp = 0x2050;
  static constexpr char kName[] = "CreateStream";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint32_t flags = 0;
  std::int32_t priority = 0;
};
void encode(wire::Bytes& out, const CreateStream& m);
bool decode(wire::View body, CreateStream& m);

/// Answers WaitStream.
struct WaitStreamReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const WaitStreamReply& m);
bool decode(wire::View body, WaitStreamReply& m);

struct WaitStream {
  static constexpr std::uint16_t kOp = 0x2051;
  static constexpr char kName[] = "WaitStream";
  using Reply = WaitStreamReply;
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
};
void encode(wire::Bytes& out, const WaitStream& m);
bool decode(wire::View body, WaitStream& m);

/// Answers QueryStream.
struct QueryStreamReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const QueryStreamReply& m);
bool decode(wire::View body, QueryStreamReply& m);

struct QueryStream {
  static constexpr std::uint16_t kOp = 0x2052;
  static constexpr char kName[] = "QueryStream";
  using Reply = QueryStreamReply;
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
};
void encode(wire::Bytes& out, const QueryStream& m);
bool decode(wire::View body, QueryStream& m);

struct SetStreamAttribute {
  static constexpr std::uint16_t kOp = 0x2053;
  static constexpr char kName[] = "SetStreamAttribute";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  LaunchAttribute attribute{};
};
void encode(wire::Bytes& out, const SetStreamAttribute& m);
bool decode(wire::View body, SetStreamAttribute& m);

/// Answers StreamAttribute.
struct StreamAttributeReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  wire::View value{};
};
void encode(wire::Bytes& out, const StreamAttributeReply& m);
bool decode(wire::View body, StreamAttributeReply& m);

struct StreamAttribute {
  static constexpr std::uint16_t kOp = 0x2054;
  static constexpr char kName[] = "StreamAttribute";
  using Reply = StreamAttributeReply;
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint32_t which = 0;
};
void encode(wire::Bytes& out, const StreamAttribute& m);
bool decode(wire::View body, StreamAttribute& m);

struct CreateEvent {
  static constexpr std::uint16_t kOp = 0x2058;
  static constexpr char kName[] = "CreateEvent";
  std::uint64_t context = 0;
  std::uint64_t event = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const CreateEvent& m);
bool decode(wire::View body, CreateEvent& m);

/// Answers WaitEvent.
struct WaitEventReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const WaitEventReply& m);
bool decode(wire::View body, WaitEventReply& m);

struct WaitEvent {
  static constexpr std::uint16_t kOp = 0x2059;
  static constexpr char kName[] = "WaitEvent";
  using Reply = WaitEventReply;
  std::uint64_t event = 0;
};
void encode(wire::Bytes& out, const WaitEvent& m);
bool decode(wire::View body, WaitEvent& m);

/// Answers QueryEvent.
struct QueryEventReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const QueryEventReply& m);
bool decode(wire::View body, QueryEventReply& m);

struct QueryEvent {
  static constexpr std::uint16_t kOp = 0x205a;
  static constexpr char kName[] = "QueryEvent";
  using Reply = QueryEventReply;
  std::uint64_t event = 0;
};
void encode(wire::Bytes& out, const QueryEvent& m);
bool decode(wire::View body, QueryEvent& m);

struct WatchEvent {
  static constexpr std::uint16_t kOp = 0x205b;
  static constexpr char kName[] = "WatchEvent";
  std::uint64_t event = 0;
  std::uint64_t number = 0;
};
void encode(wire::Bytes& out, const WatchEvent& m);
bool decode(wire::View body, WatchEvent& m);

/// Answers ElapsedTime.
struct ElapsedTimeReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  double milliseconds = 0;
};
void encode(wire::Bytes& out, const ElapsedTimeReply& m);
bool decode(wire::View body, ElapsedTimeReply& m);

struct ElapsedTime {
  static constexpr std::uint16_t kOp = 0x205c;
  static constexpr char kName[] = "ElapsedTime";
  using Reply = ElapsedTimeReply;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};
void encode(wire::Bytes& out, const ElapsedTime& m);
bool decode(wire::View body, ElapsedTime& m);

struct CreateGraph {
  static constexpr std::uint16_t kOp = 0x2064;
  static constexpr char kName[] = "CreateGraph";
  std::uint64_t context = 0;
  std::uint64_t graph = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const CreateGraph& m);
bool decode(wire::View body, CreateGraph& m);

struct AddNode {
  static constexpr std::uint16_t kOp = 0x2065;
  static constexpr char kName[] = "AddNode";
  std::uint64_t graph = 0;
  std::uint64_t node = 0;
  std::span<const std::uint64_t> dependencies{};
  wire::View edges{};
  NodeWork work{};
};
void encode(wire::Bytes& out, const AddNode& m);
bool decode(wire::View body, AddNode& m);

/// Answers ConditionalHandle.
struct ConditionalHandleReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::uint64_t condition = 0;
};
void encode(wire::Bytes& out, const ConditionalHandleReply& m);
bool decode(wire::View body, ConditionalHandleReply& m);

struct ConditionalHandle {
  static constexpr std::uint16_t kOp = 0x2071;
  static constexpr char kName[] = "ConditionalHandle";
  using Reply = ConditionalHandleReply;
  std::uint64_t context = 0;
  std::uint64_t graph = 0;
  std::uint32_t value = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const ConditionalHandle& m);
bool decode(wire::View body, ConditionalHandle& m);

struct AddCondition {
  static constexpr std::uint16_t kOp = 0x2075;
  static constexpr char kName[] = "AddCondition";
  std::uint64_t graph = 0;
  std::uint64_t node = 0;
  std::span<const std::uint64_t> dependencies{};
  wire::View edges{};
  std::uint64_t context = 0;
  std::uint64_t condition = 0;
  std::uint32_t type = 0;
  std::uint32_t reserved = 0;
  std::span<const std::uint64_t> bodies{};
};
void encode(wire::Bytes& out, const AddCondition& m);
bool decode(wire::View body, AddCondition& m);

struct ClearGraph {
  static constexpr std::uint16_t kOp = 0x2076;
  static constexpr char kName[] = "ClearGraph";
  std::uint64_t graph = 0;
};
void encode(wire::Bytes& out, const ClearGraph& m);
bool decode(wire::View body, ClearGraph& m);

/// Answers Instantiate.
struct InstantiateReply {
  std::int32_t status = 0;
  std::uint32_t result = 0;
  std::uint64_t node = 0;
};
void encode(wire::Bytes& out, const InstantiateReply& m);
bool decode(wire::View body, InstantiateReply& m);

struct Instantiate {
  static constexpr std::uint16_t kOp = 0x206c;
  static constexpr char kName[] = "Instantiate";
  using Reply = InstantiateReply;
  std::uint64_t context = 0;
  std::uint64_t graph = 0;
  std::uint64_t exec = 0;
  std::uint64_t flags = 0;
  std::uint64_t upload_stream = 0;
};
void encode(wire::Bytes& out, const Instantiate& m);
bool decode(wire::View body, Instantiate& m);

/// Answers UpdateExec.
struct UpdateExecReply {
  std::int32_t status = 0;
  std::uint32_t result = 0;
  std::uint64_t node = 0;
  std::uint64_t reserved = 0;
};
void encode(wire::Bytes& out, const UpdateExecReply& m);
bool decode(wire::View body, UpdateExecReply& m);

struct UpdateExec {
  static constexpr std::uint16_t kOp = 0x206d;
  static constexpr char kName[] = "UpdateExec";
  using Reply = UpdateExecReply;
  std::uint64_t exec = 0;
  std::uint64_t graph = 0;
};
void encode(wire::Bytes& out, const UpdateExec& m);
bool decode(wire::View body, UpdateExec& m);

struct SetExecNode {
  static constexpr std::uint16_t kOp = 0x2068;
  static constexpr char kName[] = "SetExecNode";
  std::uint64_t exec = 0;
  std::uint64_t node = 0;
  NodeWork work{};
};
void encode(wire::Bytes& out, const SetExecNode& m);
bool decode(wire::View body, SetExecNode& m);

struct EnableNode {
  static constexpr std::uint16_t kOp = 0x2072;
  static constexpr char kName[] = "EnableNode";
  std::uint64_t exec = 0;
  std::uint64_t node = 0;
  std::uint32_t is_enabled = 0;
};
void encode(wire::Bytes& out, const EnableNode& m);
bool decode(wire::View body, EnableNode& m);

struct LaunchGraph {
  static constexpr std::uint16_t kOp = 0x2073;
  static constexpr char kName[] = "LaunchGraph";
  std::uint64_t context = 0;
  std::uint64_t exec = 0;
  std::uint64_t stream = 0;
  std::vector<NodeInput> inputs{};
  std::vector<NodeOutput> outputs{};
};
void encode(wire::Bytes& out, const LaunchGraph& m);
bool decode(wire::View body, LaunchGraph& m);

struct GraphInput {
  static constexpr std::uint16_t kOp = 0x2074;
  static constexpr char kName[] = "GraphInput";
  std::uint64_t node = 0;
  wire::Payload data{};
};
void encode(wire::Bytes& out, const GraphInput& m);
bool decode(wire::View body, GraphInput& m);

/// Answers PeerAccept.
struct PeerAcceptReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const PeerAcceptReply& m);
bool decode(wire::View body, PeerAcceptReply& m);

struct PeerAccept {
  static constexpr std::uint16_t kOp = 0x2078;
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
  static constexpr std::uint16_t kOp = 0x2079;
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
  static constexpr std::uint16_t kOp = 0x207a;
  static constexpr char kName[] = "ExportMemory";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  Place source{};
  Extent extent{};
  std::uint64_t peer = 0;
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const ExportMemory& m);
bool decode(wire::View body, ExportMemory& m);

struct ImportMemory {
  static constexpr std::uint16_t kOp = 0x207b;
  static constexpr char kName[] = "ImportMemory";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  Place target{};
  Extent extent{};
  std::uint64_t peer = 0;
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const ImportMemory& m);
bool decode(wire::View body, ImportMemory& m);

/// Answers PeerReady.
struct PeerReadyReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const PeerReadyReply& m);
bool decode(wire::View body, PeerReadyReply& m);

struct PeerReady {
  static constexpr std::uint16_t kOp = 0x207c;
  static constexpr char kName[] = "PeerReady";
  using Reply = PeerReadyReply;
  std::uint64_t peer = 0;
};
void encode(wire::Bytes& out, const PeerReady& m);
bool decode(wire::View body, PeerReady& m);

struct PeerClose {
  static constexpr std::uint16_t kOp = 0x207d;
  static constexpr char kName[] = "PeerClose";
  std::uint64_t peer = 0;
};
void encode(wire::Bytes& out, const PeerClose& m);
bool decode(wire::View body, PeerClose& m);

struct SignalPeer {
  static constexpr std::uint16_t kOp = 0x207e;
  static constexpr char kName[] = "SignalPeer";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t peer = 0;
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const SignalPeer& m);
bool decode(wire::View body, SignalPeer& m);

struct AwaitPeer {
  static constexpr std::uint16_t kOp = 0x207f;
  static constexpr char kName[] = "AwaitPeer";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t peer = 0;
  std::uint64_t ticket = 0;
};
void encode(wire::Bytes& out, const AwaitPeer& m);
bool decode(wire::View body, AwaitPeer& m);

/// Answers CollectiveVersion.
struct CollectiveVersionReply {
  std::int32_t status = 0;
  std::int32_t version = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const CollectiveVersionReply& m);
bool decode(wire::View body, CollectiveVersionReply& m);

struct CollectiveVersion {
  static constexpr std::uint16_t kOp = 0x2080;
  static constexpr char kName[] = "CollectiveVersion";
  using Reply = CollectiveVersionReply;
};
void encode(wire::Bytes& out, const CollectiveVersion& m);
bool decode(wire::View body, CollectiveVersion& m);

/// Answers CollectiveId.
struct CollectiveIdReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  wire::View id{};
  std::string_view text{};
};
void encode(wire::Bytes& out, const CollectiveIdReply& m);
bool decode(wire::View body, CollectiveIdReply& m);

struct CollectiveId {
  static constexpr std::uint16_t kOp = 0x2081;
  static constexpr char kName[] = "CollectiveId";
  using Reply = CollectiveIdReply;
};
void encode(wire::Bytes& out, const CollectiveId& m);
bool decode(wire::View body, CollectiveId& m);

/// Answers JoinCollectives.
struct JoinCollectivesReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const JoinCollectivesReply& m);
bool decode(wire::View body, JoinCollectivesReply& m);

struct JoinCollectives {
  static constexpr std::uint16_t kOp = 0x2082;
  static constexpr char kName[] = "JoinCollectives";
  using Reply = JoinCollectivesReply;
  std::uint64_t context = 0;
  std::uint64_t communicator = 0;
  std::uint32_t ranks = 0;
  std::uint32_t rank = 0;
  wire::View id{};
};
void encode(wire::Bytes& out, const JoinCollectives& m);
bool decode(wire::View body, JoinCollectives& m);

struct Collectives {
  static constexpr std::uint16_t kOp = 0x2083;
  static constexpr char kName[] = "Collectives";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t communicator = 0;
  std::vector<Collective> calls{};
};
void encode(wire::Bytes& out, const Collectives& m);
bool decode(wire::View body, Collectives& m);

/// Answers SplitCollectives.
struct SplitCollectivesReply {
  std::int32_t status = 0;
  std::uint32_t ranks = 0;
  std::uint32_t rank = 0;
  std::uint32_t reserved = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const SplitCollectivesReply& m);
bool decode(wire::View body, SplitCollectivesReply& m);

struct SplitCollectives {
  static constexpr std::uint16_t kOp = 0x2085;
  static constexpr char kName[] = "SplitCollectives";
  using Reply = SplitCollectivesReply;
  std::uint64_t communicator = 0;
  std::uint64_t made = 0;
  std::int32_t color = 0;
  std::int32_t key = 0;
};
void encode(wire::Bytes& out, const SplitCollectives& m);
bool decode(wire::View body, SplitCollectives& m);

/// Answers EndCollectives.
struct EndCollectivesReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
};
void encode(wire::Bytes& out, const EndCollectivesReply& m);
bool decode(wire::View body, EndCollectivesReply& m);

struct EndCollectives {
  static constexpr std::uint16_t kOp = 0x2084;
  static constexpr char kName[] = "EndCollectives";
  using Reply = EndCollectivesReply;
  std::uint64_t communicator = 0;
  std::uint32_t how = 0;
  std::uint32_t reserved = 0;
};
void encode(wire::Bytes& out, const EndCollectives& m);
bool decode(wire::View body, EndCollectives& m);

/// Answers RestoreImage.
struct RestoreImageReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const RestoreImageReply& m);
bool decode(wire::View body, RestoreImageReply& m);

struct RestoreImage {
  static constexpr std::uint16_t kOp = 0x2090;
  static constexpr char kName[] = "RestoreImage";
  using Reply = RestoreImageReply;
  wire::View hash{};
  wire::Payload image{};
};
void encode(wire::Bytes& out, const RestoreImage& m);
bool decode(wire::View body, RestoreImage& m);

/// Answers RestoreMessage.
struct RestoreMessageReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const RestoreMessageReply& m);
bool decode(wire::View body, RestoreMessageReply& m);

struct RestoreMessage {
  static constexpr std::uint16_t kOp = 0x2091;
  static constexpr char kName[] = "RestoreMessage";
  using Reply = RestoreMessageReply;
  std::uint32_t op = 0;
  std::uint32_t reserved = 0;
  std::uint64_t number = 0;
  wire::View body{};
  wire::View expected{};
};
void encode(wire::Bytes& out, const RestoreMessage& m);
bool decode(wire::View body, RestoreMessage& m);

/// Answers RestoreMemory.
struct RestoreMemoryReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const RestoreMemoryReply& m);
bool decode(wire::View body, RestoreMemoryReply& m);

struct RestoreMemory {
  static constexpr std::uint16_t kOp = 0x2092;
  static constexpr char kName[] = "RestoreMemory";
  using Reply = RestoreMemoryReply;
  std::uint64_t context = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint32_t device = 0;
  std::uint32_t is_from_pool = 0;
};
void encode(wire::Bytes& out, const RestoreMemory& m);
bool decode(wire::View body, RestoreMemory& m);

/// Answers RestoreVariables.
struct RestoreVariablesReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const RestoreVariablesReply& m);
bool decode(wire::View body, RestoreVariablesReply& m);

struct RestoreVariables {
  static constexpr std::uint16_t kOp = 0x2093;
  static constexpr char kName[] = "RestoreVariables";
  using Reply = RestoreVariablesReply;
  std::uint64_t context = 0;
  std::uint64_t module = 0;
  std::span<const std::uint64_t> addresses{};
};
void encode(wire::Bytes& out, const RestoreVariables& m);
bool decode(wire::View body, RestoreVariables& m);

/// Answers RestoreBytes.
struct RestoreBytesReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const RestoreBytesReply& m);
bool decode(wire::View body, RestoreBytesReply& m);

struct RestoreBytes {
  static constexpr std::uint16_t kOp = 0x2094;
  static constexpr char kName[] = "RestoreBytes";
  using Reply = RestoreBytesReply;
  std::uint64_t context = 0;
  std::uint64_t address = 0;
  wire::Payload data{};
};
void encode(wire::Bytes& out, const RestoreBytes& m);
bool decode(wire::View body, RestoreBytes& m);

/// Answers RestoreContext.
struct RestoreContextReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const RestoreContextReply& m);
bool decode(wire::View body, RestoreContextReply& m);

struct RestoreContext {
  static constexpr std::uint16_t kOp = 0x2095;
  static constexpr char kName[] = "RestoreContext";
  using Reply = RestoreContextReply;
  std::uint64_t context = 0;
  std::uint64_t stack = 0;
};
void encode(wire::Bytes& out, const RestoreContext& m);
bool decode(wire::View body, RestoreContext& m);

struct RestoreEvent {
  static constexpr std::uint16_t kOp = 0x2096;
  static constexpr char kName[] = "RestoreEvent";
  std::uint64_t event = 0;
  std::uint64_t reserved = 0;
  double milliseconds = 0;
};
void encode(wire::Bytes& out, const RestoreEvent& m);
bool decode(wire::View body, RestoreEvent& m);

/// Answers TakeOver.
struct TakeOverReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const TakeOverReply& m);
bool decode(wire::View body, TakeOverReply& m);

struct TakeOver {
  static constexpr std::uint16_t kOp = 0x2097;
  static constexpr char kName[] = "TakeOver";
  using Reply = TakeOverReply;
  std::uint64_t number = 0;
  wire::View session{};
  wire::Payload state{};
};
void encode(wire::Bytes& out, const TakeOver& m);
bool decode(wire::View body, TakeOver& m);

/// Answers Replicate.
struct ReplicateReply {
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
};
void encode(wire::Bytes& out, const ReplicateReply& m);
bool decode(wire::View body, ReplicateReply& m);

struct Replicate {
  static constexpr std::uint16_t kOp = 0x2098;
  static constexpr char kName[] = "Replicate";
  using Reply = ReplicateReply;
  std::uint64_t layout = 0;
};
void encode(wire::Bytes& out, const Replicate& m);
bool decode(wire::View body, Replicate& m);

/// Answers ShareObject.
struct ShareObjectReply {
  std::int32_t status = 0;
  std::uint32_t is_mapped = 0;
  std::uint64_t size = 0;
  wire::View secret{};
};
void encode(wire::Bytes& out, const ShareObjectReply& m);
bool decode(wire::View body, ShareObjectReply& m);

struct ShareObject {
  static constexpr std::uint16_t kOp = 0x20a0;
  static constexpr char kName[] = "ShareObject";
  using Reply = ShareObjectReply;
  std::uint64_t object = 0;
  std::uint64_t address = 0;
};
void encode(wire::Bytes& out, const ShareObject& m);
bool decode(wire::View body, ShareObject& m);

/// Answers OpenMemory.
struct OpenMemoryReply {
  std::int32_t status = 0;
  std::uint32_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const OpenMemoryReply& m);
bool decode(wire::View body, OpenMemoryReply& m);

struct OpenMemory {
  static constexpr std::uint16_t kOp = 0x20a1;
  static constexpr char kName[] = "OpenMemory";
  using Reply = OpenMemoryReply;
  std::uint64_t context = 0;
  std::uint64_t at = 0;
  wire::View secret{};
};
void encode(wire::Bytes& out, const OpenMemory& m);
bool decode(wire::View body, OpenMemory& m);

/// Answers CloseMemory.
struct CloseMemoryReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CloseMemoryReply& m);
bool decode(wire::View body, CloseMemoryReply& m);

struct CloseMemory {
  static constexpr std::uint16_t kOp = 0x20a2;
  static constexpr char kName[] = "CloseMemory";
  using Reply = CloseMemoryReply;
  std::uint64_t context = 0;
  std::uint64_t address = 0;
};
void encode(wire::Bytes& out, const CloseMemory& m);
bool decode(wire::View body, CloseMemory& m);

/// Answers OpenEvent.
struct OpenEventReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const OpenEventReply& m);
bool decode(wire::View body, OpenEventReply& m);

struct OpenEvent {
  static constexpr std::uint16_t kOp = 0x20a3;
  static constexpr char kName[] = "OpenEvent";
  using Reply = OpenEventReply;
  std::uint64_t context = 0;
  std::uint64_t event = 0;
  wire::View secret{};
};
void encode(wire::Bytes& out, const OpenEvent& m);
bool decode(wire::View body, OpenEvent& m);

/// Answers OpenPhysical.
struct OpenPhysicalReply {
  std::int32_t status = 0;
  std::uint32_t device = 0;
  std::uint64_t size = 0;
};
void encode(wire::Bytes& out, const OpenPhysicalReply& m);
bool decode(wire::View body, OpenPhysicalReply& m);

struct OpenPhysical {
  static constexpr std::uint16_t kOp = 0x20a4;
  static constexpr char kName[] = "OpenPhysical";
  using Reply = OpenPhysicalReply;
  std::uint64_t memory = 0;
  wire::View secret{};
};
void encode(wire::Bytes& out, const OpenPhysical& m);
bool decode(wire::View body, OpenPhysical& m);

struct Failed {
  static constexpr std::uint16_t kOp = 0x20f0;
  static constexpr char kName[] = "Failed";
  std::uint64_t context = 0;
  std::uint32_t op = 0;
  std::int32_t status = 0;
  std::uint64_t object = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const Failed& m);
bool decode(wire::View body, Failed& m);

struct RunHostFunction {
  static constexpr std::uint16_t kOp = 0x20f1;
  static constexpr char kName[] = "RunHostFunction";
  std::uint64_t function = 0;
  std::uint64_t run = 0;
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const RunHostFunction& m);
bool decode(wire::View body, RunHostFunction& m);

struct EventReached {
  static constexpr std::uint16_t kOp = 0x20f2;
  static constexpr char kName[] = "EventReached";
  std::uint64_t event = 0;
  std::uint64_t number = 0;
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const EventReached& m);
bool decode(wire::View body, EventReached& m);

struct Printed {
  static constexpr std::uint16_t kOp = 0x20f3;
  static constexpr char kName[] = "Printed";
  wire::View text{};
};
void encode(wire::Bytes& out, const Printed& m);
bool decode(wire::View body, Printed& m);

struct Changed {
  static constexpr std::uint16_t kOp = 0x20f4;
  static constexpr char kName[] = "Changed";
  std::vector<Range> ranges{};
  wire::View data{};
};
void encode(wire::Bytes& out, const Changed& m);
bool decode(wire::View body, Changed& m);

struct CollectivesFailed {
  static constexpr std::uint16_t kOp = 0x20f5;
  static constexpr char kName[] = "CollectivesFailed";
  std::uint64_t communicator = 0;
  std::int32_t status = 0;
  std::uint32_t reserved = 0;
  std::string_view text{};
};
void encode(wire::Bytes& out, const CollectivesFailed& m);
bool decode(wire::View body, CollectivesFailed& m);

/// Answers DeviceGetTexture1dLinearMaxWidth.
struct DeviceGetTexture1dLinearMaxWidthReply {
  std::int32_t status = 0;
  std::uint64_t max_width_in_elements = 0;
};
void encode(wire::Bytes& out, const DeviceGetTexture1dLinearMaxWidthReply& m);
bool decode(wire::View body, DeviceGetTexture1dLinearMaxWidthReply& m);

struct DeviceGetTexture1dLinearMaxWidth {
  static constexpr std::uint16_t kOp = 0x2100;
  static constexpr char kName[] = "DeviceGetTexture1dLinearMaxWidth";
  using Reply = DeviceGetTexture1dLinearMaxWidthReply;
  std::uint64_t context = 0;
  std::uint32_t format = 0;
  std::uint32_t num_channels = 0;
  std::uint32_t dev = 0;
};
void encode(wire::Bytes& out, const DeviceGetTexture1dLinearMaxWidth& m);
bool decode(wire::View body, DeviceGetTexture1dLinearMaxWidth& m);

struct CtxSetFlags {
  static constexpr std::uint16_t kOp = 0x2101;
  static constexpr char kName[] = "CtxSetFlags";
  std::uint64_t context = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const CtxSetFlags& m);
bool decode(wire::View body, CtxSetFlags& m);

struct CtxSetCacheConfig {
  static constexpr std::uint16_t kOp = 0x2102;
  static constexpr char kName[] = "CtxSetCacheConfig";
  std::uint64_t context = 0;
  std::uint32_t config = 0;
};
void encode(wire::Bytes& out, const CtxSetCacheConfig& m);
bool decode(wire::View body, CtxSetCacheConfig& m);

struct CtxResetPersistingL2Cache {
  static constexpr std::uint16_t kOp = 0x2103;
  static constexpr char kName[] = "CtxResetPersistingL2Cache";
  std::uint64_t context = 0;
};
void encode(wire::Bytes& out, const CtxResetPersistingL2Cache& m);
bool decode(wire::View body, CtxResetPersistingL2Cache& m);

struct CtxRecordEvent {
  static constexpr std::uint16_t kOp = 0x2104;
  static constexpr char kName[] = "CtxRecordEvent";
  std::uint64_t context = 0;
  std::uint64_t ctx = 0;
  std::uint64_t event = 0;
};
void encode(wire::Bytes& out, const CtxRecordEvent& m);
bool decode(wire::View body, CtxRecordEvent& m);

struct CtxWaitEvent {
  static constexpr std::uint16_t kOp = 0x2105;
  static constexpr char kName[] = "CtxWaitEvent";
  std::uint64_t context = 0;
  std::uint64_t ctx = 0;
  std::uint64_t event = 0;
};
void encode(wire::Bytes& out, const CtxWaitEvent& m);
bool decode(wire::View body, CtxWaitEvent& m);

/// Answers KernelSetAttribute.
struct KernelSetAttributeReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const KernelSetAttributeReply& m);
bool decode(wire::View body, KernelSetAttributeReply& m);

struct KernelSetAttribute {
  static constexpr std::uint16_t kOp = 0x2106;
  static constexpr char kName[] = "KernelSetAttribute";
  using Reply = KernelSetAttributeReply;
  std::uint64_t context = 0;
  std::uint32_t attrib = 0;
  std::int32_t val = 0;
  std::uint64_t kernel = 0;
  std::uint32_t dev = 0;
};
void encode(wire::Bytes& out, const KernelSetAttribute& m);
bool decode(wire::View body, KernelSetAttribute& m);

struct KernelSetCacheConfig {
  static constexpr std::uint16_t kOp = 0x2107;
  static constexpr char kName[] = "KernelSetCacheConfig";
  std::uint64_t context = 0;
  std::uint64_t kernel = 0;
  std::uint32_t config = 0;
  std::uint32_t dev = 0;
};
void encode(wire::Bytes& out, const KernelSetCacheConfig& m);
bool decode(wire::View body, KernelSetCacheConfig& m);

/// Answers ArrayGetMemoryRequirements.
struct ArrayGetMemoryRequirementsReply {
  std::int32_t status = 0;
  wire::View memory_requirements{};
};
void encode(wire::Bytes& out, const ArrayGetMemoryRequirementsReply& m);
bool decode(wire::View body, ArrayGetMemoryRequirementsReply& m);

struct ArrayGetMemoryRequirements {
  static constexpr std::uint16_t kOp = 0x2108;
  static constexpr char kName[] = "ArrayGetMemoryRequirements";
  using Reply = ArrayGetMemoryRequirementsReply;
  std::uint64_t context = 0;
  std::uint64_t array = 0;
  std::uint32_t device = 0;
};
void encode(wire::Bytes& out, const ArrayGetMemoryRequirements& m);
bool decode(wire::View body, ArrayGetMemoryRequirements& m);

/// Answers MipmappedArrayGetMemoryRequirements.
struct MipmappedArrayGetMemoryRequirementsReply {
  std::int32_t status = 0;
  wire::View memory_requirements{};
};
void encode(wire::Bytes& out, const MipmappedArrayGetMemoryRequirementsReply& m);
bool decode(wire::View body, MipmappedArrayGetMemoryRequirementsReply& m);

struct MipmappedArrayGetMemoryRequirements {
  static constexpr std::uint16_t kOp = 0x2109;
  static constexpr char kName[] = "MipmappedArrayGetMemoryRequirements";
  using Reply = MipmappedArrayGetMemoryRequirementsReply;
  std::uint64_t context = 0;
  std::uint64_t mipmap = 0;
  std::uint32_t device = 0;
};
void encode(wire::Bytes& out, const MipmappedArrayGetMemoryRequirements& m);
bool decode(wire::View body, MipmappedArrayGetMemoryRequirements& m);

/// Answers ArrayGetPlane.
struct ArrayGetPlaneReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const ArrayGetPlaneReply& m);
bool decode(wire::View body, ArrayGetPlaneReply& m);

struct ArrayGetPlane {
  static constexpr std::uint16_t kOp = 0x210a;
  static constexpr char kName[] = "ArrayGetPlane";
  using Reply = ArrayGetPlaneReply;
  std::uint64_t context = 0;
  std::uint64_t plane_array = 0;
  std::uint64_t array = 0;
  std::uint32_t plane_idx = 0;
};
void encode(wire::Bytes& out, const ArrayGetPlane& m);
bool decode(wire::View body, ArrayGetPlane& m);

/// Answers MipmappedArrayGetLevel.
struct MipmappedArrayGetLevelReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const MipmappedArrayGetLevelReply& m);
bool decode(wire::View body, MipmappedArrayGetLevelReply& m);

struct MipmappedArrayGetLevel {
  static constexpr std::uint16_t kOp = 0x210b;
  static constexpr char kName[] = "MipmappedArrayGetLevel";
  using Reply = MipmappedArrayGetLevelReply;
  std::uint64_t context = 0;
  std::uint64_t level_array = 0;
  std::uint64_t mipmapped_array = 0;
  std::uint32_t level = 0;
};
void encode(wire::Bytes& out, const MipmappedArrayGetLevel& m);
bool decode(wire::View body, MipmappedArrayGetLevel& m);

/// Answers MemGetAccess.
struct MemGetAccessReply {
  std::int32_t status = 0;
  std::uint64_t flags = 0;
};
void encode(wire::Bytes& out, const MemGetAccessReply& m);
bool decode(wire::View body, MemGetAccessReply& m);

struct MemGetAccess {
  static constexpr std::uint16_t kOp = 0x210c;
  static constexpr char kName[] = "MemGetAccess";
  using Reply = MemGetAccessReply;
  std::uint64_t context = 0;
  wire::View location{};
  std::uint64_t ptr = 0;
};
void encode(wire::Bytes& out, const MemGetAccess& m);
bool decode(wire::View body, MemGetAccess& m);

struct MemPoolTrimTo {
  static constexpr std::uint16_t kOp = 0x210d;
  static constexpr char kName[] = "MemPoolTrimTo";
  std::uint64_t context = 0;
  std::uint64_t pool = 0;
  std::uint64_t min_bytes_to_keep = 0;
};
void encode(wire::Bytes& out, const MemPoolTrimTo& m);
bool decode(wire::View body, MemPoolTrimTo& m);

struct MemPoolSetAccess {
  static constexpr std::uint16_t kOp = 0x210e;
  static constexpr char kName[] = "MemPoolSetAccess";
  std::uint64_t context = 0;
  std::uint64_t pool = 0;
  wire::View map{};
};
void encode(wire::Bytes& out, const MemPoolSetAccess& m);
bool decode(wire::View body, MemPoolSetAccess& m);

/// Answers MemPoolGetAccess.
struct MemPoolGetAccessReply {
  std::int32_t status = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const MemPoolGetAccessReply& m);
bool decode(wire::View body, MemPoolGetAccessReply& m);

struct MemPoolGetAccess {
  static constexpr std::uint16_t kOp = 0x210f;
  static constexpr char kName[] = "MemPoolGetAccess";
  using Reply = MemPoolGetAccessReply;
  std::uint64_t context = 0;
  std::uint64_t mem_pool = 0;
  wire::View location{};
};
void encode(wire::Bytes& out, const MemPoolGetAccess& m);
bool decode(wire::View body, MemPoolGetAccess& m);

struct StreamWaitEvent {
  static constexpr std::uint16_t kOp = 0x2110;
  static constexpr char kName[] = "StreamWaitEvent";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t event = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const StreamWaitEvent& m);
bool decode(wire::View body, StreamWaitEvent& m);

struct StreamCopyAttributes {
  static constexpr std::uint16_t kOp = 0x2111;
  static constexpr char kName[] = "StreamCopyAttributes";
  std::uint64_t context = 0;
  std::uint64_t dst_stream = 0;
  std::uint64_t src_stream = 0;
};
void encode(wire::Bytes& out, const StreamCopyAttributes& m);
bool decode(wire::View body, StreamCopyAttributes& m);

struct EventRecord {
  static constexpr std::uint16_t kOp = 0x2112;
  static constexpr char kName[] = "EventRecord";
  std::uint64_t context = 0;
  std::uint64_t event = 0;
  std::uint64_t stream = 0;
};
void encode(wire::Bytes& out, const EventRecord& m);
bool decode(wire::View body, EventRecord& m);

struct EventRecordWithFlags {
  static constexpr std::uint16_t kOp = 0x2113;
  static constexpr char kName[] = "EventRecordWithFlags";
  std::uint64_t context = 0;
  std::uint64_t event = 0;
  std::uint64_t stream = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const EventRecordWithFlags& m);
bool decode(wire::View body, EventRecordWithFlags& m);

struct StreamWaitValue32 {
  static constexpr std::uint16_t kOp = 0x2114;
  static constexpr char kName[] = "StreamWaitValue32";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t addr = 0;
  std::uint32_t value = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const StreamWaitValue32& m);
bool decode(wire::View body, StreamWaitValue32& m);

struct StreamWaitValue64 {
  static constexpr std::uint16_t kOp = 0x2115;
  static constexpr char kName[] = "StreamWaitValue64";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t addr = 0;
  std::uint64_t value = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const StreamWaitValue64& m);
bool decode(wire::View body, StreamWaitValue64& m);

struct StreamWriteValue32 {
  static constexpr std::uint16_t kOp = 0x2116;
  static constexpr char kName[] = "StreamWriteValue32";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t addr = 0;
  std::uint32_t value = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const StreamWriteValue32& m);
bool decode(wire::View body, StreamWriteValue32& m);

struct StreamWriteValue64 {
  static constexpr std::uint16_t kOp = 0x2117;
  static constexpr char kName[] = "StreamWriteValue64";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  std::uint64_t addr = 0;
  std::uint64_t value = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const StreamWriteValue64& m);
bool decode(wire::View body, StreamWriteValue64& m);

struct StreamBatchMemOp {
  static constexpr std::uint16_t kOp = 0x2118;
  static constexpr char kName[] = "StreamBatchMemOp";
  std::uint64_t context = 0;
  std::uint64_t stream = 0;
  wire::View param_array{};
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const StreamBatchMemOp& m);
bool decode(wire::View body, StreamBatchMemOp& m);

/// Answers FuncSetAttribute.
struct FuncSetAttributeReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const FuncSetAttributeReply& m);
bool decode(wire::View body, FuncSetAttributeReply& m);

struct FuncSetAttribute {
  static constexpr std::uint16_t kOp = 0x2119;
  static constexpr char kName[] = "FuncSetAttribute";
  using Reply = FuncSetAttributeReply;
  std::uint64_t context = 0;
  std::uint64_t hfunc = 0;
  std::uint32_t attrib = 0;
  std::int32_t value = 0;
};
void encode(wire::Bytes& out, const FuncSetAttribute& m);
bool decode(wire::View body, FuncSetAttribute& m);

struct FuncSetCacheConfig {
  static constexpr std::uint16_t kOp = 0x211a;
  static constexpr char kName[] = "FuncSetCacheConfig";
  std::uint64_t context = 0;
  std::uint64_t hfunc = 0;
  std::uint32_t config = 0;
};
void encode(wire::Bytes& out, const FuncSetCacheConfig& m);
bool decode(wire::View body, FuncSetCacheConfig& m);

/// Answers FuncIsLoaded.
struct FuncIsLoadedReply {
  std::int32_t status = 0;
  std::uint32_t state = 0;
};
void encode(wire::Bytes& out, const FuncIsLoadedReply& m);
bool decode(wire::View body, FuncIsLoadedReply& m);

struct FuncIsLoaded {
  static constexpr std::uint16_t kOp = 0x211b;
  static constexpr char kName[] = "FuncIsLoaded";
  using Reply = FuncIsLoadedReply;
  std::uint64_t context = 0;
  std::uint64_t function = 0;
};
void encode(wire::Bytes& out, const FuncIsLoaded& m);
bool decode(wire::View body, FuncIsLoaded& m);

struct FuncLoad {
  static constexpr std::uint16_t kOp = 0x211c;
  static constexpr char kName[] = "FuncLoad";
  std::uint64_t context = 0;
  std::uint64_t function = 0;
};
void encode(wire::Bytes& out, const FuncLoad& m);
bool decode(wire::View body, FuncLoad& m);

struct FuncSetSharedMemConfig {
  static constexpr std::uint16_t kOp = 0x211d;
  static constexpr char kName[] = "FuncSetSharedMemConfig";
  std::uint64_t context = 0;
  std::uint64_t hfunc = 0;
  std::uint32_t config = 0;
};
void encode(wire::Bytes& out, const FuncSetSharedMemConfig& m);
bool decode(wire::View body, FuncSetSharedMemConfig& m);

struct GraphUpload {
  static constexpr std::uint16_t kOp = 0x2124;
  static constexpr char kName[] = "GraphUpload";
  std::uint64_t context = 0;
  std::uint64_t graph = 0;
  std::uint64_t stream = 0;
};
void encode(wire::Bytes& out, const GraphUpload& m);
bool decode(wire::View body, GraphUpload& m);

/// Answers OccupancyMaxActiveBlocksPerMultiprocessorWithFlags.
struct OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply {
  std::int32_t status = 0;
  std::int32_t num_blocks = 0;
};
void encode(wire::Bytes& out, const OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply& m);
bool decode(wire::View body, OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply& m);

struct OccupancyMaxActiveBlocksPerMultiprocessorWithFlags {
  static constexpr std::uint16_t kOp = 0x2127;
  static constexpr char kName[] = "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags";
  using Reply = OccupancyMaxActiveBlocksPerMultiprocessorWithFlagsReply;
  std::uint64_t context = 0;
  std::uint64_t func = 0;
  std::int32_t block_size = 0;
  std::uint64_t dynamic_smem_size = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const OccupancyMaxActiveBlocksPerMultiprocessorWithFlags& m);
bool decode(wire::View body, OccupancyMaxActiveBlocksPerMultiprocessorWithFlags& m);

/// Answers OccupancyAvailableDynamicSmemPerBlock.
struct OccupancyAvailableDynamicSmemPerBlockReply {
  std::int32_t status = 0;
  std::uint64_t dynamic_smem_size = 0;
};
void encode(wire::Bytes& out, const OccupancyAvailableDynamicSmemPerBlockReply& m);
bool decode(wire::View body, OccupancyAvailableDynamicSmemPerBlockReply& m);

struct OccupancyAvailableDynamicSmemPerBlock {
  static constexpr std::uint16_t kOp = 0x2128;
  static constexpr char kName[] = "OccupancyAvailableDynamicSmemPerBlock";
  using Reply = OccupancyAvailableDynamicSmemPerBlockReply;
  std::uint64_t context = 0;
  std::uint64_t func = 0;
  std::int32_t num_blocks = 0;
  std::int32_t block_size = 0;
};
void encode(wire::Bytes& out, const OccupancyAvailableDynamicSmemPerBlock& m);
bool decode(wire::View body, OccupancyAvailableDynamicSmemPerBlock& m);

struct TexObjectDestroy {
  static constexpr std::uint16_t kOp = 0x2129;
  static constexpr char kName[] = "TexObjectDestroy";
  std::uint64_t context = 0;
  std::uint64_t tex_object = 0;
};
void encode(wire::Bytes& out, const TexObjectDestroy& m);
bool decode(wire::View body, TexObjectDestroy& m);

struct SurfObjectDestroy {
  static constexpr std::uint16_t kOp = 0x212a;
  static constexpr char kName[] = "SurfObjectDestroy";
  std::uint64_t context = 0;
  std::uint64_t surf_object = 0;
};
void encode(wire::Bytes& out, const SurfObjectDestroy& m);
bool decode(wire::View body, SurfObjectDestroy& m);

/// Answers CtxEnablePeerAccess.
struct CtxEnablePeerAccessReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CtxEnablePeerAccessReply& m);
bool decode(wire::View body, CtxEnablePeerAccessReply& m);

struct CtxEnablePeerAccess {
  static constexpr std::uint16_t kOp = 0x212b;
  static constexpr char kName[] = "CtxEnablePeerAccess";
  using Reply = CtxEnablePeerAccessReply;
  std::uint64_t context = 0;
  std::uint64_t peer_context = 0;
  std::uint32_t flags = 0;
};
void encode(wire::Bytes& out, const CtxEnablePeerAccess& m);
bool decode(wire::View body, CtxEnablePeerAccess& m);

/// Answers CtxDisablePeerAccess.
struct CtxDisablePeerAccessReply {
  std::int32_t status = 0;
};
void encode(wire::Bytes& out, const CtxDisablePeerAccessReply& m);
bool decode(wire::View body, CtxDisablePeerAccessReply& m);

struct CtxDisablePeerAccess {
  static constexpr std::uint16_t kOp = 0x212c;
  static constexpr char kName[] = "CtxDisablePeerAccess";
  using Reply = CtxDisablePeerAccessReply;
  std::uint64_t context = 0;
  std::uint64_t peer_context = 0;
};
void encode(wire::Bytes& out, const CtxDisablePeerAccess& m);
bool decode(wire::View body, CtxDisablePeerAccess& m);

}  // namespace flexrack::cu
