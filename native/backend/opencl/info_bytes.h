// The driver's answers to clGet*Info as the bytes they are.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "gen/opencl/cl.h"
#include "gen/opencl/messages.h"

namespace flexrack::backend::opencl {

inline constexpr std::size_t kMostInfo = 16u << 20;   ///< a longer answer is not believed

/// `get(size, out, size_out)` is one clGet*Info with its object and parameter.
template <class Get>
cl_int read_info(Get&& get, wire::Bytes& out) {
  size_t size = 0;
  auto status = get(0, nullptr, &size);
  if (status != CL_SUCCESS || size > kMostInfo) return status != CL_SUCCESS ? status : CL_OUT_OF_HOST_MEMORY;
  out.assign(size, 0);
  if (size) status = get(size, out.data(), nullptr);
  return status;
}

template <class Get>
std::string read_text(Get&& get) {
  wire::Bytes bytes;
  if (read_info(get, bytes) != CL_SUCCESS) return {};
  while (!bytes.empty() && bytes.back() == 0) bytes.pop_back();
  return {bytes.begin(), bytes.end()};
}

/// Answers kept until they are encoded: an Info is only a view.
class InfoList {
 public:
  template <class Get>
  void add(cl_uint name, Get&& get) {
    wire::Bytes bytes;
    if (read_info(get, bytes) == CL_SUCCESS) add_bytes(name, std::move(bytes));
  }
  void add_bytes(cl_uint name, wire::Bytes bytes) {
    kept_.push_back(std::move(bytes));
    infos_.push_back({.name = name, .value = kept_.back()});
  }
  const std::vector<cl::Info>& infos() const { return infos_; }
  /// What is not the same in `other`.
  InfoList without(const InfoList& other) const {
    InfoList rest;
    for (const auto& info : infos_) {
      const bool is_same = std::ranges::any_of(other.infos_, [&](const cl::Info& one) {
        return one.name == info.name && std::ranges::equal(one.value, info.value);
      });
      if (!is_same) rest.add_bytes(info.name, {info.value.begin(), info.value.end()});
    }
    return rest;
  }

 private:
  std::deque<wire::Bytes> kept_;
  std::vector<cl::Info> infos_;
};

}  // namespace flexrack::backend::opencl
