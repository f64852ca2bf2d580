// What a header says about OpenCL, as text and numbers that two translation units can compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace names {

struct Facts {
  std::map<std::string, std::int64_t> constants;
  std::map<std::string, std::string> functions;   ///< mangled types
  std::map<std::string, std::size_t> layouts;     ///< sizes and offsets
};

/// By gen/opencl/cl.h.
Facts ours();
/// By CL/cl.h and CL/cl_ext.h; empty where they are not installed.
Facts khronos();

/// The order of the loader's table by CL/cl_icd.h: name to offset.
std::map<std::string, std::size_t> khronos_table();

}  // namespace names

#define LAYOUT(type, member) facts.layouts[#type "." #member] = offsetof(type, member)
#define LAYOUTS                                                 \
  facts.layouts["cl_image_format"] = sizeof(cl_image_format);   \
  LAYOUT(cl_image_format, image_channel_data_type);             \
  facts.layouts["cl_image_desc"] = sizeof(cl_image_desc);       \
  LAYOUT(cl_image_desc, image_width);                           \
  LAYOUT(cl_image_desc, image_array_size);                      \
  LAYOUT(cl_image_desc, image_slice_pitch);                     \
  LAYOUT(cl_image_desc, num_samples);                           \
  LAYOUT(cl_image_desc, mem_object);                            \
  facts.layouts["cl_buffer_region"] = sizeof(cl_buffer_region); \
  LAYOUT(cl_buffer_region, size);                               \
  facts.layouts["cl_name_version"] = sizeof(cl_name_version);   \
  LAYOUT(cl_name_version, name);                                \
  facts.layouts["cl_device_pci_bus_info_khr"] = sizeof(cl_device_pci_bus_info_khr)
