#include "cuda/fatbin.h"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

// The layout of the wrapper is in fatbinary_section.h of CUDA 13.0; that of container and entries, and what flags and
// kinds mean, was read off what nvcc 13.0 writes for known sources and options.

namespace flexrack::cuda {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kContainerMagic = 0xba55ed50;
constexpr std::uint16_t kCudaMachine = 190;       ///< e_machine EM_CUDA
constexpr std::uint64_t kSomeLimit = 1ull << 40;   ///< no image is that large; below it sums cannot overflow

struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;   ///< 1, or 2: `others` is a list of the fatbins that nvlink linked
  const void* data;
  const void* const* others;
};

struct ContainerHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_size;
  std::uint64_t size;   ///< of the entries behind the header
};

struct EntryHeader {
  std::uint16_t kind;   ///< 1: PTX, 2: ELF, 8: for link-time optimisation
  std::uint16_t version;
  std::uint32_t header_size;       ///< with the source's name and options for ptxas behind these 64 bytes
  std::uint64_t padded_size;       ///< of the payload, to where the next entry begins
  std::uint32_t compressed_size;   ///< without padding; 0 where it is not compressed
  std::uint32_t options_at;
  std::uint16_t code_minor, code_major;   ///< of PTX its version, of ELF that of its ABI
  std::uint32_t architecture;             ///< 75: sm_75
  std::uint32_t name_at, name_size;
  std::uint64_t flags;
  std::uint64_t reserved;
  std::uint64_t uncompressed_size;   ///< 0 where it is not compressed
};
static_assert(sizeof(ContainerHeader) == 16 && sizeof(EntryHeader) == 64);

constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000, kFlagArchitecture = 0x100000, kFlagFamily = 0x200000;

template <class T>
T read(Bytes bytes, std::uint64_t at, const char* what) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T))
    throw FatbinError(std::string("a fatbin or ELF file ends within ") + what);
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

Architecture architecture_of(std::uint32_t number, char suffix = 0) {
  return {static_cast<int>(std::min(number, 9999u) / 10), static_cast<int>(number % 10), suffix};
}

// ELF

std::uint64_t elf_size(const Elf64_Ehdr& header, auto&& section) {
  auto end =
      std::max<std::uint64_t>(sizeof header, header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize);
  if (header.e_phoff >= kSomeLimit || header.e_shoff >= kSomeLimit)
    throw FatbinError("an ELF file with tables beyond its end");
  // More than a header can say are counted in the first.
  const std::uint64_t count = header.e_shnum == 0 && header.e_shoff != 0 ? section(0).sh_size : header.e_shnum;
  if (count >= kSomeLimit / sizeof(Elf64_Shdr)) throw FatbinError("an ELF file with tables beyond its end");
  end = std::max<std::uint64_t>(end, header.e_shoff + count * sizeof(Elf64_Shdr));
  for (std::uint64_t i = 0; i < count; ++i) {
    const Elf64_Shdr one = section(i);
    if (one.sh_type == SHT_NOBITS) continue;
    if (one.sh_offset >= kSomeLimit || one.sh_size >= kSomeLimit)
      throw FatbinError("an ELF file with a section beyond its end");
    end = std::max<std::uint64_t>(end, one.sh_offset + one.sh_size);
  }
  return end;
}

void check_elf(const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    throw FatbinError("not a 64-bit little-endian ELF file");
  if (header.e_machine != kCudaMachine) throw FatbinError("an ELF file, but not for a CUDA device");
  if (header.e_shoff != 0 && header.e_shentsize != sizeof(Elf64_Shdr))
    throw FatbinError("an ELF file with sections of another size");
}

CodeEntry elf_entry(Bytes bytes) {
  const auto header = read<Elf64_Ehdr>(bytes, 0, "its header");
  check_elf(header);
  const auto size = elf_size(header, [&](std::uint64_t i) {
    return read<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), "its section table");
  });
  if (size > bytes.size()) throw FatbinError("an ELF file is cut off");
  CodeEntry entry;
  entry.kind = CodeKind::elf;
  entry.kind_number = 2;
  entry.payload = bytes.first(size);
  entry.size = size;
  // CUDA 13 has the number in the flags' second and third byte, under an ABI of its own; what was before, in the first.
  constexpr unsigned char kOlderAbi = 0x33, kAbi = 0x41;
  if (header.e_ident[EI_OSABI] == kAbi) entry.architecture = architecture_of(header.e_flags >> 8 & 0xffff);
  if (header.e_ident[EI_OSABI] == kOlderAbi) entry.architecture = architecture_of(header.e_flags & 0xff);
  return entry;
}

// PTX

constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Where the next word begins, comments and blanks left out.
std::size_t skip_blank(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const auto end = text.find("*/", at + 2);
      at = end == text.npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

/// PTX ISA 9.0, 11.1.2: `.target sm_90a, debug`. {0, 0} where there is none.
Architecture target_of(std::string_view text) {
  for (auto at = skip_blank(text, 0); at < text.size(); at = skip_blank(text, at)) {
    const auto end = std::min(text.find_first_of(" \t\r\n\v\f/", at + 1), text.size());
    const bool is_target = text.substr(at, end - at) == ".target";
    at = end;
    if (!is_target) continue;
    at = skip_blank(text, at);
    if (text.substr(at, 3) != "sm_") return {};
    at += 3;
    std::uint32_t number = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && number < 10000; ++at)
      number = number * 10 + static_cast<std::uint32_t>(text[at] - '0');
    const char suffix = at < text.size() && (text[at] == 'a' || text[at] == 'f') ? text[at] : '\0';
    return architecture_of(number, suffix);
  }
  return {};
}

CodeEntry ptx_entry(Bytes bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  const auto text = bytes.first(static_cast<std::size_t>(end - bytes.begin()));
  const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
  CodeEntry entry;
  entry.kind = CodeKind::ptx;
  entry.kind_number = 1;
  entry.architecture = target_of(view);
  entry.payload = text;
  entry.size = text.size();
  return entry;
}

// Fatbins

/// Of the options that nvcc wrote down for whoever compiles the PTX: where they are and how long, then the text. What
/// does not fit says nothing.
int max_registers_of(Bytes entry, const EntryHeader& header) {
  struct Options {
    std::uint32_t at, size;
  };
  if (header.options_at < sizeof header ||
      header.options_at > header.header_size - std::min<std::uint32_t>(header.header_size, sizeof(Options)))
    return 0;
  const auto options = read<Options>(entry.data() + header.options_at);
  if (options.at > header.header_size || options.size > header.header_size - options.at) return 0;
  const std::string_view text(reinterpret_cast<const char*>(entry.data()) + options.at, options.size);
  constexpr std::string_view kName = "-maxrregcount";
  auto at = text.find(kName);
  if (at == text.npos) return 0;
  at += kName.size();
  if (at < text.size() && (text[at] == '=' || text[at] == ' ')) ++at;
  int count = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && count < 1000; ++at)
    count = count * 10 + (text[at] - '0');
  return count;
}

CodeEntry fatbin_entry(Bytes entry, const EntryHeader& header) {
  CodeEntry found;
  found.kind_number = header.kind;
  found.flags = header.flags;
  if (header.kind == 1) found.kind = CodeKind::ptx;
  if (header.kind == 2) found.kind = CodeKind::elf;
  found.architecture = architecture_of(header.architecture, header.flags & kFlagArchitecture ? 'a'
                                                            : header.flags & kFlagFamily     ? 'f'
                                                                                             : '\0');
  if (header.flags & kFlagZstd) found.compression = Compression::zstd;
  else if (header.flags & kFlagLz4) found.compression = Compression::lz4;
  found.max_registers = max_registers_of(entry, header);
  const auto payload = entry.subspan(header.header_size, header.padded_size);
  if (found.compression == Compression::none) {
    found.payload = payload;
    found.size = payload.size();
  } else {
    if (header.compressed_size > payload.size()) throw FatbinError("a fatbin's entry is larger than the place it has");
    found.payload = payload.first(header.compressed_size);
    found.size = header.uncompressed_size;
  }
  return found;
}

std::vector<CodeEntry> entries_of(Bytes bytes) {
  std::vector<CodeEntry> entries;
  while (!bytes.empty()) {
    const auto header = read<EntryHeader>(bytes, 0, "an entry's header");
    if (header.header_size < sizeof header || header.header_size > bytes.size() ||
        header.padded_size > bytes.size() - header.header_size)
      throw FatbinError("a fatbin's entry reaches beyond its end");
    entries.push_back(fatbin_entry(bytes, header));
    bytes = bytes.subspan(header.header_size + header.padded_size);
  }
  return entries;
}

std::uint64_t container_size(const ContainerHeader& header) {
  if (header.version != 1 || header.header_size < sizeof header || header.size >= kSomeLimit)
    throw FatbinError("a fatbin of a version that is not known");
  return header.header_size + header.size;
}

std::vector<std::vector<CodeEntry>> containers_of(Bytes bytes) {
  std::vector<std::vector<CodeEntry>> containers;
  while (!bytes.empty()) {
    const auto header = read<ContainerHeader>(bytes, 0, "its header");
    const auto size = header.magic == kContainerMagic ? container_size(header) : 0;
    if (size == 0 || size > bytes.size()) throw FatbinError("a fatbin is cut off, or something else follows it");
    containers.push_back(entries_of(bytes.subspan(header.header_size, header.size)));
    bytes = bytes.subspan(size);
    // Padding between containers, and behind the last.
    while (!bytes.empty() && bytes.front() == std::byte{0}) bytes = bytes.subspan(1);
  }
  return containers;
}

enum class Beginning { wrapper, container, elf, ptx };

/// `first` has at least one byte. Text is text whatever it says: what is wrong with it, its compiler tells better.
Beginning beginning_of(Bytes first) {
  const auto magic = first.size() >= 4 ? read<std::uint32_t>(first.data()) : 0;
  if (magic == kWrapperMagic) return Beginning::wrapper;
  if (magic == kContainerMagic) return Beginning::container;
  if (first.size() >= SELFMAG && std::memcmp(first.data(), ELFMAG, SELFMAG) == 0) return Beginning::elf;
  const auto c = static_cast<char>(first.front());
  if (c == '.' || c == '/' || is_space(c)) return Beginning::ptx;
  throw FatbinError("neither a fatbin, nor an ELF file, nor PTX text");
}

Bytes container_at(const void* at) {
  if (!at) throw FatbinError("a fatbin's wrapper without a fatbin");
  const auto header = read<ContainerHeader>(at);
  if (header.magic != kContainerMagic) throw FatbinError("a fatbin's wrapper around something else");
  return {static_cast<const std::byte*>(at), container_size(header)};
}

ImageBytes behind_wrapper(const Wrapper& wrapper) {
  ImageBytes found{ImageFormat::fatbin, {container_at(wrapper.data)}};
  if (wrapper.version == 2 && wrapper.others)
    for (auto other = wrapper.others; *other; ++other) found.containers.push_back(container_at(*other));
  return found;
}

}  // namespace

ImageBytes measure(const void* image) {
  if (!image) throw FatbinError("no image");
  // Bytes are looked at one by one as long as they may be text, which may end at once.
  const auto* start = static_cast<const std::byte*>(image);
  const auto text = static_cast<const char*>(image);
  const Bytes first(start, strnlen(text, 4) == 4 ? 4 : strnlen(text, 4) + 1);
  switch (beginning_of(first)) {
    case Beginning::wrapper: return behind_wrapper(read<Wrapper>(image));
    case Beginning::container: return {ImageFormat::fatbin, {container_at(image)}};
    case Beginning::ptx: return {ImageFormat::ptx, {Bytes(start, std::strlen(text))}};
    case Beginning::elf: break;
  }
  const auto header = read<Elf64_Ehdr>(image);
  check_elf(header);
  return {ImageFormat::elf, {Bytes(start, elf_size(header, [&](std::uint64_t i) {
                                     return read<Elf64_Shdr>(start + header.e_shoff + i * sizeof(Elf64_Shdr));
                                   }))}};
}

Image parse(Bytes bytes) {
  if (bytes.empty()) throw FatbinError("no image");
  switch (beginning_of(bytes)) {
    case Beginning::wrapper: throw FatbinError("a fatbin's wrapper without what it points to");
    case Beginning::container: return {ImageFormat::fatbin, containers_of(bytes)};
    case Beginning::elf: return {ImageFormat::elf, {{elf_entry(bytes)}}};
    case Beginning::ptx: break;
  }
  return {ImageFormat::ptx, {{ptx_entry(bytes)}}};
}

Image parse(const ImageBytes& bytes) {
  Image image{bytes.format, {}};
  for (const auto& one : bytes.containers) {
    auto found = parse(one);
    std::move(found.containers.begin(), found.containers.end(), std::back_inserter(image.containers));
  }
  return image;
}

}  // namespace flexrack::cuda
