// A strict, small JSON value: what the lease file, the daemon's state and its admin socket are written in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace flexrack::wire {

/// Null, true or false, a number, text, a list, or members in the order they were given. Copied by value.
class Json {
 public:
  using List = std::vector<Json>;
  using Members = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(static_cast<std::int64_t>(value)) {}
  Json(unsigned value) : value_(static_cast<std::int64_t>(value)) {}
  Json(std::int64_t value) : value_(value) {}
  /// Beyond 2^63 it is kept as a floating-point number.
  Json(std::uint64_t value);
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(List value) : value_(std::move(value)) {}
  Json(Members value) : value_(std::move(value)) {}

  /// The whole text is one value (RFC 8259, at most 64 levels deep, no member twice), or nothing.
  static std::optional<Json> parse(std::string_view text);
  /// One line, no spaces.
  std::string write() const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  bool is_list() const { return std::holds_alternative<List>(value_); }
  bool is_members() const { return std::holds_alternative<Members>(value_); }

  // What it is not reads as the fallback: callers check is_… where it matters.
  bool boolean(bool fallback = false) const;
  std::int64_t integer(std::int64_t fallback = 0) const;
  double number(double fallback = 0) const;
  const std::string& text() const;
  const List& list() const;
  const Members& members() const;

  /// The member of that name; null where there is none.
  const Json& operator[](std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Adds a member or replaces it.
  Json& set(std::string_view name, Json value);
  /// Appends to a list; null becomes a list.
  void add(Json value);

 private:
  const Json* find(std::string_view name) const;
  void write_to(std::string& out) const;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Members> value_;
};

}  // namespace flexrack::wire
