// The APIs that workers of this build serve.
#pragma once

#include <array>

#include "gen/cuda/revision.h"
#include "gen/opencl/revision.h"
#include "wire/json.h"
#include "wire/preamble.h"

namespace flexrack::server {

inline constexpr std::array kSupportedApis{cl::kApi, cu::kApi};

/// The API of a device by the name in its report; one without a revision where this build does not know it.
inline wire::Api supported_api(std::string_view name) {
  for (const auto& api : kSupportedApis) {
    if (api.name == name) return api;
  }
  return {name, 0, 0};
}

/// Name to revision, 16 hex digits.
inline wire::Json supported_revisions() {
  wire::Json::Members list;
  for (const auto& api : kSupportedApis) {
    std::array<std::uint8_t, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(api.revision >> (56 - 8 * i));
    list.emplace_back(std::string(api.name), wire::to_hex(bytes));
  }
  return list;
}

}  // namespace flexrack::server
