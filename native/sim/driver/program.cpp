#include "sim/driver/program.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda/fatbin.h"
#include "sim/driver/device.h"
#include "sim/driver/failure.h"
#include "sim/driver/linked_image.h"
#include "sim/driver/settings.h"
#include "sim/ptx/link.h"
#include "sim/ptx/parse.h"

namespace flexrack::sim {
namespace {

/// Threads of a block that the registers are enough for, as warps get them: in units of 256 for a warp, and four warps at a time (occupancy.cpp).
int threads_by_registers(int registers) {
  const auto of_warp = (registers * 32 + 255) / 256 * 256;
  return std::min(1024, 65536 / of_warp / 4 * 4 * 32);
}

/// What a compiler keeps to that has to fit a block of so many threads.
int registers_for(int threads) {
  const auto warps = (threads + 127) / 128 * 4;
  return 65536 / warps / 256 * 8;
}

std::uint32_t count(const std::array<std::uint32_t, 3>& sizes) { return std::max(1u, sizes[0]) * std::max(1u, sizes[1]) * std::max(1u, sizes[2]); }

KernelFacts facts_of(const ptx::Module& module, const ptx::Function& function, int const_bytes) {
  KernelFacts facts;
  facts.name = function.name;
  facts.code = &function;
  for (const auto& parameter : function.parameters) facts.parameters.push_back({parameter.offset, parameter.bytes});
  facts.parameter_bytes = function.parameter_bytes;
  facts.registers = static_cast<int>(std::clamp(function.register_count, 8u, 255u));
  const auto& directives = function.directives;
  if (directives.max_registers > 0) facts.registers = std::min<int>(facts.registers, static_cast<int>(directives.max_registers));
  facts.max_threads = threads_by_registers(facts.registers);
  for (const auto* sizes : {&directives.max_threads, &directives.required_threads}) {
    if ((*sizes)[0] > 0) facts.max_threads = static_cast<int>(std::min<std::uint32_t>(1024, count(*sizes)));
  }
  facts.registers = std::min(facts.registers, registers_for(facts.max_threads));
  facts.shared_bytes = static_cast<int>(function.shared_bytes);
  facts.local_bytes = static_cast<int>(function.local_bytes);
  facts.const_bytes = const_bytes;
  for (int i = 0; i < 3; ++i) facts.required_cluster[i] = static_cast<int>(directives.required_cluster[static_cast<std::size_t>(i)]);
  facts.ptx_version = static_cast<int>(module.target);
  facts.binary_version = model().major * 10 + model().minor;
  return facts;
}

[[noreturn]] void fail_by(const ptx::ParseError& error, JitOptions& options) {
  options.error(error.log());
  options.tell_time();
  fail(error.kind == ptx::ParseError::Kind::unsupported_version ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION : CUDA_ERROR_INVALID_PTX, error.log());
}

std::string_view text_of(const std::vector<std::byte>& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::shared_ptr<const Program> parse_all(const std::vector<std::vector<std::byte>>& texts, JitOptions& options) {
  try {
    if (texts.size() == 1) return make_program(ptx::parse(text_of(texts[0])));
    std::vector<ptx::Source> sources;
    for (const auto& text : texts) sources.push_back({"unit " + std::to_string(sources.size() + 1), text_of(text)});
    return make_program(ptx::link(sources));
  } catch (const ptx::ParseError& error) {
    fail_by(error, options);
  }
}

std::shared_ptr<const Program> load(const cuda::Image& image, JitOptions& options) {
  const auto& capability = settings().capability;
  cuda::Target target;
  target.architecture = {capability.major, capability.minor, 0};
  target.runs_elf = settings().accepts_machine_code;
  target.prefers_ptx = true;
  const auto choice = cuda::choose(image, target);
  if (choice.entries.empty()) {
    std::string text = "nothing in the image that this device can run:";
    for (const auto& container : image.containers) for (const auto& entry : container) text += " " + cuda::describe(entry) + ";";
    options.error(text);
    fail(CUDA_ERROR_NO_BINARY_FOR_GPU, text);
  }
  std::vector<std::vector<std::byte>> contents;
  for (const auto* entry : choice.entries) contents.push_back(cuda::contents(*entry));
  if (choice.entries[0]->kind == cuda::CodeKind::elf) return machine_program(contents[0]);
  return parse_all(contents, options);
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

/// Of an instruction on the devices that this one is like ("CUDA Binary Utilities", cuobjdump -sass: since Volta 128 bits each).
constexpr std::uint64_t kInstructionBytes = 16;

std::shared_ptr<const Program> make_program(std::shared_ptr<const ptx::Module> module) {
  auto made = std::make_shared<Program>();
  std::uint64_t const_bytes = 0;
  for (const auto& variable : module->variables) if (variable.space == ptx::Space::constant) const_bytes += variable.bytes;
  for (const auto& function : module->functions) {
    made->code_bytes += function->code.size() * kInstructionBytes;
    if (function->is_kernel && function->is_defined) made->kernels.emplace(function->name, facts_of(*module, *function, static_cast<int>(const_bytes)));
  }
  made->module = std::move(module);
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
      return make_program(ptx::link(sources));
    } catch (const ptx::ParseError& error) {
      fail_by(error, options);
    }
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
