#include "sim/driver/no_ptx.h"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "sim/driver/context.h"
#include "sim/driver/failure.h"
#include "sim/driver/program.h"
#include "sim/driver/settings.h"

namespace flexrack::sim {
namespace {

/// As the programmer wrote it; names of templates can be pages.
std::string readable(const std::string& name) {
  constexpr std::size_t kMost = 160;
  int status = 0;
  char* made = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 && made ? made : name;
  std::free(made);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

/// "a(int*), b(float) and 5 more"; what cannot be read has none.
std::string kernels_of(const cuda::CodeEntry& entry) {
  constexpr std::size_t kShown = 2;
  try {
    const auto program = machine_program(cuda::contents(entry));
    std::string text;
    std::size_t count = 0;
    for (const auto& [name, facts] : program->kernels) {
      if (count++ < kShown) text += (text.empty() ? "" : ", ") + readable(name);
    }
    return count > kShown ? text + " and " + std::to_string(count - kShown) + " more" : text;
  } catch (const cuda::FatbinError&) { return {}; } catch (const Failure&) {
    return {};
  }
}

std::string kernels_of(const cuda::Image& image) {
  for (const auto& container : image.containers) {
    for (const auto& entry : container) {
      if (entry.kind != cuda::CodeKind::elf) continue;
      if (auto names = kernels_of(entry); !names.empty()) return names;
    }
  }
  return {};
}

void tell_once(const std::string& kernels) {
  static std::mutex lock;
  static std::set<std::string> told;
  const std::lock_guard guard(lock);
  if (told.insert(kernels).second)
    std::fprintf(stderr, "flexrack: the GPU in software has no PTX of %s: refused, as machine code is not computed\n",
                 kernels.c_str());
}

}  // namespace

void refuse_without_ptx(const cuda::Image& image, JitOptions& options) {
  const auto kernels = kernels_of(image);
  std::string text = "nothing in the image that this device can run:";
  for (const auto& container : image.containers)
    for (const auto& entry : container) text += " " + cuda::describe(entry) + ";";
  if (!kernels.empty()) {
    text += " its kernels: " + kernels;
    tell_once(kernels);
  }
  options.error(text);
  if (settings().is_strict) {
    // As after a fault: that is an error which every program knows to last. A library is loaded for all contexts; a
    // daemon's worker has none current then.
    const auto context = Context::find(current_handle());
    if (context) context->fail_with(CUDA_ERROR_LAUNCH_FAILED, text);
    else
      for (const auto& one : active_contexts()) one->fail_with(CUDA_ERROR_LAUNCH_FAILED, text);
  }
  fail(CUDA_ERROR_NO_BINARY_FOR_GPU, text);
}

}  // namespace flexrack::sim
