// Whole sequences of frames from bytes at a session of the OpenCL backend. The driver behind it is one that believes
// what it is told (dispatch_driver.h), so that whatever the backend lets through shows; and what the backend owes its
// client is looked at as well: an answer to each call, an end to each payload, all memory given back.
//
// An input: a byte of settings, then steps. A step is a byte: which message, or what happens meanwhile; then what it
// says, as far as there are bytes.
#include <pthread.h>

#include "gen/opencl/requests.h"
#include "test/fuzz/dispatch_driver.h"
#include "test/fuzz/dispatch_link.h"

using namespace flexrack;
using namespace flexrack::fuzz;

namespace {

// Handles of the objects that most inputs begin with. 1 to 3 are events, because lists in the examples hold 1, 2 and 3.
enum : std::uint64_t {
  kFirstEvent = 1,
  kContext = 4,
  kQueue,
  kOtherQueue,
  kBuffer,
  kSmallBuffer,
  kPart,
  kImage,
  kSampler,
  kProgram,
  kKernel,
  kBareKernel,
  kUserEvent,
  kShared,
  kNew
};

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
  wire::Bytes bytes(std::size_t most) {
    const auto taken = bytes_.first(std::min(most, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return {taken.begin(), taken.end()};
  }

 private:
  wire::View bytes_;
};

/// A number that is worth trying, from a byte: handles and small sizes as they are, then edges.
std::uint64_t number(std::uint8_t from, std::uint64_t shared_address) {
  constexpr std::uint64_t kEdges[] = {255,
                                      256,
                                      4095,
                                      4096,
                                      4097,
                                      65535,
                                      65536,
                                      65537,
                                      69631,
                                      69632,
                                      69633,
                                      kLargestBuffer,
                                      1 << 20,
                                      (1 << 20) + 1,
                                      1u << 31,
                                      0xffffffffu,
                                      1ull << 32,
                                      1ull << 62,
                                      1ull << 63,
                                      ~0ull,
                                      ~0ull - 1,
                                      ~0ull - 4095,
                                      ~0ull / 2,
                                      ~0ull - 65535,
                                      0x8000000000000001,
                                      CL_MEM_OBJECT_IMAGE2D,
                                      CL_DEVICE_PARTITION_EQUALLY,
                                      CL_DEVICE_PARTITION_BY_COUNTS};
  if (from < 128) return from;
  if (from < 136)
    return shared_address + std::array<std::uint64_t, 8>{0, 1, 64, 4095, 4096, 65536, 70000, ~0ull}[from - 128];
  return kEdges[(from - 136) % std::size(kEdges)];
}

class Run {
 public:
  explicit Run(std::uint8_t settings)
      : settings_(settings),
        grant_((settings & 1) != 0 ? kDevices : 1, (settings & 2) != 0),
        session_(backend::make_opencl_backend(grant_)) {
    session_->start(link_, peers_);
    if ((settings & 4) == 0) begin();
    if ((settings & 0x44) == 0) begin_program();
  }
  ~Run() {
    link_.end();
    peers_.other.end();
    session_->on_over("");
    session_->stop();
    session_.reset();
    // Turns that come when nobody is there any more.
    while (grant_.is_waiting()) grant_.admit_one();
    for (std::size_t i = 0; i < grant_.devices().size(); ++i)
      if (grant_.used(i) != 0) broken("memory that was not given back");
    link_.check_calls();
    link_.check_payloads();
  }

  void step(Input& input) {
    const auto what = input.byte();
    // By op, which is for ever, so that kept inputs mean tomorrow what they mean today.
    if (const auto* request = request_of(static_cast<std::uint16_t>(wire::kFirstApiOp + what)))
      return patched(*request, input);
    if (what < 0x80) return;
    if (what < 0xa8) return transfer(what - 0x80u, input);
    if (what < 0xb0) return link_.finish_some_landing(what, true);
    if (what < 0xb4) return link_.finish_some_landing(what, false);
    if (what < 0xbc) return link_.finish_some_push(what, what % 4 != 0);
    if (what < 0xc0) return peers_.other.finish_some_landing(what, what % 2 == 0);
    if (what < 0xc4) return peers_.other.finish_some_push(what, what % 2 == 0);
    if (what < 0xcc) return grant_.admit_one();
    if (what < 0xd0) return raw(input);
  }

 private:
  static const cl::FuzzCase* request_of(std::uint16_t op) {
    static const auto requests = [] {
      std::map<std::uint16_t, const cl::FuzzCase*> found;
      for (const auto& one : cl::fuzz_cases())
        if (!one.is_reply && !one.is_notice) found[one.op] = &one;
      return found;
    }();
    const auto found = requests.find(op);
    return found == requests.end() ? nullptr : found->second;
  }
  static bool is_call(std::uint16_t op) {
    static const auto calls = [] {
      std::set<std::uint16_t> found;
      for (const auto& one : cl::fuzz_cases())
        if (one.is_reply) found.insert(one.op);
      return found;
    }();
    return calls.contains(op);
  }
  static bool is_answered_elsewhere(std::uint16_t op) {
    return op == cl::BuildProgram::kOp || op == cl::CompileProgram::kOp || op == cl::LinkProgram::kOp;
  }

  void frame(std::uint16_t op, const wire::Bytes& body, bool is_readable) {
    if (is_ended_) return;
    if (is_call(op) && is_readable) link_.called(++sequence_);
    else ++sequence_;
    // One that cannot be read is refused like a call, and is the last.
    if (!is_readable) link_.called(sequence_);
    is_ended_ = !is_readable;
    session_->on_frame({op, 0, static_cast<std::uint32_t>(body.size()), sequence_}, body);
    if (is_readable && is_answered_elsewhere(op)) link_.await_answer(sequence_);
  }
  template <class Message>
  void send(const Message& message) {
    wire::Bytes body;
    encode(body, message);
    frame(Message::kOp, body, true);
  }

  void begin();
  void begin_program();
  void patched(const cl::FuzzCase& one, Input& input);
  void transfer(unsigned which, Input& input);
  void raw(Input& input);
  void note_payloads(std::uint16_t op, wire::View body);

  const std::uint8_t settings_;
  FakeGrant grant_;
  FakeLink link_;
  FakePeers peers_;
  std::unique_ptr<backend::Backend> session_;
  std::uint64_t sequence_ = 0, last_ticket_ = 1;
  bool is_ended_ = false;
};

void Run::begin() {
  const std::uint32_t both[] = {0, 1, 2, 3};
  const std::uint64_t properties[] = {
      CL_QUEUE_PROPERTIES, (settings_ >> 3) & 3u & (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE),
      0};
  const auto devices = std::span(both).first(grant_.devices().size());
  send(cl::CreateContext{.context = kContext, .devices = devices});
  send(cl::CreateQueue{.context = kContext, .queue = kQueue, .device = 0, .properties = properties});
  send(cl::CreateQueue{.context = kContext, .queue = kOtherQueue, .device = devices.back(), .properties = properties});
  for (std::uint64_t event = kFirstEvent; event < kFirstEvent + 3; ++event)
    send(cl::Marker{.queue = kQueue, .event = event});
  send(cl::CreateBuffer{.context = kContext, .memory = kBuffer, .size = 69632});
  send(cl::CreateBuffer{.context = kContext, .memory = kSmallBuffer, .size = 4096});
  send(cl::CreateSubBuffer{.parent = kBuffer, .memory = kPart, .origin = 4096, .size = 512});
  send(cl::CreateImage{.context = kContext,
                       .memory = kImage,
                       .format = {CL_RGBA, CL_UNORM_INT8},
                       .shape = {.type = CL_MEM_OBJECT_IMAGE2D, .width = 16, .height = 8}});
  send(cl::CreateSampler{.context = kContext, .sampler = kSampler});
  send(cl::CreateUserEvent{.context = kContext, .event = kUserEvent});
  send(cl::SvmAllocate{.context = kContext, .memory = kShared, .size = 70000});
}

/// What takes another thread, so not all inputs have it.
void Run::begin_program() {
  const std::string_view source = "k";
  send(cl::CreateProgram{.context = kContext,
                         .program = kProgram,
                         .parts = {{reinterpret_cast<const std::uint8_t*>(source.data()), source.size()}}});
  send(cl::BuildProgram{.program = kProgram});
  send(cl::CreateKernel{.program = kProgram, .kernel = kKernel, .name = "k"});
  send(cl::CreateKernel{.program = kProgram, .kernel = kBareKernel, .name = "n"});
}

/// A valid example with some of it changed: numbers where they lie, mostly, so that what is behind them stays what it
/// is.
void Run::patched(const cl::FuzzCase& one, Input& input) {
  auto body = one.make();
  for (auto left = input.byte() % 16; left > 0 && !body.empty(); --left) {
    const auto where = input.byte(), value = input.byte();
    const auto at = where & 63u;
    switch (where >> 6) {
      case 0:
      case 1:
        if (const auto changed = number(value, link_.shared_address()); (at + 1) * 8 <= body.size())
          std::memcpy(body.data() + at * 8, &changed, 8);
        break;
      case 2:
        if ((at + 1) * 4 <= body.size()) body[at * 4] = value;
        break;
      default: body[(at * 5 + value) % body.size()] ^= static_cast<std::uint8_t>(value | 1);
    }
  }
  wire::Bytes again;
  const bool is_readable = one.again(body, again);
  if (is_readable) note_payloads(one.op, body);
  frame(one.op, body, is_readable);
}

/// Payloads that come or go beside the frames.
void Run::transfer(unsigned which, Input& input) {
  const auto next = [&] { return number(input.byte(), link_.shared_address()); };
  const auto ticket = last_ticket_ += 2;
  const auto memory = next(), offset = next(), size = next(), event = next() + kNew;
  const auto first_wait = static_cast<std::uint64_t>(input.byte() % 32);
  const std::uint64_t list[] = {first_wait, kFirstEvent};
  const auto waits = std::span(list).first(first_wait == 0 ? 0 : 1 + which / 20);
  const auto queue = which % 2 == 0 ? kQueue : kOtherQueue;
  const cl::Triple box{size, input.byte() % 16 + 1u, input.byte() % 4u}, origin{offset, input.byte(), 0};
  const auto expect = [&](std::uint64_t bytes) {
    if (bytes != 0 && !is_ended_) link_.spoken_of(ticket);  // of a payload of nothing there is nothing to take
    return ticket;
  };
  switch (which % 20) {
    case 0:
    case 1:
      return send(cl::WriteBuffer{.queue = queue,
                                  .memory = memory,
                                  .event = event,
                                  .waits = waits,
                                  .offset = offset,
                                  .data = {expect(size), size, {}}});
    case 2:
    case 3:
      return send(cl::ReadBuffer{.queue = queue,
                                 .memory = memory,
                                 .event = event,
                                 .waits = waits,
                                 .offset = offset,
                                 .size = size,
                                 .ticket = expect(size)});
    case 4:
      return send(cl::WriteRect{.queue = queue,
                                .memory = memory,
                                .event = event,
                                .waits = waits,
                                .origin = origin,
                                .region = box,
                                .row_pitch = next(),
                                .data = {expect(box.x * box.y * box.z), box.x * box.y * box.z, {}}});
    case 5:
      return send(cl::ReadRect{.queue = queue,
                               .memory = memory,
                               .event = event,
                               .waits = waits,
                               .origin = origin,
                               .region = box,
                               .row_pitch = next(),
                               .slice_pitch = next(),
                               .ticket = expect(box.x * box.y * box.z)});
    case 6:
      return send(cl::WriteImage{.queue = queue,
                                 .memory = memory,
                                 .event = event,
                                 .waits = waits,
                                 .origin = origin,
                                 .region = box,
                                 .data = {expect(box.x * box.y * box.z * 4), box.x * box.y * box.z * 4, {}}});
    case 7:
      return send(cl::ReadImage{.queue = queue,
                                .memory = memory,
                                .event = event,
                                .waits = waits,
                                .origin = origin,
                                .region = box,
                                .size = box.x * box.y * box.z * 4,
                                .ticket = expect(box.x * box.y * box.z * 4)});
    case 8:
      return send(cl::SvmWrite{
          .queue = queue, .event = event, .waits = waits, .address = memory, .data = {expect(size), size, {}}});
    case 9:
      return send(cl::SvmRead{
          .queue = queue, .event = event, .waits = waits, .address = memory, .size = size, .ticket = expect(size)});
    case 10:
    case 11:
      return send(cl::CreateBuffer{
          .context = kContext, .memory = event, .flags = memory, .size = offset, .content = {expect(size), size, {}}});
    case 12:
    case 13:
      return send(cl::CreateImage{.context = kContext,
                                  .memory = event,
                                  .flags = memory,
                                  .format = {CL_RGBA, CL_UNORM_INT8},
                                  .shape = {.type = CL_MEM_OBJECT_IMAGE2D,
                                            .width = size,
                                            .height = box.y,
                                            .row_pitch = offset,
                                            .slice_pitch = next()},
                                  .content = {expect(size * box.y * 4), size * box.y * 4, {}}});
    case 14:
    case 15: {
      // Arguments of a kernel, and perhaps a launch that the last ones were meant for.
      const wire::Bytes value(input.byte() % 32, 7);
      cl::Launch message{.queue = queue,
                         .kernel = which % 4 < 2 ? kKernel : kBareKernel,
                         .event = event,
                         .waits = waits,
                         .dimensions = 1,
                         .global = {offset, 1, 1}};
      message.arguments.push_back(
          {.index = input.byte() % 8u, .kind = input.byte() % 10u, .object = memory, .size = size, .value = value});
      return send(message);
    }
    case 16: return send(cl::Release{.object = memory});
    case 17: return send(cl::SetUserEvent{.event = kUserEvent, .status = -static_cast<std::int32_t>(input.byte() % 3)});
    case 18:
      return send(cl::ExportMemory{.queue = queue,
                                   .memory = memory,
                                   .event = event,
                                   .waits = waits,
                                   .offset = offset,
                                   .size = size,
                                   .peer = 1,
                                   .ticket = ticket});
    default:
      return send(cl::ImportMemory{.queue = queue,
                                   .memory = memory,
                                   .event = event,
                                   .waits = waits,
                                   .offset = offset,
                                   .size = size,
                                   .peer = 1,
                                   .ticket = ticket});
  }
}

void Run::raw(Input& input) {
  const auto op = static_cast<std::uint16_t>(wire::kFirstApiOp + input.byte());
  auto body = input.bytes(input.byte());
  body.resize(body.size() & ~std::size_t{7});
  for (const auto& one : cl::fuzz_cases()) {
    if (one.op != op || one.is_reply) continue;
    wire::Bytes again;
    const bool is_readable = !one.is_notice && one.again(body, again);
    if (is_readable) note_payloads(op, body);
    if (!one.is_notice) return frame(op, body, is_readable);
  }
  // Nobody's: refused, and the session goes on.
  if (is_ended_) return;
  link_.called(++sequence_);
  session_->on_frame({op, 0, static_cast<std::uint32_t>(body.size()), sequence_}, body);
}

template <class Message>
std::uint64_t ticket_in(wire::View body) {
  Message message;
  if (!decode(body, message)) return 0;
  if constexpr (requires {
                  message.size;
                  message.ticket;
                })
    return message.size ? message.ticket : 0;
  else if constexpr (requires { message.ticket; })
    return message.region.x && message.region.y && message.region.z ? message.ticket : 0;
  else if constexpr (requires { message.content; }) return message.content.is_inline() ? 0 : message.content.ticket;
  else return message.data.is_inline() ? 0 : message.data.ticket;
}

void Run::note_payloads(std::uint16_t op, wire::View body) {
  if (is_ended_) return;
  const auto look = [&]<class... Messages>(Messages*...) {
    ((op == Messages::kOp ? link_.spoken_of(ticket_in<Messages>(body)) : void()), ...);
  };
  constexpr auto none = [](auto* message) { return message; };
  look(none(static_cast<cl::CreateBuffer*>(nullptr)), none(static_cast<cl::CreateImage*>(nullptr)),
       none(static_cast<cl::WriteBuffer*>(nullptr)), none(static_cast<cl::ReadBuffer*>(nullptr)),
       none(static_cast<cl::WriteRect*>(nullptr)), none(static_cast<cl::ReadRect*>(nullptr)),
       none(static_cast<cl::WriteImage*>(nullptr)), none(static_cast<cl::ReadImage*>(nullptr)),
       none(static_cast<cl::SvmWrite*>(nullptr)), none(static_cast<cl::SvmRead*>(nullptr)));
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
  Run run(data[0]);
  while (input.has_more()) run.step(input);
  return 0;
}
