// NCCL of this machine: the library that a daemon was told of, opened in a worker when a client first asks for it.
#pragma once

#include <string>

#include "backend/cuda/driver_library.h"
#include "gen/nccl/library_table.h"

namespace flexrack::backend::cuda {

class NcclLibrary {
 public:
  /// `path`: what dlopen takes; empty: this daemon carries no collectives.
  explicit NcclLibrary(std::string path) : path_(std::move(path)) {}

  /// Opens it, the first time. Null where that cannot be: why() says the reason.
  const nccl::LibraryTable* open(const DriverLibrary& driver);
  const std::string& why() const { return why_; }

  /// What a result means, and what the library says last.
  std::string text_of(ncclResult_t result) const;

 private:
  bool load(const DriverLibrary& driver);

  std::string path_, why_;
  bool is_tried_ = false, is_open_ = false;
  nccl::LibraryTable table_;
};

}  // namespace flexrack::backend::cuda
