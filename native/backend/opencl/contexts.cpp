// Contexts and queues, and letting objects go.
#include <algorithm>
#include <cstring>

#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {
namespace {

void CL_CALLBACK on_error(const char* text, const void* info, size_t size, void* data) {
  const auto* sink = static_cast<const ErrorSink*>(data);
  sink->engine->notices.send(
      cl::ContextError{.context = sink->context,
                       .text = text ? text : "",
                       .private_info = {static_cast<const std::uint8_t*>(info), info ? size : 0}});
  sink->engine->notices.flush();
}

/// The pairs of a property list, whether or not it ends with a zero. False for a list that is cut.
bool read_pairs(std::span<const std::uint64_t> list, std::vector<std::pair<std::uint64_t, std::uint64_t>>& pairs) {
  for (std::size_t i = 0; i < list.size() && list[i] != 0; i += 2) {
    if (i + 1 >= list.size()) return false;
    pairs.emplace_back(list[i], list[i + 1]);
  }
  return true;
}

}  // namespace

cl_int Session::devices_of(const ContextRecord& context, std::span<const std::uint32_t> indexes,
                           std::vector<cl_device_id>& out) const {
  for (const auto index : indexes) {
    const auto device = context.device(index);
    if (!device) return CL_INVALID_DEVICE;
    out.push_back(device->native.device);
  }
  return CL_SUCCESS;
}

void Session::on(const cl::CreateContext& m, Respond<cl::CreateContextReply> respond) {
  if (m.devices.empty() || table_.has(m.context) || m.context == 0) return respond({.status = CL_INVALID_VALUE});
  std::vector<cl_device_id> devices;
  auto context = Ref<ContextRecord>::adopt(new ContextRecord);
  for (const auto index : m.devices) {
    const auto device = engine_->device(index);
    if (!device || (!context->devices.empty() && device->platform != context->devices[0]->platform))
      return respond({.status = CL_INVALID_DEVICE});
    devices.push_back(device->native.device);
    context->devices.push_back(device);
    context->largest = std::max(context->largest, device->largest);
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  if (!read_pairs(m.properties, pairs)) return respond({.status = CL_INVALID_PROPERTY});
  std::vector<cl_context_properties> properties{
      static_cast<cl_context_properties>(CL_CONTEXT_PLATFORM),
      reinterpret_cast<cl_context_properties>(context->devices[0]->native.platform)};
  for (const auto& [name, value] : pairs) {
    // All others name objects of this process (displays, GL contexts): a number from the wire must not become a
    // pointer.
    if (name == static_cast<std::uint64_t>(CL_CONTEXT_PLATFORM)) continue;
    if (name != static_cast<std::uint64_t>(CL_CONTEXT_INTEROP_USER_SYNC))
      return respond({.status = CL_INVALID_PROPERTY});
    properties.push_back(static_cast<cl_context_properties>(name));
    properties.push_back(static_cast<cl_context_properties>(value));
  }
  properties.push_back(0);
  auto& sink = engine_->error_sinks.emplace_back(ErrorSink{engine_.get(), m.context});
  cl_int status = CL_SUCCESS;
  context->native = native().clCreateContext(properties.data(), static_cast<cl_uint>(devices.size()), devices.data(),
                                             on_error, &sink, &status);
  context->engine = engine_.get();
  if (status == CL_SUCCESS && !table_.insert(m.context, std::move(context))) status = CL_OUT_OF_HOST_MEMORY;
  respond({.status = status});
}

void Session::on(const cl::CreateQueue& m, Respond<cl::CreateQueueReply> respond) {
  auto* context = table_.find<ContextRecord>(m.context);
  if (!context) return respond({.status = CL_INVALID_CONTEXT});
  const auto device = context->device(m.device);
  if (!device) return respond({.status = CL_INVALID_DEVICE});
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  if (!read_pairs(m.properties, pairs)) return respond({.status = CL_INVALID_VALUE});
  cl_command_queue_properties wanted = 0;
  for (const auto& [name, value] : pairs)
    if (name == CL_QUEUE_PROPERTIES) wanted = value;
  // PoCL aborts where it should refuse a queue on the device.
  if (wanted & (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT))
    return respond({.status = CL_INVALID_QUEUE_PROPERTIES});
  auto queue = Ref<QueueRecord>::adopt(new QueueRecord);
  queue->context = Ref<ContextRecord>(context);
  queue->device = device;
  queue->is_in_order = (wanted & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  queue->is_profiled = (wanted & CL_QUEUE_PROFILING_ENABLE) != 0;
  const auto requested = wanted | (device->is_time_sliced ? CL_QUEUE_PROFILING_ENABLE : 0);
  cl_int status = CL_SUCCESS;
  const bool is_plain = pairs.empty() || (pairs.size() == 1 && pairs[0].first == CL_QUEUE_PROPERTIES);
  if (is_plain || !native().clCreateCommandQueueWithProperties) {
    queue->native = native().clCreateCommandQueue(context->native, device->native.device, requested, &status);
  } else {
    std::vector<cl_queue_properties> properties{CL_QUEUE_PROPERTIES, requested};
    for (const auto& [name, value] : pairs)
      if (name != CL_QUEUE_PROPERTIES) properties.insert(properties.end(), {name, value});
    properties.push_back(0);
    queue->native =
        native().clCreateCommandQueueWithProperties(context->native, device->native.device, properties.data(), &status);
  }
  if (status == CL_SUCCESS && !table_.insert(m.queue, std::move(queue))) status = CL_OUT_OF_HOST_MEMORY;
  respond({.status = status});
}

void Session::on(const cl::Release& m) {
  const auto record = table_.take(m.object);
  if (!record) return;
  if (record->kind == Kind::queue) native().clFlush(static_cast<QueueRecord*>(record.get())->native);
  if (record->kind == Kind::svm)
    svm_.erase(reinterpret_cast<std::uint64_t>(static_cast<SvmRecord*>(record.get())->address));
}

void Session::on(const cl::Flush& m) {
  if (auto* queue = table_.find<QueueRecord>(m.queue)) native().clFlush(queue->native);
}

}  // namespace flexrack::backend::opencl
