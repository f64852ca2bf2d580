// cuLink*: several texts of PTX become one image.
#include <cstring>

#include "cuda/fatbin.h"
#include "sim/driver/failure.h"
#include "sim/driver/linked_image.h"
#include "sim/driver/module.h"
#include "sim/driver/settings.h"
#include "sim/ptx/link.h"
#include "sim/ptx/parse.h"

namespace flexrack::sim {
namespace {

/// What cuLinkComplete gives begins so where it is made of several units; a zero byte ends it, as it ends PTX text.
constexpr char kMark[] = "// linked by flexrack-sim\n";

class LinkState : public Object<LinkState>, public Owned {
 public:
  explicit LinkState(Ref<Context> in, unsigned count, CUjit_option* options, void** values)
      : context(std::move(in)), log(count, options, values) {}
  CUlinkState handle() { return reinterpret_cast<CUlinkState>(this); }
  void context_over() noexcept override { close(); }

  const Ref<Context> context;
  JitOptions log;
  std::mutex lock;
  std::vector<std::pair<std::string, std::string>> units;   ///< names and texts
  std::string image;
};

Ref<LinkState> state_of(CUlinkState handle) {
  auto found = LinkState::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_HANDLE);
  return found;
}

std::string text_of(std::span<const std::byte> bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty() && text.back() == 0) text.pop_back();
  return text;
}

/// The PTX in a fatbin that this device can run.
std::string text_of_fatbin(std::span<const std::byte> bytes) {
  try {
    const auto image = cuda::parse(bytes);
    cuda::Target target;
    target.architecture = {settings().capability.major, settings().capability.minor, 0};
    target.runs_elf = false;
    const auto choice = cuda::choose(image, target);
    require(choice.entries.size() == 1, CUDA_ERROR_NO_BINARY_FOR_GPU, "no PTX in it that this device can run");
    return text_of(cuda::contents(*choice.entries[0]));
  } catch (const cuda::FatbinError& error) { fail(CUDA_ERROR_INVALID_IMAGE, error.what()); }
}

void add(LinkState& state, CUjitInputType type, std::span<const std::byte> bytes, const char* name) {
  std::string text;
  switch (type) {
    case CU_JIT_INPUT_PTX: text = text_of(bytes); break;
    case CU_JIT_INPUT_FATBINARY: text = text_of_fatbin(bytes); break;
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
      state.log.error("machine code cannot be linked on a simulated device: only PTX");
      fail(CUDA_ERROR_NOT_SUPPORTED, "machine code cannot be linked");
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
  const std::lock_guard guard(state.lock);
  std::string unit = name && *name ? name : "unit " + std::to_string(state.units.size() + 1);
  try {
    ptx::check({unit, text});
  } catch (const ptx::ParseError& error) {
    state.log.error(error.log());
    fail(error.kind == ptx::ParseError::Kind::unsupported_version ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                                                                  : CUDA_ERROR_INVALID_PTX,
         error.log());
  }
  state.units.emplace_back(std::move(unit), std::move(text));
}

CUresult add_data(CUlinkState handle, CUjitInputType type, const void* data, std::size_t size, const char* name) {
  return call([&] {
    require(data && size > 0);
    add(*state_of(handle), type, {static_cast<const std::byte*>(data), size}, name);
  });
}

CUresult add_file(CUlinkState handle, CUjitInputType type, const char* path) {
  return call([&] {
    const auto state = state_of(handle);
    add(*state, type, read_file(path), path);
  });
}

CUresult create(unsigned count, CUjit_option* options, void** values, CUlinkState* made) {
  return call([&] {
    require(made);
    const auto context = current();
    const auto state = LinkState::make(context, count, options, values);
    state->open();
    context->keep(*state);
    *made = state->handle();
  });
}

/// Each unit behind a line with its length, all behind the mark: linked again when the image is loaded.
std::string pack(const std::vector<std::pair<std::string, std::string>>& units) {
  std::string packed = kMark;
  for (const auto& [name, text] : units)
    packed += "// " + std::to_string(text.size()) + " " + name + "\n" + text + "\n";
  return packed;
}

}  // namespace

bool is_linked_image(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof kMark && std::memcmp(bytes.data(), kMark, sizeof kMark - 1) == 0;
}

std::vector<std::pair<std::string, std::string>> unpack_linked(std::span<const std::byte> bytes) {
  std::vector<std::pair<std::string, std::string>> units;
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  rest.remove_prefix(sizeof kMark - 1);
  while (rest.starts_with("// ")) {
    const auto end = rest.find('\n');
    require(end != rest.npos, CUDA_ERROR_INVALID_IMAGE);
    std::size_t size = 0, used = 3;
    for (; used < end && rest[used] >= '0' && rest[used] <= '9' && size < (std::size_t{1} << 40); ++used)
      size = size * 10 + static_cast<std::size_t>(rest[used] - '0');
    require(used < end && rest[used] == ' ' && size < rest.size() - end - 1, CUDA_ERROR_INVALID_IMAGE);
    units.emplace_back(rest.substr(used + 1, end - used - 1), rest.substr(end + 1, size));
    rest.remove_prefix(end + 1 + size + 1);
  }
  return units;
}

}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuLinkCreate(unsigned int count, CUjit_option* options, void** values, CUlinkState* state) {
  return create(count, options, values, state);
}
CUresult cuLinkCreate_v2(unsigned int count, CUjit_option* options, void** values, CUlinkState* state) {
  return create(count, options, values, state);
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name, unsigned int,
                       CUjit_option*, void**) {
  return add_data(state, type, data, size, name);
}
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                          unsigned int, CUjit_option*, void**) {
  return add_data(state, type, data, size, name);
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int, CUjit_option*, void**) {
  return add_file(state, type, path);
}
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int, CUjit_option*,
                          void**) {
  return add_file(state, type, path);
}

CUresult cuLinkComplete(CUlinkState handle, void** image, size_t* size) {
  return call([&] {
    require(image);
    const auto state = state_of(handle);
    const std::lock_guard guard(state->lock);
    require(!state->units.empty(), CUDA_ERROR_INVALID_VALUE, "nothing to link");
    std::vector<ptx::Source> sources;
    for (const auto& [name, text] : state->units) sources.push_back({name, text});
    try {
      ptx::link(sources);
    } catch (const ptx::ParseError& error) {
      state->log.error(error.log());
      fail(CUDA_ERROR_INVALID_PTX, error.log());
    }
    state->log.tell_time();
    // One text is an image as it is.
    state->image = state->units.size() == 1 ? state->units[0].second : pack(state->units);
    *image = state->image.data();
    // With the zero at its end: whoever copies so many bytes has the text whole.
    if (size) *size = state->image.size() + 1;
  });
}

CUresult cuLinkDestroy(CUlinkState handle) {
  return call([&] {
    const auto state = state_of(handle);
    if (state->context->forget(*state)) state->close();
  });
}

}  // extern "C"
