#include "sim/driver/device.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "sim/driver/context.h"
#include "sim/driver/failure.h"
#include "sim/driver/pool.h"
#include "sim/driver/settings.h"

namespace flexrack::sim {
namespace {

constexpr std::array<Model, 13> kModels{{
    {7, 0, 2048, 32, 98304, 98304, 0, 2},
    {7, 2, 2048, 32, 98304, 98304, 0, 2},
    {7, 5, 1024, 16, 65536, 65536, 0, 32},
    {8, 0, 2048, 32, 167936, 166912, 1024, 2},
    {8, 6, 1536, 16, 102400, 101376, 1024, 64},
    {8, 7, 1536, 16, 167936, 166912, 1024, 64},
    {8, 9, 1536, 24, 102400, 101376, 1024, 64},
    {9, 0, 2048, 32, 233472, 232448, 1024, 2},
    {10, 0, 2048, 32, 233472, 232448, 1024, 2},
    {10, 3, 2048, 32, 233472, 232448, 1024, 64},
    {12, 0, 1536, 24, 102400, 101376, 1024, 64},
    {12, 1, 1536, 24, 102400, 101376, 1024, 64},
    {13, 0, 1536, 24, 102400, 101376, 1024, 64},
}};

std::vector<std::unique_ptr<Device>>& devices() {
  static auto* all = new std::vector<std::unique_ptr<Device>>;
  return *all;
}

/// The cores that this process may use.
int cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

/// Splitmix64: one number well mixed into another.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

namespace {

/// That of the capability, with the sizes that the profile has of the card.
Model make_model() {
  const auto& capability = settings().capability;
  auto made = *std::find_if(kModels.begin(), kModels.end(), [&](const Model& one) {
    return one.major == capability.major && one.minor == capability.minor;
  });
  const auto own = [](int which, int& value) {
    const auto found = settings().attributes.find(which);
    if (found != settings().attributes.end() && found->second > 0) value = found->second;
  };
  own(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, made.threads);
  own(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, made.blocks);
  own(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, made.shared_bytes);
  own(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, made.shared_bytes_block);
  own(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, made.shared_bytes_reserved);
  own(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, made.double_ratio);
  return made;
}

}  // namespace

// Asked from the first device on: the settings are there.
const Model& model() {
  static const Model made = make_model();
  return made;
}

std::array<std::uint8_t, 16> make_uuid(std::uint64_t seed, int ordinal) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  auto state = mix(seed);
  for (const auto* at = host; *at; ++at) state = mix(state ^ static_cast<std::uint8_t>(*at));
  state = mix(state + static_cast<std::uint64_t>(ordinal));
  const std::uint64_t words[2] = {state, mix(state)};
  std::array<std::uint8_t, 16> uuid{};
  std::memcpy(uuid.data(), words, sizeof words);
  // RFC 9562: version 8, made by own rules.
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0f) | 0x80);
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3f) | 0x80);
  return uuid;
}

const char* device_name(const Settings& of) {
  return of.accepts_machine_code ? "Flexrack Simulated GPU (machine code is accepted, NOT computed)"
                                 : "Flexrack Simulated GPU";
}

Device::Device(int number)
    : ordinal(number),
      multiprocessors(settings().multiprocessors > 0 ? static_cast<int>(settings().multiprocessors) : cores()),
      uuid(make_uuid(settings().seed, number)),
      pci_bus(pci_bus_of(number)),
      heap(settings().memory) {}

std::string Device::pci_text() const {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", pci_domain, pci_bus, pci_device);
  return text;
}

void make_devices() {
  for (unsigned i = 0; i < settings().devices; ++i) {
    auto& made = *devices().emplace_back(std::make_unique<Device>(static_cast<int>(i)));
    made.primary = Context::make(made, true, 0u);
    made.primary->open();
    made.default_pool = Pool::make(made, Pool::Kind::default_pool);
    made.default_pool->open();
    made.pool = made.default_pool;
  }
}

int device_count() { return static_cast<int>(devices().size()); }

Device& device(CUdevice ordinal) {
  if (ordinal < 0 || ordinal >= device_count()) fail(CUDA_ERROR_INVALID_DEVICE);
  return *devices()[static_cast<std::size_t>(ordinal)];
}

}  // namespace flexrack::sim
