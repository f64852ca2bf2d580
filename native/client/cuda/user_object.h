// User objects: something of the application's that graphs keep, destroyed when nobody refers to it any more.
#pragma once

#include "client/cuda/objects.h"

struct CUuserObject_st : fc::Object {
  void* pointer = nullptr;
  CUhostFn destroy = nullptr;
  std::atomic<std::uint64_t> references{0};   ///< of the application and of graphs together
  CUuserObject_st() : Object(fc::Kind::user_object) {}
};

namespace flexrack::client::cuda {

/// Gives back that many; the last has it destroyed, on the thread of host functions. False: there are not that many.
bool drop_references(CUuserObject object, std::uint64_t count);

}  // namespace flexrack::client::cuda
