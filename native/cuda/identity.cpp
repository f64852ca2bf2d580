#include "cuda/identity.h"

#include <cstdio>

namespace flexrack::cuda {

std::string uuid_text(const CUuuid& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    char digits[4];
    const bool is_part = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    std::snprintf(digits, sizeof digits, "%s%02x", is_part ? "-" : "", static_cast<unsigned char>(uuid.bytes[i]));
    text += digits;
  }
  return text;
}

std::optional<PciPlace> pci_place(std::string_view text) {
  const std::string all(text.substr(0, 32));
  PciPlace place;
  if (std::sscanf(all.c_str(), "%x:%x:%x", &place.domain, &place.bus, &place.device) == 3) return place;
  place.domain = 0;
  if (std::sscanf(all.c_str(), "%x:%x", &place.bus, &place.device) == 2) return place;
  return std::nullopt;
}

unsigned PciPlaces::take(std::string& pci) {
  const auto at = pci_place(pci);
  const auto colon = pci.find(':');
  if (!at || colon == std::string::npos) return 0;
  auto domain = at->domain;
  const auto rest = pci.substr(colon);
  while (!taken_.insert(pci).second) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%04x", ++domain);
    pci = digits + rest;
  }
  return domain;
}

}  // namespace flexrack::cuda
