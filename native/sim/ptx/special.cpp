#include "sim/ptx/special.h"

#include <unordered_map>

namespace flexrack::sim::ptx {

namespace {

Special after(Special first, unsigned by) { return static_cast<Special>(static_cast<unsigned>(first) + by); }

std::optional<Special> vector_register(std::string_view name, std::string_view component) {
  static const std::unordered_map<std::string_view, Special> table = {
      {"%tid", Special::tid_x},
      {"%ntid", Special::ntid_x},
      {"%ctaid", Special::ctaid_x},
      {"%nctaid", Special::nctaid_x},
      {"%cluster_ctaid", Special::cluster_ctaid_x},
      {"%cluster_nctaid", Special::cluster_nctaid_x},
      {"%clusterid", Special::clusterid_x},
      {"%nclusterid", Special::nclusterid_x},
  };
  const auto found = table.find(name);
  if (found == table.end() || component.size() != 1 || component[0] < 'x' || component[0] > 'z') return std::nullopt;
  return after(found->second, static_cast<unsigned>(component[0] - 'x'));
}

/// %envreg7, %pm3, %pm3_64.
std::optional<Special> numbered_register(std::string_view name) {
  if (name.starts_with("%pm") && name.size() >= 4 && name[3] >= '0' && name[3] <= '7') {
    const auto number = static_cast<unsigned>(name[3] - '0');
    if (name.size() == 4) return after(Special::pm0, number);
    if (name.substr(4) == "_64") return after(Special::pm0_64, number);
  }
  if (!name.starts_with("%envreg")) return std::nullopt;
  unsigned number = 0;
  const auto digits = name.substr(7);
  if (digits.empty() || digits.size() > 2) return std::nullopt;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  return number < 32 ? std::optional(after(Special::envreg0, number)) : std::nullopt;
}

}  // namespace

std::optional<Special> special_register(std::string_view name, std::string_view component) {
  static const std::unordered_map<std::string_view, Special> table = {
      {"%laneid", Special::laneid},
      {"%warpid", Special::warpid},
      {"%nwarpid", Special::nwarpid},
      {"%smid", Special::smid},
      {"%nsmid", Special::nsmid},
      {"%gridid", Special::gridid},
      {"%lanemask_eq", Special::lanemask_eq},
      {"%lanemask_le", Special::lanemask_le},
      {"%lanemask_lt", Special::lanemask_lt},
      {"%lanemask_ge", Special::lanemask_ge},
      {"%lanemask_gt", Special::lanemask_gt},
      {"%clock", Special::clock},
      {"%clock_hi", Special::clock_hi},
      {"%clock64", Special::clock64},
      {"%globaltimer", Special::globaltimer},
      {"%globaltimer_lo", Special::globaltimer_lo},
      {"%globaltimer_hi", Special::globaltimer_hi},
      {"%cluster_ctarank", Special::cluster_ctarank},
      {"%cluster_nctarank", Special::cluster_nctarank},
      {"%is_explicit_cluster", Special::is_explicit_cluster},
      {"%total_smem_size", Special::total_smem_size},
      {"%aggr_smem_size", Special::aggr_smem_size},
      {"%dynamic_smem_size", Special::dynamic_smem_size},
      {"%current_graph_exec", Special::current_graph_exec},
  };
  if (!component.empty()) return vector_register(name, component);
  const auto found = table.find(name);
  if (found != table.end()) return found->second;
  if (name.starts_with("%reserved_smem_offset")) return Special::reserved_smem;
  return numbered_register(name);
}

}  // namespace flexrack::sim::ptx
