// User objects: things of the application that live as long as graphs need them.
#pragma once

#include <atomic>

#include "gen/cuda/cuda.h"
#include "sim/driver/object.h"

namespace flexrack::sim {

/// Counted by the application and by graphs; what it is made of is destroyed with the last reference.
class UserObject : public Object<UserObject> {
 public:
  UserObject(void* pointer, CUhostFn destroyer, unsigned references)
      : pointer_(pointer), destroy_(destroyer), references_(references) {}
  CUuserObject handle() { return reinterpret_cast<CUuserObject>(this); }

  void retain(unsigned count) { references_ += count; }
  /// False where it has not that many.
  bool release(unsigned count);

 private:
  void* pointer_;
  CUhostFn destroy_;
  std::atomic<unsigned> references_;
};

}  // namespace flexrack::sim
