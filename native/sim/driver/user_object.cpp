// cuUserObject*, cuGraphRetainUserObject, cuGraphReleaseUserObject.
#include "sim/driver/user_object.h"

#include "sim/driver/context.h"
#include "sim/driver/graph.h"
#include "sim/driver/worker.h"

namespace flexrack::sim {

bool UserObject::release(unsigned count) {
  auto now = references_.load();
  do {
    if (now < count) return false;
  } while (!references_.compare_exchange_weak(now, now - count));
  if (now != count) return true;
  // Not on the thread that let go of it: it may hold locks of the application that the destructor wants.
  const auto destroyer = destroy_;
  auto* const pointer = pointer_;
  const auto run = [destroyer, pointer] {
    const HostFunctionScope scope;
    destroyer(pointer);
  };
  close();
  if (!start_thread("sim-destroy", run)) run();
  return true;
}

namespace {

Ref<UserObject> object_of(CUuserObject handle) {
  auto found = UserObject::find(handle);
  require(static_cast<bool>(found));
  return found;
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuUserObjectCreate(CUuserObject* made, void* pointer, CUhostFn destroyer, unsigned int references,
                            unsigned int flags) {
  return call([&] {
    require(made && destroyer && references > 0 && references <= 0x7fffffff &&
            flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    const auto object = UserObject::make(pointer, destroyer, references);
    object->open();
    *made = object->handle();
  });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
  return call([&] {
    require(count > 0 && count <= 0x7fffffff);
    object_of(object)->retain(count);
  });
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
  return call([&] { require(count > 0 && object_of(object)->release(count)); });
}

CUresult cuGraphRetainUserObject(CUgraph handle, CUuserObject object_handle, unsigned int count, unsigned int flags) {
  return call([&] {
    require(count > 0 && (flags & ~static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE)) == 0);
    const auto graph = graph_of(handle);
    const auto object = object_of(object_handle);
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) object->retain(count);
    const std::lock_guard guard(graph->lock);
    auto& held = graph->user_objects[object.get()];
    held.first = object;
    held.second += count;
  });
}

CUresult cuGraphReleaseUserObject(CUgraph handle, CUuserObject object_handle, unsigned int count) {
  return call([&] {
    const auto graph = graph_of(handle);
    const auto object = object_of(object_handle);
    const std::lock_guard guard(graph->lock);
    const auto held = graph->user_objects.find(object.get());
    require(count > 0 && held != graph->user_objects.end() && held->second.second >= count);
    held->second.second -= count;
    if (held->second.second == 0) graph->user_objects.erase(held);
    object->release(count);
  });
}

}  // extern "C"
