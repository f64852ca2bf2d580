#include "client/opencl/extensions.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace flexrack::client::opencl {
namespace {

const std::set<std::string_view>& usable() {
  static const auto& names = *new std::set<std::string_view>{"cl_khr_icd",
                                                             "cl_khr_extended_versioning",
                                                             "cl_khr_byte_addressable_store",
                                                             "cl_khr_global_int32_base_atomics",
                                                             "cl_khr_global_int32_extended_atomics",
                                                             "cl_khr_local_int32_base_atomics",
                                                             "cl_khr_local_int32_extended_atomics",
                                                             "cl_khr_int64_base_atomics",
                                                             "cl_khr_int64_extended_atomics",
                                                             "cl_khr_fp16",
                                                             "cl_khr_fp64",
                                                             "cl_khr_3d_image_writes",
                                                             "cl_khr_depth_images",
                                                             "cl_khr_image2d_from_buffer",
                                                             "cl_khr_srgb_image_writes",
                                                             "cl_khr_select_fprounding_mode",
                                                             "cl_khr_initialize_memory",
                                                             "cl_khr_spir",
                                                             "cl_khr_il_program",
                                                             "cl_khr_create_command_queue",
                                                             "cl_khr_priority_hints",
                                                             "cl_khr_throttle_hints",
                                                             "cl_khr_suggested_local_work_size",
                                                             "cl_khr_device_uuid",
                                                             "cl_khr_pci_bus_info",
                                                             "cl_khr_device_enqueue_local_arg_types",
                                                             "cl_khr_subgroups",
                                                             "cl_khr_subgroup_extended_types",
                                                             "cl_khr_subgroup_non_uniform_vote",
                                                             "cl_khr_subgroup_ballot",
                                                             "cl_khr_subgroup_non_uniform_arithmetic",
                                                             "cl_khr_subgroup_shuffle",
                                                             "cl_khr_subgroup_shuffle_relative",
                                                             "cl_khr_subgroup_clustered_reduce",
                                                             "cl_khr_subgroup_rotate",
                                                             "cl_khr_subgroup_named_barrier",
                                                             "cl_khr_expect_assume",
                                                             "cl_khr_extended_bit_ops",
                                                             "cl_khr_integer_dot_product",
                                                             "cl_khr_extended_async_copies",
                                                             "cl_khr_async_work_group_copy_fence",
                                                             "cl_khr_work_group_uniform_arithmetic",
                                                             "cl_khr_kernel_clock",
                                                             "cl_khr_spirv_extended_debug_info",
                                                             "cl_khr_spirv_linkonce_odr",
                                                             "cl_khr_spirv_no_integer_wrap_decoration",
                                                             "cl_ext_atomic_counters_32",
                                                             "cl_ext_atomic_counters_64",
                                                             "cl_ext_cxx_for_opencl",
                                                             "cl_ext_float_atomics",
                                                             "cl_nv_compiler_options",
                                                             "cl_nv_device_attribute_query",
                                                             "cl_nv_pragma_unroll",
                                                             "cl_amd_device_attribute_query",
                                                             "cl_amd_fp64",
                                                             "cl_amd_media_ops",
                                                             "cl_amd_media_ops2",
                                                             "cl_amd_popcnt",
                                                             "cl_amd_printf",
                                                             "cl_amd_vec3",
                                                             "cl_intel_subgroups",
                                                             "cl_intel_subgroups_char",
                                                             "cl_intel_subgroups_short",
                                                             "cl_intel_subgroups_long",
                                                             "cl_intel_required_subgroup_size",
                                                             "cl_intel_spirv_subgroups",
                                                             "cl_arm_core_id",
                                                             "cl_arm_printf",
                                                             "cl_arm_integer_dot_product_int8",
                                                             "cl_arm_integer_dot_product_accumulate_int8",
                                                             "cl_arm_integer_dot_product_accumulate_int16",
                                                             "cl_arm_integer_dot_product_accumulate_saturate_int8"};
  return names;
}

template <class Keep>
std::string filter(std::string_view list, Keep&& keep) {
  std::string out;
  while (!list.empty()) {
    const auto end = std::min(list.find(' '), list.size());
    const auto name = list.substr(0, end);
    if (!name.empty() && keep(name)) out.append(out.empty() ? "" : " ").append(name);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

}  // namespace

std::string usable_extensions(std::string_view list) {
  return filter(list, [](std::string_view name) { return usable().contains(name); });
}

wire::Bytes usable_extensions(const wire::Bytes& versions) {
  wire::Bytes out;
  for (std::size_t at = 0; at + sizeof(cl_name_version) <= versions.size(); at += sizeof(cl_name_version)) {
    cl_name_version entry;
    std::memcpy(&entry, versions.data() + at, sizeof entry);
    if (!usable().contains(std::string_view(entry.name, ::strnlen(entry.name, sizeof entry.name)))) continue;
    out.insert(out.end(), versions.begin() + static_cast<std::ptrdiff_t>(at),
               versions.begin() + static_cast<std::ptrdiff_t>(at + sizeof entry));
  }
  return out;
}

std::string common_extensions(std::string_view first, std::string_view second) {
  const std::string padded = " " + std::string(second) + " ";
  return filter(first,
                [&](std::string_view name) { return padded.find(" " + std::string(name) + " ") != std::string::npos; });
}

}  // namespace flexrack::client::opencl
