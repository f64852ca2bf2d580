#include "sim/driver/copy_work.h"

#include <cstring>

#include "sim/driver/settings.h"

namespace flexrack::sim {
namespace {

Side::Kind kind_of(const Allocation& allocation) {
  return allocation.is_host() ? Side::Kind::pinned : Side::Kind::device;
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  require(!__builtin_mul_overflow(a, b, &product));
  return product;
}

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  require(!__builtin_add_overflow(a, b, &sum));
  return sum;
}

struct Half {
  CUmemorytype type;
  std::uint64_t host, device;
  CUarray array;
  std::size_t x, y, z, lod, pitch, height;
};

Side side_of(const Half& half, const CUDA_MEMCPY3D& as) {
  const auto width = as.WidthInBytes, height = as.Height, depth = as.Depth;
  require(half.lod == 0);
  if (half.type == CU_MEMORYTYPE_ARRAY)
    return Side::array_box(array_of(half.array), half.x, half.y, half.z, width, height, depth);
  const bool is_plane = height == 1 && depth == 1;
  const auto pitch = half.pitch ? half.pitch : plus(half.x, width);
  require(pitch >= plus(half.x, width) || (is_plane && half.y == 0 && half.z == 0));
  const auto rows = half.height ? half.height : plus(half.y, height);
  require(rows >= plus(half.y, height) || depth == 1);
  const auto slice = times(pitch, rows);
  const auto base = half.type == CU_MEMORYTYPE_HOST ? half.host : half.device;
  require(base != 0);
  const auto first = plus(plus(base, times(half.z, slice)), plus(times(half.y, pitch), half.x));
  const auto size = plus(plus(times(depth - 1, slice), times(height - 1, pitch)), width);
  Side side;
  switch (half.type) {
    case CU_MEMORYTYPE_HOST:
    case CU_MEMORYTYPE_UNIFIED: side = Side::anywhere(first, size); break;
    case CU_MEMORYTYPE_DEVICE: side = Side::device_memory(first, size); break;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
  side.row_pitch = pitch;
  side.slice_pitch = slice;
  return side;
}

}  // namespace

Side Side::anywhere(std::uint64_t address, std::uint64_t size) {
  Side side;
  side.address = address;
  side.allocation = Memory::instance().find(address);
  if (!side.allocation) return side;
  if (side.allocation->kind == Allocation::Kind::mapped) side.allocation = allocation_of(address, size);
  else require(side.allocation->holds(address, size), CUDA_ERROR_INVALID_VALUE, "a copy over the end of an allocation");
  side.kind = kind_of(*side.allocation);
  return side;
}

Side Side::device_memory(std::uint64_t address, std::uint64_t size) {
  Side side;
  side.address = address;
  side.allocation = allocation_of(address, size);
  side.kind = kind_of(*side.allocation);
  return side;
}

Side Side::array_box(Ref<Array> array, std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint64_t width,
                     std::uint64_t height, std::uint64_t depth) {
  const auto row = array->descriptor.Width * array->element;
  require(x <= row && width <= row - x && y <= array->rows && height <= array->rows - y && z <= array->slices &&
              depth <= array->slices - z,
          CUDA_ERROR_INVALID_VALUE, "a copy over the edge of an array");
  Side side;
  side.kind = Kind::device;
  side.address = array->data + z * array->slice_pitch + y * array->row_pitch + x;
  side.row_pitch = array->row_pitch;
  side.slice_pitch = array->slice_pitch;
  side.array = std::move(array);
  return side;
}

CopyWork::CopyWork(Side dst, Side src, std::uint64_t wide, std::uint64_t high, std::uint64_t deep)
    : to(std::move(dst)), from(std::move(src)), width(wide), height(high), depth(deep) {}

std::shared_ptr<CopyWork> CopyWork::described_by(const CUDA_MEMCPY3D& given) {
  auto as = given;
  if (as.WidthInBytes == 0 || as.Height == 0 || as.Depth == 0)
    return std::make_shared<CopyWork>(Side{}, Side{}, 0, 0, 0);
  const auto host = [](const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  auto target = side_of({as.dstMemoryType, host(as.dstHost), as.dstDevice, as.dstArray, as.dstXInBytes, as.dstY,
                         as.dstZ, as.dstLOD, as.dstPitch, as.dstHeight},
                        as);
  auto source = side_of({as.srcMemoryType, host(as.srcHost), as.srcDevice, as.srcArray, as.srcXInBytes, as.srcY,
                         as.srcZ, as.srcLOD, as.srcPitch, as.srcHeight},
                        as);
  require(!target.array || !source.array || target.array->element == source.array->element, CUDA_ERROR_INVALID_VALUE,
          "arrays with texels of different size");
  auto made = std::make_shared<CopyWork>(std::move(target), std::move(source), as.WidthInBytes, as.Height, as.Depth);
  made->description = given;
  return made;
}

Worker* CopyWork::worker(Device& device) const {
  if (to.kind != Side::Kind::device) return &device.copies_out;
  return from.kind != Side::Kind::device ? &device.copies_in : &device.copies_within;
}

void CopyWork::execute(Context& context) const {
  if (bytes() == 0) return;
  if (is_fault_due("copy")) fail(CUDA_ERROR_ECC_UNCORRECTABLE, "a copy failed, as FLEXRACK_SIM_FAULT asks for");
  pass_latency();
  auto& device = context.device;
  auto& engine = to.kind != Side::Kind::device     ? device.engine_out
                 : from.kind != Side::Kind::device ? device.engine_in
                                                   : device.engine_within;
  const auto until = engine.reserve(bytes());
  move();
  // Of what comes from the device, so that whoever compares it with another device's has something to find.
  if (to.kind != Side::Kind::device && from.kind == Side::Kind::device && is_fault_due("flip"))
    *reinterpret_cast<std::byte*>(to.address) ^= std::byte{1};
  sleep_until(until);
}

void CopyWork::move() const {
  auto* target = reinterpret_cast<std::byte*>(to.address);
  const auto* source = reinterpret_cast<const std::byte*>(from.address);
  if ((height == 1 || (to.row_pitch == width && from.row_pitch == width)) &&
      (depth == 1 || (to.slice_pitch == width * height && from.slice_pitch == width * height))) {
    std::memmove(target, source, bytes());
    return;
  }
  for (std::uint64_t z = 0; z < depth; ++z) {
    for (std::uint64_t y = 0; y < height; ++y) {
      std::memmove(target + z * to.slice_pitch + y * to.row_pitch, source + z * from.slice_pitch + y * from.row_pitch,
                   width);
    }
  }
}

std::shared_ptr<CopyWork> CopyWork::staged() const {
  auto memory = std::make_shared<std::vector<std::byte>>(bytes());
  Side stage;
  stage.kind = Side::Kind::pinned;
  stage.address = reinterpret_cast<std::uint64_t>(memory->data());
  stage.row_pitch = width;
  stage.slice_pitch = width * height;
  CopyWork(stage, from, width, height, depth).move();
  auto made = std::make_shared<CopyWork>(to, std::move(stage), width, height, depth);
  made->staging_ = std::move(memory);
  return made;
}

CUDA_MEMCPY3D CopyWork::described() const {
  if (description.WidthInBytes > 0 || bytes() == 0) return description;
  // One that came as addresses and a size.
  CUDA_MEMCPY3D as{};
  as.srcMemoryType = as.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  as.srcDevice = from.address;
  as.dstDevice = to.address;
  as.srcPitch = as.dstPitch = width;
  as.srcHeight = as.dstHeight = 1;
  as.WidthInBytes = width;
  as.Height = height;
  as.Depth = depth;
  return as;
}

namespace {

/// A copy that is in the order of other contexts, too: behind all that is in their default streams and what these wait
/// for, and before all that comes later there.
class BetweenDevices final : public Work {
 public:
  BetweenDevices(std::shared_ptr<CopyWork> copy, std::vector<Ref<Context>> others)
      : copy_(std::move(copy)), others_(std::move(others)) {
    for (const auto& other : others_) {
      const auto place = Command::marker(other);
      other->legacy()->append(place, {&behind_, behind_ ? 1u : 0u});
      behind_ = place;
    }
  }
  Worker* worker(Device& device) const override { return copy_->worker(device); }
  void execute(Context& context) const override { copy_->execute(context); }
  CUgraphNodeType type() const override { return copy_->type(); }
  Ref<Command> prerequisite() const override { return behind_; }
  void submitted(const Ref<Command>& command) const override {
    for (const auto& other : others_) other->legacy()->append(Command::marker(other), {&command, 1});
  }

 private:
  const std::shared_ptr<CopyWork> copy_;
  const std::vector<Ref<Context>> others_;
  Ref<Command> behind_;
};

/// CUDA C++ Programming Guide, "Peer-to-Peer Memory Copy": in the default stream a copy between the memories of two
/// devices starts when all commands issued to either are over, and those issued later wait for it.
WorkPointer in_order_of_both(Stream& stream, const std::shared_ptr<CopyWork>& copy) {
  if (stream.kind != Stream::Kind::legacy || copy->bytes() == 0) return copy;
  const auto elsewhere = [&](const Side& side) -> const Device* {
    const auto* device = side.allocation ? side.allocation->device : nullptr;
    return device == &stream.context->device ? nullptr : device;
  };
  const auto *to = elsewhere(copy->to), *from = elsewhere(copy->from);
  if (!to && !from) return copy;
  std::vector<Ref<Context>> others;
  for (const auto& one : active_contexts())
    if ((&one->device == to || &one->device == from) && !one->has_captures()) others.push_back(one);
  if (others.empty()) return copy;
  return std::make_shared<BetweenDevices>(copy, std::move(others));
}

}  // namespace

void enqueue_copy(Stream& stream, const std::shared_ptr<CopyWork>& copy) {
  if (!copy->touches_host() && !stream.capture()) return enqueue(stream, in_order_of_both(stream, copy));
  constexpr std::uint64_t kMostStaged = std::uint64_t{64} << 20;
  if (!copy->touches_pageable() || stream.capture() || copy->bytes() == 0) return enqueue(stream, copy);
  const bool is_host_only = copy->to.kind != Side::Kind::device && copy->from.kind != Side::Kind::device;
  if (copy->to.kind == Side::Kind::pageable || is_host_only || copy->bytes() > kMostStaged)
    return carry_out(stream, copy);
  enqueue(stream, copy->staged());
}

void carry_out_copy(Stream& stream, const std::shared_ptr<CopyWork>& copy) {
  if (!copy->touches_host()) {
    require_not_captured(stream);
    return enqueue(stream, in_order_of_both(stream, copy));
  }
  carry_out(stream, copy);
}

CUDA_MEMCPY3D as_3d(const CUDA_MEMCPY2D& as) {
  CUDA_MEMCPY3D out{};
  out.srcXInBytes = as.srcXInBytes;
  out.srcY = as.srcY;
  out.srcMemoryType = as.srcMemoryType;
  out.srcHost = as.srcHost;
  out.srcDevice = as.srcDevice;
  out.srcArray = as.srcArray;
  out.srcPitch = as.srcPitch;
  out.dstXInBytes = as.dstXInBytes;
  out.dstY = as.dstY;
  out.dstMemoryType = as.dstMemoryType;
  out.dstHost = as.dstHost;
  out.dstDevice = as.dstDevice;
  out.dstArray = as.dstArray;
  out.dstPitch = as.dstPitch;
  out.WidthInBytes = as.WidthInBytes;
  out.Height = as.Height;
  out.Depth = 1;
  return out;
}

CUDA_MEMCPY3D as_3d(const CUDA_MEMCPY3D_PEER& as) {
  CUDA_MEMCPY3D out{};
  out.srcXInBytes = as.srcXInBytes;
  out.srcY = as.srcY;
  out.srcZ = as.srcZ;
  out.srcLOD = as.srcLOD;
  out.srcMemoryType = as.srcMemoryType;
  out.srcHost = as.srcHost;
  out.srcDevice = as.srcDevice;
  out.srcArray = as.srcArray;
  out.srcPitch = as.srcPitch;
  out.srcHeight = as.srcHeight;
  out.dstXInBytes = as.dstXInBytes;
  out.dstY = as.dstY;
  out.dstZ = as.dstZ;
  out.dstLOD = as.dstLOD;
  out.dstMemoryType = as.dstMemoryType;
  out.dstHost = as.dstHost;
  out.dstDevice = as.dstDevice;
  out.dstArray = as.dstArray;
  out.dstPitch = as.dstPitch;
  out.dstHeight = as.dstHeight;
  out.WidthInBytes = as.WidthInBytes;
  out.Height = as.Height;
  out.Depth = as.Depth;
  return out;
}

}  // namespace flexrack::sim
