#include "wire/json.h"

#include <array>
#include <charconv>
#include <cmath>

namespace flexrack::wire {
namespace {

constexpr int kDeepest = 64;

void append_utf8(std::string& out, std::uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xc0 | (point >> 6));
    out += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xe0 | (point >> 12));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (point >> 18));
    out += static_cast<char>(0x80 | ((point >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (point & 0x3f));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : left_(text) {}

  std::optional<Json> whole() {
    auto value = any(0);
    skip();
    if (!value || !left_.empty()) return std::nullopt;
    return value;
  }

 private:
  void skip() {
    const auto at = left_.find_first_not_of(" \t\r\n");
    left_.remove_prefix(at == std::string_view::npos ? left_.size() : at);
  }

  bool take(std::string_view word) {
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }

  std::optional<Json> any(int depth) {
    skip();
    if (left_.empty() || depth > kDeepest) return std::nullopt;
    if (take("{")) return object(depth);
    if (take("[")) return array(depth);
    if (left_.front() == '"') {
      auto value = string();
      if (!value) return std::nullopt;
      return Json(std::move(*value));
    }
    if (take("true")) return Json(true);
    if (take("false")) return Json(false);
    if (take("null")) return Json();
    return number();
  }

  std::optional<Json> object(int depth) {
    Json result{Json::Members{}};
    skip();
    if (take("}")) return result;
    for (;;) {
      skip();
      auto name = string();
      if (!name || result.has(*name)) return std::nullopt;
      skip();
      if (!take(":")) return std::nullopt;
      auto value = any(depth + 1);
      if (!value) return std::nullopt;
      result.set(*name, std::move(*value));
      skip();
      if (take("}")) return result;
      if (!take(",")) return std::nullopt;
    }
  }

  std::optional<Json> array(int depth) {
    Json::List items;
    skip();
    if (take("]")) return Json(std::move(items));
    for (;;) {
      auto value = any(depth + 1);
      if (!value) return std::nullopt;
      items.push_back(std::move(*value));
      skip();
      if (take("]")) return Json(std::move(items));
      if (!take(",")) return std::nullopt;
    }
  }

  std::optional<std::uint32_t> hex4() {
    std::uint32_t unit = 0;
    if (left_.size() < 4) return std::nullopt;
    const auto end = left_.data() + 4;
    const auto read = std::from_chars(left_.data(), end, unit, 16);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    left_.remove_prefix(4);
    return unit;
  }

  bool escape(std::string& out) {
    if (left_.empty()) return false;
    const char kind = left_.front();
    left_.remove_prefix(1);
    constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    if (const auto at = from.find(kind); at != std::string_view::npos) {
      out += to[at];
      return true;
    }
    if (kind != 'u') return false;
    auto point = hex4();
    if (!point || (*point >= 0xdc00 && *point < 0xe000)) return false;
    if (*point >= 0xd800 && *point < 0xdc00) {
      if (!take("\\u")) return false;
      const auto low = hex4();
      if (!low || *low < 0xdc00 || *low >= 0xe000) return false;
      point = 0x10000 + ((*point - 0xd800) << 10) + (*low - 0xdc00);
    }
    append_utf8(out, *point);
    return true;
  }

  std::optional<std::string> string() {
    if (!take("\"")) return std::nullopt;
    std::string out;
    while (!left_.empty()) {
      const char c = left_.front();
      left_.remove_prefix(1);
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
      if (c != '\\') {
        out += c;
      } else if (!escape(out)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  std::size_t digits(std::size_t at) const {
    while (at < left_.size() && left_[at] >= '0' && left_[at] <= '9') ++at;
    return at;
  }

  std::optional<Json> number() {
    std::size_t at = left_.front() == '-' ? 1 : 0;
    const auto first = at;
    at = digits(at);
    if (at == first || (left_[first] == '0' && at > first + 1)) return std::nullopt;
    bool whole = true;
    if (at < left_.size() && left_[at] == '.') {
      whole = false;
      const auto after = ++at;
      if ((at = digits(at)) == after) return std::nullopt;
    }
    if (at < left_.size() && (left_[at] == 'e' || left_[at] == 'E')) {
      whole = false;
      ++at;
      if (at < left_.size() && (left_[at] == '+' || left_[at] == '-')) ++at;
      const auto after = at;
      if ((at = digits(at)) == after) return std::nullopt;
    }
    const auto token = left_.substr(0, at);
    left_.remove_prefix(at);
    const auto end = token.data() + token.size();
    std::int64_t integer = 0;
    if (whole && std::from_chars(token.data(), end, integer).ec == std::errc{}) return Json(integer);
    double real = 0;
    if (std::from_chars(token.data(), end, real).ec != std::errc{}) return std::nullopt;
    return Json(real);
  }

  std::string_view left_;
};

void write_text(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void write_real(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

}  // namespace

Json::Json(std::uint64_t value) {
  if (value <= INT64_MAX) {
    value_ = static_cast<std::int64_t>(value);
  } else {
    value_ = static_cast<double>(value);
  }
}

std::optional<Json> Json::parse(std::string_view text) { return Parser(text).whole(); }

std::string Json::write() const {
  std::string out;
  write_to(out);
  return out;
}

bool Json::boolean(bool fallback) const {
  const auto* value = std::get_if<bool>(&value_);
  return value ? *value : fallback;
}

std::int64_t Json::integer(std::int64_t fallback) const {
  const auto* value = std::get_if<std::int64_t>(&value_);
  return value ? *value : fallback;
}

double Json::number(double fallback) const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  const auto* value = std::get_if<double>(&value_);
  return value ? *value : fallback;
}

const std::string& Json::text() const {
  static const std::string none;
  const auto* value = std::get_if<std::string>(&value_);
  return value ? *value : none;
}

const Json::List& Json::list() const {
  static const List none;
  const auto* value = std::get_if<List>(&value_);
  return value ? *value : none;
}

const Json::Members& Json::members() const {
  static const Members none;
  const auto* value = std::get_if<Members>(&value_);
  return value ? *value : none;
}

const Json& Json::operator[](std::string_view name) const {
  static const Json none;
  const auto* value = find(name);
  return value ? *value : none;
}

Json& Json::set(std::string_view name, Json value) {
  if (!is_members()) value_ = Members{};
  auto& members = std::get<Members>(value_);
  for (auto& [have, old] : members) {
    if (have == name) {
      old = std::move(value);
      return *this;
    }
  }
  members.emplace_back(std::string(name), std::move(value));
  return *this;
}

void Json::add(Json value) {
  if (!is_list()) value_ = List{};
  std::get<List>(value_).push_back(std::move(value));
}

const Json* Json::find(std::string_view name) const {
  for (const auto& [have, value] : members()) {
    if (have == name) return &value;
  }
  return nullptr;
}

void Json::write_to(std::string& out) const {
  if (is_bool()) {
    out += boolean() ? "true" : "false";
  } else if (is_integer()) {
    out += std::to_string(integer());
  } else if (is_number()) {
    write_real(out, number());
  } else if (is_text()) {
    write_text(out, text());
  } else if (is_list()) {
    char before = '[';
    for (const auto& item : list()) {
      out += std::exchange(before, ',');
      item.write_to(out);
    }
    out += before == '[' ? "[]" : "]";
  } else if (is_members()) {
    char before = '{';
    for (const auto& [name, item] : members()) {
      out += std::exchange(before, ',');
      write_text(out, name);
      out += ':';
      item.write_to(out);
    }
    out += before == '{' ? "{}" : "}";
  } else {
    out += "null";
  }
}

}  // namespace flexrack::wire
