// Modules, libraries and their kernels: loaded once by content, described to the client so that it needs to ask nothing
// at a launch.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "backend/cuda/core.h"

namespace flexrack::backend::cuda {

class LoadOptions;

class Modules : public virtual cu::Requests {
 public:
  explicit Modules(Core& core) : core_(core) {}

  // ---- a session that goes to another server; under the lock
  /// The image of that hash; null where it was not kept.
  std::shared_ptr<const wire::Bytes> image(wire::View hash) const;
  /// `image` ends with a zero more than it has. False: it is not what the hash says, or no image.
  bool keep(wire::View hash, std::shared_ptr<const wire::Bytes> image);
  /// The handle that is minted next.
  std::uint64_t next_own() const { return next_own_; }
  void go_on_at(std::uint64_t handle) { next_own_ = handle; }

 private:
  void on(const cu::HaveImages& m, Respond<cu::HaveImagesReply> respond) override;
  void on(const cu::Load& m, Respond<cu::LoadReply> respond) override;
  void on(const cu::FindKernel& m, Respond<cu::FindKernelReply> respond) override;
  void on(const cu::FindVariable& m, Respond<cu::FindVariableReply> respond) override;
  void on(const cu::Link& m, Respond<cu::LinkReply> respond) override;
  void on(const cu::OccupancyOfClusters& m, Respond<cu::OccupancyOfClustersReply> respond) override;

  /// A reply and the texts it shows.
  struct LoadReply {
    cu::LoadReply message;
    std::string info_log, error_log;
    bool is_library = false;
  };
  void keep_image(const std::string& hash, std::shared_ptr<const wire::Bytes> image, CUresult status);
  void load_image(LoadReply& reply, std::uint64_t context, std::uint64_t module, const wire::Bytes& image,
                  LoadOptions& options);
  void list_kernels(LoadReply& reply, std::uint64_t context, std::uint64_t module);
  /// Puts it under a handle of ours and says all about it; `name` is shown. False: there is no room for more.
  bool describe_kernel(cu::Kernel& reported, std::uint64_t context, std::uint64_t module, bool is_library, void* native,
                       std::string_view name);
  std::uint64_t mint() { return next_own_++; }

  Core& core_;
  std::map<std::string, std::shared_ptr<const wire::Bytes>> images_;  ///< by SHA-256
  std::size_t image_bytes_ = 0;
  std::shared_ptr<std::atomic<std::size_t>> arriving_ =
      std::make_shared<std::atomic<std::size_t>>(0);  ///< bytes of images that are not loaded yet
  std::uint64_t next_own_ = std::uint64_t{1} << 63;
};

}  // namespace flexrack::backend::cuda
