// Which context a thread works in.
#include "sim/driver/context.h"

namespace flexrack::sim {
namespace {

// Without a destructor: the application's own destructors at a thread's end may still call the API.
struct Stack {
  CUcontext at[64];
  int size;
};
thread_local Stack stack;
thread_local int host_functions;

Ref<Context> find_active(CUcontext handle) {
  auto found = Context::find(handle);
  if (!found || !found->is_active()) fail(CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return found;
}

}  // namespace

CUcontext current_handle() noexcept { return stack.size > 0 ? stack.at[stack.size - 1] : nullptr; }

void push_current(CUcontext handle) {
  require(stack.size < static_cast<int>(std::size(stack.at)), CUDA_ERROR_INVALID_CONTEXT,
          "64 contexts are on this thread's stack");
  stack.at[stack.size++] = handle;
}

CUcontext pop_current() {
  require(stack.size > 0, CUDA_ERROR_INVALID_CONTEXT);
  return stack.at[--stack.size];
}

void set_current(CUcontext handle) {
  if (stack.size > 0) --stack.size;
  if (handle) push_current(handle);
}

Ref<Context> current_even_failed() {
  require(host_functions == 0, CUDA_ERROR_NOT_PERMITTED, "host functions in streams may not call the driver");
  const auto handle = current_handle();
  require(handle, CUDA_ERROR_INVALID_CONTEXT);
  return find_active(handle);
}

Ref<Context> current() {
  auto context = current_even_failed();
  require_working(*context);
  return context;
}

Ref<Context> context_of(CUcontext handle) {
  if (!handle) return current_even_failed();
  require(host_functions == 0, CUDA_ERROR_NOT_PERMITTED);
  auto found = Context::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_CONTEXT);
  require(found->is_active(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return found;
}

HostFunctionScope::HostFunctionScope() { ++host_functions; }
HostFunctionScope::~HostFunctionScope() { --host_functions; }

}  // namespace flexrack::sim
