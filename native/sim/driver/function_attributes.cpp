// CU_FUNC_ATTRIBUTE_*.
#include <algorithm>

#include "sim/driver/failure.h"
#include "sim/driver/module.h"

namespace flexrack::sim {
namespace {

constexpr int kSharedWithoutAsking = 49152;

/// What is left for dynamic shared memory where nothing was set.
int default_dynamic_shared(const KernelFacts& facts) { return std::max(0, kSharedWithoutAsking - facts.shared_bytes); }

}  // namespace

int function_attribute(const KernelFacts& facts, const FunctionSettings& settings, CUfunction_attribute which) {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return facts.max_threads;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return facts.shared_bytes;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return facts.const_bytes;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return facts.local_bytes;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return facts.registers;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: return facts.ptx_version;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return facts.binary_version;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return settings.dynamic_shared >= 0 ? settings.dynamic_shared : default_dynamic_shared(facts);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return settings.carveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: return 0;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: return settings.cluster[0];
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: return settings.cluster[1];
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return settings.cluster[2];
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: return settings.non_portable_cluster;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return settings.cluster_policy;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

void set_function_attribute(const KernelFacts& facts, FunctionSettings& settings, CUfunction_attribute which,
                            int value) {
  const auto set_cluster = [&](std::size_t dimension) {
    require(value >= 0 && (facts.required_cluster[dimension] == 0 || facts.required_cluster[dimension] == value));
    settings.cluster[dimension] = value;
  };
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      require(value >= 0 && value + facts.shared_bytes <= model().shared_bytes_block);
      settings.dynamic_shared = value;
      return;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      require(value >= -1 && value <= 100);
      settings.carveout = value;
      return;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: return set_cluster(0);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: return set_cluster(1);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return set_cluster(2);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: settings.non_portable_cluster = value != 0; return;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: settings.cluster_policy = value; return;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace flexrack::sim
