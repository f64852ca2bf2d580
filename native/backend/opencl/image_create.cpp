// Images, samplers and pipes: created with what the device says of them.
#include <algorithm>
#include <array>

#include "backend/opencl/info_bytes.h"
#include "backend/opencl/memory_create.h"
#include "backend/opencl/session.h"
#include "backend/opencl/transfer_size.h"

namespace flexrack::backend::opencl {

namespace {

cl_image_desc description(const cl::ImageShape& shape, cl_mem buffer) {
  cl_image_desc desc{};
  desc.image_type = shape.type;
  desc.image_width = shape.width;
  desc.image_height = shape.height;
  desc.image_depth = shape.depth;
  desc.image_array_size = shape.array_size;
  desc.image_row_pitch = shape.row_pitch;
  desc.image_slice_pitch = shape.slice_pitch;
  desc.num_mip_levels = shape.mips;
  desc.num_samples = shape.samples;
  desc.mem_object = buffer;
  return desc;
}

/// Elements along each axis; the others do not count for that type.
cl::Triple extent(const cl::ImageShape& shape) {
  switch (shape.type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY: return {shape.width, shape.array_size, 1};
    case CL_MEM_OBJECT_IMAGE2D: return {shape.width, shape.height, 1};
    case CL_MEM_OBJECT_IMAGE2D_ARRAY: return {shape.width, shape.height, shape.array_size};
    case CL_MEM_OBJECT_IMAGE3D: return {shape.width, shape.height, shape.depth};
    default: return {shape.width, 1, 1};
  }
}

template <class T>
T image_value(cl_mem image, cl_image_info name) {
  T value{};
  native().clGetImageInfo(image, name, sizeof value, &value, nullptr);
  return value;
}

/// An image on its way: it is created when its content is there.
struct Pending {
  Ref<ContextRecord> context;
  Ref<MemoryRecord> parent;
  std::uint64_t handle = 0;
  cl_mem_flags flags = 0;
  cl_image_format format{};
  cl::ImageShape shape{};

  /// The device's own status. `record` is filled where it is CL_SUCCESS.
  cl_int create(wire::View content, Ref<MemoryRecord>& record) const;
};

cl_int Pending::create(wire::View content, Ref<MemoryRecord>& record) const {
  const auto& cl = native();
  record = Ref<MemoryRecord>::adopt(new MemoryRecord);
  record->context = context;
  record->parent = parent;
  record->sort = MemoryRecord::Sort::image;
  const auto elements = box_bytes(extent(shape), 1);
  if (!elements) return CL_INVALID_IMAGE_SIZE;
  // A byte an element is the least it can be; what it really takes is known when it exists.
  auto charge = parent ? nullptr : charge_for(*context, *elements);
  if (!parent && !charge) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  const auto desc = description(shape, parent ? parent->native : nullptr);
  cl_int status = CL_SUCCESS;
  auto* host_pointer = content.empty() ? nullptr : const_cast<std::uint8_t*>(content.data());
  record->native =
      cl.clCreateImage(context->native, device_flags(flags, !content.empty()), &format, &desc, host_pointer, &status);
  if (status != CL_SUCCESS) return status;
  record->element_size = image_value<size_t>(record->native, CL_IMAGE_ELEMENT_SIZE);
  size_t size = 0;
  cl.clGetMemObjectInfo(record->native, CL_MEM_SIZE, sizeof size, &size, nullptr);
  // What some drivers call its size leaves out that elements have bytes.
  record->size = std::max<std::uint64_t>(size, *elements * record->element_size);
  if (!charge) return CL_SUCCESS;
  if (!charge->raise(record->size)) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  keep_charge(*record, std::move(charge));
  return CL_SUCCESS;
}

std::uint64_t known_element_size(const cl::ImageFormat& format) {
  switch (format.type) {
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555: return 2;
    case CL_UNORM_INT_101010:
    case CL_UNORM_INT_101010_2:
    case CL_UNORM_INT24: return 4;
    default: break;
  }
  std::uint64_t channel = 4, channels = 4;
  switch (format.type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8: channel = 1; break;
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT: channel = 2; break;
    default: break;
  }
  switch (format.order) {
    case CL_R:
    case CL_A:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH:
    case CL_Rx: channels = 1; break;
    case CL_RG:
    case CL_RA:
    case CL_RGx: channels = 2; break;
    case CL_RGB:
    case CL_sRGB: channels = 3; break;
    default: break;
  }
  return channel * channels;
}

}  // namespace

void Session::on(const cl::CreateImage& call, Respond<cl::CreateImageReply> respond) {
  const auto refuse_with = [&](cl_int status) {
    if (!call.content.is_inline()) engine_->link.cancel(call.content.ticket);
    respond({.status = status});
  };
  auto* context = table_.find<ContextRecord>(call.context);
  auto* buffer = call.buffer ? table_.find<MemoryRecord>(call.buffer) : nullptr;
  if (!context) return refuse_with(CL_INVALID_CONTEXT);
  if (call.memory == 0 || table_.is_full() || table_.has(call.memory)) return refuse_with(CL_OUT_OF_RESOURCES);
  if (call.buffer && (!buffer || buffer->context.get() != context)) return refuse_with(CL_INVALID_MEM_OBJECT);
  // PoCL ends the process over these.
  if (call.shape.mips != 0 || call.shape.samples != 0) return refuse_with(CL_INVALID_IMAGE_DESCRIPTOR);
  Pending pending;
  pending.context = Ref<ContextRecord>(context);
  if (buffer) pending.parent = Ref<MemoryRecord>(buffer);
  pending.handle = call.memory;
  pending.flags = call.flags;
  pending.format = {call.format.order, call.format.type};
  pending.shape = call.shape;
  const auto size = box_bytes(extent(call.shape), known_element_size(call.format));
  // The driver copies as many bytes as the shape says; what comes is packed, so with rows further apart it would read
  // what lies behind.
  if (call.content.size != 0 && (call.shape.row_pitch != 0 || call.shape.slice_pitch != 0))
    return refuse_with(CL_INVALID_IMAGE_DESCRIPTOR);
  if (call.content.size != 0 && (!size || *size != call.content.size || buffer))
    return refuse_with(CL_INVALID_IMAGE_SIZE);
  if (call.content.size > context->largest) return refuse_with(CL_MEM_OBJECT_ALLOCATION_FAILURE);
  const auto finish = [this](const Pending& what, wire::View content, Respond<cl::CreateImageReply>& to) {
    Ref<MemoryRecord> record;
    InfoList infos;
    cl::CreateImageReply reply;
    reply.status = what.create(content, record);
    if (reply.status == CL_SUCCESS) {
      auto* image = record->native;
      for (const cl_image_info name :
           {CL_IMAGE_FORMAT, CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_ROW_PITCH, CL_IMAGE_SLICE_PITCH, CL_IMAGE_WIDTH,
            CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH, CL_IMAGE_ARRAY_SIZE, CL_IMAGE_NUM_MIP_LEVELS, CL_IMAGE_NUM_SAMPLES}) {
        infos.add(name, [&](size_t room, void* out, size_t* needed) {
          return native().clGetImageInfo(image, name, room, out, needed);
        });
      }
      reply.infos = infos.infos();
      if (!table_.insert(what.handle, std::move(record))) reply.status = CL_OUT_OF_RESOURCES;
    }
    to(reply);
  };
  if (call.content.size == 0 || call.content.is_inline()) return finish(pending, call.content.inline_data, respond);
  auto staging = Staging::make(call.content.size);
  if (!staging) return refuse_with(CL_OUT_OF_HOST_MEMORY);
  auto later = std::make_shared<Respond<cl::CreateImageReply>>(std::move(respond));
  engine_->link.land(call.content.ticket, staging->span(), [this, pending, finish, staging, later](bool has_arrived) {
    if (!has_arrived) return (*later)({.status = CL_OUT_OF_RESOURCES});
    const std::lock_guard guard(lock_);
    finish(pending, staging->view(), *later);
  });
}

void Session::on(const cl::ImageFormats& call, Respond<cl::ImageFormatsReply> respond) {
  auto* context = table_.find<ContextRecord>(call.context);
  cl::ImageFormatsReply reply;
  cl_uint count = 0;
  reply.status = context
                     ? native().clGetSupportedImageFormats(context->native, call.flags, call.type, 0, nullptr, &count)
                     : CL_INVALID_CONTEXT;
  std::vector<cl_image_format> formats(reply.status == CL_SUCCESS ? count : 0);
  if (!formats.empty())
    reply.status =
        native().clGetSupportedImageFormats(context->native, call.flags, call.type, count, formats.data(), nullptr);
  std::vector<cl::ImageFormat> list;
  for (const auto& format : formats) list.push_back({format.image_channel_order, format.image_channel_data_type});
  if (reply.status == CL_SUCCESS) reply.formats = std::move(list);
  respond(reply);
}

void Session::on(const cl::CreateSampler& call, Respond<cl::CreateSamplerReply> respond) {
  auto* context = table_.find<ContextRecord>(call.context);
  if (!context) return respond({.status = CL_INVALID_CONTEXT});
  if (call.sampler == 0 || table_.is_full() || table_.has(call.sampler))
    return respond({.status = CL_OUT_OF_RESOURCES});
  std::array<std::uint64_t, 3> values{CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST};
  for (std::size_t i = 0; i + 1 < call.properties.size() && call.properties[i] != 0; i += 2) {
    const auto at = call.properties[i] - CL_SAMPLER_NORMALIZED_COORDS;
    if (at >= values.size()) return respond({.status = CL_INVALID_VALUE});
    values[at] = call.properties[i + 1];
  }
  auto record = Ref<SamplerRecord>::adopt(new SamplerRecord);
  record->context = Ref<ContextRecord>(context);
  cl::CreateSamplerReply reply;
  // The older function: there is no device that has not got it.
  record->native = native().clCreateSampler(context->native, static_cast<cl_bool>(values[0]),
                                            static_cast<cl_addressing_mode>(values[1]),
                                            static_cast<cl_filter_mode>(values[2]), &reply.status);
  InfoList infos;
  if (reply.status == CL_SUCCESS) {
    auto* sampler = record->native;
    for (const cl_sampler_info name :
         {CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE}) {
      infos.add(name, [&](size_t room, void* out, size_t* needed) {
        return native().clGetSamplerInfo(sampler, name, room, out, needed);
      });
    }
    reply.infos = infos.infos();
    table_.insert(call.sampler, std::move(record));
  }
  respond(reply);
}

void Session::on(const cl::CreatePipe& call, Respond<cl::CreatePipeReply> respond) {
  auto* context = table_.find<ContextRecord>(call.context);
  if (!context) return respond({.status = CL_INVALID_CONTEXT});
  if (call.memory == 0 || table_.is_full() || table_.has(call.memory)) return respond({.status = CL_OUT_OF_RESOURCES});
  bool has_pipes = native().clCreatePipe != nullptr;
  for (const auto& device : context->devices)
    has_pipes = has_pipes && device_value<cl_bool>(device->native.device, CL_DEVICE_PIPE_SUPPORT, CL_FALSE);
  if (!has_pipes) return respond({.status = CL_INVALID_OPERATION});
  auto record = Ref<MemoryRecord>::adopt(new MemoryRecord);
  record->context = Ref<ContextRecord>(context);
  record->sort = MemoryRecord::Sort::pipe;
  record->size = std::uint64_t{call.packet_size} * call.max_packets;
  auto charge = charge_for(*context, record->size);
  if (!charge) return respond({.status = CL_MEM_OBJECT_ALLOCATION_FAILURE});
  cl_int status = CL_SUCCESS;
  record->native =
      native().clCreatePipe(context->native, call.flags, call.packet_size, call.max_packets, nullptr, &status);
  if (status == CL_SUCCESS) keep_charge(*record, std::move(charge));
  if (status == CL_SUCCESS) table_.insert(call.memory, std::move(record));
  respond({.status = status});
}

}  // namespace flexrack::backend::opencl
