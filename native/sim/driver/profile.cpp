#include "sim/driver/profile.h"

#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include "gen/cuda/cuda.h"
#include "sim/driver/failure.h"

namespace flexrack::sim {
namespace {

/// 13.0 is of no card: libraries have no machine code for it, so they take what they have as PTX.
constexpr std::array<Capability, 13> kCapabilities{
    {{7, 0}, {7, 2}, {7, 5}, {8, 0}, {8, 6}, {8, 7}, {8, 9}, {9, 0}, {10, 0}, {10, 3}, {12, 0}, {12, 1}, {13, 0}}};
constexpr std::size_t kMostBytes = 1 << 20;

/// What is a card's own: sizes, numbers, clocks. Of the texture and surface sizes the whole range.
constexpr int kOfACard[] = {
    CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    CU_DEVICE_ATTRIBUTE_ECC_ENABLED,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
    CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
    CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
    CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
    CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE,
    CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE,
    CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT,
    CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT,
    CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT,
    CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID,
    CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID,
};

struct Named {
  const char* name;
  const char* text;
};
/// native/sim/profiles, as CMakeLists.txt packs them.
constexpr Named kProfiles[] = {
#include "sim_profiles.inc"
};

/// The next word of a line, taken off it.
std::string_view word(std::string_view& line) {
  const auto begin = line.find_first_not_of(" \t\r");
  if (begin == line.npos) return line = {};
  const auto end = std::min(line.find_first_of(" \t\r", begin), line.size());
  const auto found = line.substr(begin, end - begin);
  line = line.substr(end);
  return found;
}

class Reader {
 public:
  Reader(std::string_view name, std::string_view text) : name_(name), rest_(text) {}

  Profile read() {
    while (!rest_.empty()) {
      ++number_;
      const auto end = std::min(rest_.find('\n'), rest_.size());
      auto line = rest_.substr(0, end);
      rest_ = rest_.substr(std::min(end + 1, rest_.size()));
      line = line.substr(0, line.find('#'));
      const auto key = word(line);
      if (!key.empty()) take(key, line);
    }
    return std::move(made_);
  }

 private:
  [[noreturn]] void refuse(const std::string& expected) const {
    fail(CUDA_ERROR_INVALID_VALUE, "FLEXRACK_SIM_PROFILE: profile " + std::string(name_) + ", line " +
                                       std::to_string(number_) + ": expected " + expected);
  }

  void take(std::string_view key, std::string_view line) {
    if (key == "card") return;
    const auto value = word(line);
    if (key == "capability") {
      if (!(made_.capability = parse_capability(value))) refuse("capability " + capabilities_text());
    } else if (key == "driver") {
      if (!(made_.driver = release_of(value))) refuse("driver " + releases_text());
    } else if (key == "memory") {
      if (!(made_.memory = parse_bytes(value))) refuse("memory BYTES, or a number with KiB, MiB or GiB, up to 1024GiB");
    } else if (key == "attribute") {
      const auto which = parse_number<int>(value), is = parse_number<int>(word(line));
      if (!which || !is || *which <= 0) refuse("attribute NUMBER VALUE");
      for (const auto one : kOfACard)
        if (one == *which) made_.attributes[*which] = *is;
    } else {
      refuse("card, capability, driver, memory or attribute");
    }
    if (!word(line).empty()) refuse("nothing more in this line");
  }

  std::string_view name_, rest_;
  int number_ = 0;
  Profile made_;
};

}  // namespace

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}
template std::optional<int> parse_number(std::string_view);
template std::optional<unsigned> parse_number(std::string_view);
template std::optional<std::uint64_t> parse_number(std::string_view);
template std::optional<double> parse_number(std::string_view);

std::optional<Capability> parse_capability(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == text.npos) return std::nullopt;
  const auto major = parse_number<int>(text.substr(0, dot)), minor = parse_number<int>(text.substr(dot + 1));
  for (const auto& known : kCapabilities)
    if (major == known.major && minor == known.minor) return known;
  return std::nullopt;
}

std::string capabilities_text() {
  std::string text;
  for (const auto& one : kCapabilities)
    text += (text.empty()                    ? ""
             : &one == &kCapabilities.back() ? " or "
                                             : ", ") +
            std::to_string(one.major) + "." + std::to_string(one.minor);
  return text;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const auto digits = text.find_first_not_of("0123456789");
  const auto count = parse_number<std::uint64_t>(text.substr(0, digits));
  const auto unit = digits == text.npos ? "" : text.substr(digits);
  int shift = -1;
  if (unit.empty()) shift = 0;
  if (unit == "KiB") shift = 10;
  if (unit == "MiB") shift = 20;
  if (unit == "GiB") shift = 30;
  constexpr auto kMost = std::uint64_t{1} << 40;
  if (!count || shift < 0 || *count > (kMost >> shift)) return std::nullopt;
  return *count << shift;
}

Profile parse_profile(std::string_view name, std::string_view text) { return Reader(name, text).read(); }

Profile read_profile(const std::string& name) {
  std::string names;
  for (const auto& one : kProfiles) {
    if (name == one.name) return parse_profile(name, one.text);
    names += std::string(one.name) + ", ";
  }
  const auto refuse = [&](const std::string& why) {
    fail(CUDA_ERROR_INVALID_VALUE,
         "FLEXRACK_SIM_PROFILE=" + name + ": expected " + names + "or the absolute path of a profile" + why);
  };
  if (!name.starts_with('/')) refuse("");
  std::ifstream file(name, std::ios::binary);
  if (!file) refuse("; there is no such file");
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_profile(name, text);
}

}  // namespace flexrack::sim
