// What has changed in mirrored memory, on either side, and how the other one gets it.
#include "client/cuda/mirror_state.h"

#include <algorithm>
#include <cstring>

#include "client/cuda/launch.h"
#include "cuda/difference.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {

std::atomic<std::uint64_t> sync_epoch{1};

namespace {

constexpr std::uint64_t kSent = std::uint64_t{1} << 20;      ///< bytes a message, about
constexpr std::size_t kMostRangesSent = 16 * 1024;
constexpr std::uint64_t kComparedStep = std::uint64_t{1} << 20;

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
  const auto pages = up_to_page(mirror.size) / page_bytes();
  for (auto& one : mirror.at)
    if (!one.written) one.written = std::make_shared<PageSet>(pages, true);
  mirror.is_watched = each_written(mirror.host, pages * page_bytes(), [&](std::uint64_t from, std::uint64_t to) {
    for (auto& one : mirror.at) one.written->add(from / page_bytes(), to / page_bytes());
  });
  if (!mirror.is_watched)
    for (auto& one : mirror.at) one.written.reset();
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
    // Where comparing is dear: managed memory is the device's from the first launch to the next synchronisation (CUDA
    // C++ Programming Guide, without concurrent access), so nothing has changed since. What is attached to a stream or
    // to the host keeps other rules.
    const bool is_dear = mirror->size >= kWatchedFrom && !mirror->is_watched;
    if (is_dear && mirror->is_managed && mirror->attached == CU_MEM_ATTACH_GLOBAL && place->shown_at == epoch)
      return true;
    place->shown_at = epoch;
    if (mirror->is_watched) note_written(*mirror);
    written = place->written;
  }
  const auto compare = [&](std::uint64_t at, std::uint64_t size) {
    {
      const std::lock_guard guard(all.lock);
      auto* const place = find_at(*mirror, server);
      if (!place) return true;
      flexrack::cuda::take_changes(mirror->host + at, place->twin + at, size,
                                   [&](std::size_t offset, wire::View bytes) {
                                     out.ranges.push_back({place->address + at + offset, bytes.size()});
                                     out.data.insert(out.data.end(), bytes.begin(), bytes.end());
                                   });
    }
    return (out.data.size() < kSent && out.ranges.size() < kMostRangesSent) || out.send();
  };
  bool is_sent = true;
  if (written)
    written->take([&](std::uint64_t page) {
      is_sent = is_sent && compare(page * page_bytes(), std::min(page_bytes(), mirror->size - page * page_bytes()));
    });
  else
    for (std::uint64_t at = 0; is_sent && at < mirror->size; at += kComparedStep)
      is_sent = compare(at, std::min(kComparedStep, mirror->size - at));
  return is_sent;
}

std::vector<std::shared_ptr<Mirror>> all_mirrors() {
  std::vector<std::shared_ptr<Mirror>> found;
  const std::lock_guard guard(mirrors().lock);
  for (const auto& [host, mirror] : mirrors().by_host) found.push_back(mirror);
  return found;
}

}  // namespace

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
      const auto status = mirror->is_variable
                              ? find_variable_at(*context->server, mirror)
                              : place_at(context, mirror, reinterpret_cast<std::uint64_t>(mirror->host));
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
    if (after->first.first != &server || offset >= mirror.size || range.size > mirror.size - offset)
      continue;  // it went a moment ago
    auto* const place = find_at(mirror, &server);
    if (!place) continue;
    if (!mirror.is_read_only) std::memcpy(mirror.host + offset, bytes.data(), bytes.size());
    std::memcpy(place->twin + offset, bytes.data(), bytes.size());
  }
}

}  // namespace flexrack::client::cuda
