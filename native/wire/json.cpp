#include "wire/json.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace flexrack::wire {
namespace {

constexpr int kDeepest = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Json> document() {
    auto value = this->value(0);
    skip_space();
    if (!value || at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  std::optional<Json> value(int depth) {
    skip_space();
    if (depth > kDeepest || at_ >= text_.size()) return std::nullopt;
    switch (text_[at_]) {
      case '{': return object(depth);
      case '[': return array(depth);
      case '"': {
        auto text = string();
        if (!text) return std::nullopt;
        return Json(std::move(*text));
      }
      case 't': return word("true", Json(true));
      case 'f': return word("false", Json(false));
      case 'n': return word("null", Json());
      default: return number();
    }
  }

  std::optional<Json> object(int depth) {
    Json::Object members;
    ++at_;
    skip_space();
    if (take('}')) return Json(std::move(members));
    do {
      skip_space();
      auto name = string();
      if (!name) return std::nullopt;
      skip_space();
      if (!take(':')) return std::nullopt;
      auto member = value(depth + 1);
      if (!member || !members.emplace(std::move(*name), std::move(*member)).second) return std::nullopt;
      skip_space();
    } while (take(','));
    if (!take('}')) return std::nullopt;
    return Json(std::move(members));
  }

  std::optional<Json> array(int depth) {
    Json::Array items;
    ++at_;
    skip_space();
    if (take(']')) return Json(std::move(items));
    do {
      auto item = value(depth + 1);
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
      skip_space();
    } while (take(','));
    if (!take(']')) return std::nullopt;
    return Json(std::move(items));
  }

  std::optional<std::string> string() {
    if (!take('"')) return std::nullopt;
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
      if (c != '\\') {
        out.push_back(c);
      } else if (!escape(out)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  bool escape(std::string& out) {
    if (at_ >= text_.size()) return false;
    switch (text_[at_++]) {
      case '"': out.push_back('"'); return true;
      case '\\': out.push_back('\\'); return true;
      case '/': out.push_back('/'); return true;
      case 'b': out.push_back('\b'); return true;
      case 'f': out.push_back('\f'); return true;
      case 'n': out.push_back('\n'); return true;
      case 'r': out.push_back('\r'); return true;
      case 't': out.push_back('\t'); return true;
      case 'u': return code_point(out);
      default: return false;
    }
  }

  bool code_point(std::string& out) {
    auto code = unit();
    if (!code || (*code >= 0xdc00 && *code < 0xe000)) return false;
    if (*code >= 0xd800 && *code < 0xdc00) {  // the first half of a pair
      if (!take('\\') || !take('u')) return false;
      const auto low = unit();
      if (!low || *low < 0xdc00 || *low >= 0xe000) return false;
      code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
    }
    const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (*code < 0x80) {
      put(*code);
    } else if (*code < 0x800) {
      put(0xc0 | *code >> 6), put(0x80 | (*code & 0x3f));
    } else if (*code < 0x10000) {
      put(0xe0 | *code >> 12), put(0x80 | (*code >> 6 & 0x3f)), put(0x80 | (*code & 0x3f));
    } else {
      put(0xf0 | *code >> 18), put(0x80 | (*code >> 12 & 0x3f)), put(0x80 | (*code >> 6 & 0x3f)), put(0x80 | (*code & 0x3f));
    }
    return true;
  }

  std::optional<std::uint32_t> unit() {
    if (text_.size() - at_ < 4) return std::nullopt;
    std::uint32_t value = 0;
    const auto* end = text_.data() + at_ + 4;
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, value, 16);
    if (error != std::errc{} || stop != end) return std::nullopt;
    at_ += 4;
    return value;
  }

  std::optional<Json> number() {
    const auto start = at_;
    bool is_whole = true;
    take('-');
    if (!take('0') && !digits()) return std::nullopt;
    if (take('.')) {
      is_whole = false;
      if (!digits()) return std::nullopt;
    }
    if (take('e') || take('E')) {
      is_whole = false;
      if (!take('+')) take('-');
      if (!digits()) return std::nullopt;
    }
    const auto* first = text_.data() + start;
    const auto* last = text_.data() + at_;
    if (is_whole) {
      std::int64_t value = 0;
      if (std::from_chars(first, last, value).ec == std::errc{}) return Json(value);
    }
    double value = 0;
    if (std::from_chars(first, last, value).ec != std::errc{}) return std::nullopt;
    return Json(value);
  }

  bool digits() {
    const auto start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > start;
  }

  std::optional<Json> word(std::string_view word, Json meaning) {
    if (text_.substr(at_, word.size()) != word) return std::nullopt;
    at_ += word.size();
    return meaning;
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void dump_text(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

void dump_number(std::string& out, double value) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out += std::isfinite(value) ? std::string_view(digits, static_cast<std::size_t>(end - digits)) : "null";
}

}  // namespace

std::optional<Json> Json::parse(std::string_view text) { return Parser(text).document(); }

std::string Json::dump() const {
  std::string out;
  if (is_null()) return "null";
  if (const auto* value = std::get_if<bool>(&value_)) return *value ? "true" : "false";
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return std::to_string(*value);
  if (const auto* value = std::get_if<double>(&value_)) return dump_number(out, *value), out;
  if (const auto* value = std::get_if<std::string>(&value_)) return dump_text(out, *value), out;
  if (is_array()) {
    for (const auto& item : array()) out += (out.empty() ? "[" : ",") + item.dump();
    return out.empty() ? "[]" : out + "]";
  }
  for (const auto& [name, member] : object()) {
    out += out.empty() ? "{" : ",";
    dump_text(out, name);
    out += ":" + member.dump();
  }
  return out.empty() ? "{}" : out + "}";
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
  if (is_integer()) return static_cast<double>(integer());
  const auto* value = std::get_if<double>(&value_);
  return value ? *value : fallback;
}

std::string Json::text(std::string_view fallback) const {
  const auto* value = std::get_if<std::string>(&value_);
  return value ? *value : std::string(fallback);
}

const Json::Array& Json::array() const {
  static const Array none;
  const auto* value = std::get_if<Array>(&value_);
  return value ? *value : none;
}

const Json::Object& Json::object() const {
  static const Object none;
  const auto* value = std::get_if<Object>(&value_);
  return value ? *value : none;
}

const Json& Json::operator[](std::string_view name) const {
  static const Json none;
  const auto& members = object();
  const auto found = members.find(name);
  return found == members.end() ? none : found->second;
}

bool Json::has(std::string_view name) const { return object().contains(name); }

void Json::set(std::string_view name, Json value) {
  if (!is_object()) value_ = Object{};
  std::get<Object>(value_).insert_or_assign(std::string(name), std::move(value));
}

void Json::append(Json value) {
  if (!is_array()) value_ = Array{};
  std::get<Array>(value_).push_back(std::move(value));
}

}  // namespace flexrack::wire
