// Linked images, and what is asked of a kernel that is not launched.
#include <cstring>

#include "backend/cuda/call_context.h"
#include "backend/cuda/image_check.h"
#include "backend/cuda/launch_attributes.h"
#include "backend/cuda/load_options.h"
#include "backend/cuda/modules.h"

namespace flexrack::backend::cuda {
namespace {

/// What is linked, whole before the driver sees any of it.
struct Linking {
  struct Input {
    std::uint32_t kind;
    std::string name;
    wire::Bytes data;
    LoadOptions options;
  };
  Linking(const cu::Link& m, wire::Respond<cu::LinkReply>&& answer)
      : context(m.context), options(m.options), respond(std::move(answer)) {}
  const std::uint64_t context;
  LoadOptions options;
  std::vector<Input> inputs{};
  std::atomic<std::size_t> missing{1};   ///< inputs on their way, and the message itself
  std::atomic<bool> is_lost{false};
  wire::Respond<cu::LinkReply> respond;
};

}  // namespace

void Modules::on(const cu::Link& m, Respond<cu::LinkReply> respond) {
  constexpr std::size_t kMostInputs = 4096, kMostBytes = std::size_t{1} << 30;
  CallContext call(core_, m.kOp, m.context);
  call.may_wait();
  const bool is_possible = call.is_good() && m.inputs.size() <= kMostInputs;
  if (!is_possible) {
    for (const auto& one : m.inputs)
      if (!one.data.is_inline()) core_.link->cancel(one.data.ticket);
    return respond({.status = as_wire(call.is_good() ? CUDA_ERROR_OUT_OF_MEMORY : call.status())});
  }
  auto linking = std::make_shared<Linking>(m, std::move(respond));
  std::size_t bytes = 0;
  for (const auto& one : m.inputs) {
    bytes += one.data.size;
    if (one.data.size > kMostBytes || bytes > kMostBytes || !linking->options.is_passable()) linking->is_lost = true;
    linking->inputs.push_back({one.kind, std::string(one.name), wire::Bytes(linking->is_lost ? 0 : one.data.size + 1),
                               LoadOptions(one.options)});
  }
  const auto arrived = [this, linking] {
    if (linking->missing.fetch_sub(1) != 1) return;
    for (const auto& input : linking->inputs) {
      const auto known = input.data.empty()
                             ? CUDA_ERROR_INVALID_IMAGE
                             : check_input(input.kind, wire::View(input.data).first(input.data.size() - 1));
      if (known != CUDA_SUCCESS || !input.options.is_passable()) linking->is_lost = true;
    }
    if (linking->is_lost) return linking->respond({.status = as_wire(CUDA_ERROR_INVALID_IMAGE)});
    core_.later(linking->context, [this, linking] {
      CUlinkState state = nullptr;
      auto& options = linking->options;
      auto status = core_.table.cuLinkCreate_v2(options.jit_count(), options.jit(), options.jit_values(), &state);
      for (auto& one : linking->inputs) {
        if (status != CUDA_SUCCESS) break;
        // Text counts its zero; anything else is as long as it is.
        const auto size = one.data.size() - (one.kind == CU_JIT_INPUT_PTX ? 0 : 1);
        status = core_.table.cuLinkAddData_v2(state, static_cast<CUjitInputType>(one.kind), one.data.data(), size,
                                              one.name.c_str(), 0, nullptr, nullptr);
      }
      void* image = nullptr;
      size_t size = 0;
      if (status == CUDA_SUCCESS) status = core_.table.cuLinkComplete(state, &image, &size);
      const auto info = options.info_log(), error = options.error_log();
      linking->respond({.status = as_wire(status),
                        .info_log = info,
                        .error_log = error,
                        .image = {static_cast<const std::uint8_t*>(image), status == CUDA_SUCCESS ? size : 0}});
      if (state) core_.table.cuLinkDestroy(state);
    });
  };
  for (std::size_t i = 0; i < m.inputs.size(); ++i) {
    const auto& data = m.inputs[i].data;
    auto& into = linking->inputs[i].data;
    if (data.is_inline()) {
      if (!into.empty()) std::memcpy(into.data(), data.inline_data.data(), data.size);
    } else if (into.empty()) {
      core_.link->cancel(data.ticket);
    } else {
      ++linking->missing;
      core_.link->land(data.ticket, {into.data(), data.size}, [linking, arrived](bool has_arrived) {
        if (!has_arrived) linking->is_lost = true;
        arrived();
      });
    }
  }
  arrived();
}

void Modules::on(const cu::OccupancyOfClusters& m, Respond<cu::OccupancyOfClustersReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  const auto function = call.launched(m.kernel);
  auto attributes = launch_attributes(call, m.attributes);
  CUlaunchConfig how{};
  how.gridDimX = m.grid.x, how.gridDimY = m.grid.y, how.gridDimZ = m.grid.z;
  how.blockDimX = m.block.x, how.blockDimY = m.block.y, how.blockDimZ = m.block.z;
  how.sharedMemBytes = m.shared_bytes;
  how.hStream = call.get<CUstream>(m.stream);
  how.attrs = attributes.data();
  how.numAttrs = static_cast<unsigned>(attributes.size());
  int value = 0;
  call.run(m.is_active != 0 ? core_.table.cuOccupancyMaxActiveClusters : core_.table.cuOccupancyMaxPotentialClusterSize,
           &value, function, &how);
  respond({.status = as_wire(call.status()), .value = value});
}

}  // namespace flexrack::backend::cuda
