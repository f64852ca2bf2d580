#include "sim/driver/process_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "sim/driver/failure.h"

namespace flexrack::sim {
namespace {

constexpr std::uint64_t kMagic = 0x31636f7270786c66;  // "flxproc1"
constexpr std::uint64_t kMarkRoom = 4096;
/// In the last page, behind the mark: a bit for each piece that an allocation can begin at.
constexpr std::uint64_t kPiece = 512, kPieces = 8192, kBitsAt = 1024;

std::uint64_t byte_of(std::uint64_t bytes, std::uint64_t offset) { return bytes + kBitsAt + offset / kPiece / 8; }

}  // namespace

SharedDescriptor::~SharedDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

SharedFilePointer make_file(std::uint64_t bytes, std::uint32_t device) {
  auto file = std::make_shared<const SharedDescriptor>(memfd_create("flexrack-sim", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  FileMark mark{.magic = kMagic, .bytes = bytes, .device = device};
  const bool is_made =
      file->get() >= 0 && ftruncate(file->get(), static_cast<off_t>(bytes + kMarkRoom)) == 0 &&
      getrandom(mark.nonce.data(), mark.nonce.size(), 0) == static_cast<ssize_t>(mark.nonce.size()) &&
      pwrite(file->get(), &mark, sizeof mark, static_cast<off_t>(bytes)) == static_cast<ssize_t>(sizeof mark) &&
      // Nobody who has it takes the pages away from those who map it.
      fcntl(file->get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  require(is_made, CUDA_ERROR_OPERATING_SYSTEM, "no memory file to be had");
  return file;
}

FileMark mark_of_file(int descriptor) {
  struct stat facts{};
  FileMark mark;
  const bool is_file = fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) &&
                       facts.st_size > static_cast<off_t>(kMarkRoom) &&
                       pread(descriptor, &mark, sizeof mark, facts.st_size - static_cast<off_t>(kMarkRoom)) ==
                           static_cast<ssize_t>(sizeof mark) &&
                       mark.magic == kMagic && mark.bytes == static_cast<std::uint64_t>(facts.st_size) - kMarkRoom;
  require(is_file, CUDA_ERROR_INVALID_VALUE, "no memory of this driver");
  return mark;
}

FileHandle handle_of_file(const SharedDescriptor& file, std::uint32_t kind) {
  const auto mark = mark_of_file(file.get());
  FileHandle handle;
  handle.magic = kMagic;
  handle.kind = kind;
  handle.process = getpid();
  handle.descriptor = file.get();
  handle.device = mark.device;
  handle.nonce = mark.nonce;
  return handle;
}

void allow(const SharedDescriptor& file, std::uint64_t offset, bool may) {
  require(offset / kPiece < kPieces);
  const auto at = static_cast<off_t>(byte_of(mark_of_file(file.get()).bytes, offset));
  const auto bit = static_cast<std::uint8_t>(1u << (offset / kPiece % 8));
  std::uint8_t byte = 0;
  require(pread(file.get(), &byte, 1, at) == 1, CUDA_ERROR_OPERATING_SYSTEM);
  byte = static_cast<std::uint8_t>(may ? byte | bit : byte & ~bit);
  require(pwrite(file.get(), &byte, 1, at) == 1, CUDA_ERROR_OPERATING_SYSTEM);
}

bool is_allowed(const SharedDescriptor& file, std::uint64_t offset) {
  std::uint8_t byte = 0;
  return offset / kPiece < kPieces &&
         pread(file.get(), &byte, 1, static_cast<off_t>(byte_of(mark_of_file(file.get()).bytes, offset))) == 1 &&
         (byte >> (offset / kPiece % 8) & 1) != 0;
}

SharedFilePointer open_file(const FileHandle& handle, std::uint32_t kind) {
  require(handle.magic == kMagic && handle.kind == kind, CUDA_ERROR_INVALID_VALUE, "no handle of this kind");
  require(handle.process != getpid(), CUDA_ERROR_INVALID_CONTEXT, "a handle is opened by another process");
  const auto path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.descriptor);
  auto file = std::make_shared<const SharedDescriptor>(open(path.c_str(), O_RDWR | O_CLOEXEC));
  require(file->get() >= 0, CUDA_ERROR_INVALID_VALUE, "what the handle stands for is gone");
  const auto mark = mark_of_file(file->get());
  require(mark.nonce == handle.nonce && mark.device == handle.device, CUDA_ERROR_INVALID_VALUE,
          "what the handle stands for is gone");
  return file;
}

}  // namespace flexrack::sim
