#include "client/opencl/info.h"

namespace flexrack::client::opencl {

void put_text(InfoTable& infos, cl_uint parameter, std::string_view text) {
  auto& bytes = infos[parameter];
  bytes.assign(text.begin(), text.end());
  bytes.push_back(0);
}

std::string_view info_text(const InfoTable& infos, cl_uint parameter) {
  const auto found = infos.find(parameter);
  if (found == infos.end() || found->second.empty()) return {};
  const auto* text = reinterpret_cast<const char*>(found->second.data());
  return {text, ::strnlen(text, found->second.size())};
}

}  // namespace flexrack::client::opencl
