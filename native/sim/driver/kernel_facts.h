// What is known of a kernel before it is loaded anywhere.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace flexrack::sim {

struct KernelFacts {
  struct Parameter {
    std::size_t offset, size;
  };
  std::string name;
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
  int max_threads = 1024, registers = 16;
  int shared_bytes = 0, local_bytes = 0, const_bytes = 0;
  int required_cluster[3] = {0, 0, 0};
  int ptx_version = 0, binary_version = 0;
};

}  // namespace flexrack::sim
