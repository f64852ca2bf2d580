// Samplers: created at every place of the context at once, since a kernel argument does not say where it will be used.
#include <algorithm>

#include "client/opencl/coherence.h"
#include "client/opencl/enqueue.h"
#include "client/opencl/info.h"
#include "client/opencl/memory_check.h"

namespace flexrack::client::opencl {

namespace {

bool has_images(cl_context context) {
  return std::any_of(context->devices.begin(), context->devices.end(), [](cl_device_id device) {
    return device_info<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT, CL_FALSE);
  });
}

struct SamplerProperties {
  cl_sampler_properties normalized = CL_TRUE, addressing = CL_ADDRESS_CLAMP, filter = CL_FILTER_NEAREST;
};

/// Takes what is known of a property list; CL_INVALID_VALUE for anything else, and for a property named twice.
cl_int take(const cl_sampler_properties* properties, SamplerProperties& wanted,
            std::vector<cl_sampler_properties>& list) {
  bool seen[3] = {};
  for (; *properties != 0; properties += 2) {
    const auto at = properties[0] - CL_SAMPLER_NORMALIZED_COORDS;
    if (at > 2 || seen[at]) return CL_INVALID_VALUE;
    seen[at] = true;
    (at == 0 ? wanted.normalized : at == 1 ? wanted.addressing : wanted.filter) = properties[1];
    list.insert(list.end(), {properties[0], properties[1]});
  }
  list.push_back(0);
  return CL_SUCCESS;
}

cl_sampler create(cl_context context, const SamplerProperties& wanted, std::vector<cl_sampler_properties> list,
                  cl_int* error_out) {
  if (!is_live(context)) return fail(CL_INVALID_CONTEXT, error_out);
  if (!has_images(context)) return fail(CL_INVALID_OPERATION, error_out);
  if (wanted.normalized != CL_TRUE && wanted.normalized != CL_FALSE) return fail(CL_INVALID_VALUE, error_out);
  if (wanted.normalized == CL_FALSE &&
      (wanted.addressing == CL_ADDRESS_MIRRORED_REPEAT || wanted.addressing == CL_ADDRESS_REPEAT))
    return fail(CL_INVALID_VALUE, error_out);
  const std::array<std::uint64_t, 7> properties{CL_SAMPLER_NORMALIZED_COORDS,
                                                wanted.normalized,
                                                CL_SAMPLER_ADDRESSING_MODE,
                                                wanted.addressing,
                                                CL_SAMPLER_FILTER_MODE,
                                                wanted.filter,
                                                0};
  auto* sampler = new _cl_sampler;
  sampler->context = hold(context);
  sampler->properties = std::move(list);
  cl_int status = CL_SUCCESS;
  for (const auto& place : context->places) {
    const auto handle = place.session->mint();
    cl_int answer = CL_OUT_OF_RESOURCES;
    place.session->call(cl::CreateSampler{place.context, handle, properties}, [&](const auto& reply) {
      answer = reply.status;
      if (answer == CL_SUCCESS && sampler->infos.empty()) {
        for (const auto& info : reply.infos) sampler->infos[info.name].assign(info.value.begin(), info.value.end());
      }
    });
    sampler->handles.push_back(answer == CL_SUCCESS ? handle : 0);
    if (answer != CL_SUCCESS) status = answer;
  }
  // One place whose devices have no images does not matter; nowhere does.
  if (std::any_of(sampler->handles.begin(), sampler->handles.end(), [](auto handle) { return handle != 0; }))
    status = CL_SUCCESS;
  if (status != CL_SUCCESS) {
    release(sampler);
    return fail(status, error_out);
  }
  if (error_out) *error_out = CL_SUCCESS;
  return sampler;
}

}  // namespace

cl_sampler clCreateSampler(cl_context context, cl_bool normalized_coords, cl_addressing_mode addressing_mode,
                           cl_filter_mode filter_mode, cl_int* errcode_ret) {
  return create(context, {normalized_coords, addressing_mode, filter_mode}, {}, errcode_ret);
}

cl_sampler clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties* sampler_properties,
                                         cl_int* errcode_ret) {
  if (!sampler_properties) return fail(CL_INVALID_VALUE, errcode_ret);
  SamplerProperties wanted;
  std::vector<cl_sampler_properties> list;
  if (const auto error = take(sampler_properties, wanted, list)) return fail(error, errcode_ret);
  return create(context, wanted, std::move(list), errcode_ret);
}

cl_int clRetainSampler(cl_sampler sampler) {
  if (!is_live(sampler)) return CL_INVALID_SAMPLER;
  retain(sampler);
  return CL_SUCCESS;
}

cl_int clReleaseSampler(cl_sampler sampler) {
  return is_live(sampler) && release(sampler) ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

cl_int clGetSamplerInfo(cl_sampler sampler, cl_sampler_info param_name, size_t param_value_size, void* param_value,
                        size_t* param_value_size_ret) {
  if (!is_live(sampler)) return CL_INVALID_SAMPLER;
  const auto give = [&](const void* value, std::size_t size) {
    return give_info(value, size, param_value_size, param_value, param_value_size_ret);
  };
  if (param_name == CL_SAMPLER_REFERENCE_COUNT) {
    const auto count = references(sampler);
    return give(&count, sizeof count);
  }
  if (param_name == CL_SAMPLER_CONTEXT) return give(&sampler->context, sizeof sampler->context);
  if (param_name == CL_SAMPLER_PROPERTIES)
    return give(sampler->properties.data(), sampler->properties.size() * sizeof(cl_sampler_properties));
  const auto found = sampler->infos.find(param_name);
  return found == sampler->infos.end() ? CL_INVALID_VALUE : give(found->second.data(), found->second.size());
}

void dispose(cl_sampler sampler) {
  auto* context = sampler->context;
  for (std::size_t place = 0; place < sampler->handles.size(); ++place) {
    if (sampler->handles[place]) context->places[place].session->send(cl::Release{sampler->handles[place]});
  }
  delete sampler;
  drop(context);
}

std::uint64_t handle_at(cl_sampler sampler, std::size_t place) { return sampler->handles[place]; }

}  // namespace flexrack::client::opencl
