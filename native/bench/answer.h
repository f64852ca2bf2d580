// What the benches print: one JSON object a line as soon as it is known, which together are the answer.
#pragma once

#include <cstdio>
#include <string>

namespace flexrack::bench {

inline void tell(const char* name, double value) {
  std::printf("{\"%s\": %.9g}\n", name, value);
  std::fflush(stdout);
}

inline void tell(const char* name, const std::string& value) {
  std::string text;
  for (const char one : value) {
    if (static_cast<unsigned char>(one) < ' ') continue;
    if (one == '"' || one == '\\') text += '\\';
    text += one;
  }
  std::printf("{\"%s\": \"%s\"}\n", name, text.c_str());
  std::fflush(stdout);
}

}  // namespace flexrack::bench
