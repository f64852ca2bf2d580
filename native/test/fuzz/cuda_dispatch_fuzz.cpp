// Whole sequences of frames from bytes at a session of the CUDA backend. The driver behind it is one that believes what
// it is told and ends the process where that is no memory, no handle and no image of its own
// (driver/cuda_believing.cpp); and what the backend owes its client is looked at as well: an answer to each call, an
// end to each payload, all memory given back.
//
// An input: a byte of settings, then steps. A step is a byte: which message, or what happens meanwhile; then what it
// says, as far as there are bytes.
#include <dlfcn.h>
#include <pthread.h>

#include <cstring>
#include <thread>

#include "cuda/fatbin.h"
#include "gen/cuda/cuda.h"
#include "gen/cuda/fuzz_cases.h"
#include "gen/cuda/requests.h"
#include "test/fuzz/dispatch_link.h"

using namespace flexrack;
using namespace flexrack::fuzz;

namespace {

// Handles of the objects that most inputs begin with. 1 to 3 are events, because lists in the examples hold 1, 2 and 3.
// Kernels have numbers of the backend's own.
enum : std::uint64_t {
  kFirstEvent = 1,
  kContext = 4,
  kOtherContext,
  kStream,
  kModule,
  kLibrary,
  kPool,
  kMemory,
  kMipmap,
  kLevel,
  kArray,
  kGraph,
  kInput,
  kOutput,
  kCalled,
  kExec,
  kFirstKernel = std::uint64_t{1} << 63
};
constexpr std::uint64_t kReserved = 0x600000000000;

template <class Function>
Function* of_driver(const char* name) {
  static void* const driver = dlopen(FLEXRACK_FUZZ_DRIVER, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(driver, name));
}

const std::vector<std::string>& devices() {
  static const auto ids = [] {
    std::vector<std::string> found;
    for (const auto& one : backend::list_cuda_devices(FLEXRACK_FUZZ_DRIVER)) found.push_back(one.native_id);
    return found;
  }();
  return ids;
}

class Input {
 public:
  explicit Input(wire::View bytes) : bytes_(bytes) {}
  bool has_more() const { return !bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const auto first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }

 private:
  wire::View bytes_;
};

/// A number that is worth trying, from a byte: handles and small sizes as they are, addresses, edges.
std::uint64_t number(std::uint8_t from) {
  static const std::uint8_t nobodys[64] = {};
  constexpr std::uint64_t kEdges[] = {255,
                                      256,
                                      4095,
                                      4096,
                                      4097,
                                      65536,
                                      1 << 20,
                                      (1 << 20) + 1,
                                      1u << 31,
                                      0xffffffffu,
                                      1ull << 32,
                                      1ull << 62,
                                      ~0ull,
                                      ~0ull - 1,
                                      ~0ull - 4095,
                                      ~0ull / 2,
                                      kReserved,
                                      kReserved + 4096,
                                      kReserved + 8192,
                                      kFirstKernel,
                                      kFirstKernel + 1,
                                      kFirstKernel + 2};
  if (from < 128) return from;
  const auto memory = of_driver<std::uint64_t()>("flexrack_fuzz_memory")();
  if (from < 144)
    return memory + std::array<std::uint64_t, 16>{0,    1,    4,    64,    2048,  4092, 4093, 4095,
                                                  4096, 4097, 8192, 65536, ~0ull, 8,    16,   32}[from - 128];
  if (from < 148) return reinterpret_cast<std::uint64_t>(nobodys) + from % 8;
  return kEdges[(from - 148) % std::size(kEdges)];
}

class CudaFakeLink : public FakeLink {
  /// Payloads go from threads that have nothing else to do.
  bool may_wait() const override { return std::this_thread::get_id() != dispatcher_; }
  const std::thread::id dispatcher_ = std::this_thread::get_id();
  bool is_readable(std::uint16_t op, bool is_reply, wire::View body) override {
    return is_among(cu::fuzz_cases(), op, is_reply, body);
  }
};

/// As FakePeers; payloads to a peer go from such threads too.
class CudaPeers : public FakePeers {
 public:
  CudaFakeLink peer;
  wire::Link* link(std::uint64_t which) override { return which == 1 ? &peer : nullptr; }
};

class CudaRun {
 public:
  explicit CudaRun(std::uint8_t settings)
      : grant_(devices(), (settings & 2) != 0), session_(backend::make_cuda_backend(grant_, FLEXRACK_FUZZ_DRIVER)) {
    session_->start(link_, peers_);
    if ((settings & 4) == 0) begin();
    if ((settings & 0x44) == 0) begin_code();
  }
  ~CudaRun() {
    link_.end();
    peers_.peer.end();
    while (grant_.is_waiting()) grant_.admit_one();
    session_->on_over("");
    session_->stop();
    session_.reset();
    while (grant_.is_waiting()) grant_.admit_one();
    for (std::size_t i = 0; i < grant_.devices().size(); ++i)
      if (grant_.used(i) != 0) broken("memory that was not given back");
    link_.check_calls();
    link_.check_payloads();
    of_driver<void()>("flexrack_fuzz_reset")();
  }

  void step(Input& input) {
    const auto what = input.byte();
    // By op, which is for ever, so that kept inputs mean tomorrow what they mean today.
    if (what < 0x80) return patched(static_cast<std::uint16_t>(0x2000 + what), input);
    if (what < 0xb0) return patched(static_cast<std::uint16_t>(0x2100 + what - 0x80), input);
    if (what < 0xe0) return transfer(what - 0xb0u, input);
    if (what < 0xea) return link_.finish_some_landing(what, what % 4 != 0);
    if (what < 0xf4) return link_.finish_some_push(what, what % 4 != 0);
    if (what < 0xf8) return peers_.peer.finish_some_landing(what, what % 2 == 0);
    if (what < 0xfc) return peers_.peer.finish_some_push(what, what % 2 == 0);
    grant_.admit_one();
  }

 private:
  template <class Wanted>
  static const cu::FuzzCase* find(Wanted&& wanted) {
    for (const auto& one : cu::fuzz_cases())
      if (wanted(one)) return &one;
    return nullptr;
  }
  static bool is_call(std::uint16_t op) {
    return find([&](const auto& one) { return one.op == op && one.is_reply; }) != nullptr;
  }

  std::uint64_t frame(std::uint16_t op, const wire::Bytes& body, bool is_readable) {
    if (is_ended_) return 0;
    // One that cannot be read is refused like a call, and is the last.
    if (const bool is_answered = !is_readable || is_call(op); ++sequence_, is_answered) link_.called(sequence_);
    is_ended_ = !is_readable;
    session_->on_frame({op, 0, static_cast<std::uint32_t>(body.size()), sequence_}, body);
    return sequence_;
  }
  template <class Message>
  std::uint64_t send(const Message& message) {
    wire::Bytes body;
    encode(body, message);
    return frame(Message::kOp, body, true);
  }
  template <class Message>
  void ask(const Message& message) {
    link_.await_answer(send(message));
  }

  void begin();
  void begin_graph();
  void begin_code();
  void patched(std::uint16_t op, Input& input);
  void transfer(unsigned which, Input& input);

  FakeGrant grant_;
  CudaFakeLink link_;
  CudaPeers peers_;
  std::unique_ptr<backend::Backend> session_;
  std::uint64_t sequence_ = 0, last_ticket_ = 1;
  bool is_ended_ = false;
};

void CudaRun::begin() {
  ask(cu::CreateContext{.context = kContext, .device = 0, .is_primary = 1});
  ask(cu::CreateContext{.context = kOtherContext, .device = 1});
  ask(cu::Allocate{.context = kContext, .size = 4096});
  send(cu::CreateStream{.context = kContext, .stream = kStream});
  for (std::uint64_t event = kFirstEvent; event < kFirstEvent + 3; ++event)
    send(cu::CreateEvent{.context = kContext, .event = event});
  ask(cu::ReserveAddresses{.at = kReserved, .size = 16384});
  ask(cu::CreateMemory{.memory = kMemory, .device = 0, .size = 4096});
  ask(cu::CreatePool{.pool = kPool, .device = 0});
  ask(cu::CreateArray{.context = kContext,
                      .array = kArray,
                      .shape = {.width = 16, .height = 8, .format = CU_AD_FORMAT_FLOAT, .channels = 1}});
  ask(cu::CreateArray{.context = kContext,
                      .array = kMipmap,
                      .shape = {.width = 16, .height = 8, .format = CU_AD_FORMAT_FLOAT, .channels = 1, .levels = 2}});
  ask(cu::MipmappedArrayGetLevel{.context = kContext, .level_array = kLevel, .mipmapped_array = kMipmap});
  begin_graph();
}

/// Bytes from the client, bytes to it, and a function of its.
void CudaRun::begin_graph() {
  const auto memory = of_driver<std::uint64_t()>("flexrack_fuzz_memory")();
  const cu::Place place{.object = memory, .pitch = 8}, of_client{.kind = 2};
  send(cu::CreateGraph{.context = kContext, .graph = kGraph});
  send(cu::AddNode{.graph = kGraph,
                   .node = kInput,
                   .work = {.kind = CU_GRAPH_NODE_TYPE_MEMCPY,
                            .context = kContext,
                            .source = of_client,
                            .target = place,
                            .extent = {8, 1, 1}}});
  send(cu::AddNode{.graph = kGraph,
                   .node = kOutput,
                   .work = {.kind = CU_GRAPH_NODE_TYPE_MEMCPY,
                            .context = kContext,
                            .source = place,
                            .target = of_client,
                            .extent = {8, 1, 1}}});
  send(cu::AddNode{
      .graph = kGraph, .node = kCalled, .work = {.kind = CU_GRAPH_NODE_TYPE_HOST, .context = kContext, .value = 1}});
  ask(cu::Instantiate{.context = kContext, .graph = kGraph, .exec = kExec});
}

/// What takes other threads, so not all inputs have it.
void CudaRun::begin_code() {
  const std::string_view code = ".version 7.0";
  const wire::View image(reinterpret_cast<const std::uint8_t*>(code.data()), code.size());
  const auto hash = flexrack::cuda::content_hash(std::as_bytes(std::span(image)));
  ask(cu::Load{.context = kContext, .module = kModule, .hash = hash, .image = {0, image.size(), image}});
  ask(cu::Load{.module = kLibrary, .is_library = 1, .hash = hash});
  ask(cu::FindKernel{.context = kContext, .module = kModule, .name = "k"});
  ask(cu::FindKernel{.context = kContext, .module = kLibrary, .name = "k"});
  ask(cu::FindVariable{.context = kContext, .module = kModule, .name = "v"});
}

/// A valid example with some of it changed: numbers where they lie, mostly, so that what is behind them stays what it
/// is.
void CudaRun::patched(std::uint16_t op, Input& input) {
  const auto* one = find([&](const auto& any) { return any.op == op && !any.is_reply && !any.is_notice; });
  if (!one) return;
  auto body = one->make();
  const std::uint64_t first = kContext;  // of most
  if (body.size() >= sizeof first) std::memcpy(body.data(), &first, sizeof first);
  for (auto left = input.byte() % 16; left > 0 && !body.empty(); --left) {
    const auto where = input.byte(), value = input.byte();
    const auto at = where & 63u;
    switch (where >> 6) {
      case 0:
      case 1:
        if (const auto changed = number(value); (at + 1) * 8 <= body.size())
          std::memcpy(body.data() + at * 8, &changed, 8);
        break;
      case 2:
        if ((at + 1) * 4 <= body.size()) body[at * 4] = value;
        break;
      default: body[(at * 5 + value) % body.size()] ^= static_cast<std::uint8_t>(value | 1);
    }
  }
  wire::Bytes again;
  frame(op, body, one->again(body, again));
}

/// What is on the path of most: payloads beside the frames, launches, rows, mappings, ends.
void CudaRun::transfer(unsigned which, Input& input) {
  const auto next = [&] { return number(input.byte()); };
  const std::uint64_t context = input.byte() % 4 == 0 ? kOtherContext : kContext;
  const auto stream = input.byte() % 2 == 0 ? std::uint64_t{0} : std::uint64_t{kStream};
  const auto address = next(), other = next(), size = next();
  const auto ticket = last_ticket_ += 2;
  const auto expect = [&] {
    if (!is_ended_ && size != 0) link_.spoken_of(ticket);  // of a payload of nothing there is nothing to take
    return ticket;
  };
  const wire::Bytes some(input.byte() % 32, 7);
  const cu::Place place{.kind = input.byte() % 3u,
                        .object = address,
                        .x = input.byte(),
                        .y = input.byte(),
                        .z = input.byte() % 4u,
                        .pitch = next(),
                        .height = next()};
  const cu::Extent extent{size, input.byte(), input.byte() % 4u};
  const cu::Range ranges[] = {{address, size}, {other, some.size()}};
  switch (which % 20) {
    case 0:
      send(cu::WriteMemory{.context = context, .stream = stream, .address = address, .data = {0, some.size(), some}});
      break;
    case 1:
      send(cu::WriteMemory{.context = context, .stream = stream, .address = address, .data = {expect(), size, {}}});
      break;
    case 2:
      send(cu::ReadMemory{.context = context, .stream = stream, .address = address, .size = size, .ticket = expect()});
      break;
    case 3:
      send(cu::CopyMemory{.context = context,
                          .stream = stream,
                          .source_context = which > 20 ? std::uint64_t{kOtherContext} : 0,
                          .source = address,
                          .target = other,
                          .size = size});
      break;
    case 4:
      send(cu::WriteRows{.context = context,
                         .stream = stream,
                         .target = place,
                         .extent = {some.size(), 1, 1},
                         .data = {0, some.size(), some}});
      break;
    case 5:
      send(cu::ReadRows{.context = context, .stream = stream, .source = place, .extent = extent, .ticket = expect()});
      break;
    case 6:
      send(cu::CopyRows{.context = context,
                        .stream = stream,
                        .source = place,
                        .target = {.object = other, .pitch = place.pitch},
                        .extent = extent});
      break;
    case 7:
      send(cu::Fill{.context = context,
                    .stream = stream,
                    .address = address,
                    .pitch = place.pitch,
                    .width = size,
                    .height = extent.height,
                    .element = 1u << (which / 20)});
      break;
    case 8: send(cu::WriteRanges{.ranges = {ranges[0], ranges[1]}, .data = some}); break;
    case 9: send(cu::Allocate{.context = context, .at = address, .size = size, .kind = 1}); break;
    case 10: {
      const wire::Bytes parameters(which < 20 ? 12 : some.size(), 1);
      send(cu::Launch{.context = context,
                      .kernel = kFirstKernel + address % 4,
                      .stream = stream,
                      .grid = {1, 1, 1},
                      .block = {1, 1, 1},
                      .parameters = parameters});
      break;
    }
    case 11: send(cu::MapMemory{.memory = kMemory, .at = address, .size = size}); break;
    case 12: send(cu::UnmapMemory{.at = address, .size = size}); break;
    case 13: send(cu::Free{.context = context, .address = address}); break;
    case 14: send(cu::FreeToPool{.context = context, .stream = stream, .address = address}); break;
    case 15: send(cu::Release{.object = address}); break;
    case 16: send(cu::ReleaseContext{.context = context, .is_reset = which / 20}); break;
    case 17: send(cu::CreateContext{.context = address, .device = which / 20, .is_primary = input.byte() % 2u}); break;
    case 18:
      send(cu::ExportMemory{
          .context = context, .stream = stream, .source = place, .extent = extent, .peer = 1, .ticket = ticket});
      break;
    default:
      send(cu::ImportMemory{
          .context = context, .stream = stream, .target = place, .extent = extent, .peer = 1, .ticket = ticket});
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // The sanitizer clears the shadow of every new thread's stack.
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_setattr_default_np(&attributes);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  Input input({data + 1, size - 1});
  CudaRun run(data[0]);
  while (input.has_more()) run.step(input);
  return 0;
}
