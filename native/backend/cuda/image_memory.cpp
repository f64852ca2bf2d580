#include "backend/cuda/image_memory.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "cuda/fatbin.h"

namespace flexrack::backend::cuda {
namespace {

constexpr std::uint64_t kPiece = 512, kStatement = 64, kEndless = std::uint64_t{1} << 62;

std::uint64_t plus(std::uint64_t one, std::uint64_t other) {
  return one > kEndless - std::min(kEndless, other) ? kEndless : one + other;
}
std::uint64_t times(std::uint64_t one, std::uint64_t other) {
  std::uint64_t all = 0;
  return __builtin_mul_overflow(one, other, &all) || all > kEndless ? kEndless : all;
}
std::uint64_t in_pieces(std::uint64_t bytes) {
  return bytes > kEndless ? kEndless : (bytes + kPiece - 1) / kPiece * kPiece;
}

/// Shared and local memory are no device memory of the image's, though they have sections ("CUDA Binary Utilities").
bool is_on_device(std::string_view section) {
  return !section.starts_with(".nv.shared") && !section.starts_with(".nv.local");
}

std::uint64_t elf_bytes(std::string_view file) {
  Elf64_Ehdr head;
  if (file.size() < sizeof head) return 0;
  std::memcpy(&head, file.data(), sizeof head);
  const auto at = [&](std::uint64_t index, Elf64_Shdr& section) {
    if (head.e_shoff > file.size() || (index + 1) * sizeof section > file.size() - head.e_shoff) return false;
    std::memcpy(&section, file.data() + head.e_shoff + index * sizeof section, sizeof section);
    return true;
  };
  Elf64_Shdr names{}, section{};
  // What is laid out otherwise is no larger loaded than it is.
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof section || !at(head.e_shstrndx, names))
    return file.size();
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < head.e_shnum && at(i, section); ++i) {
    if ((section.sh_flags & SHF_ALLOC) == 0) continue;
    std::string_view name;
    if (names.sh_offset <= file.size() && section.sh_name < file.size() - names.sh_offset) {
      name = file.substr(names.sh_offset + section.sh_name);
      name = name.substr(0, name.find('\0'));
    }
    if (is_on_device(name)) bytes = plus(bytes, in_pieces(section.sh_size));
  }
  return bytes;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

/// Bytes of ".u32", ".v4"...; 0: it says nothing about size. References to textures are handles.
std::uint64_t factor(std::string_view word) {
  if (word == ".texref" || word == ".samplerref" || word == ".surfref") return 8;
  if (word == ".f16x2" || word == ".bf16x2") return 4;
  if (word.size() == 3 && word[1] == 'v') return static_cast<std::uint64_t>(word[2] - '0');
  unsigned bits = 0;
  const auto digits = word.find_first_of("0123456789");
  if (digits == word.npos ||
      std::from_chars(word.data() + digits, word.data() + word.size(), bits).ptr != word.data() + word.size())
    return 0;
  return bits / 8;
}

/// From behind ".global" or ".const": `.align 4 .b8 name[16]`, or several with commas between ("PTX ISA", 5.4,
/// variables).
std::uint64_t declared(std::string_view text) {
  std::uint64_t element = 1, bytes = 0, one = 0;
  bool has_type = false, is_number_next = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ';' || c == '=' || c == '{' || c == ')') break;
    if (c == '(') {  // of .attribute
      at = std::min(text.find(')', at), text.size() - 1) + 1;
    } else if (c == '[') {
      const auto end = std::min(text.find(']', at), text.size());
      auto inside = text.substr(at + 1, end - at - 1);
      while (!inside.empty() && is_space(inside.front())) inside.remove_prefix(1);
      std::uint64_t count = 0;
      const bool is_hex = inside.starts_with("0x");
      if (is_hex) inside.remove_prefix(2);
      if (std::from_chars(inside.data(), inside.data() + inside.size(), count, is_hex ? 16 : 10).ec ==
          std::errc::result_out_of_range)
        count = kEndless;
      // As many as its initial value has, where it says none.
      if (inside.empty())
        count = 1 + static_cast<std::uint64_t>(std::count(
                        text.begin() + static_cast<std::ptrdiff_t>(end),
                        text.begin() + static_cast<std::ptrdiff_t>(std::min(text.find(';', end), text.size())), ','));
      one = times(one, count);
      at = std::min(end + 1, text.size());
    } else if (c == ',') {
      bytes = plus(bytes, in_pieces(one));
      one = 0;
      ++at;
    } else if (is_word(c)) {
      auto end = at + 1;
      while (end < text.size() && is_word(text[end]) && text[end] != '.') ++end;
      const auto word = text.substr(at, end - at);
      at = end;
      if (std::exchange(is_number_next, false)) continue;
      if (word == ".align") is_number_next = true;
      else if (word[0] != '.') one = element;
      else if (const auto size = factor(word)) element = times(element, size), has_type = true;
    } else {
      ++at;
    }
  }
  return has_type ? plus(bytes, in_pieces(one)) : 0;
}

/// `.param .u64 .ptr .global .align 16 name`: where a parameter points to, which declares nothing ("PTX ISA", 5.1,
/// kernel function parameter attributes). `text` ends before the space's name.
bool is_of_parameter(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text.ends_with(".ptr");
}

std::uint64_t ptx_bytes(std::string_view text) {
  auto bytes = in_pieces(times(static_cast<std::uint64_t>(std::count(text.begin(), text.end(), ';')), kStatement));
  for (const std::string_view space : {".global", ".const"}) {
    for (auto at = text.find(space); at != text.npos; at = text.find(space, at + 1)) {
      const auto behind = at + space.size();
      if ((at > 0 && is_word(text[at - 1])) || behind >= text.size() || !is_space(text[behind])) continue;
      if (is_of_parameter(text.substr(0, at))) continue;
      bytes = plus(bytes, declared(text.substr(behind)));
    }
  }
  return bytes;
}

}  // namespace

ImageMemory image_memory(wire::View image) {
  ImageMemory found;
  // Behind an image that came as text there may be its zero.
  try {
    for (const auto& container : flexrack::cuda::parse(std::as_bytes(std::span(image))).containers) {
      std::uint64_t largest = 0;
      for (const auto& entry : container) {
        const auto content = flexrack::cuda::contents(entry);
        const std::string_view code(reinterpret_cast<const char*>(content.data()), content.size());
        found.uses_heap |= code.find("malloc") != code.npos;
        largest = std::max(largest, entry.kind == flexrack::cuda::CodeKind::elf   ? elf_bytes(code)
                                    : entry.kind == flexrack::cuda::CodeKind::ptx ? ptx_bytes(code)
                                                                                  : code.size());
      }
      found.bytes = plus(found.bytes, largest);
    }
  } catch (const flexrack::cuda::FatbinError&) { return {}; }
  return found;
}

}  // namespace flexrack::backend::cuda
