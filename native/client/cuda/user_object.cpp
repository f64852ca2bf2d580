#include "client/cuda/user_object.h"

#include <climits>

#include "client/cuda/driver.h"
#include "client/cuda/host_function.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {

bool drop_references(CUuserObject object, std::uint64_t count) {
  auto known = object->references.load();
  do {
    if (known < count) return false;
  } while (!object->references.compare_exchange_weak(known, known - count));
  if (known != count) return true;
  run_on_host_thread([destroy = object->destroy, pointer = object->pointer] {
    const InHostFunction here;
    if (!is_ending()) destroy(pointer);
  });
  discard(object);
  return true;
}

CUresult cuUserObjectCreate(CUuserObject* object_out, void* ptr, CUhostFn destroy, unsigned int initialRefcount,
                            unsigned int flags) {
  if (!process()) return not_open();
  // The flag has to be there: nothing else is offered (cuda.h 13.0).
  if (!object_out || !destroy || initialRefcount == 0 || initialRefcount > INT_MAX ||
      flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    return CUDA_ERROR_INVALID_VALUE;
  const auto made = new CUuserObject_st;
  made->pointer = ptr;
  made->destroy = destroy;
  made->references = initialRefcount;
  *object_out = made;
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
  if (!process()) return not_open();
  if (!is_live(object)) return CUDA_ERROR_INVALID_HANDLE;
  if (count == 0 || count > INT_MAX) return CUDA_ERROR_INVALID_VALUE;
  object->references.fetch_add(count);
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
  if (!process()) return not_open();
  if (!is_live(object)) return CUDA_ERROR_INVALID_HANDLE;
  if (count == 0 || count > INT_MAX) return CUDA_ERROR_INVALID_VALUE;
  return drop_references(object, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace flexrack::client::cuda
