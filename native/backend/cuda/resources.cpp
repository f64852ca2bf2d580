// What is made and thrown away without much ado: pools, arrays, textures, linked images, and the end of any object.
#include "backend/cuda/image_check.h"
#include "backend/cuda/load_options.h"
#include "backend/cuda/call_context.h"

namespace flexrack::backend::cuda {
namespace {

constexpr std::size_t kMostShown = 1 << 20;   ///< textures and surfaces

/// Bytes of one element of an array (CUarray_format, cuda.h 13.0); 0: a format whose size we do not know.
std::uint64_t element_bytes(std::uint32_t format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
  }
}

}  // namespace

void Session::on(const cu::Release& m) {
  CallContext call(*this, m.kOp, 0);
  auto record = handles_.take(m.object);
  if (!record || record->kind == Kind::context || record->kind == Kind::loaded) {
    if (record) handles_.insert(m.object, Record(std::move(*record)));
    call.fail(CUDA_ERROR_INVALID_HANDLE);
    return call.end();
  }
  if (record->context != 0) make_current(record->context);
  const auto release = [&](auto function, auto native) { call.run(function, native); };
  if (record->kind == Kind::module || record->kind == Kind::library) mirrors_.forget_owner(m.object);
  switch (record->kind) {
    case Kind::stream: release(table_.cuStreamDestroy_v2, static_cast<CUstream>(record->native)); break;
    case Kind::event: break;  // with the last who waits for it
    case Kind::module: release(table_.cuModuleUnload, static_cast<CUmodule>(record->native)); break;
    case Kind::library: release(table_.cuLibraryUnload, static_cast<CUlibrary>(record->native)); break;
    case Kind::graph: if (record->owner == 0) release(table_.cuGraphDestroy, static_cast<CUgraph>(record->native)); break;
    case Kind::exec: release(table_.cuGraphExecDestroy, static_cast<CUgraphExec>(record->native)); break;
    case Kind::pool: if (record->flags == 0) release(table_.cuMemPoolDestroy, static_cast<CUmemoryPool>(record->native)); break;
    case Kind::array: if (record->owner == 0) release(table_.cuArrayDestroy, static_cast<CUarray>(record->native)); break;
    case Kind::mipmap: release(table_.cuMipmappedArrayDestroy, static_cast<CUmipmappedArray>(record->native)); break;
    case Kind::memory: release(table_.cuMemRelease, reinterpret_cast<CUmemGenericAllocationHandle>(record->native)); break;
    case Kind::latch: open_latch(m.object); break;
    default: break;  // kernels, functions and nodes go with what they are part of
  }
  refund(record->device, record->charged);
  drop_owned(m.object, record->kind);
  stops_.erase(m.object);
  graph_errors_.erase(m.object);
  graph_memory_.erase(m.object);
  exec_memory_.erase(m.object);
  call.end();
}

// ---- pools

void Session::on(const cu::DefaultPool& m) {
  CallContext call(*this, m.kOp, 0);
  CUmemoryPool pool = nullptr;
  call.run(table_.cuDeviceGetDefaultMemPool, &pool, call.device(m.device));
  if (auto* record = call.keep(m.pool, pool)) {
    record->device = m.device;
    record->flags = 1;  // not ours to destroy
  }
  call.end();
}

void Session::on(const cu::CreatePool& m, Respond<cu::CreatePoolReply> respond) {
  CallContext call(*this, m.kOp, 0);
  CUmemPoolProps wish{};
  wish.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wish.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wish.location.id = call.device(m.device);
  wish.maxSize = m.maximum;
  wish.usage = static_cast<unsigned short>(m.flags);
  CUmemoryPool pool = nullptr;
  call.run(table_.cuMemPoolCreate, &pool, &wish);
  if (auto* record = call.keep(m.pool, pool)) record->device = m.device;
  else if (pool) table_.cuMemPoolDestroy(pool);
  respond({.status = as_wire(call.status())});
}

void Session::on(const cu::AllocateFromPool& m, Respond<cu::AllocateFromPoolReply> respond) {
  behind_frees([this, m, answer = std::make_shared<Respond<cu::AllocateFromPoolReply>>(std::move(respond))] { allocate(m, *answer); });
}

void Session::allocate(const cu::AllocateFromPool& m, Respond<cu::AllocateFromPoolReply>& respond) {
  CallContext call(*this, m.kOp, m.context);
  call.in_context();
  const auto stream = call.get<CUstream>(m.stream);
  auto* pool = m.pool != 0 ? call.record(m.pool, Kind::pool) : nullptr;
  if (!call.is_good()) return respond({.status = as_wire(call.status())});
  const auto device = pool ? pool->device : device_of(m.context);
  if (!charge(device, m.size)) return respond({.status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)});
  CUdeviceptr address = 0;
  if (pool) call.run(table_.cuMemAllocFromPoolAsync, &address, static_cast<size_t>(m.size), static_cast<CUmemoryPool>(pool->native), stream);
  else call.run(table_.cuMemAllocAsync, &address, static_cast<size_t>(m.size), stream);
  if (call.is_good()) know(address, {.sort = Allocation::Sort::from_pool, .device = device, .context = m.context, .size = m.size, .charged = m.size});
  else refund(device, m.size);
  respond({.status = as_wire(call.status()), .address = address});
}

/// Free for the next who asks on that stream at once, as the API has it; the share too, since the next bytes are the same ones.
void Session::on(const cu::FreeToPool& m) {
  CallContext call(*this, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  const auto found = allocations_.find(m.address);
  call.check(found != allocations_.end() && (found->second.sort == Allocation::Sort::from_pool || found->second.sort == Allocation::Sort::plain));
  if (call.run(table_.cuMemFreeAsync, m.address, stream)) {
    refund(found->second.device, found->second.charged);
    allocations_.erase(found);
  }
  call.end();
}

namespace {

/// Those of cuda.h 13.0 are an int or 64 bits; what a driver will add may be larger than what it is given room for.
bool is_number(CUmemPool_attribute which) { return which >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES && which <= CU_MEMPOOL_ATTR_USED_MEM_HIGH; }

}  // namespace

void Session::on(const cu::SetPoolAttribute& m) {
  CallContext call(*this, m.kOp, 0);
  auto value = m.value;
  call.check(is_number(static_cast<CUmemPool_attribute>(m.which)));
  call.run(table_.cuMemPoolSetAttribute, call.get<CUmemoryPool>(m.pool), static_cast<CUmemPool_attribute>(m.which), static_cast<void*>(&value));
  call.end();
}

void Session::on(const cu::PoolAttribute& m, Respond<cu::PoolAttributeReply> respond) {
  CallContext call(*this, m.kOp, 0);
  std::uint64_t value = 0;  // an int or a cuuint64_t; little-endian, so both are read well
  call.check(is_number(static_cast<CUmemPool_attribute>(m.which)));
  call.run(table_.cuMemPoolGetAttribute, call.get<CUmemoryPool>(m.pool), static_cast<CUmemPool_attribute>(m.which), static_cast<void*>(&value));
  respond({.status = as_wire(call.status()), .value = value});
}

// ---- arrays, textures, surfaces

void Session::on(const cu::CreateArray& m, Respond<cu::CreateArrayReply> respond) {
  CallContext call(*this, m.kOp, m.context);
  call.in_context();
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  shape.Width = m.shape.width, shape.Height = m.shape.height, shape.Depth = m.shape.depth;
  shape.Format = static_cast<CUarray_format>(m.shape.format);
  shape.NumChannels = m.shape.channels;
  shape.Flags = m.shape.flags;
  const auto element = element_bytes(m.shape.format) * m.shape.channels;
  std::uint64_t bytes = element;
  for (const auto extent : {m.shape.width, std::max<std::uint64_t>(m.shape.height, 1), std::max<std::uint64_t>(m.shape.depth, 1)}) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) call.fail(CUDA_ERROR_INVALID_VALUE);
  }
  if (element == 0) call.fail(CUDA_ERROR_NOT_SUPPORTED);  // what it costs cannot be charged
  if (m.shape.levels > 1) bytes += bytes / 2;             // all smaller levels together are less than that
  if (!call.is_good()) return respond({.status = as_wire(call.status())});
  const auto device = device_of(m.context);
  if (!charge(device, bytes)) return respond({.status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)});
  Record* record = nullptr;
  if (m.shape.levels == 0) {
    CUarray made = nullptr;
    call.run(table_.cuArray3DCreate_v2, &made, &shape);
    record = call.keep(m.array, made);
    if (!record && made) table_.cuArrayDestroy(made);
  } else {
    CUmipmappedArray made = nullptr;
    call.run(table_.cuMipmappedArrayCreate, &made, &shape, m.shape.levels);
    record = call.keep(m.array, made);
    if (!record && made) table_.cuMipmappedArrayDestroy(made);
  }
  if (record) {
    record->device = device;
    record->charged = bytes;
  } else {
    refund(device, bytes);
  }
  respond({.status = as_wire(call.status())});
}

CUDA_RESOURCE_DESC Session::resource(CallContext& call, const cu::Resource& reported) {
  CUDA_RESOURCE_DESC found{};
  found.resType = static_cast<CUresourcetype>(reported.kind);
  found.flags = reported.flags;
  switch (found.resType) {
    case CU_RESOURCE_TYPE_ARRAY: found.res.array.hArray = call.get<CUarray>(reported.object); break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: found.res.mipmap.hMipmappedArray = call.get<CUmipmappedArray>(reported.object); break;
    case CU_RESOURCE_TYPE_LINEAR:
      call.address(reported.object, reported.width);
      found.res.linear = {reported.object, static_cast<CUarray_format>(reported.format), reported.channels, static_cast<size_t>(reported.width)};
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      call.rows(reported.object, reported.pitch, call.product(reported.width, element_bytes(reported.format) * reported.channels), reported.height, 0, 1);
      found.res.pitch2D = {reported.object, static_cast<CUarray_format>(reported.format), reported.channels, static_cast<size_t>(reported.width), static_cast<size_t>(reported.height), static_cast<size_t>(reported.pitch)};
      break;
    default: call.fail(CUDA_ERROR_INVALID_VALUE);
  }
  return found;
}

void Session::on(const cu::CreateTexture& m, Respond<cu::CreateTextureReply> respond) {
  CallContext call(*this, m.kOp, m.context);
  call.in_context();
  const auto shown = resource(call, m.resource);
  const auto how = call.flat<CUDA_TEXTURE_DESC>(m.texture);
  CUDA_RESOURCE_VIEW_DESC view{};
  if (!m.view.empty()) view = call.flat<CUDA_RESOURCE_VIEW_DESC>(m.view);
  CUtexObject made = 0;
  if (shown_.size() >= kMostShown) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (call.run(table_.cuTexObjectCreate, &made, &shown, &how, m.view.empty() ? nullptr : &view)) shown_[{false, made}] = m.context;
  respond({.status = as_wire(call.status()), .object = made});
}

void Session::on(const cu::CreateSurface& m, Respond<cu::CreateSurfaceReply> respond) {
  CallContext call(*this, m.kOp, m.context);
  call.in_context();
  const auto shown = resource(call, m.resource);
  CUsurfObject made = 0;
  if (shown_.size() >= kMostShown) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (call.run(table_.cuSurfObjectCreate, &made, &shown)) shown_[{true, made}] = m.context;
  respond({.status = as_wire(call.status()), .object = made});
}

// ---- linking, occupancy

namespace {

/// What is linked, whole before the driver sees any of it.
struct Linking {
  struct Input {
    std::uint32_t kind;
    std::string name;
    wire::Bytes data;
    LoadOptions options;
  };
  Linking(const cu::Link& m, wire::Respond<cu::LinkReply>&& answer) : context(m.context), options(m.options), respond(std::move(answer)) {}
  const std::uint64_t context;
  LoadOptions options;
  std::vector<Input> inputs{};
  std::atomic<std::size_t> missing{1};   ///< inputs on their way, and the message itself
  std::atomic<bool> is_lost{false};
  wire::Respond<cu::LinkReply> respond;
};

}  // namespace

void Session::on(const cu::Link& m, Respond<cu::LinkReply> respond) {
  constexpr std::size_t kMostInputs = 4096, kMostBytes = std::size_t{1} << 30;
  CallContext call(*this, m.kOp, m.context);
  call.may_wait();
  const bool is_possible = call.is_good() && m.inputs.size() <= kMostInputs;
  if (!is_possible) {
    for (const auto& one : m.inputs) if (!one.data.is_inline()) link_->cancel(one.data.ticket);
    return respond({.status = as_wire(call.is_good() ? CUDA_ERROR_OUT_OF_MEMORY : call.status())});
  }
  auto linking = std::make_shared<Linking>(m, std::move(respond));
  std::size_t bytes = 0;
  for (const auto& one : m.inputs) {
    bytes += one.data.size;
    if (one.data.size > kMostBytes || bytes > kMostBytes || !linking->options.is_passable()) linking->is_lost = true;
    linking->inputs.push_back({one.kind, std::string(one.name), wire::Bytes(linking->is_lost ? 0 : one.data.size + 1), LoadOptions(one.options)});
  }
  const auto arrived = [this, linking] {
    if (linking->missing.fetch_sub(1) != 1) return;
    for (const auto& input : linking->inputs) {
      const auto known = input.data.empty() ? CUDA_ERROR_INVALID_IMAGE : check_input(input.kind, wire::View(input.data).first(input.data.size() - 1));
      if (known != CUDA_SUCCESS || !input.options.is_passable()) linking->is_lost = true;
    }
    if (linking->is_lost) return linking->respond({.status = as_wire(CUDA_ERROR_INVALID_IMAGE)});
    later(linking->context, [this, linking] {
      CUlinkState state = nullptr;
      auto& options = linking->options;
      auto status = table_.cuLinkCreate_v2(options.jit_count(), options.jit(), options.jit_values(), &state);
      for (auto& one : linking->inputs) {
        if (status != CUDA_SUCCESS) break;
        // Text counts its zero; anything else is as long as it is.
        const auto size = one.data.size() - (one.kind == CU_JIT_INPUT_PTX ? 0 : 1);
        status = table_.cuLinkAddData_v2(state, static_cast<CUjitInputType>(one.kind), one.data.data(), size, one.name.c_str(), 0, nullptr, nullptr);
      }
      void* image = nullptr;
      size_t size = 0;
      if (status == CUDA_SUCCESS) status = table_.cuLinkComplete(state, &image, &size);
      const auto info = options.info_log(), error = options.error_log();
      linking->respond({.status = as_wire(status), .info_log = info, .error_log = error, .image = {static_cast<const std::uint8_t*>(image), status == CUDA_SUCCESS ? size : 0}});
      if (state) table_.cuLinkDestroy(state);
    });
  };
  for (std::size_t i = 0; i < m.inputs.size(); ++i) {
    const auto& data = m.inputs[i].data;
    auto& into = linking->inputs[i].data;
    if (data.is_inline()) {
      if (!into.empty()) std::memcpy(into.data(), data.inline_data.data(), data.size);
    } else if (into.empty()) {
      link_->cancel(data.ticket);
    } else {
      ++linking->missing;
      link_->land(data.ticket, {into.data(), data.size}, [linking, arrived](bool has_arrived) {
        if (!has_arrived) linking->is_lost = true;
        arrived();
      });
    }
  }
  arrived();
}

void Session::on(const cu::OccupancyOfClusters& m, Respond<cu::OccupancyOfClustersReply> respond) {
  CallContext call(*this, m.kOp, m.context);
  const auto function = call.launched(m.kernel);
  auto attributes = launch_attributes(call, m.attributes);
  CUlaunchConfig how{};
  how.gridDimX = m.grid.x, how.gridDimY = m.grid.y, how.gridDimZ = m.grid.z;
  how.blockDimX = m.block.x, how.blockDimY = m.block.y, how.blockDimZ = m.block.z;
  how.sharedMemBytes = m.shared_bytes;
  how.hStream = call.get<CUstream>(m.stream);
  how.attrs = attributes.data();
  how.numAttrs = static_cast<unsigned>(attributes.size());
  int value = 0;
  call.run(m.is_active != 0 ? table_.cuOccupancyMaxActiveClusters : table_.cuOccupancyMaxPotentialClusterSize, &value, function, &how);
  respond({.status = as_wire(call.status()), .value = value});
}

}  // namespace flexrack::backend::cuda
