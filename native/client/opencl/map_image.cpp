// Mapping images: the client memory has the pitches that the image says it has.
#include "client/opencl/image_create.h"
#include "client/opencl/image_transfer.h"
#include "client/opencl/map.h"
#include "client/opencl/memory_check.h"

namespace flexrack::client::opencl {

namespace {

bool has_slices(cl_mem image) {
  return image->type == CL_MEM_OBJECT_IMAGE3D || image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
         image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
}

cl_int map_image(Enqueue& command, cl_mem image, cl_map_flags flags, const std::size_t* origin,
                 const std::size_t* region, void** pointer) {
  if (const auto error = use_memory(command.queue, image, false, command.waits)) return error;
  auto* root = image->root();
  const auto& facts = image->image;
  std::unique_lock guard(root->lock);
  auto* base = client_memory(root);
  guard.unlock();
  if (!base) return CL_OUT_OF_HOST_MEMORY;
  const auto row = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? facts.slice_pitch : facts.row_pitch;
  *pointer =
      base + image->root_offset() + origin[0] * facts.element_size + origin[1] * row + origin[2] * facts.slice_pitch;
  Mapping mapping;
  mapping.object = image;
  mapping.pointer = *pointer;
  mapping.origin = {origin[0], origin[1], origin[2]};
  mapping.region = {region[0], region[1], region[2]};
  mapping.flags = flags;
  enter_mapping(root, mapping);
  if (flags & CL_MAP_WRITE_INVALIDATE_REGION) return submit_nothing(command, image);
  return read_image(command, image, origin, region,
                    image_rows(image, *pointer, region, facts.row_pitch, facts.slice_pitch));
}

}  // namespace

void* clEnqueueMapImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_map, cl_map_flags map_flags,
                        const size_t* origin, const size_t* region, size_t* image_row_pitch, size_t* image_slice_pitch,
                        cl_uint num_events_in_wait_list, const cl_event* event_wait_list, cl_event* event,
                        cl_int* errcode_ret) {
  void* pointer = nullptr;
  Enqueue command{command_queue, CL_COMMAND_MAP_IMAGE,    num_events_in_wait_list, event_wait_list,
                  event,         blocking_map != CL_FALSE};
  const auto run = [&]() -> cl_int {
    if (!is_live(command_queue)) return CL_INVALID_COMMAND_QUEUE;
    if (!is_live(image)) return CL_INVALID_MEM_OBJECT;
    if (command_queue->context != image->context) return CL_INVALID_CONTEXT;
    if (!image->is_image()) return CL_INVALID_MEM_OBJECT;
    if (const auto error = command.take_waits()) return error;
    if (!image_row_pitch) return CL_INVALID_VALUE;
    if (const auto error = check_image_region(image, origin, region)) return error;
    if (!image_slice_pitch && has_slices(image)) return CL_INVALID_VALUE;
    if (const auto error = check_map_access(image, map_flags)) return error;
    if (const auto error = map_image(command, image, map_flags, origin, region, &pointer)) return error;
    *image_row_pitch = image->image.row_pitch;
    if (image_slice_pitch) *image_slice_pitch = image->image.slice_pitch;
    return CL_SUCCESS;
  };
  const auto error = run();
  if (errcode_ret) *errcode_ret = error;
  return error ? nullptr : pointer;
}

}  // namespace flexrack::client::opencl
