// Creating images, and the formats there are.
#include <algorithm>
#include <memory>

#include "client/opencl/buffer_create.h"
#include "client/opencl/coherence.h"
#include "client/opencl/enqueue.h"
#include "client/opencl/image_create.h"
#include "client/opencl/info.h"
#include "client/opencl/memory_check.h"

namespace flexrack::client::opencl {

namespace {

bool is_image_type(cl_mem_object_type type) {
  return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

template <class T>
T image_info(const ImageFacts& facts, cl_uint name) {
  T value{};
  const auto found = facts.infos.find(name);
  if (found != facts.infos.end() && found->second.size() == sizeof value)
    std::memcpy(&value, found->second.data(), sizeof value);
  return value;
}

void put_info(ImageFacts& facts, cl_uint name, std::size_t value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  facts.infos[name].assign(bytes, bytes + sizeof value);
}

/// The bytes that a map of all of it shows.
std::size_t extent_in_memory(const ImageFacts& facts) {
  const auto extent = image_extent(facts.desc);
  switch (facts.desc.image_type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY: return facts.slice_pitch * extent[1];
    case CL_MEM_OBJECT_IMAGE2D: return facts.row_pitch * extent[1];
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
    case CL_MEM_OBJECT_IMAGE3D: return facts.slice_pitch * extent[2];
    default: return facts.row_pitch;
  }
}

/// Where the application lays rows out itself, its pitches are the image's: the device's are never seen.
void settle_pitches(cl_mem memory) {
  auto& facts = memory->image;
  facts.element_size = image_info<std::size_t>(facts, CL_IMAGE_ELEMENT_SIZE);
  if (facts.element_size == 0) facts.element_size = element_size(facts.format);
  facts.row_pitch = image_info<std::size_t>(facts, CL_IMAGE_ROW_PITCH);
  facts.slice_pitch = image_info<std::size_t>(facts, CL_IMAGE_SLICE_PITCH);
  const auto& desc = facts.desc;
  if (desc.image_row_pitch) facts.row_pitch = desc.image_row_pitch;
  if (desc.image_slice_pitch) facts.slice_pitch = desc.image_slice_pitch;
  else if (desc.image_row_pitch && desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY) facts.slice_pitch = facts.row_pitch;
  else if (desc.image_row_pitch && image_extent(desc)[2] > 1) facts.slice_pitch = facts.row_pitch * desc.image_height;
  put_info(facts, CL_IMAGE_ROW_PITCH, facts.row_pitch);
  put_info(facts, CL_IMAGE_SLICE_PITCH, facts.slice_pitch);
  memory->size = extent_in_memory(facts);
}

cl_int check_pitches(const cl_image_desc& desc, std::size_t element) {
  const auto row = desc.image_row_pitch ? desc.image_row_pitch : desc.image_width * element;
  if (element == 0 || row == 0) return CL_SUCCESS;   // the device says what is wrong with it
  if (desc.image_row_pitch % element != 0) return CL_INVALID_VALUE;
  if (desc.image_row_pitch && desc.image_row_pitch < desc.image_width * element) return CL_INVALID_IMAGE_DESCRIPTOR;
  return desc.image_slice_pitch % row == 0 ? CL_SUCCESS : CL_INVALID_VALUE;
}

bool is_within_limits(cl_device_id device, const cl_image_desc& desc) {
  const auto most = [&](cl_device_info name) { return device_info<std::size_t>(device, name, 0); };
  const bool is_3d = desc.image_type == CL_MEM_OBJECT_IMAGE3D;
  const bool is_buffer = desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
  const auto extent = image_extent(desc);
  if (extent[0] > most(is_3d       ? CL_DEVICE_IMAGE3D_MAX_WIDTH
                       : is_buffer ? CL_DEVICE_IMAGE_MAX_BUFFER_SIZE
                                   : CL_DEVICE_IMAGE2D_MAX_WIDTH))
    return false;
  if (desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return extent[1] <= most(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
  if (extent[1] > most(is_3d ? CL_DEVICE_IMAGE3D_MAX_HEIGHT : CL_DEVICE_IMAGE2D_MAX_HEIGHT)) return false;
  return extent[2] <=
         (is_3d ? most(CL_DEVICE_IMAGE3D_MAX_DEPTH) : std::max<std::size_t>(1, most(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE)));
}

/// An image of that size can be anywhere at all. If not, what the application points to is not looked at: the device
/// says what is wrong.
bool may_exist(cl_context context, const cl_image_format& format, const cl_image_desc& desc) {
  std::size_t bytes = element_size(format);
  for (const auto count : image_extent(desc)) {
    if (__builtin_mul_overflow(bytes, count, &bytes)) return false;
  }
  return bytes != 0 && bytes <= largest_allocation(context) &&
         std::any_of(context->devices.begin(), context->devices.end(),
                     [&](cl_device_id device) { return is_within_limits(device, desc); });
}

/// The application's pixels without anything between, as the wire has them.
struct Pixels {
  std::unique_ptr<std::uint8_t[]> packed;
  wire::View bytes;

  Pixels(const cl_image_format& format, const cl_image_desc& desc, const void* host_pointer) {
    const auto extent = image_extent(desc);
    const auto rows = image_rows(desc.image_type, element_size(format), host_pointer, extent.data(),
                                 desc.image_row_pitch, desc.image_slice_pitch);
    bytes = {rows.first, rows.size()};
    if (rows.is_packed()) return;
    packed = std::make_unique_for_overwrite<std::uint8_t[]>(rows.size());
    pack(rows, packed.get());
    bytes = {packed.get(), rows.size()};
  }
  Pixels() = default;
};

cl_int create_somewhere(cl_mem memory, wire::View content) {
  cl_int status = CL_INVALID_OPERATION;
  for (std::size_t place = 0; place < memory->copies.size() && status != CL_SUCCESS; ++place) {
    auto* root = memory->root();
    std::unique_lock guard(root->lock);
    status = memory->parent ? exist_at(memory->parent, place) : CL_SUCCESS;
    guard.unlock();
    if (status == CL_SUCCESS) status = create_image_at(memory, place, content);
    if (status == CL_SUCCESS && memory->copies.size() > 1 && !memory->parent) {
      auto& whole = memory->segments[0];
      whole.end = memory->size;
      whole.home = place;
      whole.valid = content.empty() ? 0 : std::uint64_t{1} << place;
    }
  }
  return status;
}

}  // namespace

cl_int create_image_at(cl_mem memory, std::size_t place, wire::View content) {
  auto& there = memory->context->places[place];
  auto& session = *there.session;
  const auto& desc = memory->image.desc;
  cl::CreateImage message;
  message.context = there.context;
  message.memory = session.mint();
  message.flags =
      (memory->flags & (kAccessFlags | CL_MEM_KERNEL_READ_AND_WRITE)) | (content.empty() ? 0 : CL_MEM_COPY_HOST_PTR);
  message.format = {memory->image.format.image_channel_order, memory->image.format.image_channel_data_type};
  // Content is packed on the wire; only rows inside a buffer of the device have pitches there.
  const bool has_pitch = memory->parent != nullptr;
  message.shape = {desc.image_type,
                   desc.num_samples,
                   desc.num_mip_levels,
                   0,
                   desc.image_width,
                   desc.image_height,
                   desc.image_depth,
                   desc.image_array_size,
                   has_pitch ? desc.image_row_pitch : 0,
                   has_pitch ? desc.image_slice_pitch : 0};
  message.buffer = memory->parent ? memory->parent->copies[place].handle : 0;
  message.content = session.payload(content);
  InfoTable infos;
  const auto status = send_with_content(session, message, content, [&](const auto& reply) {
    for (const auto& info : reply.infos) infos[info.name].assign(info.value.begin(), info.value.end());
  });
  if (status != CL_SUCCESS) return status;
  memory->copies[place].handle = message.memory;
  if (memory->image.infos.empty()) {
    memory->image.infos = std::move(infos);
    settle_pitches(memory);
  }
  return CL_SUCCESS;
}

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* image_format,
                     const cl_image_desc* image_desc, void* host_ptr, cl_int* errcode_ret) {
  if (!is_live(context)) return fail(CL_INVALID_CONTEXT, errcode_ret);
  if (!image_format) return fail(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, errcode_ret);
  if (!image_desc) return fail(CL_INVALID_IMAGE_DESCRIPTOR, errcode_ret);
  if (image_desc->num_mip_levels != 0 || image_desc->num_samples != 0)
    return fail(CL_INVALID_IMAGE_DESCRIPTOR, errcode_ret);
  if (!is_image_type(image_desc->image_type)) return fail(CL_INVALID_VALUE, errcode_ret);
  auto* parent = image_desc->mem_object;
  if (parent && (!is_live(parent) || parent->context != context)) return fail(CL_INVALID_MEM_OBJECT, errcode_ret);
  if (flags == 0 && !parent) flags = CL_MEM_READ_WRITE;
  if (!parent) {
    if (const auto error = check_flags(flags, host_ptr)) return fail(error, errcode_ret);
  } else if (const auto error = check_inherited_flags(parent, flags)) {
    return fail(error, errcode_ret);
  }
  if (const auto error = check_pitches(*image_desc, element_size(*image_format))) return fail(error, errcode_ret);
  auto* memory = new _cl_mem;
  memory->context = hold(context);
  memory->type = image_desc->image_type;
  memory->flags = parent ? inherit_flags(parent, flags) : flags;
  memory->image.format = *image_format;
  memory->image.desc = *image_desc;
  memory->copies.resize(context->places.size());
  if (flags & CL_MEM_USE_HOST_PTR) memory->host_pointer = host_ptr;
  if (parent) {
    retain(parent);
    memory->parent = parent;
  }
  const bool has_content = host_ptr && !parent, is_possible = may_exist(context, *image_format, *image_desc);
  const auto content = has_content && is_possible ? Pixels(*image_format, *image_desc, host_ptr) : Pixels();
  auto status = create_somewhere(memory, content.bytes);
  if (status == CL_SUCCESS && has_content && !is_possible) status = CL_INVALID_IMAGE_SIZE;
  if (status != CL_SUCCESS) {
    release(memory);
    return fail(status, errcode_ret);
  }
  if (errcode_ret) *errcode_ret = CL_SUCCESS;
  return memory;
}

cl_mem clCreateImageWithProperties(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                                   const cl_image_format* image_format, const cl_image_desc* image_desc, void* host_ptr,
                                   cl_int* errcode_ret) {
  if (properties && properties[0] != 0) return fail(CL_INVALID_PROPERTY, errcode_ret);
  auto* memory = clCreateImage(context, flags, image_format, image_desc, host_ptr, errcode_ret);
  if (memory && properties) memory->properties = {0};
  return memory;
}

cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format* image_format, size_t image_width,
                       size_t image_height, size_t image_row_pitch, void* host_ptr, cl_int* errcode_ret) {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = image_width;
  desc.image_height = image_height;
  desc.image_array_size = 1;
  desc.image_row_pitch = image_row_pitch;
  return clCreateImage(context, flags, image_format, &desc, host_ptr, errcode_ret);
}

cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format* image_format, size_t image_width,
                       size_t image_height, size_t image_depth, size_t image_row_pitch, size_t image_slice_pitch,
                       void* host_ptr, cl_int* errcode_ret) {
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE3D;
  desc.image_width = image_width;
  desc.image_height = image_height;
  desc.image_depth = image_depth;
  desc.image_array_size = 1;
  desc.image_row_pitch = image_row_pitch;
  desc.image_slice_pitch = image_slice_pitch;
  return clCreateImage(context, flags, image_format, &desc, host_ptr, errcode_ret);
}

cl_int clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type image_type,
                                  cl_uint num_entries, cl_image_format* image_formats, cl_uint* num_image_formats) {
  if (!is_live(context)) return CL_INVALID_CONTEXT;
  if (num_entries == 0 && image_formats) return CL_INVALID_VALUE;
  if (!is_image_type(image_type)) return CL_INVALID_VALUE;
  std::vector<cl_image_format> found;
  for (const auto& place : context->places) {
    cl_int status = CL_OUT_OF_RESOURCES;
    place.session->call(cl::ImageFormats{place.context, flags, image_type}, [&](const auto& reply) {
      status = reply.status;
      for (const auto& format : reply.formats) {
        const auto is_same = [&](const cl_image_format& other) {
          return other.image_channel_order == format.order && other.image_channel_data_type == format.type;
        };
        if (std::none_of(found.begin(), found.end(), is_same)) found.push_back({format.order, format.type});
      }
    });
    if (status != CL_SUCCESS) return status;
  }
  if (image_formats) std::copy_n(found.begin(), std::min<std::size_t>(num_entries, found.size()), image_formats);
  if (num_image_formats) *num_image_formats = static_cast<cl_uint>(found.size());
  return CL_SUCCESS;
}

cl_int clGetImageInfo(cl_mem image, cl_image_info param_name, size_t param_value_size, void* param_value,
                      size_t* param_value_size_ret) {
  if (!is_live(image) || !image->is_image()) return CL_INVALID_MEM_OBJECT;
  if (param_name == CL_IMAGE_BUFFER) {
    return give_info(&image->parent, sizeof image->parent, param_value_size, param_value, param_value_size_ret);
  }
  const auto found = image->image.infos.find(param_name);
  if (found == image->image.infos.end()) return CL_INVALID_VALUE;
  return give_info(found->second.data(), found->second.size(), param_value_size, param_value, param_value_size_ret);
}

}  // namespace flexrack::client::opencl
