// What a process of this driver lets others of the same machine and user have: files in memory, which they find below
// /proc by a handle of 64 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace flexrack::sim {

/// A descriptor that is closed with its last user.
class SharedDescriptor {
 public:
  explicit SharedDescriptor(int descriptor) : descriptor_(descriptor) {}
  SharedDescriptor(const SharedDescriptor&) = delete;
  SharedDescriptor& operator=(const SharedDescriptor&) = delete;
  ~SharedDescriptor();
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};
using SharedFilePointer = std::shared_ptr<const SharedDescriptor>;

/// What lies in the last page of such a file: whoever opens it sees that it is the one that was meant.
struct FileMark {
  std::uint64_t magic = 0;
  std::array<std::uint8_t, 16> nonce{};
  std::uint64_t bytes = 0;    ///< of the file, without that page
  std::uint32_t device = 0;   ///< its memory is of
  std::uint32_t reserved = 0;
};

/// A handle as the API hands it out (CUipcMemHandle, CUipcEventHandle), both of 64 bytes.
struct FileHandle {
  static constexpr std::uint32_t kMemory = 1, kEvent = 2;
  std::uint64_t magic = 0;
  std::uint32_t kind = 0;
  std::int32_t process = 0, descriptor = 0;
  std::uint32_t device = 0;
  std::uint64_t offset = 0, size = 0, reserved = 0;
  std::array<std::uint8_t, 16> nonce{};
};
static_assert(sizeof(FileHandle) == 64);

/// A file of that many bytes, a multiple of the page, and its mark. Throws CUDA_ERROR_OPERATING_SYSTEM.
SharedFilePointer make_file(std::uint64_t bytes, std::uint32_t device);
/// Throws CUDA_ERROR_INVALID_VALUE where it is no file of this driver.
FileMark mark_of_file(int descriptor);
FileHandle handle_of_file(const SharedDescriptor& file, std::uint32_t kind);
/// Whether what begins at an offset of the file, a multiple of 512 below 4 MiB, may be opened.
void allow(const SharedDescriptor& file, std::uint64_t offset, bool may);
bool is_allowed(const SharedDescriptor& file, std::uint64_t offset);
/// The file of another process. Throws CUDA_ERROR_INVALID_VALUE where the handle is none of that kind, or what it
/// stands for is gone; CUDA_ERROR_INVALID_CONTEXT where this process has made it itself, as CUDA wants it.
SharedFilePointer open_file(const FileHandle& handle, std::uint32_t kind);

}  // namespace flexrack::sim
