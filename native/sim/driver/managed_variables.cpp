// Variables declared __managed__.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "sim/driver/failure.h"
#include "sim/driver/module.h"

namespace flexrack::sim {
namespace {

/// Far from where processes have their libraries and stacks: a program whose device is elsewhere has the variables at
/// the same addresses.
void* pages_apart(std::uint64_t bytes) {
  constexpr std::uint64_t kFirst = std::uint64_t{0x50} << 40, kRoom = std::uint64_t{0x10} << 40;
  constexpr int kTries = 16;
  std::random_device random;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const auto at = kFirst + (std::uint64_t{random()} << 12) % kRoom;
    auto* const wish = reinterpret_cast<void*>(at);
    auto* const got =
        mmap(wish, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == wish) return got;
    if (got != MAP_FAILED) munmap(got, bytes);
  }
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

}  // namespace

ManagedVariables::ManagedVariables(const Program& program) {
  // A program that is read later has none.
  if (!program.is_read()) return;
  for (const auto& variable : program.module()->variables) {
    if (!variable.is_managed) continue;
    const auto size = std::max<std::uint64_t>(1, variable.bytes), mapped = (size + 4095) / 4096 * 4096;
    auto* memory = pages_apart(mapped);
    require(memory != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
    std::copy_n(variable.initial.data(), std::min<std::uint64_t>(size, variable.initial.size()),
                static_cast<std::byte*>(memory));
    auto made = std::make_shared<Allocation>();
    made->kind = Allocation::Kind::managed;
    made->reach = Allocation::Reach::everywhere;
    made->is_module = true;
    made->address = reinterpret_cast<std::uint64_t>(memory);
    made->size = size;
    made->flags = CU_MEM_ATTACH_GLOBAL;
    made->give_back = [memory, mapped] { munmap(memory, mapped); };
    all_[variable.name] = {made->address, variable.bytes};
    Memory::instance().add(std::move(made));
  }
}

ManagedVariables::~ManagedVariables() {
  for (const auto& [name, symbol] : all_) Memory::instance().remove(symbol.address);
}

const exec::Image::Symbol* ManagedVariables::find(std::string_view name) const {
  const auto found = all_.find(name);
  return found == all_.end() ? nullptr : &found->second;
}

void ManagedVariables::keep_over(const ptx::Module& module, const std::function<void()>& work) const {
  std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> kept;
  for (const auto& variable : module.variables) {
    // Addresses in initial values are known only once the module is loaded.
    const auto* symbol = variable.is_managed && variable.relocations.empty() ? find(variable.name) : nullptr;
    if (!symbol) continue;
    const auto* bytes = reinterpret_cast<const std::byte*>(symbol->address);
    kept.emplace_back(symbol->address, std::vector(bytes, bytes + symbol->bytes));
  }
  work();
  for (const auto& [address, bytes] : kept) std::memcpy(reinterpret_cast<void*>(address), bytes.data(), bytes.size());
}

}  // namespace flexrack::sim
