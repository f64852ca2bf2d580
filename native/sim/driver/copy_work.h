// Copies of every form: both sides are boxes of bytes somewhere.
#pragma once

#include <memory>

#include "sim/driver/array.h"
#include "sim/driver/memory.h"
#include "sim/driver/work.h"

namespace flexrack::sim {

/// One side of a copy.
struct Side {
  enum class Kind : std::uint8_t { pageable, pinned, device };
  Kind kind = Kind::pageable;
  std::uint64_t address = 0;                   ///< of the first byte
  std::uint64_t row_pitch = 0, slice_pitch = 0;
  std::shared_ptr<Allocation> allocation;      ///< kept while the copy is in a stream
  Ref<Array> array;

  /// Anything by its address: what is no allocation of ours is the application's own memory.
  static Side anywhere(std::uint64_t address, std::uint64_t size);
  /// Memory of a device, or what devices can access. Throws CUDA_ERROR_INVALID_VALUE.
  static Side device_memory(std::uint64_t address, std::uint64_t size);
  /// From x bytes, row y, slice z on. Throws CUDA_ERROR_INVALID_VALUE where the box is not inside.
  static Side array_box(Ref<Array> array, std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint64_t width,
                        std::uint64_t height, std::uint64_t depth);
};

class CopyWork : public Work {
 public:
  CopyWork(Side to, Side from, std::uint64_t width, std::uint64_t height = 1, std::uint64_t depth = 1);
  /// As the API describes it. Throws CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_HANDLE.
  static std::shared_ptr<CopyWork> described_by(const CUDA_MEMCPY3D& as);

  Worker* worker(Device& device) const override;
  void execute(Context& context) const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEMCPY; }

  std::uint64_t bytes() const { return width * height * depth; }
  bool touches_host() const { return to.kind != Side::Kind::device || from.kind != Side::Kind::device; }
  bool touches_pageable() const { return to.kind == Side::Kind::pageable || from.kind == Side::Kind::pageable; }
  CUDA_MEMCPY3D described() const;

  const Side to, from;
  const std::uint64_t width, height, depth;    ///< bytes, rows, slices
  CUDA_MEMCPY3D description{};                 ///< of what came as one; see described()
  CUcontext node_context = nullptr;            ///< as a graph's node has it

 private:
  void move() const;
  /// The same from a copy of the source, made now.
  std::shared_ptr<CopyWork> staged() const;
  friend void enqueue_copy(Stream& stream, const std::shared_ptr<CopyWork>& copy);
  std::shared_ptr<std::vector<std::byte>> staging_;
};

/// The *Async forms. Memory that is not pinned is read before this returns, or written ("API synchronization behavior"
/// of the driver API's reference).
void enqueue_copy(Stream& stream, const std::shared_ptr<CopyWork>& copy);
/// The forms that wait. From device to device the host does not wait.
void carry_out_copy(Stream& stream, const std::shared_ptr<CopyWork>& copy);

/// A two-dimensional description as a three-dimensional one; and one between contexts.
CUDA_MEMCPY3D as_3d(const CUDA_MEMCPY2D& as);
CUDA_MEMCPY3D as_3d(const CUDA_MEMCPY3D_PEER& as);

}  // namespace flexrack::sim
