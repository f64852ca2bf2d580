#include "sim/driver/program.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda/fatbin.h"
#include "sim/driver/device.h"
#include "sim/driver/failure.h"
#include "sim/driver/kernel_cache.h"
#include "sim/driver/linked_image.h"
#include "sim/driver/no_ptx.h"
#include "sim/driver/settings.h"
#include "sim/ptx/link.h"
#include "sim/ptx/parse.h"

namespace flexrack::sim {
namespace {

/// Threads of a block that the registers are enough for, as warps get them: in units of 256 for a warp, and four warps
/// at a time (occupancy.cpp).
int threads_by_registers(int registers) {
  const auto of_warp = (registers * 32 + 255) / 256 * 256;
  return std::min(1024, 65536 / of_warp / 4 * 4 * 32);
}

/// What a compiler keeps to that has to fit a block of so many threads.
int registers_for(int threads) {
  const auto warps = (threads + 127) / 128 * 4;
  return 65536 / warps / 256 * 8;
}

std::uint32_t count(const std::array<std::uint32_t, 3>& sizes) {
  return std::max(1u, sizes[0]) * std::max(1u, sizes[1]) * std::max(1u, sizes[2]);
}

KernelFacts facts_of(const ptx::Module& module, const ptx::Function& function, int const_bytes,
                     unsigned max_registers) {
  KernelFacts facts;
  facts.name = function.name;
  for (const auto& parameter : function.parameters) facts.parameters.push_back({parameter.offset, parameter.bytes});
  facts.parameter_bytes = function.parameter_bytes;
  facts.registers = static_cast<int>(std::clamp(function.register_count, 8u, 255u));
  const auto& directives = function.directives;
  // What the text says of a kernel counts more than what is said of all.
  const auto most = directives.max_registers > 0 ? directives.max_registers : max_registers;
  if (most > 0) facts.registers = std::min<int>(facts.registers, static_cast<int>(most));
  facts.max_threads = threads_by_registers(facts.registers);
  for (const auto* sizes : {&directives.max_threads, &directives.required_threads}) {
    if ((*sizes)[0] > 0) facts.max_threads = static_cast<int>(std::min<std::uint32_t>(1024, count(*sizes)));
  }
  facts.registers = std::min(facts.registers, registers_for(facts.max_threads));
  facts.shared_bytes = static_cast<int>(function.shared_bytes);
  facts.local_bytes = static_cast<int>(function.local_bytes);
  facts.const_bytes = const_bytes;
  for (int i = 0; i < 3; ++i)
    facts.required_cluster[i] = static_cast<int>(directives.required_cluster[static_cast<std::size_t>(i)]);
  facts.ptx_version = static_cast<int>(module.target);
  facts.binary_version = model().major * 10 + model().minor;
  return facts;
}

[[noreturn]] void fail_by(const ptx::ParseError& error, JitOptions& options) {
  options.error(error.log());
  options.tell_time();
  fail(error.kind == ptx::ParseError::Kind::unsupported_version ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                                                                : CUDA_ERROR_INVALID_PTX,
       error.log());
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Texts of a program as they are stored, compressed mostly; they are read once.
class Texts {
 public:
  explicit Texts(const std::vector<const cuda::CodeEntry*>& entries) {
    for (const auto* entry : entries) {
      kept_.emplace_back(entry->payload.begin(), entry->payload.end());
      entries_.push_back(*entry);
      entries_.back().payload = kept_.back();
      size_ += entry->size;
    }
  }
  std::uint64_t size() const { return size_; }
  std::vector<std::span<const std::byte>> stored() const { return {kept_.begin(), kept_.end()}; }
  /// Throws ptx::ParseError, FatbinError.
  std::shared_ptr<const ptx::Module> read() const {
    if (entries_.size() == 1) return ptx::parse(text_of(cuda::contents(entries_[0])));
    std::vector<std::vector<std::byte>> texts;
    std::vector<ptx::Source> sources;
    for (const auto& entry : entries_) texts.push_back(cuda::contents(entry));
    for (const auto& text : texts) sources.push_back({"unit " + std::to_string(sources.size() + 1), text_of(text)});
    return ptx::link(sources);
  }

 private:
  std::vector<std::vector<std::byte>> kept_;
  std::vector<cuda::CodeEntry> entries_;
  std::uint64_t size_ = 0;
};

/// Read when it is wanted: the same text was read before, so there is nothing wrong in it.
Program::Read read_later(std::shared_ptr<const Texts> texts) {
  return [texts] {
    try {
      return texts->read();
    } catch (const ptx::ParseError& error) {
      fail(CUDA_ERROR_INVALID_PTX, error.log());
    } catch (const cuda::FatbinError& error) { fail(CUDA_ERROR_INVALID_IMAGE, error.what()); }
  };
}

/// What is smaller is read as fast as a file.
constexpr std::uint64_t kLeastKept = 32 << 10;

std::shared_ptr<const Program> load_texts(const std::vector<const cuda::CodeEntry*>& entries, unsigned max_registers,
                                          JitOptions& options) {
  const auto texts = std::make_shared<const Texts>(entries);
  const KernelCache cache(settings().cache_folder);
  const auto key =
      settings().cache_folder && texts->size() >= kLeastKept ? cache_key(texts->stored(), max_registers) : std::nullopt;
  if (auto known = key ? cache.find(*key) : std::nullopt) {
    const auto made = std::make_shared<Program>(read_later(texts));
    made->kernels = std::move(known->kernels);
    made->code_bytes = known->code_bytes;
    made->uses_heap = known->uses_heap;
    return made;
  }
  try {
    auto made = make_program(texts->read(), max_registers);
    const auto& variables = made->module()->variables;
    // Managed variables are the host's as soon as the program is loaded.
    const bool is_managed =
        std::any_of(variables.begin(), variables.end(), [](const ptx::Variable& one) { return one.is_managed; });
    if (key && !is_managed) cache.keep(*key, {made->kernels, made->code_bytes, made->uses_heap});
    return made;
  } catch (const ptx::ParseError& error) { fail_by(error, options); }
}

std::shared_ptr<const Program> load(const cuda::Image& image, JitOptions& options) {
  const auto& capability = settings().capability;
  cuda::Target target;
  target.architecture = {capability.major, capability.minor, 0};
  target.runs_elf = settings().accepts_machine_code;
  target.prefers_ptx = true;
  const auto choice = cuda::choose(image, target);
  if (choice.entries.empty()) refuse_without_ptx(image, options);
  if (choice.entries[0]->kind == cuda::CodeKind::elf) return machine_program(cuda::contents(*choice.entries[0]));
  const auto written = static_cast<unsigned>(choice.entries[0]->max_registers);
  return load_texts(choice.entries, options.max_registers() > 0 ? options.max_registers() : written, options);
}

template <class Measure>
std::shared_ptr<const Program> load_from(JitOptions& options, Measure&& measure) {
  require(!is_fault_due("load"), CUDA_ERROR_OUT_OF_MEMORY, "a load failed, as FLEXRACK_SIM_FAULT asks for");
  try {
    auto program = load(measure(), options);
    options.tell_time();
    return program;
  } catch (const cuda::FatbinError& error) {
    options.error(error.what());
    fail(CUDA_ERROR_INVALID_IMAGE, error.what());
  }
}

}  // namespace

const KernelFacts* Program::kernel(std::string_view name) const {
  const auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : &found->second;
}

bool Program::is_read() const {
  const std::lock_guard guard(lock_);
  return module_ != nullptr;
}

std::shared_ptr<const ptx::Module> Program::module() const {
  const std::lock_guard guard(lock_);
  if (!module_ && read_) {
    module_ = read_();
    read_ = nullptr;
  }
  return module_;
}

/// Of an instruction on the devices that this one is like ("CUDA Binary Utilities", cuobjdump -sass: since Volta 128
/// bits each).
constexpr std::uint64_t kInstructionBytes = 16;

std::shared_ptr<const Program> make_program(std::shared_ptr<const ptx::Module> module, unsigned max_registers) {
  auto made = std::make_shared<Program>(module);
  std::uint64_t const_bytes = 0;
  for (const auto& variable : module->variables)
    if (variable.space == ptx::Space::constant) const_bytes += variable.bytes;
  for (const auto& function : module->functions) {
    made->code_bytes += function->code.size() * kInstructionBytes;
    made->uses_heap |= function->builtin == ptx::Builtin::malloc || function->builtin == ptx::Builtin::free;
    if (function->is_kernel && function->is_defined)
      made->kernels.emplace(function->name, facts_of(*module, *function, static_cast<int>(const_bytes), max_registers));
  }
  return made;
}

std::shared_ptr<const Program> load_program(const void* image, JitOptions& options) {
  const auto* text = static_cast<const char*>(image);
  const auto bytes = [&](std::size_t size) { return std::span(static_cast<const std::byte*>(image), size); };
  if (is_linked_image(bytes(strnlen(text, 64)))) return load_program(bytes(std::strlen(text)), options);
  return load_from(options, [&] { return cuda::parse(cuda::measure(image)); });
}

std::shared_ptr<const Program> load_program(std::span<const std::byte> bytes, JitOptions& options) {
  if (is_linked_image(bytes)) {
    const auto units = unpack_linked(bytes);
    std::vector<ptx::Source> sources;
    for (const auto& [name, text] : units) sources.push_back({name, text});
    try {
      return make_program(ptx::link(sources), options.max_registers());
    } catch (const ptx::ParseError& error) { fail_by(error, options); }
  }
  return load_from(options, [&] { return cuda::parse(bytes); });
}

std::vector<std::byte> read_file(const char* path) {
  require(path);
  auto* file = std::fopen(path, "rbe");
  require(file, CUDA_ERROR_FILE_NOT_FOUND, path);
  std::vector<std::byte> bytes;
  std::byte part[65536];
  for (;;) {
    const auto count = std::fread(part, 1, sizeof part, file);
    bytes.insert(bytes.end(), part, part + count);
    if (count < sizeof part) break;
  }
  const bool is_bad = std::ferror(file) != 0;
  std::fclose(file);
  require(!is_bad && !bytes.empty(), CUDA_ERROR_INVALID_SOURCE, path);
  return bytes;
}

}  // namespace flexrack::sim
