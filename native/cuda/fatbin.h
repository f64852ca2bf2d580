// What cuModuleLoadData and cuLibraryLoadData are given: a fatbin behind its wrapper, a bare fatbin, an ELF file
// (cubin), or PTX text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace flexrack::cuda {

using Bytes = std::span<const std::byte>;

/// The bytes are not what they say they are.
class FatbinError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class ImageFormat : std::uint8_t { fatbin, elf, ptx };
enum class Compression : std::uint8_t { none, lz4, zstd };
/// `other`: intermediate code for link-time optimisation and what may come; not to be loaded by itself.
enum class CodeKind : std::uint8_t { ptx, elf, other };

/// Compute capability and what follows it: "sm_90a" is {9, 0, 'a'}.
struct Architecture {
  int major = 0;
  int minor = 0;
  char suffix = 0;   ///< 'a': that one alone; 'f': its family; 0: what is newer too
  auto operator<=>(const Architecture&) const = default;
};

/// One piece of code of a fatbin; a bare ELF file or PTX text is an image of one.
struct CodeEntry {
  CodeKind kind = CodeKind::other;
  std::uint16_t kind_number = 0;    ///< as the file has it
  Architecture architecture;        ///< of ELF and PTX that stand alone: read from them
  std::uint64_t flags = 0;          ///< as the file has them
  Compression compression = Compression::none;
  Bytes payload;                    ///< as stored; without the padding behind it. Lies in what was parsed.
  std::uint64_t size = 0;           ///< after decompression
  int max_registers =
      0;  ///< of a thread, as the compiler was told (-maxrregcount): part of what ptxas would be told; 0: it was not
};

/// One or several fatbins. With several there is a first, linked by nvlink, and those it was linked from ("prelinked"),
/// which are linked again at load where the first has nothing for the device.
struct Image {
  ImageFormat format = ImageFormat::fatbin;
  std::vector<std::vector<CodeEntry>> containers;
};

/// Where an image that came as a pointer lies. The API gives no length: the image itself has it.
struct ImageBytes {
  ImageFormat format = ImageFormat::fatbin;
  std::vector<Bytes> containers;  ///< of a wrapper of version 2: the linked one first, then those it was linked from
};

/// Finds format and size. Reads what headers say is there, as any driver has to; null and unknown beginnings throw
/// FatbinError.
ImageBytes measure(const void* image);

/// Bytes from anywhere: whatever they hold, nothing outside them is read. Throws FatbinError. Several fatbins may
/// follow each other.
Image parse(Bytes bytes);
Image parse(const ImageBytes& bytes);

/// The code itself: decompressed, PTX without the zero at its end. Throws FatbinError where the payload is damaged or
/// larger than `most`.
std::vector<std::byte> contents(const CodeEntry& entry, std::uint64_t most = 1ull << 30);

struct Target {
  Architecture architecture;  ///< of the device
  bool runs_elf = true;  ///< false: PTX only, as the device in software
  bool prefers_ptx = false;  ///< CU_PREFER_PTX: machine code only where there is no PTX
};

/// What a device loads.
struct Choice {
  std::vector<const CodeEntry*>
      entries;  ///< one; several are to be linked; none: nothing for this device (CUDA_ERROR_NO_BINARY_FOR_GPU)
};

/// The machine code that fits best, else the newest PTX that the device can run; of several fatbins the first, else one
/// from each of the rest that has any. Code that says no architecture (a bare ELF file of a kind we do not know, PTX
/// without .target) is left to whoever loads it.
Choice choose(const Image& image, const Target& target);

/// "CUDA C++ Programming Guide", binary and PTX compatibility: machine code runs on its major version from its minor
/// version up, what was made for one architecture ('a') or for a system on a chip on that alone.
bool runs_machine_code(const Architecture& device, const Architecture& code);
/// PTX can be compiled for every device from its version up; for a family ('f') within the major version, for one
/// architecture ('a') for that alone.
bool runs_ptx(const Architecture& device, const Architecture& code);

/// SHA-256 of the bytes as they are; by it a server knows what it has.
std::array<std::uint8_t, 32> content_hash(Bytes bytes);

/// "PTX for sm_75, 3784 bytes, zstd": for messages and traces.
std::string describe(const CodeEntry& entry);

}  // namespace flexrack::cuda
