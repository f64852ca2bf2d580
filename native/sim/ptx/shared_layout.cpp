#include "sim/ptx/shared_layout.h"

#include <algorithm>

#include "sim/ptx/decoder.h"

namespace flexrack::sim::ptx {

namespace {

constexpr std::uint64_t kMaxStatic = 48 << 10;   ///< PTX ISA: more must be dynamic
constexpr std::uint32_t kDynamicAlign = 16;

/// What a function reaches, itself included.
struct Reach {
  bool has_common = false;     ///< a static variable of a device function
  bool has_dynamic = false;    ///< a device function that uses dynamic memory
  std::uint32_t barriers = 0;
};

class SharedLayout {
 public:
  SharedLayout(Module& module, const std::vector<FunctionUse>& uses, const std::vector<SharedVariable>& variables,
               const std::vector<std::uint32_t>& taken)
      : module_(module), uses_(uses), variables_(variables), taken_(taken), common_(variables.size(), kNone) {}
  std::uint32_t run();

 private:
  void call_graph();
  void spread();
  void find_recursion();
  void place_common();
  std::uint64_t place_kernel(std::uint32_t kernel);
  void place_dynamic();
  static void move(Function& function, const SharedUse& use, std::uint32_t by);
  void place_device_function(std::uint32_t at);

  Module& module_;
  const std::vector<FunctionUse>& uses_;
  const std::vector<SharedVariable>& variables_;
  const std::vector<std::uint32_t>& taken_;
  std::vector<std::uint32_t> common_;                   ///< by variable: its place for all kernels
  std::uint64_t common_bytes_ = 0;
  std::vector<Reach> reach_;
  std::vector<std::vector<std::uint32_t>> callers_;     ///< by function; the last stands for all indirect calls
  std::vector<std::uint32_t> callee_count_;
};

void SharedLayout::call_graph() {
  const auto count = static_cast<std::uint32_t>(module_.functions.size());
  callers_.resize(count + 1);
  callee_count_.assign(count + 1, 0);
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    callers_[to].push_back(from);
    ++callee_count_[from];
  };
  for (std::uint32_t at = 0; at < count; ++at) {
    for (const auto to : uses_[at].callees) add(at, to);
    if (module_.functions[at]->has_indirect_calls) add(at, count);
  }
  for (const auto to : taken_) add(count, to);
}

void SharedLayout::spread() {
  const auto count = static_cast<std::uint32_t>(module_.functions.size());
  reach_.resize(count + 1);
  std::vector<std::uint32_t> todo;
  for (std::uint32_t at = 0; at < count; ++at) {
    const auto& function = *module_.functions[at];
    for (const auto& use : uses_[at].shared) {
      reach_[at].has_dynamic |= !function.is_kernel && variables_[use.variable].is_dynamic;
      reach_[at].has_common |= common_[use.variable] != kNone;
    }
    reach_[at].barriers = function.barriers;
    todo.push_back(at);
  }
  while (!todo.empty()) {
    const auto at = todo.back();
    todo.pop_back();
    for (const auto from : callers_[at]) {
      auto& to = reach_[from];
      const Reach now{to.has_common || reach_[at].has_common, to.has_dynamic || reach_[at].has_dynamic,
                      std::max(to.barriers, reach_[at].barriers)};
      if (now.has_common == to.has_common && now.has_dynamic == to.has_dynamic && now.barriers == to.barriers) continue;
      to = now;
      todo.push_back(from);
    }
  }
}

void SharedLayout::find_recursion() {
  std::vector<std::uint32_t> todo;
  auto left = callee_count_;
  for (std::uint32_t at = 0; at < left.size(); ++at) {
    if (left[at] == 0) todo.push_back(at);
  }
  while (!todo.empty()) {
    const auto at = todo.back();
    todo.pop_back();
    for (const auto from : callers_[at]) {
      if (--left[from] == 0) todo.push_back(from);
    }
  }
  for (std::uint32_t at = 0; at < module_.functions.size(); ++at) {
    if (left[at]) module_.functions[at]->uses_dynamic_stack = true;
  }
}

void SharedLayout::place_common() {
  std::vector<bool> is_common(variables_.size());
  for (std::size_t at = 0; at < uses_.size(); ++at) {
    if (module_.functions[at]->is_kernel) continue;
    for (const auto& use : uses_[at].shared) is_common[use.variable] = true;
  }
  for (std::size_t at = 0; at < variables_.size(); ++at) {
    if (!is_common[at] || variables_[at].is_dynamic) continue;
    const auto place = aligned(common_bytes_, variables_[at].align);
    common_bytes_ = place + variables_[at].bytes;
    common_[at] = static_cast<std::uint32_t>(place);
  }
}

void SharedLayout::move(Function& function, const SharedUse& use, std::uint32_t by) {
  auto& instruction = function.code[use.instruction];
  instruction.displacement = moved(instruction.displacement, by);
}

void SharedLayout::place_device_function(std::uint32_t at) {
  for (const auto& use : uses_[at].shared) {
    if (common_[use.variable] != kNone) move(*module_.functions[at], use, common_[use.variable]);
  }
}

/// Returns the bytes it needs.
std::uint64_t SharedLayout::place_kernel(std::uint32_t kernel) {
  auto& function = *module_.functions[kernel];
  std::vector<std::uint32_t> own;
  std::uint32_t align = kDynamicAlign;
  for (const auto& use : uses_[kernel].shared) {
    if (variables_[use.variable].is_dynamic) align = std::max(align, variables_[use.variable].align);
    else if (common_[use.variable] == kNone) own.push_back(use.variable);
  }
  std::sort(own.begin(), own.end());
  own.erase(std::unique(own.begin(), own.end()), own.end());
  std::uint64_t end = reach_[kernel].has_common ? common_bytes_ : 0;
  std::vector<std::uint32_t> places;
  for (const auto variable : own) {
    const auto place = aligned(end, variables_[variable].align);
    end = place + variables_[variable].bytes;
    places.push_back(static_cast<std::uint32_t>(place));
  }
  if (end > 0x7fffffff) return end;
  for (const auto& use : uses_[kernel].shared) {
    if (variables_[use.variable].is_dynamic) continue;
    const auto found = std::lower_bound(own.begin(), own.end(), use.variable);
    const auto place =
        common_[use.variable] != kNone ? common_[use.variable] : places[static_cast<std::size_t>(found - own.begin())];
    move(function, use, place);
  }
  function.shared_bytes = static_cast<std::uint32_t>(end);
  function.dynamic_shared_offset = static_cast<std::uint32_t>(aligned(end, align));
  function.barriers = reach_[kernel].barriers;
  return end;
}

/// Device functions that use dynamic memory need it to begin at one place in all kernels that reach any.
void SharedLayout::place_dynamic() {
  std::uint32_t offset = 0;
  for (std::uint32_t at = 0; at < module_.functions.size(); ++at) {
    const auto& function = *module_.functions[at];
    if (function.is_kernel && reach_[at].has_dynamic) offset = std::max(offset, function.dynamic_shared_offset);
    if (function.is_kernel) continue;
    for (const auto& use : uses_[at].shared)
      offset = static_cast<std::uint32_t>(
          aligned(offset, variables_[use.variable].is_dynamic ? variables_[use.variable].align : 1));
  }
  for (std::uint32_t at = 0; at < module_.functions.size(); ++at) {
    auto& function = *module_.functions[at];
    if (function.is_kernel && reach_[at].has_dynamic) function.dynamic_shared_offset = offset;
    const auto begin = function.is_kernel ? function.dynamic_shared_offset : offset;
    for (const auto& use : uses_[at].shared) {
      if (variables_[use.variable].is_dynamic) move(function, use, begin);
    }
  }
}

std::uint32_t SharedLayout::run() {
  call_graph();
  place_common();
  spread();
  find_recursion();
  if (common_bytes_ > 0x7fffffff) return 0;
  for (std::uint32_t at = 0; at < module_.functions.size(); ++at) {
    if (!module_.functions[at]->is_kernel) {
      place_device_function(at);
      continue;
    }
    const auto bytes = place_kernel(at);
    if (bytes > (reach_[at].has_common ? 0x7fffffff : kMaxStatic)) return at;
  }
  place_dynamic();
  return kNone;
}

}  // namespace

std::uint32_t lay_out_shared(Module& module, const std::vector<FunctionUse>& uses,
                             const std::vector<SharedVariable>& variables, const std::vector<std::uint32_t>& taken) {
  return SharedLayout(module, uses, variables, taken).run();
}

}  // namespace flexrack::sim::ptx
