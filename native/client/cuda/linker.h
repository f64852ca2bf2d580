// Pieces of code made into one, at a server.
#pragma once

#include <string>
#include <vector>

#include "client/cuda/objects.h"

namespace flexrack::client::cuda {

struct LinkPart {
  CUjitInputType kind = CU_JIT_INPUT_PTX;
  std::string name;
  std::vector<std::byte> data;
  std::vector<cu::Option> options;
};

struct Linked {
  std::vector<std::byte> image;
  std::string info_log, error_log;
};

/// In that context, as cuLinkComplete.
CUresult link(CUctx_st& context, const std::vector<cu::Option>& options, const std::vector<LinkPart>& parts,
              Linked& linked);

}  // namespace flexrack::client::cuda
