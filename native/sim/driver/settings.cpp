#include "sim/driver/settings.h"

#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "sim/driver/failure.h"

namespace flexrack::sim {
namespace {

constexpr std::array<const char*, 5> kFaultKinds{"launch", "alloc", "copy", "memset", "load"};
constexpr std::array<std::pair<int, int>, 12> kCapabilities{{{7, 0}, {7, 2}, {7, 5}, {8, 0}, {8, 6}, {8, 7}, {8, 9}, {9, 0}, {10, 0}, {10, 3}, {12, 0}, {12, 1}}};

std::optional<std::string_view> variable(const char* name) {
  const auto* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(const char* name, std::string_view value, const char* expected) {
  fail(CUDA_ERROR_INVALID_VALUE, std::string(name) + "=" + std::string(value) + ": expected " + expected);
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

unsigned devices_wanted() {
  const auto value = variable("FLEXRACK_SIM_DEVICES");
  if (!value) return 1;
  const auto count = number<unsigned>(*value);
  if (!count || *count < 1 || *count > 64) refuse("FLEXRACK_SIM_DEVICES", *value, "a number from 1 to 64");
  return *count;
}

Capability capability() {
  const auto value = variable("FLEXRACK_SIM_CAPABILITY");
  if (!value) return {};
  const auto dot = value->find('.');
  const auto major = number<int>(value->substr(0, dot)), minor = dot == value->npos ? std::nullopt : number<int>(value->substr(dot + 1));
  for (const auto& known : kCapabilities) if (major == known.first && minor == known.second) return {known.first, known.second};
  refuse("FLEXRACK_SIM_CAPABILITY", *value, "7.0, 7.2, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 12.0 or 12.1");
}

/// Bytes, or a number with a unit; `least` to a TiB.
std::uint64_t memory(const char* name, std::uint64_t least, std::uint64_t usual, const char* expected) {
  const auto value = variable(name);
  if (!value) return usual;
  const auto digits = value->find_first_not_of("0123456789");
  const auto count = number<std::uint64_t>(value->substr(0, digits));
  const auto unit = digits == value->npos ? "" : value->substr(digits);
  int shift = -1;
  if (unit.empty()) shift = 0;
  if (unit == "KiB") shift = 10;
  if (unit == "MiB") shift = 20;
  if (unit == "GiB") shift = 30;
  constexpr auto kMost = std::uint64_t{1} << 40;
  if (!count || shift < 0 || *count > (kMost >> shift) || (*count << shift) < least) refuse(name, *value, expected);
  return *count << shift;
}

/// A number of zero or more; how many of `unit` it is.
double measure(const char* name, double most, const char* expected) {
  const auto value = variable(name);
  if (!value) return 0;
  const auto count = number<double>(*value);
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
    const auto which = colon == one.npos ? std::nullopt : number<std::uint64_t>(one.substr(colon + 1));
    bool is_known = false;
    for (const auto* kind : kFaultKinds) is_known |= one.substr(0, colon) == kind;
    if (!is_known || !which || *which == 0) refuse("FLEXRACK_SIM_FAULT", *value, kExpected);
    found[std::string(one.substr(0, colon))] = *which;
  }
  return found;
}

bool is_verbose() {
  const auto value = variable("FLEXRACK_SIM_VERBOSE");
  if (value && *value != "0" && *value != "1") refuse("FLEXRACK_SIM_VERBOSE", *value, "0 or 1");
  return value == "1";
}

bool accepts_machine_code() {
  const auto value = variable("FLEXRACK_SIM_MACHINE_CODE");
  if (value && *value != "accept" && *value != "refuse") refuse("FLEXRACK_SIM_MACHINE_CODE", *value, "accept or refuse");
  return value == "accept";
}

std::uint64_t seed() {
  const auto value = variable("FLEXRACK_SIM_SEED");
  if (!value) return 0;
  const auto number_given = number<std::uint64_t>(*value);
  if (!number_given) refuse("FLEXRACK_SIM_SEED", *value, "a number");
  return *number_given;
}

std::atomic<const Settings*> chosen{nullptr};

}  // namespace

Settings settings_from_environment() {
  Settings read;
  read.is_verbose = is_verbose();
  read.devices = devices_wanted();
  read.capability = capability();
  read.memory = memory("FLEXRACK_SIM_MEMORY", std::uint64_t{16} << 20, Settings{}.memory, "16MiB to 1024GiB: a number, or one with KiB, MiB or GiB");
  read.context_memory = memory("FLEXRACK_SIM_CONTEXT", 0, Settings{}.context_memory, "0 to 1024GiB: a number, or one with KiB, MiB or GiB");
  const auto microseconds = measure("FLEXRACK_SIM_LATENCY_US", 1e7, "microseconds, 0 to 10000000");
  read.latency = std::chrono::nanoseconds(static_cast<std::int64_t>(microseconds * 1000));
  read.bytes_per_nanosecond = measure("FLEXRACK_SIM_BANDWIDTH_GBPS", 1e6, "10^9 bytes a second, 0 (unlimited) to 1000000");
  read.faults = faults();
  read.accepts_machine_code = accepts_machine_code();
  read.seed = seed();
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
