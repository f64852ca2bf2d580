#include "backend/cuda/driver_library.h"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <stdexcept>

namespace flexrack::backend::cuda {

bool is_forwarding(void* library) {
  link_map* about = nullptr;
  char real[PATH_MAX];
  if (dlinfo(library, RTLD_DI_LINKMAP, &about) != 0 || !realpath(about->l_name, real)) return false;
  const std::string path = real;
  const auto file = path.substr(path.rfind('/') + 1);
  return file.starts_with("libflexrack-cuda") || file.starts_with("libflexrack-nvml");
}

DriverLibrary::DriverLibrary(const std::string& path)
    : path_(path), library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) throw std::runtime_error("no CUDA driver: " + std::string(dlerror()));
  if (is_forwarding(library_))
    throw std::runtime_error(path +
                             " is flexrack's own driver, for GPUs of other machines: a daemon serves those of its own");
  sim_ = flexrack::cuda::find_table<flexrack::cuda::SimTable>(find<decltype(cuGetExportTable)>("cuGetExportTable"));
}

void* DriverLibrary::look_up(const char* symbol) const { return dlsym(library_, symbol); }

void* DriverLibrary::look_up_needed(const char* symbol) const {
  if (void* found = look_up(symbol)) return found;
  throw std::runtime_error(path_ + " has no " + symbol + ": it is too old, or no CUDA driver");
}

std::string DriverLibrary::text_of(CUresult result) const {
  const auto ask = [&](const char* symbol) -> std::string {
    auto* function = find<decltype(cuGetErrorName)>(symbol);
    const char* text = nullptr;
    return function && function(result, &text) == CUDA_SUCCESS && text ? text : "";
  };
  auto name = ask("cuGetErrorName");
  if (name.empty()) name = "error " + std::to_string(static_cast<int>(result));
  const auto meaning = ask("cuGetErrorString");
  const auto logged = last_logged();
  return name + (meaning.empty() ? "" : " (" + meaning + ")") + (logged.empty() ? "" : ": " + logged);
}

/// The text of the newest line. cuda.h 13.0, cuLogsDumpToMemory: at most 25600 bytes, "[time][pid][CUDA][level] text" a
/// line.
std::string DriverLibrary::last_logged() const {
  auto* dump = find<decltype(cuLogsDumpToMemory)>("cuLogsDumpToMemory");
  if (!dump) return {};
  std::string text(25600, '\0');
  auto size = text.size();
  if (dump(nullptr, text.data(), &size, 0) != CUDA_SUCCESS) return {};
  text.resize(std::min(size, text.size()));
  text.resize(text.find_last_not_of(std::string_view("\0\n ", 3)) + 1);
  const auto line = text.substr(text.rfind('\n') + 1);
  const auto head = line.find("[CUDA]");
  const auto end = head == line.npos ? line.npos : line.find("] ", head);
  return end == line.npos ? line : line.substr(end + 2);
}

}  // namespace flexrack::backend::cuda
