// The objects behind cl_mem and cl_sampler.
#pragma once

#include <array>
#include <list>

#include "client/opencl/memory_shadow.h"
#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// A memory object at one place of its context.
struct Copy {
  std::uint64_t handle = 0;        ///< 0: not created there
  std::uint64_t reserved = 0;      ///< bit n: charged to the session's device n (only where the place has several)
};

/// A range of a buffer (or a whole image) in a context of several places, and where its valid bytes are.
struct Segment {
  std::size_t end = 0;
  std::uint64_t valid = 0;         ///< bit n: place n; 0: nobody wrote it yet
  bool in_content = false;         ///< what the application gave at creation has not been sent to any place
  std::size_t home = 0;            ///< the place that wrote it last
  std::vector<cl_event> writers;   ///< commands at `home` that wrote it, held: a copy to elsewhere waits for them
  std::vector<cl_event> arrivals;  ///< copies to other places, held: whoever uses it there waits for them
};

/// What the application has mapped and not yet unmapped.
struct Mapping {
  cl_mem object = nullptr;         ///< the root, or the image; the root has a reference for each mapping
  void* pointer = nullptr;
  std::size_t offset = 0;          ///< in the root buffer, bytes; images: unused
  std::size_t size = 0;
  std::array<std::size_t, 3> origin{}, region{};   ///< images only
  cl_map_flags flags = 0;
  bool is_written() const { return flags == 0 || (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0; }
};

/// What a device answers about an image. The pitches are those of the memory that a map shows.
struct ImageFacts {
  cl_image_format format{};
  cl_image_desc desc{};
  std::size_t element_size = 0, row_pitch = 0, slice_pitch = 0;
  InfoTable infos;
};

}  // namespace flexrack::client::opencl

struct _cl_mem : fx::Object {
  cl_context context = nullptr;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl_mem_flags flags = 0;
  std::size_t size = 0;
  cl_mem parent = nullptr;                  ///< the buffer of a sub-buffer, or of an image made from one; held
  std::size_t origin = 0;                   ///< in the parent, bytes
  void* host_pointer = nullptr;             ///< CL_MEM_USE_HOST_PTR
  std::vector<cl_mem_properties> properties;
  fx::ImageFacts image;
  cl_uint packet_size = 0, max_packets = 0; ///< pipes

  std::mutex lock;                          ///< of everything below
  std::vector<fx::Copy> copies;             ///< by place
  std::map<std::size_t, fx::Segment> segments;   ///< by first byte; roots only, in contexts of several places only
  std::shared_ptr<flexrack::wire::Bytes> content;     ///< given at creation, while a segment is in_content
  fx::Shadow shadow;                        ///< client memory that maps show; roots only
  std::list<fx::Mapping> mappings;          ///< roots only
  std::vector<std::function<void()>> destructors;   ///< run last to first

  /// The object that owns the bytes.
  cl_mem root() { return parent ? parent->root() : this; }
  /// Of the first byte in root().
  std::size_t root_offset() const { return parent ? parent->root_offset() + origin : 0; }
  bool is_image() const { return type != CL_MEM_OBJECT_BUFFER && type != CL_MEM_OBJECT_PIPE; }
  _cl_mem() : Object(fx::Kind::memory) {}
};

struct _cl_sampler : fx::Object {
  cl_context context = nullptr;
  std::vector<std::uint64_t> handles;       ///< by place
  std::vector<cl_sampler_properties> properties;
  fx::InfoTable infos;
  _cl_sampler() : Object(fx::Kind::sampler) {}
};

namespace flexrack::client::opencl {
/// Called when the last reference, the application's or ours, is gone.
void dispose(cl_mem memory);
void dispose(cl_sampler sampler);
/// drop() for a thread that reads a link: the application's destructor callbacks do not run there.
void let_go(cl_mem memory);
/// The sampler at a place of its context.
std::uint64_t handle_at(cl_sampler sampler, std::size_t place);
}  // namespace flexrack::client::opencl
