#include "sim/driver/alike.h"

#include <atomic>
#include <map>
#include <mutex>

#include "sim/exec/spaces.h"

namespace flexrack::sim {
namespace {

/// Where device memory of a process lies (device_heap.cpp): what is there by chance is a few thousandths of it.
constexpr std::uint64_t kAlikeFrom = std::uint64_t{104} << 40, kAlikeSlots = std::uint64_t{1} << 13,
                        kAlikeSlot = std::uint64_t{1} << 30;
constexpr unsigned kAlikeShift = 28;   ///< as of all images' functions (exec/image.cpp)

std::atomic<std::uint64_t> alike_seed{0};

std::uint64_t alike_mixed(std::uint64_t hash, std::uint64_t with) {
  hash = (hash ^ with) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

std::uint64_t alike_mixed(std::uint64_t hash, std::string_view with) {
  for (const auto one : with) hash = alike_mixed(hash, static_cast<unsigned char>(one));
  return hash;
}

std::uint64_t alike_number(const Program& program) {
  auto hash = alike_mixed(1, program.code_bytes);
  for (const auto& [name, facts] : program.kernels) hash = alike_mixed(hash, name);
  for (const auto& [name, one] : program.machine_variables) hash = alike_mixed(alike_mixed(hash, name), one.size);
  return hash;
}

}  // namespace

void lay_out_alike(std::uint64_t seed) { alike_seed = seed; }

Place next_place(const Program& program) {
  const auto seed = alike_seed.load();
  if (seed == 0) return {};
  static std::mutex lock;
  static auto& loads = *new std::map<std::uint64_t, std::uint64_t>;
  const auto number = alike_number(program);
  std::uint64_t load = 0;
  {
    const std::lock_guard guard(lock);
    load = loads[number]++;
  }
  const auto where = alike_mixed(alike_mixed(alike_mixed(seed, number), load), seed);
  const auto image = where >> 20 & ((std::uint64_t{1} << 27) - 1);
  return {.functions = exec::window_base(exec::Window::function) | (image | std::uint64_t{1} << 27) << kAlikeShift,
          .variables = kAlikeFrom + where % kAlikeSlots * kAlikeSlot};
}

}  // namespace flexrack::sim
