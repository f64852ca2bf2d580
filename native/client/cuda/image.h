// Code as an application hands it over, and the one piece of it that a device loads.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "client/cuda/device.h"
#include "client/trace.h"
#include "cuda/fatbin.h"
#include "wire/frame.h"

namespace flexrack::client::cuda {

/// What is sent to a server: machine code or PTX text. With `parts` it is what they are linked to, once, where it is
/// first loaded.
struct DeviceImage {
  struct Part {
    bool is_ptx = false;
    std::vector<std::byte> bytes;
  };
  std::vector<Part> parts;
  int max_registers = 0;  ///< what the fatbin has its compiler told beside the code; 0: nothing
  mutable std::mutex lock;  ///< of what follows, where there are parts
  mutable std::vector<std::byte> bytes;
  mutable std::array<std::uint8_t, 32> hash{};
};

class Code {
 public:
  /// Reads what is at `image`; with `is_kept` its bytes stay as long as this does, else they are copied. Throws
  /// FatbinError.
  Code(const void* image, bool is_kept);
  /// The same from bytes of a file, which it takes.
  explicit Code(std::vector<std::byte> file);

  /// What that device loads, unpacked at first use. Null: there is nothing for it. Throws FatbinError where that is
  /// damaged.
  std::shared_ptr<const DeviceImage> for_device(const Device& device) const;

 private:
  std::vector<std::vector<std::byte>> copies_;
  flexrack::cuda::Image image_;
  mutable std::mutex lock_;
  mutable std::map<const flexrack::cuda::CodeEntry*, std::shared_ptr<const DeviceImage>> unpacked_;  ///< under lock
};

/// What `body` answers; CUDA_ERROR_INVALID_IMAGE where it throws FatbinError.
template <class Body>
CUresult with_code(Body&& body) {
  try {
    return body();
  } catch (const flexrack::cuda::FatbinError& error) {
    if (is_traced()) trace(std::string("code that cannot be read: ") + error.what());
    return CUDA_ERROR_INVALID_IMAGE;
  }
}

}  // namespace flexrack::client::cuda
