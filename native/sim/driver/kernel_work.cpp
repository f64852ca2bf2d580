#include "sim/driver/kernel_work.h"

#include <algorithm>
#include <cstring>

#include "sim/driver/occupancy.h"
#include "sim/driver/settings.h"
#include "sim/exec/launch.h"
#include "sim/exec/machine.h"

namespace flexrack::sim {
namespace {

/// CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE and CU_LAUNCH_PARAM_END of cuda.h 13.0.
enum Extra : std::uintptr_t { kEnd = 0, kPointer = 1, kSize = 2 };

std::span<const std::byte> block_of(void** extra) {
  const std::byte* pointer = nullptr;
  std::size_t size = 0;
  bool has_size = false;
  for (; reinterpret_cast<std::uintptr_t>(*extra) != kEnd; extra += 2) {
    switch (reinterpret_cast<std::uintptr_t>(*extra)) {
      case kPointer: pointer = static_cast<const std::byte*>(extra[1]); break;
      case kSize:
        require(extra[1]);
        std::memcpy(&size, extra[1], sizeof size);
        has_size = true;
        break;
      default: fail(CUDA_ERROR_INVALID_VALUE, "an unknown word in a launch's extra options");
    }
  }
  require(has_size && (pointer || size == 0));
  return {pointer, size};
}

std::atomic<std::uint64_t> last_grid{0};

}  // namespace

CUresult result_of(const exec::Fault& fault) {
  using Kind = exec::Fault::Kind;
  switch (fault.kind) {
    case Kind::out_of_bounds:
    case Kind::read_only:
    case Kind::bad_object:
    case Kind::bad_condition: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case Kind::misaligned: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case Kind::stack_overflow: return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case Kind::illegal_instruction: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case Kind::bad_call: return CUDA_ERROR_INVALID_PC;
    case Kind::assertion: return CUDA_ERROR_ASSERT;
    case Kind::deadlock: return CUDA_ERROR_LAUNCH_TIMEOUT;
    default: return CUDA_ERROR_LAUNCH_FAILED;
  }
}

KernelWork::KernelWork(Ref<Function> to_run, const LaunchShape& with, void** parameters, void** extra)
    : function(std::move(to_run)), shape(with) {
  check();
  // What is wrong with the code is the launch's to answer, not the stream's.
  code_ = function->code();
  parameters_.resize(function->facts.parameter_bytes);
  copy_parameters(parameters, extra);
  for (const auto& parameter : function->facts.parameters) addresses_.push_back(parameters_.data() + parameter.offset);
}

void KernelWork::copy_parameters(void** parameters, void** extra) {
  const auto& facts = function->facts;
  if (extra) {
    require(!parameters, CUDA_ERROR_INVALID_VALUE, "parameters are given in two ways");
    // A kernel may declare more than a launch gives, as NCCL's do; it does not read the rest then.
    const auto block = block_of(extra);
    const auto size = std::min(block.size(), parameters_.size());
    if (size > 0) std::memcpy(parameters_.data(), block.data(), size);
    return;
  }
  require(parameters || facts.parameters.empty());
  for (std::size_t i = 0; i < facts.parameters.size(); ++i) {
    require(parameters[i]);
    std::memcpy(parameters_.data() + facts.parameters[i].offset, parameters[i], facts.parameters[i].size);
  }
}

void KernelWork::check() const {
  const auto& facts = function->facts;
  const auto& grid = shape.grid;
  const auto& block = shape.block;
  require(shape.is_possible(), CUDA_ERROR_INVALID_VALUE, "a grid or block of a size that cannot be");
  require(block.count() <= static_cast<std::uint64_t>(facts.max_threads), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
          "more threads than the kernel was compiled for");
  const auto settings = function->settings();
  const auto dynamic = function_attribute(facts, settings, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  require(shape.shared_bytes <= static_cast<std::uint32_t>(dynamic), CUDA_ERROR_INVALID_VALUE,
          "more dynamic shared memory than the kernel is allowed to have");
  const auto resident = resident_blocks(facts, block.count(), shape.shared_bytes);
  require(resident > 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "a block that does not fit on a multiprocessor");
  if (shape.is_cooperative) {
    const auto most = static_cast<std::uint64_t>(resident) *
                      static_cast<std::uint64_t>(function->module->context->device.multiprocessors);
    require(grid.count() <= most, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
            "a cooperative grid with more blocks than are resident at once");
  }
  if (shape.has_cluster) {
    const auto& cluster = shape.cluster;
    require(model().major >= 9, CUDA_ERROR_NOT_SUPPORTED, "clusters need compute capability 9.0");
    const auto most = settings.non_portable_cluster ? 16u : 8u;
    require(cluster.count() > 0 && cluster.count() <= most && grid.x % cluster.x == 0 && grid.y % cluster.y == 0 &&
                grid.z % cluster.z == 0,
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
  }
}

void KernelWork::execute(Context& context) const { execute_in_graph(context, nullptr); }

void KernelWork::execute_in_graph(Context& context, exec::Conditions* conditions) const {
  if (is_fault_due("launch"))
    fail(CUDA_ERROR_LAUNCH_FAILED, "kernel " + function->facts.name + " failed, as FLEXRACK_SIM_FAULT asks for");
  pass_latency();
  if (!code_) return;
  exec::Launch launch;
  launch.kernel = code_;
  launch.grid = shape.grid;
  launch.block = shape.block;
  launch.cluster = shape.cluster;
  launch.dynamic_shared_bytes = shape.shared_bytes;
  launch.parameters = parameters_;
  launch.is_cooperative = shape.is_cooperative;
  launch.conditions = conditions;
  launch.grid_id = ++last_grid;
  launch.sm_count = static_cast<std::uint32_t>(context.device.multiprocessors);
  {
    const std::lock_guard guard(context.settings_lock);
    launch.stack_bytes = static_cast<std::uint32_t>(context.limits.stack);
  }
  if (function->module->uses_heap()) launch.heap = &context.heap();
  const BusyClock::Span span(context.device.busy);
  const auto fault = exec::Machine::shared().run(launch, *function->module->image(), context.map, context.printing,
                                                 context.stop_token());
  if (fault && fault->kind != exec::Fault::Kind::stopped) context.fail_with(result_of(*fault), fault->describe());
}

}  // namespace flexrack::sim
