#include "sim/driver/settings.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "sim/driver/failure.h"
#include "sim/driver/kernel_cache.h"

namespace flexrack::sim {
namespace {

constexpr std::array<const char*, 7> kFaultKinds{"launch", "alloc", "copy", "memset", "load", "flip", "unmap"};

std::optional<std::string_view> variable(const char* name) {
  const auto* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(const char* name, std::string_view value, const std::string& expected) {
  fail(CUDA_ERROR_INVALID_VALUE, std::string(name) + "=" + std::string(value) + ": expected " + expected);
}

unsigned devices_wanted() {
  const auto value = variable("FLEXRACK_SIM_DEVICES");
  if (!value) return 1;
  const auto count = parse_number<unsigned>(*value);
  if (!count || *count < 1 || *count > 64) refuse("FLEXRACK_SIM_DEVICES", *value, "a number from 1 to 64");
  return *count;
}

Capability capability(const Profile& profile) {
  const auto value = variable("FLEXRACK_SIM_CAPABILITY");
  if (!value) return profile.capability.value_or(Capability{});
  const auto known = parse_capability(*value);
  if (!known) refuse("FLEXRACK_SIM_CAPABILITY", *value, capabilities_text());
  return *known;
}

Release driver(const Profile& profile) {
  const auto value = variable("FLEXRACK_SIM_DRIVER");
  if (!value) return profile.driver.value_or(Release{});
  const auto known = release_of(*value);
  if (!known) refuse("FLEXRACK_SIM_DRIVER", *value, "a release of CUDA: " + releases_text());
  return *known;
}

unsigned multiprocessors(const Profile& profile) {
  const auto of_card = profile.attributes.find(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const auto value = variable("FLEXRACK_SIM_MULTIPROCESSORS");
  if (!value) return of_card == profile.attributes.end() ? 0 : static_cast<unsigned>(std::max(1, of_card->second));
  const auto count = parse_number<unsigned>(*value);
  if (!count || *count < 1 || *count > 1024) refuse("FLEXRACK_SIM_MULTIPROCESSORS", *value, "a number from 1 to 1024");
  return *count;
}

/// Bytes, or a number with a unit; `least` to a TiB.
std::uint64_t memory(const char* name, std::uint64_t least, std::uint64_t usual, const char* expected) {
  const auto value = variable(name);
  if (!value) return usual;
  const auto bytes = parse_bytes(*value);
  if (!bytes || *bytes < least) refuse(name, *value, expected);
  return *bytes;
}

/// A number of zero or more; how many of `unit` it is.
double measure(const char* name, double most, const char* expected) {
  const auto value = variable(name);
  if (!value) return 0;
  const auto count = parse_number<double>(*value);
  if (!count || !std::isfinite(*count) || *count < 0 || *count > most) refuse(name, *value, expected);
  return *count;
}

std::map<std::string, std::uint64_t> faults() {
  std::map<std::string, std::uint64_t> found;
  const auto value = variable("FLEXRACK_SIM_FAULT");
  if (!value) return found;
  constexpr auto kExpected = "KIND:NUMBER with launch, alloc, copy, memset or load, several with commas between";
  for (auto rest = *value; !rest.empty();) {
    const auto one = rest.substr(0, rest.find(','));
    rest = one.size() == rest.size() ? std::string_view{} : rest.substr(one.size() + 1);
    const auto colon = one.find(':');
    const auto which = parse_number<std::uint64_t>(colon == one.npos ? std::string_view{} : one.substr(colon + 1));
    bool is_known = false;
    for (const auto* kind : kFaultKinds) is_known |= one.substr(0, colon) == kind;
    if (!is_known || !which || *which == 0) refuse("FLEXRACK_SIM_FAULT", *value, kExpected);
    found[std::string(one.substr(0, colon))] = *which;
  }
  return found;
}

bool is_on(const char* name) {
  const auto value = variable(name);
  if (value && *value != "0" && *value != "1") refuse(name, *value, "0 or 1");
  return value == "1";
}

bool accepts_machine_code() {
  const auto value = variable("FLEXRACK_SIM_MACHINE_CODE");
  if (value && *value != "accept" && *value != "refuse")
    refuse("FLEXRACK_SIM_MACHINE_CODE", *value, "accept or refuse");
  return value == "accept";
}

std::uint64_t seed() {
  const auto value = variable("FLEXRACK_SIM_SEED");
  if (!value) return 0;
  const auto number_given = parse_number<std::uint64_t>(*value);
  if (!number_given) refuse("FLEXRACK_SIM_SEED", *value, "a number");
  return *number_given;
}

std::atomic<const Settings*> chosen{nullptr};

}  // namespace

Settings settings_from_environment() {
  Settings read;
  read.is_verbose = is_on("FLEXRACK_SIM_VERBOSE");
  read.devices = devices_wanted();
  const auto profile =
      variable("FLEXRACK_SIM_PROFILE") ? read_profile(std::string(*variable("FLEXRACK_SIM_PROFILE"))) : Profile{};
  read.attributes = profile.attributes;
  read.capability = capability(profile);
  read.driver = driver(profile);
  read.multiprocessors = multiprocessors(profile);
  read.memory = memory("FLEXRACK_SIM_MEMORY", std::uint64_t{16} << 20, profile.memory.value_or(Settings{}.memory),
                       "16MiB to 1024GiB: a number, or one with KiB, MiB or GiB");
  read.context_memory = memory("FLEXRACK_SIM_CONTEXT", 0, Settings{}.context_memory,
                               "0 to 1024GiB: a number, or one with KiB, MiB or GiB");
  const auto microseconds = measure("FLEXRACK_SIM_LATENCY_US", 1e7, "microseconds, 0 to 10000000");
  read.latency = std::chrono::nanoseconds(static_cast<std::int64_t>(microseconds * 1000));
  read.bytes_per_nanosecond =
      measure("FLEXRACK_SIM_BANDWIDTH_GBPS", 1e6, "10^9 bytes a second, 0 (unlimited) to 1000000");
  read.faults = faults();
  read.accepts_machine_code = accepts_machine_code();
  read.is_strict = is_on("FLEXRACK_SIM_STRICT");
  read.cache_folder = cache_folder_from_environment();
  read.seed = seed();
  return read;
}

const Release& driver_release() {
  if (const auto* set = chosen.load(std::memory_order_acquire)) return set->driver;
  static const Release read = settings_from_environment().driver;
  return read;
}

const Settings& settings() {
  static const Settings defaults;
  const auto* set = chosen.load(std::memory_order_acquire);
  return set ? *set : defaults;
}

// Never freed: read without a lock, and there is one a process.
void set_settings(Settings settings) { chosen.store(new Settings(std::move(settings)), std::memory_order_release); }

bool is_fault_due(const char* kind) {
  static std::array<std::atomic<std::uint64_t>, kFaultKinds.size()> counts{};
  const auto& faults = settings().faults;
  if (faults.empty()) return false;
  for (std::size_t i = 0; i < kFaultKinds.size(); ++i) {
    if (std::strcmp(kind, kFaultKinds[i]) != 0) continue;
    const auto number = ++counts[i];
    const auto found = faults.find(kind);
    return found != faults.end() && found->second == number;
  }
  return false;
}

}  // namespace flexrack::sim
