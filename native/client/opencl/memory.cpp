// What holds for every memory object: references, destructor callbacks, and what it answers about itself.
#include "client/opencl/memory_check.h"
#include "client/opencl/memory_send.h"
#include "client/opencl/svm_objects.h"

namespace flexrack::client::opencl {

cl_int clRetainMemObject(cl_mem memobj) {
  if (!is_live(memobj)) return CL_INVALID_MEM_OBJECT;
  retain(memobj);
  return CL_SUCCESS;
}

cl_int clReleaseMemObject(cl_mem memobj) {
  return is_live(memobj) && release(memobj) ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}

cl_int clSetMemObjectDestructorCallback(cl_mem memobj, cl_memory_callback pfn_notify, void* user_data) {
  if (!is_live(memobj)) return CL_INVALID_MEM_OBJECT;
  if (!pfn_notify) return CL_INVALID_VALUE;
  std::lock_guard guard(memobj->lock);
  memobj->destructors.push_back([=] { pfn_notify(memobj, user_data); });
  return CL_SUCCESS;
}

cl_int clSetMemObjectDestructorAPPLE(cl_mem memobj, cl_memory_callback pfn_notify, void* user_data) {
  return clSetMemObjectDestructorCallback(memobj, pfn_notify, user_data);
}

void dispose(cl_mem memory) {
  for (std::size_t place = 0; place < memory->copies.size(); ++place) {
    if (memory->copies[place].handle)
      memory->context->places[place].session->send(cl::Release{memory->copies[place].handle});
  }
  for (auto& [start, segment] : memory->segments) {
    for (auto* event : segment.writers) drop(event);
    for (auto* event : segment.arrivals) drop(event);
  }
  auto destructors = std::move(memory->destructors);
  auto* context = memory->context;
  auto* parent = memory->parent;
  while (!destructors.empty()) {
    destructors.back()();
    destructors.pop_back();
  }
  delete memory;
  if (parent) release(parent);
  drop(context);
}

void let_go(cl_mem memory) {
  auto counts = memory->counts.load(std::memory_order_relaxed);
  do {
    if (counts == kUse) return run_callback([=] { drop(memory); });
  } while (!memory->counts.compare_exchange_weak(counts, counts - kUse, std::memory_order_acq_rel));
}

cl_context context_of(cl_mem memory) { return memory->context; }

namespace {

template <class T>
cl_int give(const T& value, size_t capacity, void* out, size_t* size_out) {
  return give_info(&value, sizeof value, capacity, out, size_out);
}

cl_uint map_count(cl_mem memory) {
  if (memory->parent) return 0;   // maps of a part are counted where the bytes are, as PoCL does
  std::lock_guard guard(memory->lock);
  return static_cast<cl_uint>(memory->mappings.size());
}

void* host_pointer(cl_mem memory) {
  if (!(memory->flags & CL_MEM_USE_HOST_PTR)) return nullptr;
  auto* base = memory->root()->host_pointer;
  return base ? static_cast<std::byte*>(base) + memory->root_offset() : nullptr;
}

}  // namespace

cl_int clGetMemObjectInfo(cl_mem memobj, cl_mem_info param_name, size_t param_value_size, void* param_value,
                          size_t* param_value_size_ret) {
  if (!is_live(memobj)) return CL_INVALID_MEM_OBJECT;
  const auto answer = [&](const auto& value) {
    return give(value, param_value_size, param_value, param_value_size_ret);
  };
  switch (param_name) {
    case CL_MEM_TYPE: return answer(memobj->type);
    case CL_MEM_FLAGS: return answer(memobj->flags);
    case CL_MEM_SIZE: return answer(memobj->size);
    case CL_MEM_HOST_PTR: return answer(host_pointer(memobj));
    case CL_MEM_MAP_COUNT: return answer(map_count(memobj));
    case CL_MEM_REFERENCE_COUNT: return answer(references(memobj));
    case CL_MEM_CONTEXT: return answer(memobj->context);
    case CL_MEM_ASSOCIATED_MEMOBJECT: return answer(memobj->parent);
    case CL_MEM_OFFSET: return answer(memobj->parent ? memobj->origin : std::size_t{0});
    case CL_MEM_USES_SVM_POINTER: {
      const auto* pointer = memobj->root()->host_pointer;
      return answer(static_cast<cl_bool>(pointer && find_svm(memobj->context, pointer).size != 0 ? CL_TRUE : CL_FALSE));
    }
    case CL_MEM_PROPERTIES:
      return give_info(memobj->properties.data(), memobj->properties.size() * sizeof(cl_mem_properties),
                       param_value_size, param_value, param_value_size_ret);
    default: return CL_INVALID_VALUE;
  }
}

}  // namespace flexrack::client::opencl
