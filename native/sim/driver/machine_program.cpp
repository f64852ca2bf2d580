// Machine code as far as it is understood here: names, parameters and sizes of its kernels and variables. Nothing
// executes it.
#include <elf.h>

#include <cstring>

#include "sim/driver/device.h"
#include "sim/driver/failure.h"
#include "sim/driver/program.h"

namespace flexrack::sim {
namespace {

/// An ELF file whose every offset is checked.
class Elf {
 public:
  explicit Elf(std::span<const std::byte> bytes) : bytes_(bytes) {
    const auto head = read<Elf64_Ehdr>(0);
    require(std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64,
            CUDA_ERROR_INVALID_IMAGE);
    require(head.e_shentsize == sizeof(Elf64_Shdr), CUDA_ERROR_INVALID_IMAGE);
    for (std::size_t i = 0; i < head.e_shnum; ++i)
      sections_.push_back(read<Elf64_Shdr>(head.e_shoff + i * sizeof(Elf64_Shdr)));
    require(head.e_shstrndx < sections_.size(), CUDA_ERROR_INVALID_IMAGE);
    names_ = head.e_shstrndx;
  }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  std::string_view name(const Elf64_Shdr& section) const { return text(sections_[names_], section.sh_name); }
  const Elf64_Shdr& at(std::size_t index) const {
    require(index < sections_.size(), CUDA_ERROR_INVALID_IMAGE);
    return sections_[index];
  }
  const Elf64_Shdr* find(std::string_view wanted) const {
    for (const auto& section : sections_)
      if (name(section) == wanted) return &section;
    return nullptr;
  }
  std::span<const std::byte> contents(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return {};
    require(section.sh_offset <= bytes_.size() && section.sh_size <= bytes_.size() - section.sh_offset,
            CUDA_ERROR_INVALID_IMAGE);
    return bytes_.subspan(section.sh_offset, section.sh_size);
  }
  std::string_view text(const Elf64_Shdr& strings, std::size_t offset) const {
    const auto all = contents(strings);
    require(offset < all.size(), CUDA_ERROR_INVALID_IMAGE);
    const auto* begin = reinterpret_cast<const char*>(all.data()) + offset;
    return {begin, strnlen(begin, all.size() - offset)};
  }
  template <class T>
  T read(std::size_t offset) const {
    require(offset <= bytes_.size() && sizeof(T) <= bytes_.size() - offset, CUDA_ERROR_INVALID_IMAGE);
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::size_t names_ = 0;
};

/// Attributes in a section .nv.info.<kernel>: a format byte, a number, and a size with that many bytes, or a value of
/// two bytes. Of them: 0x17 is a parameter (its number at 4, its offset at 6, its size in the upper 14 bits of the word
/// at 8), as cuobjdump -elf shows.
void read_parameters(std::span<const std::byte> info, KernelFacts& facts) {
  constexpr std::uint8_t kSized = 4, kParameter = 0x17;
  for (std::size_t at = 0; at + 4 <= info.size();) {
    const auto format = static_cast<std::uint8_t>(info[at]), number = static_cast<std::uint8_t>(info[at + 1]);
    std::uint16_t size = 0;
    std::memcpy(&size, &info[at + 2], sizeof size);
    at += 4;
    if (format != kSized) continue;
    require(size <= info.size() - at, CUDA_ERROR_INVALID_IMAGE);
    if (number == kParameter && size >= 12) {
      std::uint16_t ordinal = 0, offset = 0;
      std::uint32_t word = 0;
      std::memcpy(&ordinal, &info[at + 4], sizeof ordinal);
      std::memcpy(&offset, &info[at + 6], sizeof offset);
      std::memcpy(&word, &info[at + 8], sizeof word);
      require(ordinal < 4096, CUDA_ERROR_INVALID_IMAGE);
      if (facts.parameters.size() <= ordinal) facts.parameters.resize(ordinal + 1u);
      facts.parameters[ordinal] = {offset, word >> 18};
      facts.parameter_bytes = std::max<std::size_t>(facts.parameter_bytes, offset + (word >> 18));
    }
    at += size;
  }
}

/// Of a symbol's st_other: a kernel, as readelf shows of those that nvcc makes; they are local symbols where the C++
/// function has internal linkage, as most of cuBLAS and PyTorch.
constexpr unsigned char kEntry = 0x10;

KernelFacts kernel_of(const Elf& elf, const Elf64_Shdr& code, std::string_view name) {
  KernelFacts facts;
  facts.name = name;
  // The registers of a thread are in the upper byte of its section's info word.
  facts.registers = std::max<int>(16, static_cast<int>(code.sh_info >> 24));
  if (const auto* shared = elf.find(".nv.shared." + facts.name))
    facts.shared_bytes = static_cast<int>(std::min<std::uint64_t>(shared->sh_size, 1 << 20));
  if (const auto* info = elf.find(".nv.info." + facts.name)) read_parameters(elf.contents(*info), facts);
  facts.ptx_version = facts.binary_version = model().major * 10 + model().minor;
  return facts;
}

}  // namespace

std::shared_ptr<const Program> machine_program(std::span<const std::byte> bytes) {
  const Elf elf(bytes);
  auto made = std::make_shared<Program>();
  for (const auto& section : elf.sections())
    if (elf.name(section).starts_with(".text.")) made->code_bytes += elf.contents(section).size();
  for (const auto& table : elf.sections()) {
    if (table.sh_type != SHT_SYMTAB || table.sh_entsize != sizeof(Elf64_Sym)) continue;
    const auto& strings = elf.at(table.sh_link);
    const auto symbols = elf.contents(table);
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= elf.sections().size()) continue;
      const auto& section = elf.at(symbol.st_shndx);
      const auto name = elf.text(strings, symbol.st_name);
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if (type == STT_FUNC && elf.name(section) == ".text." + std::string(name) && (symbol.st_other & kEntry) != 0) {
        made->kernels.emplace(name, kernel_of(elf, section, name));
      } else if (type == STT_OBJECT && symbol.st_size > 0 && symbol.st_size <= (std::uint64_t{1} << 32)) {
        MachineVariable variable;
        variable.size = symbol.st_size;
        const auto contents = elf.contents(section);
        if (symbol.st_value <= contents.size() && symbol.st_size <= contents.size() - symbol.st_value) {
          const auto initial = contents.subspan(symbol.st_value, symbol.st_size);
          variable.initial.assign(initial.begin(), initial.end());
        }
        made->machine_variables.emplace(name, std::move(variable));
      }
    }
  }
  return made;
}

}  // namespace flexrack::sim
