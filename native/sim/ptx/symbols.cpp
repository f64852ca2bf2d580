#include "sim/ptx/symbols.h"

namespace flexrack::sim::ptx {

void Scopes::close() {
  while (bindings_.size() > marks_.back()) {
    const auto& last = bindings_.back();
    if (last.previous == kNone) heads_.erase(last.name);
    else heads_[last.name] = last.previous;
    bindings_.pop_back();
  }
  if (marks_.size() > 1) marks_.pop_back();
}

const Scopes::Binding* Scopes::innermost(std::string_view name) const {
  const auto found = heads_.find(name);
  return found == heads_.end() ? nullptr : &bindings_[found->second];
}

bool Scopes::declare(std::string_view name, const Symbol& symbol) {
  const auto depth = static_cast<std::uint32_t>(marks_.size());
  const auto [head, is_new] = heads_.try_emplace(name, static_cast<std::uint32_t>(bindings_.size()));
  const auto previous = is_new ? kNone : head->second;
  if (previous != kNone && bindings_[previous].depth == depth) return false;
  head->second = static_cast<std::uint32_t>(bindings_.size());
  bindings_.push_back({name, symbol, depth, previous});
  return true;
}

const Symbol* Scopes::find(std::string_view name, std::uint32_t& number) const {
  number = 0;
  const auto* exact = innermost(name);
  if (exact && exact->symbol.kind == Symbol::Kind::family) exact = nullptr;
  auto digits = name.size();
  while (digits > 1 && name.size() - digits < 10 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  // %r<20> and %r1<20> may both be: the shortest prefix first. %r007 is no member, nor is a prefix alone.
  for (; digits < name.size(); ++digits) {
    if (name[digits] == '0' && digits + 1 != name.size()) continue;
    const auto* family = innermost(name.substr(0, digits));
    if (!family || family->symbol.kind != Symbol::Kind::family || (exact && family->depth <= exact->depth)) continue;
    std::uint64_t value = 0;
    for (const char c : name.substr(digits)) value = value * 10 + static_cast<unsigned>(c - '0');
    if (value >= family->symbol.size) continue;
    number = static_cast<std::uint32_t>(value);
    return &family->symbol;
  }
  return exact ? &exact->symbol : nullptr;
}

}  // namespace flexrack::sim::ptx
