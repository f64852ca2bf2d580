#include "sim/driver/module.h"

#include <algorithm>
#include <cstring>

#include "sim/driver/failure.h"
#include "sim/driver/memory_gate.h"
#include "sim/exec/function_base.h"

namespace flexrack::sim {

Function::Function(Ref<Module> in, const KernelFacts& of) : module(std::move(in)), facts(of) {
  for (std::size_t i = 0; i < 3; ++i) settings_.cluster[i] = of.required_cluster[i];
}

FunctionSettings Function::settings() {
  const std::lock_guard guard(lock_);
  return settings_;
}

void Function::change(const std::function<void(FunctionSettings&)>& how) {
  const std::lock_guard guard(lock_);
  how(settings_);
}

const ptx::Function* Function::code() {
  if (const auto* known = code_.load(std::memory_order_acquire)) return known;
  if (!module->image()) return nullptr;
  const auto* found = module->program->module()->kernel(facts.name);
  code_.store(found, std::memory_order_release);
  return found;
}

Module::Module(Ref<Context> in, std::shared_ptr<const Program> of, std::shared_ptr<const ManagedVariables> managed)
    : context(std::move(in)), program(std::move(of)), managed_(std::move(managed)) {
  try {
    place_ = next_place(*program);
    require(context->device.heap.charge(program->code_bytes), CUDA_ERROR_OUT_OF_MEMORY,
            "the device has no memory left for the code");
    has_code_ = true;
    if (program->is_read()) image();
    place_machine_variables();
  } catch (...) {
    give_back();
    throw;
  }
}

Module::~Module() { give_back(); }

void Module::place_machine_variables() {
  for (const auto& [name, variable] : program->machine_variables) {
    const auto address = place(variable.size);
    const MemoryUse use;
    if (!variable.initial.empty())
      std::memcpy(reinterpret_cast<void*>(address), variable.initial.data(), variable.initial.size());
    machine_variables_[name] = {address, variable.size};
  }
}

std::vector<std::uint64_t> Module::layout() {
  const std::lock_guard guard(image_lock_);
  if (!image_ && placed_.empty()) return {};
  std::vector<std::uint64_t> layout{image_ ? image_->function_address(0) : 0};
  layout.insert(layout.end(), placed_.begin(), placed_.end());
  return layout;
}

void Module::lay_out(const std::vector<std::uint64_t>& layout) {
  if (layout.empty()) return;
  {
    const std::lock_guard guard(image_lock_);
    for (const auto address : placed_) Memory::instance().remove(address);
    placed_.clear();
    machine_variables_.clear();
    ready_.store(nullptr, std::memory_order_release);
    image_.reset();
    wishes_ = layout;
  }
  if (layout[0] != 0) image();
  place_machine_variables();
  require(placed_.size() + 1 == layout.size(), CUDA_ERROR_INVALID_VALUE, "a layout of another module");
}

exec::Image* Module::image() {
  if (auto* ready = ready_.load(std::memory_order_acquire)) return ready;
  if (!program->is_ptx()) return nullptr;
  const std::lock_guard guard(image_lock_);
  if (!image_) {
    const auto place_variable = [this](const ptx::Variable& variable) {
      const auto* managed_one = variable.is_managed ? managed_->find(variable.name) : nullptr;
      return managed_one ? managed_one->address : place(variable.bytes);
    };
    const auto code = program->module();
    const exec::FunctionBase base(wishes_.empty() ? place_.functions : wishes_[0]);
    const MemoryUse use;
    managed_->keep_over(*code, [&] { image_ = std::make_unique<exec::Image>(code, place_variable); });
    ready_.store(image_.get(), std::memory_order_release);
  }
  return image_.get();
}

void Module::give_back() {
  for (const auto address : placed_) Memory::instance().remove(address);
  if (has_code_) context->device.heap.refund(program->code_bytes);
}

std::uint64_t Module::place(std::uint64_t size) {
  const auto number = placed_.size() + 1;
  size = std::max<std::uint64_t>(1, size);
  auto made = number < wishes_.size() ? place_device(context, wishes_[number], size)
              : place_.variables != 0 ? place_device(context, next_variable(size), size)
                                      : allocate_device(context, size);
  // Constants too: kernels may write them through their address in .global, as the devices let them, and the next
  // kernel reads it.
  made->is_module = true;
  const auto address = made->address;
  {
    const MemoryUse use;
    std::memset(reinterpret_cast<void*>(address), 0, made->size);
  }
  placed_.push_back(address);
  Memory::instance().add(std::move(made));
  return address;
}

/// One behind the other, with a gap: running over the end of one is seen.
std::uint64_t Module::next_variable(std::uint64_t size) {
  const auto at = place_.variables;
  place_.variables += (size / DeviceHeap::kGranularity + 2) * DeviceHeap::kGranularity;
  return at;
}

void Module::context_over() noexcept {
  std::map<std::string, Ref<Function>, std::less<>> functions;
  {
    const std::lock_guard guard(lock_);
    functions.swap(functions_);
  }
  for (const auto& [name, one] : functions) one->close();
  close();
}

Ref<Function> Module::function(std::string_view name) {
  const auto* facts = program->kernel(name);
  require(facts, CUDA_ERROR_NOT_FOUND);
  const std::lock_guard guard(lock_);
  auto& function = functions_[facts->name];
  if (!function) {
    function = Function::make(Ref<Module>(this), *facts);
    function->open();
  }
  return function;
}

exec::Image::Symbol Module::variable(std::string_view name) {
  if (const auto* made = image()) {
    const auto found = made->find(name);
    require(found.has_value(), CUDA_ERROR_NOT_FOUND);
    return *found;
  }
  const auto found = machine_variables_.find(name);
  require(found != machine_variables_.end(), CUDA_ERROR_NOT_FOUND);
  return found->second;
}

Ref<Module> module_of(CUmodule handle) {
  auto found = Module::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_HANDLE);
  return found;
}

Ref<Function> function_of(CUfunction handle, const Ref<Context>& context) {
  if (auto function = Function::find(handle)) return function;
  const auto kernel = Kernel::find(handle);
  require(static_cast<bool>(kernel), CUDA_ERROR_INVALID_HANDLE);
  return kernel->function(context ? context : current());
}

}  // namespace flexrack::sim
