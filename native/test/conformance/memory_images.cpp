// Images and samplers: formats, creation, infos, every transfer, maps, kernels that read them, and what is refused.
#include <algorithm>
#include <cstring>

#include "report.h"

namespace {

cl_image_desc shape(cl_mem_object_type type, size_t width, size_t height = 0, size_t depth = 0, size_t layers = 0,
                    size_t row = 0, size_t slice = 0) {
  cl_image_desc desc{};
  desc.image_type = type;
  desc.image_width = width;
  desc.image_height = height;
  desc.image_depth = depth;
  desc.image_array_size = layers;
  desc.image_row_pitch = row;
  desc.image_slice_pitch = slice;
  return desc;
}

struct Kind {
  const char* name;
  cl_image_desc desc;
  size_t extent[3];
};

const Kind kKinds[] = {
    {"1d", shape(CL_MEM_OBJECT_IMAGE1D, 100), {100, 1, 1}},
    {"1d array", shape(CL_MEM_OBJECT_IMAGE1D_ARRAY, 100, 0, 0, 7), {100, 7, 1}},
    {"2d", shape(CL_MEM_OBJECT_IMAGE2D, 150, 120), {150, 120, 1}},
    {"2d array", shape(CL_MEM_OBJECT_IMAGE2D_ARRAY, 33, 20, 0, 5), {33, 20, 5}},
    {"3d", shape(CL_MEM_OBJECT_IMAGE3D, 31, 22, 13), {31, 22, 13}},
};

size_t value(cl_mem image, cl_image_info name) {
  size_t answer = 0, size = 0;
  const auto code = clGetImageInfo(image, name, sizeof answer, &answer, &size);
  if (code != CL_SUCCESS) said("clGetImageInfo", code);
  return answer;
}

void describe(cl_mem image) {
  cl_image_format format{};
  need("format", clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof format, &format, nullptr));
  size_t size = 0;
  need("size", clGetMemObjectInfo(image, CL_MEM_SIZE, sizeof size, &size, nullptr));
  say("%x/%x element %zu row %zu slice %zu, %zu x %zu x %zu, %zu layers, %zu mips, %zu samples, buffer %d, %zu bytes",
      format.image_channel_order, format.image_channel_data_type, value(image, CL_IMAGE_ELEMENT_SIZE),
      value(image, CL_IMAGE_ROW_PITCH), value(image, CL_IMAGE_SLICE_PITCH), value(image, CL_IMAGE_WIDTH),
      value(image, CL_IMAGE_HEIGHT), value(image, CL_IMAGE_DEPTH), value(image, CL_IMAGE_ARRAY_SIZE),
      value(image, CL_IMAGE_NUM_MIP_LEVELS), value(image, CL_IMAGE_NUM_SAMPLES), value(image, CL_IMAGE_BUFFER) != 0,
      size);
}

void formats(cl_context context) {
  for (auto type : {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
                    CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D}) {
    cl_uint count = 0;
    said("formats", clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, type, 0, nullptr, &count));
    std::vector<cl_image_format> list(count);
    said("formats", clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, type, count, list.data(), nullptr));
    std::string text;
    for (const auto& format : list)
      text += " " + std::to_string(format.image_channel_order) + "/" + std::to_string(format.image_channel_data_type);
    say("%x:%s", type, text.c_str());
  }
  cl_uint count = 0;
  cl_image_format format;
  said("formats of null", clGetSupportedImageFormats(nullptr, 0, CL_MEM_OBJECT_IMAGE2D, 0, nullptr, &count));
  said("formats of a buffer", clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_BUFFER, 0, nullptr, &count));
  said("no room", clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_IMAGE2D, 0, &format, &count));
}

void transfers(cl_context context, cl_command_queue queue, const Kind& kind, const cl_image_format& format,
               size_t element) {
  cl_int code;
  const size_t all = kind.extent[0] * kind.extent[1] * kind.extent[2] * element;
  std::vector<unsigned char> content(all), got(all * 2), more(all);
  for (size_t i = 0; i < all; ++i)
    content[i] = static_cast<unsigned char>(i * 31 >> 3), more[i] = static_cast<unsigned char>(i * 17);
  auto image =
      clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &kind.desc, content.data(), &code);
  if (said(std::string("create ") + kind.name, code) != CL_SUCCESS) return;
  auto target = clCreateImage(context, CL_MEM_READ_WRITE, &format, &kind.desc, nullptr, &code);
  describe(image);
  const size_t zero[3] = {0, 0, 0};
  const auto show = [&](const char* what, cl_mem of) {
    std::fill(got.begin(), got.end(), static_cast<unsigned char>(0));
    said(what, clEnqueueReadImage(queue, of, CL_TRUE, zero, kind.extent, 0, 0, got.data(), 0, nullptr, nullptr));
    say("%s", digest(got.data(), all).c_str());
  };
  show("read", image);
  size_t origin[3] = {3, kind.extent[1] > 1 ? size_t{1} : 0, kind.extent[2] > 1 ? size_t{2} : 0};
  size_t region[3] = {20, std::max<size_t>(1, kind.extent[1] / 2), std::max<size_t>(1, kind.extent[2] / 2)};
  said("write a part",
       clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, 0, 0, more.data(), 0, nullptr, nullptr));
  show("read", image);
  cl_event event = nullptr;
  said("read a part",
       clEnqueueReadImage(queue, image, CL_FALSE, origin, region, 32 * element, 0, got.data(), 0, nullptr, &event));
  said("wait", clWaitForEvents(1, &event));
  clReleaseEvent(event);
  say("%s", digest(got).c_str());
  const float color[4] = {0.25f, 0.5f, 0.75f, 1.0f};
  said("fill", clEnqueueFillImage(queue, target, color, zero, kind.extent, 0, nullptr, nullptr));
  said("copy", clEnqueueCopyImage(queue, image, target, zero, origin, region, 0, nullptr, nullptr));
  show("filled and copied", target);
  auto memory = clCreateBuffer(context, 0, all + 64, nullptr, &code);
  said("to a buffer", clEnqueueCopyImageToBuffer(queue, target, memory, zero, kind.extent, 64, 0, nullptr, nullptr));
  said("from a buffer", clEnqueueCopyBufferToImage(queue, memory, image, 64, zero, kind.extent, 0, nullptr, nullptr));
  show("through a buffer", image);
  size_t row = 0, slice = 0;
  auto* pointer = static_cast<unsigned char*>(clEnqueueMapImage(
      queue, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin, region, &row, &slice, 0, nullptr, nullptr, &code));
  said("map", code);
  say("row %zu slice %zu first %s", row, slice, hex(pointer, element).c_str());
  std::memset(pointer, 0xab, 5 * element);
  said("unmap", clEnqueueUnmapMemObject(queue, image, pointer, 0, nullptr, nullptr));
  show("mapped", image);
  size_t far[3] = {kind.extent[0], 0, 0};
  said("read outside", clEnqueueReadImage(queue, image, CL_TRUE, far, region, 0, 0, got.data(), 0, nullptr, nullptr));
  said("read to null", clEnqueueReadImage(queue, image, CL_TRUE, zero, region, 0, 0, nullptr, 0, nullptr, nullptr));
  said("write without origin",
       clEnqueueWriteImage(queue, image, CL_TRUE, nullptr, region, 0, 0, got.data(), 0, nullptr, nullptr));
  said("read of null",
       clEnqueueReadImage(queue, nullptr, CL_TRUE, zero, region, 0, 0, got.data(), 0, nullptr, nullptr));
  said("read of a buffer",
       clEnqueueReadImage(queue, memory, CL_TRUE, zero, region, 0, 0, got.data(), 0, nullptr, nullptr));
  said("fill without color", clEnqueueFillImage(queue, image, nullptr, zero, region, 0, nullptr, nullptr));
  said("copy onto itself", clEnqueueCopyImage(queue, image, image, zero, zero, region, 0, nullptr, nullptr));
  said("copy from a buffer as image",
       clEnqueueCopyImage(queue, memory, image, zero, zero, region, 0, nullptr, nullptr));
  clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, zero, region, nullptr, nullptr, 0, nullptr, nullptr, &code),
      said("map without pitch", code);
  for (auto released : {image, target, memory}) said("release", clReleaseMemObject(released));
}

void creation(cl_context context, cl_command_queue queue) {
  cl_int code;
  cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  const auto attempt = [&](const char* what, cl_context in, cl_mem_flags flags, const cl_image_format* of,
                           const cl_image_desc* desc, void* host = nullptr) {
    auto image = clCreateImage(in, flags, of, desc, host, &code);
    said(what, code);
    if (image) describe(image), clReleaseMemObject(image);
  };
  static unsigned char host[64 * 64 * 4 + 4096];
  auto flat = shape(CL_MEM_OBJECT_IMAGE2D, 50, 40), padded = shape(CL_MEM_OBJECT_IMAGE2D, 50, 40, 0, 0, 256),
       odd = shape(CL_MEM_OBJECT_IMAGE2D, 50, 40, 0, 0, 201);
  auto unknown = shape(0x9999, 50, 40), huge = shape(CL_MEM_OBJECT_IMAGE2D, 1 << 30, 40),
       empty = shape(CL_MEM_OBJECT_IMAGE2D, 0, 40);
  attempt("null context", nullptr, 0, &format, &flat);
  attempt("null format", context, 0, nullptr, &flat);
  attempt("null shape", context, 0, &format, nullptr);
  attempt("unknown type", context, 0, &format, &unknown);
  attempt("too wide", context, 0, &format, &huge);
  attempt("no width", context, 0, &format, &empty);
  attempt("unknown flags", context, cl_mem_flags{1} << 40, &format, &flat);
  attempt("use without pointer", context, CL_MEM_USE_HOST_PTR, &format, &flat);
  attempt("odd pitch", context, CL_MEM_COPY_HOST_PTR, &format, &odd, host);
  attempt("padded rows", context, CL_MEM_COPY_HOST_PTR, &format, &padded, host);
  cl_image_format strange{CL_RGBA, CL_UNORM_SHORT_565};
  attempt("strange format", context, 0, &strange, &flat);
  for (size_t i = 0; i < sizeof host; ++i) host[i] = static_cast<unsigned char>(i * 13 >> 2);
  auto image = clCreateImage(context, CL_MEM_USE_HOST_PTR, &format, &padded, host, &code);
  said("use host memory", code);
  const size_t zero[3] = {0, 0, 0}, part[3] = {10, 10, 1}, all[3] = {50, 40, 1};
  std::vector<unsigned char> got(50 * 40 * 4);
  said("read", clEnqueueReadImage(queue, image, CL_TRUE, zero, all, 0, 0, got.data(), 0, nullptr, nullptr));
  say("%s", digest(got).c_str());
  size_t row = 0;
  const size_t at[3] = {5, 3, 0};
  auto* pointer = static_cast<unsigned char*>(clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, at,
                                                                part, &row, nullptr, 0, nullptr, nullptr, &code));
  said("map", code);
  say("ours: %d, row %zu", pointer == host + 3 * 256 + 5 * 4, row);
  pointer[0] = 1, pointer[256] = 2;
  said("unmap", clEnqueueUnmapMemObject(queue, image, pointer, 0, nullptr, nullptr));
  said("read", clEnqueueReadImage(queue, image, CL_TRUE, zero, all, 0, 0, got.data(), 0, nullptr, nullptr));
  say("%s", digest(got).c_str());
  clReleaseMemObject(image);
  image = clCreateImage2D(context, CL_MEM_READ_ONLY, &format, 16, 8, 0, nullptr, &code);
  said("clCreateImage2D", code);
  describe(image);
  said("unknown info", clGetImageInfo(image, 0x9999, 8, &row, nullptr));
  said("small info", clGetImageInfo(image, CL_IMAGE_WIDTH, 2, &row, nullptr));
  said("info of null", clGetImageInfo(nullptr, CL_IMAGE_WIDTH, 8, &row, nullptr));
  clReleaseMemObject(image);
  image = clCreateImage3D(context, CL_MEM_READ_ONLY, &format, 16, 8, 4, 0, 0, nullptr, &code);
  said("clCreateImage3D", code);
  describe(image);
  clReleaseMemObject(image);
}

void samplers(cl_context context) {
  cl_int code;
  const auto describe_sampler = [&](cl_sampler sampler) {
    cl_bool normalized = 9;
    cl_uint addressing = 0, filter = 0, references = 0;
    size_t size = 99;
    said("info", clGetSamplerInfo(sampler, CL_SAMPLER_NORMALIZED_COORDS, sizeof normalized, &normalized, nullptr));
    said("info", clGetSamplerInfo(sampler, CL_SAMPLER_ADDRESSING_MODE, sizeof addressing, &addressing, nullptr));
    said("info", clGetSamplerInfo(sampler, CL_SAMPLER_FILTER_MODE, sizeof filter, &filter, nullptr));
    said("info", clGetSamplerInfo(sampler, CL_SAMPLER_REFERENCE_COUNT, sizeof references, &references, nullptr));
    said("info", clGetSamplerInfo(sampler, CL_SAMPLER_PROPERTIES, 0, nullptr, &size));
    say("%u %x %x, %u references, %zu bytes", normalized, addressing, filter, references, size);
  };
  auto sampler = clCreateSampler(context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &code);
  said("sampler", code);
  describe_sampler(sampler);
  said("unknown info", clGetSamplerInfo(sampler, 0x9999, 0, nullptr, nullptr));
  said("retain", clRetainSampler(sampler));
  said("release", clReleaseSampler(sampler));
  said("release", clReleaseSampler(sampler));
  clCreateSampler(nullptr, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code), said("null context", code);
  clCreateSampler(context, 7, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code), said("coordinates of 7", code);
  clCreateSampler(context, CL_FALSE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, &code),
      said("repeat without normalized", code);
  const cl_sampler_properties list[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, CL_SAMPLER_FILTER_MODE,
                                        CL_FILTER_NEAREST, 0},
                              twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_NEAREST, CL_SAMPLER_FILTER_MODE,
                                         CL_FILTER_LINEAR, 0},
                              unknown[] = {0x77, 1, 0};
  sampler = clCreateSamplerWithProperties(context, list, &code);
  said("with properties", code);
  describe_sampler(sampler);
  said("release", clReleaseSampler(sampler));
  clCreateSamplerWithProperties(context, twice, &code), said("twice", code);
  clCreateSamplerWithProperties(context, unknown, &code), said("unknown", code);
  clCreateSamplerWithProperties(context, nullptr, &code), said("null", code);
  said("retain null", clRetainSampler(nullptr));
  said("release null", clReleaseSampler(nullptr));
  said("info of null", clGetSamplerInfo(nullptr, CL_SAMPLER_FILTER_MODE, 0, nullptr, nullptr));
}

void in_kernels(cl_context context, cl_command_queue queue) {
  const auto program = built_program(
      context,
      "kernel void sharpen(read_only image2d_t from, write_only image2d_t to, sampler_t taken) {\n"
      "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
      "  const uint4 here = read_imageui(from, taken, at), left = read_imageui(from, taken, at - (int2)(1, 0));\n"
      "  write_imageui(to, at, (here * 3 - left) & 255);\n"
      "}\n");
  const auto kernel = new_kernel(program, "sharpen");
  cl_int code;
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  auto desc = shape(CL_MEM_OBJECT_IMAGE2D, 64, 48);
  std::vector<unsigned char> content(64 * 48 * 4), got(content.size());
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<unsigned char>(i * i >> 5);
  auto from = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, content.data(), &code),
       to = clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &desc, nullptr, &code);
  auto sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &code);
  said("argument", clSetKernelArg(kernel, 0, sizeof from, &from));
  said("argument", clSetKernelArg(kernel, 1, sizeof to, &to));
  said("argument", clSetKernelArg(kernel, 2, sizeof sampler, &sampler));
  const size_t size[2] = {64, 48}, zero[3] = {0, 0, 0}, all[3] = {64, 48, 1};
  said("launch", clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, size, nullptr, 0, nullptr, nullptr));
  said("read", clEnqueueReadImage(queue, to, CL_TRUE, zero, all, 0, 0, got.data(), 0, nullptr, nullptr));
  say("%s", digest(got).c_str());
  clReleaseKernel(kernel), clReleaseProgram(program), clReleaseSampler(sampler), clReleaseMemObject(from),
      clReleaseMemObject(to);
}

}  // namespace

int main() {
  for (auto* device : all_devices()) {
    cl_bool has_images = CL_FALSE;
    need("clGetDeviceInfo", clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof has_images, &has_images, nullptr));
    say("images: %u", has_images);
    if (!has_images) continue;
    const auto context = new_context({device});
    const auto queue = new_queue(context, device);
    formats(context);
    for (const auto& kind : kKinds) {
      transfers(context, queue, kind, {CL_RGBA, CL_UNORM_INT8}, 4);
      transfers(context, queue, kind, {CL_RGBA, CL_FLOAT}, 16);
    }
    creation(context, queue);
    samplers(context);
    in_kernels(context, queue);
    clCreatePipe(context, 0, 16, 16, nullptr, nullptr);
    said("release queue", clReleaseCommandQueue(queue));
    said("release context", clReleaseContext(context));
  }
}
