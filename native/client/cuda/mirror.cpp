#include "client/cuda/mirror.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "client/cuda/launch.h"
#include "client/cuda/transfer.h"
#include "client/cuda/written_pages.h"
#include "client/trace.h"
#include "cuda/difference.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {

/// At one server.
struct MirrorAt {
  CudaServer* server = nullptr;
  CUcontext context = nullptr;         ///< in which it is registered there: it goes with it; null: in none
  std::uint64_t context_handle = 0;
  std::uint64_t address = 0;
  std::uint8_t* twin = nullptr;        ///< what both sides last agreed on; pages of its own
  std::shared_ptr<PageSet> written{};  ///< that may differ from the twin; under `sending`, null where nobody watches them
  std::uint64_t shown_at = 0;          ///< sync_epoch when its bytes were last compared, and a kernel may use them since
  bool is_there() const { return !context || (is_live(context) && context->handle == context_handle); }
};

struct Mirror {
  std::uint8_t* host = nullptr;
  std::uint64_t size = 0;
  bool is_managed = false, is_variable = false, is_read_only = false;
  bool is_watched = false;             ///< under `sending`: the system says which of its pages were written to
  unsigned attached = CU_MEM_ATTACH_GLOBAL;
  CUlibrary library = nullptr;         ///< of a variable, where it is a library's
  std::string name{};
  std::vector<MirrorAt> at;

  Mirror() = default;
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;
  ~Mirror() {
    for (const auto& one : at) ::munmap(one.twin, size);
  }
};

std::atomic<std::uint64_t> sync_epoch{1};

namespace {

constexpr std::uint64_t kSent = std::uint64_t{1} << 20;      ///< bytes a message, about
constexpr std::size_t kMostRangesSent = 16 * 1024;
constexpr std::uint64_t kComparedStep = std::uint64_t{1} << 20;
constexpr std::uint64_t kWatchedFrom = 64 * 1024;            ///< smaller memory is compared faster than the system is asked
constexpr int kPlaces = 16;
constexpr std::uint64_t kLowest = std::uint64_t{0x10} << 40, kHighest = std::uint64_t{0x50} << 40, kApart = std::uint64_t{2} << 20;

/// Never destroyed.
struct AllMirrors {
  /// Held over comparing and sending: a launch that finds nothing new comes after what another one found. Whoever reads never takes it.
  std::mutex sending;
  std::mutex lock;                     ///< of the rest, and of twins while they are compared or written
  std::map<std::uint64_t, std::shared_ptr<Mirror>> by_host;
  std::map<std::pair<const CudaServer*, std::uint64_t>, std::shared_ptr<Mirror>> by_address;
};

AllMirrors& mirrors() {
  static auto& all = *new AllMirrors;
  return all;
}

std::uint64_t page_here() {
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return page;
}

std::uint64_t up_to_page(std::uint64_t size) { return (size + page_here() - 1) / page_here() * page_here(); }

std::uint8_t* map_memory_here(std::uint64_t at, std::uint64_t size) {
  void* const wish = reinterpret_cast<void*>(at);
  void* const got = ::mmap(wish, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at != 0 ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  if (got == MAP_FAILED) return nullptr;
  if (at == 0 || got == wish) return static_cast<std::uint8_t*>(got);
  ::munmap(got, size);
  return nullptr;
}

/// Between what programs and their libraries usually have at both ends of 47 bits: nothing is there in this process, nor most likely at any server.
std::uint64_t some_place(std::uint64_t size) {
  static std::mutex lock;
  static std::mt19937_64 random{std::random_device{}()};
  const std::lock_guard guard(lock);
  return kLowest + random() % ((kHighest - kLowest - size) / kApart) * kApart;
}

MirrorAt* find_at(Mirror& mirror, const CudaServer* server) {
  for (auto& one : mirror.at) if (one.server == server && one.is_there()) return &one;
  return nullptr;
}

/// Its place at that server, made where there is none; `at`: exactly there, or 0. Waits, so not under the lock.
CUresult place_at(CUcontext context, const std::shared_ptr<Mirror>& mirror, std::uint64_t at) {
  auto& all = mirrors();
  std::uint64_t address = 0;
  const unsigned flags = mirror->is_read_only ? CU_MEMHOSTREGISTER_READ_ONLY : 0;
  auto status = kLost;
  context->server->session->call(cu::Allocate{.context = context->handle, .at = at, .size = mirror->size, .kind = 1, .flags = flags}, [&](const auto& reply) {
    status = static_cast<CUresult>(reply.status);
    address = reply.address;
  });
  if (status == CUDA_ERROR_OUT_OF_MEMORY && is_traced()) trace(context->server->lease.node + " mirrors no more memory of this lease");
  if (status != CUDA_SUCCESS) return status;
  auto* const twin = map_memory_here(0, mirror->size);
  if (!twin) {
    context->server->session->send(cu::Free{.context = context->handle, .address = address});
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const std::lock_guard guard(all.lock);
  std::erase_if(mirror->at, [&](const MirrorAt& one) {
    if (one.server != context->server) return false;
    all.by_address.erase({one.server, one.address});
    ::munmap(one.twin, mirror->size);
    return true;
  });
  mirror->at.push_back({.server = context->server, .context = context, .context_handle = context->handle, .address = address, .twin = twin});
  all.by_address[{context->server, address}] = mirror;
  has_mirrors.store(true);
  return CUDA_SUCCESS;
}

/// A managed variable is where that server's code has it.
CUresult add_variable_at(CudaServer& server, CUcontext context, const std::shared_ptr<Mirror>& mirror, std::uint64_t address, wire::View content) {
  auto* const twin = map_memory_here(0, mirror->size);
  if (!twin) return CUDA_ERROR_OUT_OF_MEMORY;
  std::copy(content.begin(), content.end(), twin);
  const std::lock_guard guard(mirrors().lock);
  mirror->at.push_back({.server = &server, .context = context, .context_handle = context ? context->handle : 0, .address = address, .twin = twin});
  mirrors().by_address[{&server, address}] = mirror;
  has_mirrors.store(true);
  return CUDA_SUCCESS;
}

/// Code of the library that has been loaded at another server too has the variable there, at an address of its own.
CUresult find_variable_at(CudaServer& server, const std::shared_ptr<Mirror>& mirror) {
  if (!mirror->library || !is_live(mirror->library)) return CUDA_SUCCESS;
  std::uint64_t loaded = 0;
  {
    const std::lock_guard guard(mirror->library->lock);
    for (const auto& [where, one] : mirror->library->loaded) if (where.first == &server) loaded = one.handle;
  }
  if (loaded == 0) return CUDA_SUCCESS;
  auto status = kLost;
  server.session->call(cu::FindVariable{.context = 0, .module = loaded, .is_managed = 1, .name = mirror->name}, [&](const auto& reply) {
    status = static_cast<CUresult>(reply.status);
    if (status == CUDA_SUCCESS && (reply.size != mirror->size || reply.content.size() > reply.size)) status = CUDA_ERROR_UNKNOWN;
    if (status == CUDA_SUCCESS) status = add_variable_at(server, nullptr, mirror, reply.address, reply.content);
  });
  return status;
}

void remember(const std::shared_ptr<Mirror>& mirror) {
  const std::lock_guard guard(mirrors().lock);
  mirrors().by_host[reinterpret_cast<std::uint64_t>(mirror->host)] = mirror;
}

/// Messages for what has changed.
struct Outgoing {
  Session& session;
  std::vector<cu::Range> ranges;
  wire::Bytes data;
  bool send() {
    if (ranges.empty()) return true;
    const bool is_sent = session.send(cu::WriteRanges{.ranges = ranges, .data = data});
    ranges.clear();
    data.clear();
    return is_sent;
  }
};

/// Under `sending`. What was written since goes into the sets of all servers.
void note_written(Mirror& mirror) {
  const auto pages = up_to_page(mirror.size) / page_here();
  for (auto& one : mirror.at) if (!one.written) one.written = std::make_shared<PageSet>(pages, true);
  mirror.is_watched = each_written(mirror.host, pages * page_here(), [&](std::uint64_t from, std::uint64_t to) {
    for (auto& one : mirror.at) one.written->add(from / page_here(), to / page_here());
  });
  if (!mirror.is_watched) for (auto& one : mirror.at) one.written.reset();
}

/// Under `sending`. What the application has changed goes to the server.
bool send_changes(const std::shared_ptr<Mirror>& mirror, const CudaServer* server, Outgoing& out) {
  auto& all = mirrors();
  const auto epoch = sync_epoch.load();
  std::shared_ptr<PageSet> written;
  {
    const std::lock_guard guard(all.lock);
    auto* const place = find_at(*mirror, server);
    if (!place) return true;
    // Where comparing is dear: managed memory is the device's from the first launch to the next synchronisation (CUDA C++ Programming Guide, without
    // concurrent access), so nothing has changed since. What is attached to a stream or to the host keeps other rules.
    const bool is_dear = mirror->size >= kWatchedFrom && !mirror->is_watched;
    if (is_dear && mirror->is_managed && mirror->attached == CU_MEM_ATTACH_GLOBAL && place->shown_at == epoch) return true;
    place->shown_at = epoch;
    if (mirror->is_watched) note_written(*mirror);
    written = place->written;
  }
  const auto compare = [&](std::uint64_t at, std::uint64_t size) {
    {
      const std::lock_guard guard(all.lock);
      auto* const place = find_at(*mirror, server);
      if (!place) return true;
      flexrack::cuda::take_changes(mirror->host + at, place->twin + at, size, [&](std::size_t offset, wire::View bytes) {
        out.ranges.push_back({place->address + at + offset, bytes.size()});
        out.data.insert(out.data.end(), bytes.begin(), bytes.end());
      });
    }
    return (out.data.size() < kSent && out.ranges.size() < kMostRangesSent) || out.send();
  };
  bool is_sent = true;
  if (written) written->take([&](std::uint64_t page) { is_sent = is_sent && compare(page * page_here(), std::min(page_here(), mirror->size - page * page_here())); });
  else for (std::uint64_t at = 0; is_sent && at < mirror->size; at += kComparedStep) is_sent = compare(at, std::min(kComparedStep, mirror->size - at));
  return is_sent;
}

std::vector<std::shared_ptr<Mirror>> all_mirrors() {
  std::vector<std::shared_ptr<Mirror>> found;
  const std::lock_guard guard(mirrors().lock);
  for (const auto& [host, mirror] : mirrors().by_host) found.push_back(mirror);
  return found;
}

std::shared_ptr<Mirror> mirror_of(std::uint64_t address, std::size_t size) {
  const std::lock_guard guard(mirrors().lock);
  auto after = mirrors().by_host.upper_bound(address);
  if (after == mirrors().by_host.begin()) return nullptr;
  --after;
  const auto offset = address - after->first;
  return offset < after->second->size && size <= after->second->size - offset ? after->second : nullptr;
}

/// A context at every other server that already has one: memory of this process is everybody's.
std::vector<CUcontext> other_contexts(const CudaServer* but) {
  std::vector<CUcontext> found;
  for (const auto* device : process()->devices) {
    const bool is_known = device->server == but || std::any_of(found.begin(), found.end(), [&](CUcontext one) { return one->server == device->server; });
    if (!is_known && device->primary->handle != 0) found.push_back(device->primary);
  }
  return found;
}

}  // namespace

std::atomic<std::int64_t> unmirrored{0};

bool is_mirrored(std::uint64_t address) { return has_mirrors.load(std::memory_order_relaxed) && mirror_of(address, 1) != nullptr; }

std::uint64_t device_address(std::uint64_t address) {
  const auto now = thread_state.current;
  const auto mirror = has_mirrors.load(std::memory_order_relaxed) && now && is_live(now) ? mirror_of(address, 1) : nullptr;
  if (!mirror) return address;
  const std::lock_guard guard(mirrors().lock);
  const auto* const place = find_at(*mirror, now->server);
  return place ? place->address + (address - reinterpret_cast<std::uint64_t>(mirror->host)) : address;
}

CUresult mirror_arguments(CUcontext context, wire::View parameters) {
  for (std::size_t at = 0; at + 8 <= parameters.size(); at += 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, parameters.data() + at, 8);
    // Pinned memory is there and nowhere else (map_for_mirror), so most numbers are none of it.
    if (value < kLowest || value >= kHighest) continue;
    const auto known = find_allocation(value);
    if (!known || known->sort != Allocation::Sort::host || is_mirrored(value)) continue;
    std::uint64_t address = 0;
    if (const auto status = mirror_host(context, *known, address); status != CUDA_SUCCESS) return status;
  }
  return CUDA_SUCCESS;
}

std::uint8_t* map_for_mirror(std::uint64_t bytes) {
  for (int attempt = 0; attempt < kPlaces; ++attempt) if (auto* const at = map_memory_here(some_place(bytes), bytes)) return at;
  return nullptr;
}

void attach_mirror(const Allocation& memory, unsigned flags) {
  const std::lock_guard guard(mirrors().lock);
  if (const auto mirror = std::static_pointer_cast<Mirror>(memory.more)) mirror->attached = flags;
}

CUresult make_mirrored(Call& call, CUcontext context, Allocation& made) {
  if (!call.settle()) return call.error();
  const auto bytes = up_to_page(made.size);
  for (int attempt = 0; attempt < kPlaces; ++attempt) {
    auto* const host = map_memory_here(some_place(bytes), bytes);
    if (!host) continue;
    const auto at = reinterpret_cast<std::uint64_t>(host);
    const auto mirror = std::make_shared<Mirror>();
    mirror->host = host;
    mirror->size = made.size;
    mirror->is_managed = made.sort == Allocation::Sort::managed;
    mirror->is_watched = bytes >= kWatchedFrom && watch_pages(host, bytes);
    if (mirror->is_managed) mirror->attached = made.flags;
    auto status = place_at(context, mirror, at);
    for (const auto other : other_contexts(context->server)) if (status == CUDA_SUCCESS) status = place_at(other, mirror, at);
    // Both sides are all zeros, so nothing differs that nobody has written to from here on.
    if (status == CUDA_SUCCESS && mirror->is_watched && each_written(host, bytes, [](std::uint64_t, std::uint64_t) {})) {
      for (auto& one : mirror->at) one.written = std::make_shared<PageSet>(bytes / page_here(), false);
    }
    made.base = at;
    made.more = mirror;
    if (status == CUDA_SUCCESS && add_allocation(made)) {
      remember(mirror);
      return CUDA_SUCCESS;
    }
    drop_mirror(made);
    ::munmap(host, bytes);
    if (status != CUDA_ERROR_ALREADY_MAPPED && status != CUDA_SUCCESS) return status;
  }
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mirror_variable(const VariableIn& in, const char* name, Allocation made, wire::View content) {
  auto mirror = mirror_of(made.base, made.size);
  if (mirror) return CUDA_SUCCESS;  // found under another context
  if (content.size() > made.size || !keep_addresses(made.base, made.size)) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto page = up_to_page(1), first = made.base / page * page;
  ::mprotect(reinterpret_cast<void*>(first), up_to_page(made.base + made.size - first), PROT_READ | PROT_WRITE);
  mirror = std::make_shared<Mirror>();
  mirror->host = reinterpret_cast<std::uint8_t*>(made.base);
  mirror->size = made.size;
  mirror->is_managed = mirror->is_variable = true;
  mirror->library = in.library;
  mirror->name = name;
  std::fill_n(mirror->host, made.size, std::uint8_t{0});
  std::copy(content.begin(), content.end(), mirror->host);
  made.kept = made.size;
  made.server = nullptr;
  made.flags = CU_MEM_ATTACH_GLOBAL;
  made.more = mirror;
  auto status = add_variable_at(*in.device.server, in.context, mirror, made.base, content);
  if (status == CUDA_SUCCESS && !add_allocation(made)) status = CUDA_ERROR_OUT_OF_MEMORY;
  if (status != CUDA_SUCCESS) {
    drop_mirror(made);
    let_addresses_go(made.base, made.size);
    return status;
  }
  remember(mirror);
  return CUDA_SUCCESS;
}

CUresult mirror_host(CUcontext context, const Allocation& memory, std::uint64_t& address) {
  auto mirror = mirror_of(memory.base, memory.size);
  if (!mirror) {
    mirror = std::make_shared<Mirror>();
    mirror->host = reinterpret_cast<std::uint8_t*>(memory.base);
    mirror->size = memory.size;
    // Memory of the application's own is left alone: nothing is known of whose pages it shares, and what it is made of.
    mirror->is_watched = memory.sort == Allocation::Sort::host && memory.size >= kWatchedFrom && watch_pages(mirror->host, up_to_page(memory.size));
    mirror->is_read_only = memory.sort == Allocation::Sort::registered && (memory.flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0;
  }
  {
    const std::lock_guard guard(mirrors().lock);
    if (const auto* place = find_at(*mirror, context->server)) return address = place->address, CUDA_SUCCESS;
  }
  auto status = place_at(context, mirror, memory.base);
  // Registered memory may be elsewhere for the device: cuMemHostGetDevicePointer says where.
  if (status == CUDA_ERROR_ALREADY_MAPPED && memory.sort == Allocation::Sort::registered) status = place_at(context, mirror, 0);
  if (status != CUDA_SUCCESS) return status == CUDA_ERROR_ALREADY_MAPPED ? CUDA_ERROR_OUT_OF_MEMORY : status;
  remember(mirror);
  const std::lock_guard guard(mirrors().lock);
  const auto* const place = find_at(*mirror, context->server);
  if (!place) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  address = place->address;
  return CUDA_SUCCESS;
}

void drop_mirror(const Allocation& gone) {
  auto& all = mirrors();
  std::shared_ptr<Mirror> mirror = std::static_pointer_cast<Mirror>(gone.more);
  const std::lock_guard one_by_one(all.sending);
  {
    const std::lock_guard guard(all.lock);
    if (const auto found = all.by_host.find(gone.base); found != all.by_host.end()) {
      mirror = found->second;
      all.by_host.erase(found);
    }
    if (!mirror) return;
    for (const auto& one : mirror->at) all.by_address.erase({one.server, one.address});
  }
  for (const auto& one : mirror->at) {
    if (one.is_there() && !mirror->is_variable) one.server->session->send(cu::Free{.context = one.context_handle, .address = one.address});
  }
}

CUresult before_launch(CUcontext context, CUstream) {
  auto& all = mirrors();
  const std::lock_guard one_by_one(all.sending);
  Outgoing out{*context->server->session, {}, {}};
  for (const auto& mirror : all_mirrors()) {
    bool is_there = false;
    {
      const std::lock_guard guard(all.lock);
      is_there = find_at(*mirror, context->server) != nullptr;
    }
    // A server that is used for the first time since.
    if (!is_there) {
      const auto status = mirror->is_variable ? find_variable_at(*context->server, mirror) : place_at(context, mirror, reinterpret_cast<std::uint64_t>(mirror->host));
      if (status != CUDA_SUCCESS) return status == CUDA_ERROR_ALREADY_MAPPED ? CUDA_ERROR_OUT_OF_MEMORY : status;
    }
    if (!send_changes(mirror, context->server, out)) return kLost;
  }
  return out.send() ? CUDA_SUCCESS : kLost;
}

std::optional<std::uint64_t> at_server(CUstream stream, std::uint64_t address, std::size_t size) {
  if (!has_mirrors.load(std::memory_order_relaxed)) return std::nullopt;
  const auto mirror = mirror_of(address, size);
  if (!mirror) return std::nullopt;
  if (before_launch(stream->context, stream) != CUDA_SUCCESS) return std::nullopt;
  const std::lock_guard guard(mirrors().lock);
  const auto* const place = find_at(*mirror, stream->server);
  if (!place) return std::nullopt;
  return place->address + (address - reinterpret_cast<std::uint64_t>(mirror->host));
}

void take_changes_of(CudaServer& server, std::span<const cu::Range> ranges, wire::View data) {
  auto& all = mirrors();
  const std::lock_guard guard(all.lock);
  for (const auto& range : ranges) {
    if (range.size > data.size()) return;
    const auto bytes = data.first(range.size);
    data = data.subspan(range.size);
    auto after = all.by_address.upper_bound({&server, range.address});
    if (after == all.by_address.begin()) continue;
    --after;
    const auto offset = range.address - after->first.second;
    auto& mirror = *after->second;
    if (after->first.first != &server || offset >= mirror.size || range.size > mirror.size - offset) continue;  // it went a moment ago
    auto* const place = find_at(mirror, &server);
    if (!place) continue;
    if (!mirror.is_read_only) std::memcpy(mirror.host + offset, bytes.data(), bytes.size());
    std::memcpy(place->twin + offset, bytes.data(), bytes.size());
  }
}

void forget_managed(const Allocation& gone) {
  const auto mirror = std::static_pointer_cast<Mirror>(gone.more);
  drop_mirror(gone);
  if (mirror && mirror->is_variable) let_addresses_go(gone.base, gone.kept);
  else if (mirror) ::munmap(mirror->host, up_to_page(mirror->size));
}

CUresult free_managed(const Allocation& allocation) {
  const auto mirror = std::static_pointer_cast<Mirror>(allocation.more);
  if (!mirror || mirror->is_variable) return CUDA_ERROR_INVALID_VALUE;
  Call call;
  if (!call.is_good()) return call.error();
  // What kernels still do with it is over when this comes back.
  for (const auto& one : mirror->at) if (one.context && one.is_there()) wait_stream(one.context->default_stream);
  take_allocation(allocation.base);
  drop_mirror(allocation);
  ::munmap(reinterpret_cast<void*>(allocation.base), up_to_page(allocation.size));
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
