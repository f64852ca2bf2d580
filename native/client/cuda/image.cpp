#include "client/cuda/image.h"

namespace flexrack::client::cuda {

Code::Code(const void* image, bool is_kept) {
  auto where = flexrack::cuda::measure(image);
  if (!is_kept) {
    for (auto& container : where.containers) {
      copies_.emplace_back(container.begin(), container.end());
      container = copies_.back();
    }
  }
  image_ = flexrack::cuda::parse(where);
}

Code::Code(std::vector<std::byte> file) {
  copies_.push_back(std::move(file));
  image_ = flexrack::cuda::parse(flexrack::cuda::Bytes(copies_.back()));
}

std::shared_ptr<const DeviceImage> Code::for_device(const Device& device) const {
  auto target = device.target;
  auto choice = flexrack::cuda::choose(image_, target);
  // Whether it can do anything with machine code is the driver's to say.
  if (choice.entries.empty() && !target.runs_elf) {
    target.runs_elf = true;
    choice = flexrack::cuda::choose(image_, target);
  }
  if (choice.entries.empty()) return nullptr;
  const std::lock_guard guard(lock_);
  // Whatever else is in a choice follows from its first.
  auto& unpacked = unpacked_[choice.entries.front()];
  if (!unpacked) {
    auto made = std::make_shared<DeviceImage>();
    for (const auto* entry : choice.entries)
      made->parts.push_back({entry->kind == flexrack::cuda::CodeKind::ptx, flexrack::cuda::contents(*entry)});
    made->max_registers = choice.entries.front()->max_registers;
    if (made->parts.size() == 1) {
      made->bytes = std::move(made->parts.front().bytes);
      made->hash = flexrack::cuda::content_hash(made->bytes);
      made->parts.clear();
    }
    unpacked = std::move(made);
  }
  return unpacked;
}

}  // namespace flexrack::client::cuda
