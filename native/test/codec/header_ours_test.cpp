#include <doctest/doctest.h>

#include <typeinfo>

#include "gen/opencl/icd.h"
#include "test/codec/names.h"

names::Facts names::ours() {
  Facts facts;
#define CONSTANT(name) facts.constants[#name] = static_cast<std::int64_t>(name);
#define FUNCTION(function) facts.functions[#function] = typeid(decltype(flexrack::client::opencl::function)).name();
#include "gen/opencl/cl_names.inc"
  LAYOUTS;
  return facts;
}

TEST_CASE("our OpenCL header says what Khronos' header says") {
  const auto own = names::ours();
  const auto theirs = names::khronos();
  CHECK(own.constants.size() > 500);
  for (const auto& [name, value] : theirs.constants) {
    CAPTURE(name);
    CHECK(own.constants.at(name) == value);
  }
  for (const auto& [name, type] : theirs.functions) {
    CAPTURE(name);
    CHECK(own.functions.at(name) == type);
  }
  for (const auto& [name, offset] : theirs.layouts) {
    CAPTURE(name);
    CHECK(own.layouts.at(name) == offset);
  }
}

TEST_CASE("the dispatch table has every entry where the loader looks for it") {
  const auto theirs = names::khronos_table();
  for (std::size_t at = 0; at < flexrack::cl::kIcdEntries; at++) {
    const std::string name = flexrack::cl::kIcdNames[at];
    CAPTURE(name);
    if (theirs.contains(name)) CHECK(theirs.at(name) == at * sizeof(void*));
  }
  const auto* first = reinterpret_cast<void* const*>(&flexrack::client::opencl::icd_dispatch());
  for (std::size_t at = 0; at < flexrack::cl::kIcdEntries; at++) {
    const std::string name = flexrack::cl::kIcdNames[at];
    CAPTURE(name);
    CHECK((first[at] == nullptr) == (name.find("D3D") != name.npos || name.find("DX9") != name.npos));
  }
}

TEST_CASE("functions are found by name, and those that are refused as an extension are not") {
  using flexrack::client::opencl::icd_function;
  CHECK(icd_function("clCreateBuffer") != nullptr);
  CHECK(icd_function("clCreateProgramWithILKHR") != nullptr);
  CHECK(icd_function("clCreateFromGLBuffer") == nullptr);
  CHECK(icd_function("clNoSuchThing") == nullptr);
  CHECK(icd_function("") == nullptr);
}
