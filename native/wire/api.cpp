#include "wire/api.h"

#include <cstdio>

namespace flexrack::wire {

std::string text_of(const Api& api) {
  if (api.name.empty()) return "something older";
  std::string text(api.name);
  if (api.revision == 0) return text + " of an older build";
  char digits[16];
  std::snprintf(digits, sizeof digits, " %08x", static_cast<unsigned>(api.revision >> 32));
  return text + digits;
}

std::string mismatch(const Api& driver, const Api& daemon) {
  return "the driver speaks " + text_of(driver) + ", the daemon " + text_of(daemon) +
         ": they are of different builds; run npm run build:native here, then flexrack gpu serve again";
}

}  // namespace flexrack::wire
