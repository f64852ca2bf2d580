#include "sim/exec/printer.h"

#include <cstdio>
#include <cstring>

namespace flexrack::sim::exec {
namespace {

constexpr std::string_view kFlags = "-+ #0", kDigits = "0123456789";
constexpr unsigned kWidest = 4096;  ///< of a field: more is cut, so that a kernel cannot ask for gigabytes

/// A conversion as written: flags, width and precision without stars, the letters between, the conversion.
struct Conversion {
  std::string flags;
  std::string size;
  char letter = 0;
};

template <class T>
std::string print(const std::string& pattern, T value) {
  const int length = std::snprintf(nullptr, 0, pattern.c_str(), value);
  if (length < 0) return {};
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), pattern.c_str(), value);
  text.pop_back();
  return text;
}

/// Takes the arguments of vprintf's block one after the other, each at a multiple of its size.
class Arguments {
 public:
  explicit Arguments(const std::function<std::uint64_t(std::uint32_t, std::uint32_t)>& read) : read_(read) {}
  std::uint64_t take(std::uint32_t bytes) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    const auto value = read_(offset_, bytes);
    offset_ += bytes;
    ++count_;
    return value;
  }
  unsigned count() const { return count_; }

 private:
  const std::function<std::uint64_t(std::uint32_t, std::uint32_t)>& read_;
  std::uint32_t offset_ = 0;
  unsigned count_ = 0;
};

std::string number(unsigned value) { return std::to_string(value < kWidest ? value : kWidest); }

/// A width or precision: digits, or a star.
std::string field(std::string_view pattern, std::size_t& at, Arguments& arguments) {
  if (at < pattern.size() && pattern[at] == '*') {
    ++at;
    const auto value = static_cast<std::int32_t>(arguments.take(4));
    return value < 0 ? "-" + number(static_cast<unsigned>(-static_cast<std::int64_t>(value)))
                     : number(static_cast<unsigned>(value));
  }
  unsigned value = 0;
  const auto begin = at;
  for (; at < pattern.size() && kDigits.find(pattern[at]) != std::string_view::npos; ++at)
    value = value < kWidest ? value * 10 + static_cast<unsigned>(pattern[at] - '0') : value;
  return at == begin ? std::string() : number(value);
}

Conversion read(std::string_view pattern, std::size_t& at, Arguments& arguments) {
  Conversion made;
  while (at < pattern.size() && kFlags.find(pattern[at]) != std::string_view::npos) made.flags += pattern[at++];
  made.flags += field(pattern, at, arguments);
  if (at < pattern.size() && pattern[at] == '.') {
    ++at;
    const auto precision = field(pattern, at, arguments);
    if (precision.empty() || precision[0] != '-') made.flags += "." + precision;
  }
  while (at < pattern.size() && std::strchr("hljztL", pattern[at]) != nullptr && pattern[at] != '\0')
    made.size += pattern[at++];
  if (at < pattern.size()) made.letter = pattern[at++];
  return made;
}

std::string convert(const Conversion& conversion, Arguments& arguments, const StringReader& string,
                    std::string_view written) {
  const bool is_long = conversion.size.find_first_of("ljzt") != std::string::npos;
  const auto pattern = [&](const char* size) { return "%" + conversion.flags + size + conversion.letter; };
  switch (conversion.letter) {
    case 'd':
    case 'i': {
      if (is_long) return print(pattern("ll"), static_cast<long long>(arguments.take(8)));
      const auto value = static_cast<std::int32_t>(arguments.take(4));
      if (conversion.size == "hh") return print(pattern(""), static_cast<int>(static_cast<signed char>(value)));
      if (conversion.size == "h") return print(pattern(""), static_cast<int>(static_cast<short>(value)));
      return print(pattern(""), static_cast<int>(value));
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
      if (is_long) return print(pattern("ll"), static_cast<unsigned long long>(arguments.take(8)));
      const auto value = static_cast<std::uint32_t>(arguments.take(4));
      if (conversion.size == "hh") return print(pattern(""), static_cast<unsigned>(static_cast<unsigned char>(value)));
      if (conversion.size == "h") return print(pattern(""), static_cast<unsigned>(static_cast<unsigned short>(value)));
      return print(pattern(""), static_cast<unsigned>(value));
    }
    case 'c': return print(pattern(""), static_cast<int>(static_cast<std::uint32_t>(arguments.take(4))));
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      const auto raw = arguments.take(8);
      double value = 0;
      std::memcpy(&value, &raw, sizeof value);
      return print(pattern(""), value);
    }
    case 'p': return print(pattern(""), reinterpret_cast<void*>(static_cast<std::uintptr_t>(arguments.take(8))));
    case 's': {
      const auto address = arguments.take(8);
      const auto text = address == 0 ? std::optional<std::string>("(null)") : string(address);
      return print(pattern(""), text ? text->c_str() : "(not in memory)");
    }
    default: return std::string(written);
  }
}

}  // namespace

Formatted format(std::string_view pattern, const std::function<std::uint64_t(std::uint32_t, std::uint32_t)>& argument,
                 const StringReader& string) {
  Formatted made;
  Arguments arguments(argument);
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '%') {
      made.text += pattern[at++];
      continue;
    }
    const auto begin = at++;
    if (at < pattern.size() && pattern[at] == '%') {
      made.text += '%';
      ++at;
      continue;
    }
    const auto conversion = read(pattern, at, arguments);
    made.text += convert(conversion, arguments, string, pattern.substr(begin, at - begin));
  }
  made.arguments = arguments.count();
  return made;
}

}  // namespace flexrack::sim::exec
