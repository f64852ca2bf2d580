#include "sim/exec/image.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "sim/exec/function_base.h"
#include "sim/exec/lower.h"
#include "sim/exec/spaces.h"
#include "sim/exec/step.h"

namespace flexrack::sim::exec {
namespace {

constexpr unsigned kFunctionShift = 4,
                   kImageShift = 28;  ///< of a function's address: 16 bytes each, 16 million an image

std::uint64_t next_functions_at() {
  static std::atomic<std::uint64_t> images{1};
  return window_base(Window::function) | (images++ & ((std::uint64_t{1} << (kWindowShift - kImageShift)) - 1))
                                             << kImageShift;
}

}  // namespace

Image::Image(std::shared_ptr<const ptx::Module> module, const Place& place)
    : module_(std::move(module)),
      functions_at_(FunctionBase::wished() != 0 ? FunctionBase::wished() : next_functions_at()),
      code_(module_->functions.size()) {
  for (const auto& variable : module_->variables) addresses_.push_back(place(variable));
  for (std::size_t i = 0; i < addresses_.size(); ++i) initialise(module_->variables[i], addresses_[i]);
}

Image::~Image() = default;

void Image::initialise(const ptx::Variable& variable, std::uint64_t address) const {
  auto* bytes = reinterpret_cast<std::byte*>(address);
  const std::size_t size = std::max<std::size_t>(variable.bytes, variable.initial.size());
  std::memset(bytes, 0, size);
  if (!variable.initial.empty()) std::memcpy(bytes, variable.initial.data(), variable.initial.size());
  for (const auto& relocation : variable.relocations) {
    // Global and constant addresses are generic ones already.
    const std::uint64_t target =
        relocation.is_function ? function_address(relocation.target) : addresses_[relocation.target];
    const std::uint64_t value = (target + static_cast<std::uint64_t>(relocation.addend)) >> relocation.shift;
    if (std::uint64_t{relocation.offset} + relocation.bytes <= size)
      std::memcpy(bytes + relocation.offset, &value, std::min<std::size_t>(relocation.bytes, sizeof value));
  }
}

std::optional<Image::Symbol> Image::find(std::string_view name) const {
  const auto* variable = module_->variable(name);
  if (variable == nullptr) return std::nullopt;
  return Symbol{addresses_[static_cast<std::size_t>(variable - module_->variables.data())], variable->bytes};
}

bool Image::bind(std::string_view reference, std::uint64_t handle) {
  const auto* variable = module_->variable(reference);
  if (variable == nullptr || (variable->type != ptx::Type::texref && variable->type != ptx::Type::surfref))
    return false;
  std::memcpy(reinterpret_cast<void*>(addresses_[static_cast<std::size_t>(variable - module_->variables.data())]),
              &handle, sizeof handle);
  return true;
}

Image::Facts Image::facts(const ptx::Function& kernel) const {
  Facts facts;
  facts.shared_bytes = kernel.shared_bytes;
  for (const auto& variable : module_->variables) {
    if (variable.space == ptx::Space::constant) facts.const_bytes += static_cast<std::uint32_t>(variable.bytes);
  }
  facts.local_bytes = kernel.local_bytes;
  facts.registers = std::clamp(kernel.register_count, 16U, 255U);
  const auto product = [](const auto& sizes) {
    return std::max(sizes[0], 1U) * std::max(sizes[1], 1U) * std::max(sizes[2], 1U);
  };
  if (kernel.directives.max_threads[0] != 0)
    facts.max_threads = std::min(facts.max_threads, product(kernel.directives.max_threads));
  if (kernel.directives.required_threads[0] != 0)
    facts.max_threads = std::min(facts.max_threads, product(kernel.directives.required_threads));
  return facts;
}

std::uint64_t Image::function_address(std::uint32_t index) const {
  return functions_at_ + (std::uint64_t{index} << kFunctionShift);
}

const ptx::Function* Image::function_at(std::uint64_t address) const {
  const std::uint64_t distance = address - functions_at_, index = distance >> kFunctionShift;
  if ((distance & ((1U << kFunctionShift) - 1)) != 0 || index >= module_->functions.size()) return nullptr;
  const auto* found = module_->functions[index].get();
  return found->alias_of == ptx::kNone ? found : module_->functions[found->alias_of].get();
}

const Code& Image::code(const ptx::Function& function) {
  auto& slot = code_[function.index];
  if (const auto* ready = slot.load(std::memory_order_acquire)) return *ready;
  const std::scoped_lock held(lock_);
  if (const auto* ready = slot.load(std::memory_order_acquire)) return *ready;
  auto made = std::make_unique<Code>();
  made->function = &function;
  make_ready(*made, *this);
  slot.store(made.get(), std::memory_order_release);
  kept_.push_back(std::move(made));
  return *kept_.back();
}

}  // namespace flexrack::sim::exec
