// JSON (RFC 8259) as lease files and the daemon's admin socket use it: strict, bounded, small.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace flexrack::wire {

/// A JSON value. Reading a member that is not there, or as another type, gives a null value or the fallback: no exceptions.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(std::int64_t value) : value_(value) {}
  Json(std::uint64_t value) : value_(static_cast<std::int64_t>(value)) {}
  Json(int value) : value_(std::int64_t{value}) {}
  Json(unsigned value) : value_(std::int64_t{value}) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  /// One whole document; nothing but white space may follow it. Empty where the text is not JSON, nests deeper than 64, or repeats a member.
  static std::optional<Json> parse(std::string_view text);
  /// Without white space or line breaks.
  std::string dump() const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  bool boolean(bool fallback = false) const;
  std::int64_t integer(std::int64_t fallback = 0) const;
  double number(double fallback = 0) const;
  std::string text(std::string_view fallback = "") const;
  const Array& array() const;
  const Object& object() const;
  /// The member of an object, a null value where there is none.
  const Json& operator[](std::string_view name) const;
  bool has(std::string_view name) const;

  /// Makes this an object if it is not one.
  void set(std::string_view name, Json value);
  /// Makes this an array if it is not one.
  void append(Json value);

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

}  // namespace flexrack::wire
