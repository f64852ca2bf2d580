// Answers to clGet*Info in its usual forms.
#pragma once

#include <span>
#include <string_view>

#include "client/opencl/enqueue.h"

namespace flexrack::client::opencl {

/// What a clCreate* that fails does: the status where it is asked for, and no object.
inline std::nullptr_t fail(cl_int error, cl_int* error_out) {
  if (error_out) *error_out = error;
  return nullptr;
}

/// Where the answer goes: the last three parameters of every clGet*Info.
struct Answer {
  size_t capacity;
  void* out;
  size_t* size_out;

  template <class T>
  cl_int operator()(const T& value) const {
    return give_info(&value, sizeof value, capacity, out, size_out);
  }
  template <class T>
  cl_int array(std::span<const T> values) const {
    return give_info(values.data(), values.size_bytes(), capacity, out, size_out);
  }
  /// A snapshot's answer; CL_INVALID_VALUE for a parameter it does not have.
  cl_int from(const InfoTable& infos, cl_uint parameter) const {
    const auto found = infos.find(parameter);
    return found == infos.end() ? CL_INVALID_VALUE : array(std::span<const std::uint8_t>(found->second));
  }
};

/// A value in a snapshot; `fallback` where it is missing or of another size.
template <class T>
T info_value(const InfoTable& infos, cl_uint parameter, T fallback = T{}) {
  const auto found = infos.find(parameter);
  if (found == infos.end() || found->second.size() != sizeof(T)) return fallback;
  T value;
  std::memcpy(&value, found->second.data(), sizeof value);
  return value;
}

template <class T>
void put_info(InfoTable& infos, cl_uint parameter, const T& value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  infos[parameter].assign(bytes, bytes + sizeof value);
}

/// With the terminating zero, as OpenCL's texts are.
void put_text(InfoTable& infos, cl_uint parameter, std::string_view text);
std::string_view info_text(const InfoTable& infos, cl_uint parameter);

}  // namespace flexrack::client::opencl
