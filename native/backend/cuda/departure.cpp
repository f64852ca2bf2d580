#include "backend/cuda/departure.h"

#include <algorithm>
#include <deque>
#include <set>

#include "backend/cuda/worker_calls.h"

namespace flexrack::backend::cuda {
namespace {

constexpr std::uint64_t kMovedPiece = std::uint64_t{8} << 20;  ///< of memory, in one payload
constexpr std::size_t kMovedPieces = 3;                        ///< on their way at one time
constexpr std::size_t kMostLayout = std::size_t{1} << 20;

/// Attributes that say where a device is: they differ on another machine.
bool is_of_place(std::int32_t attribute) {
  return attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID || attribute == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID ||
         attribute == CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID || attribute == CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID;
}

/// Why a program that was told of `then` cannot go on with `now`; empty: it can.
std::string difference_of(const cu::DescribeReply& then, const cu::DescribeReply& now) {
  if (then.driver_version != now.driver_version) return "the drivers are of different versions";
  if (then.devices.size() != now.devices.size()) return "it is given another number of GPUs there";
  for (std::size_t i = 0; i < then.devices.size(); ++i) {
    const auto &here = then.devices[i], &there = now.devices[i];
    if (here.name != there.name) return "the GPU there is another one: " + std::string(there.name);
    if (here.memory != there.memory) return "its share of memory is another one there";
    const auto is_same =
        std::equal(here.attributes.begin(), here.attributes.end(), there.attributes.begin(), there.attributes.end(),
                   [](const auto& one, const auto& other) {
                     return one.which == other.which && (one.value == other.value || is_of_place(one.which));
                   });
    if (!is_same) return "the GPU there has other properties";
    for (std::size_t k = 0; k < here.peers.size() && k < there.peers.size(); ++k)
      if (here.peers[k].can_access != there.peers[k].can_access) return "the GPUs there are connected otherwise";
  }
  return {};
}

/// Where a module's variables are in a context.
struct ModuleLayout {
  std::uint64_t context = 0, module = 0;
  std::vector<std::uint64_t> numbers;  ///< as restore_variables has them
};

class CudaDeparture final : public Departure {
 public:
  CudaDeparture(Core& core, Modules& modules, Journal& journal, const wire::Dial& to)
      : core_(core), modules_(modules), journal_(journal), there_(to) {
    compare();
  }

  void prepare() override { send_images(); }
  void send() override;
  void hand_over(wire::View session, wire::View link_state) override;
  bool await_client(std::chrono::milliseconds patience) override { return there_.await_goodbye(patience); }
  void cancel() override { there_.link().close(); }

 private:
  void compare();
  void send_images();
  void send_entry(const Journal::Entry& entry);
  void send_memory();
  void send_layouts(std::uint64_t module);
  void send_bytes(std::uint64_t context, std::uint64_t at, std::uint64_t size);
  void send_events();
  void drain(std::size_t down_to);
  ModuleLayout layout_of(std::uint64_t context, std::uint64_t module, CUmodule native);
  [[noreturn]] void fail(std::string_view doing, std::int32_t status, std::string_view why);
  template <class Reply>
  Reply read(wire::View body);
  template <class Message>
  void expect(std::uint64_t sequence, std::string_view doing);
  template <class Message>
  void demand(const Message& message, std::string_view doing) {
    expect<Message>(there_.ask(message), doing);
  }

  Core& core_;
  Modules& modules_;
  Journal& journal_;
  WorkerCalls there_;
  std::set<std::string> images_;  ///< that are there, by hash
  std::vector<ModuleLayout> layouts_;
  std::deque<std::uint64_t> pieces_;  ///< of memory, on their way: the calls
};

void CudaDeparture::fail(std::string_view doing, std::int32_t status, std::string_view why) {
  std::string text(doing);
  text += ": ";
  if (!why.empty()) text += std::string(why) + ", ";
  throw std::runtime_error(text + core_.library.text_of(static_cast<CUresult>(status)));
}

template <class Reply>
Reply CudaDeparture::read(wire::View body) {
  Reply reply;
  if (!decode(body, reply)) throw std::runtime_error("the daemon there answers what makes no sense");
  return reply;
}

/// Waits until that is carried out there.
template <class Message>
void CudaDeparture::expect(std::uint64_t sequence, std::string_view doing) {
  const auto body = there_.answer(sequence);
  const auto reply = read<typename Message::Reply>(body);
  if (reply.status != 0) fail(doing, reply.status, reply.text);
}

void CudaDeparture::compare() {
  wire::Bytes then;
  std::uint64_t process = 0;
  {
    const std::lock_guard guard(core_.lock);
    then = journal_.described();
    process = journal_.process();
  }
  const auto now = there_.call(cu::Describe{.process = process});
  if (then.empty()) return;  // the client has not asked yet
  const auto why = difference_of(read<cu::DescribeReply>(then), read<cu::DescribeReply>(now));
  if (!why.empty()) throw std::runtime_error(why);
}

void CudaDeparture::send_images() {
  std::list<Journal::Entry> entries;
  {
    const std::lock_guard guard(core_.lock);
    entries = journal_.entries();
  }
  for (const auto& entry : entries) {
    cu::Load load;
    if (entry.op != cu::Load::kOp || !decode(entry.body, load)) continue;
    const std::string hash(reinterpret_cast<const char*>(load.hash.data()), load.hash.size());
    if (images_.contains(hash)) continue;
    std::shared_ptr<const wire::Bytes> image;
    {
      const std::lock_guard guard(core_.lock);
      image = modules_.image(load.hash);
    }
    if (!image) throw std::runtime_error("its code is too much to be kept here");
    const auto content = wire::View(*image).first(image->size() - 1);
    expect<cu::RestoreImage>(
        there_.ask_with(cu::RestoreImage{.hash = load.hash}, &cu::RestoreImage::image, content, image), "its code");
    images_.insert(hash);
  }
}

void CudaDeparture::send_entry(const Journal::Entry& entry) {
  const auto kernels = kernels_in(entry.op, entry.reply);
  const auto number = kernels && !kernels->empty() ? kernels->front() : 0;
  demand(cu::RestoreMessage{.op = entry.op, .number = number, .body = entry.body, .expected = entry.reply},
         "an object of it cannot be made there (message " + std::to_string(entry.op) + ")");
}

void CudaDeparture::send() {
  send_images();  // what was loaded meanwhile
  std::list<Journal::Entry> entries;
  {
    const std::lock_guard guard(core_.lock);
    entries = journal_.entries();
  }
  for (const auto& entry : entries)
    if (entry.op == cu::CreateContext::kOp || entry.op == cu::SetLimit::kOp) send_entry(entry);
  send_memory();
  for (const auto& entry : entries) {
    if (entry.op == cu::CreateContext::kOp || entry.op == cu::SetLimit::kOp) continue;
    send_entry(entry);
    if (entry.op == cu::Load::kOp) send_layouts(entry.object);
  }
  std::map<std::uint64_t, std::uint64_t> stacks;
  std::vector<std::pair<std::uint64_t, Allocation>> memory;
  {
    const std::lock_guard guard(core_.lock);
    core_.handles.each([&](const Record& one) {
      if (one.kind == Kind::context && one.memory) stacks[one.handle] = one.memory->stack;
    });
    for (const auto& [at, one] : core_.allocations)
      if (one.sort != Allocation::Sort::variable) memory.emplace_back(at, one);
  }
  for (const auto& [context, stack] : stacks)
    demand(cu::RestoreContext{.context = context, .stack = stack}, "a stack of its kernels");
  for (const auto& [at, one] : memory) send_bytes(one.context, at, one.size);
  for (const auto& [context, module, numbers] : layouts_) {
    const auto count = (numbers.size() - 1) / 2;
    for (std::size_t i = 0; i < count; ++i) send_bytes(context, numbers[1 + i], numbers[1 + count + i]);
  }
  drain(0);
  send_events();
}

void CudaDeparture::send_memory() {
  std::vector<cu::RestoreMemory> all;
  {
    const std::lock_guard guard(core_.lock);
    for (const auto& [at, one] : core_.allocations) {
      if (one.sort != Allocation::Sort::plain && one.sort != Allocation::Sort::from_pool) continue;
      all.push_back({.context = one.context,
                     .address = at,
                     .size = one.size,
                     .device = one.device,
                     .is_from_pool = one.sort == Allocation::Sort::from_pool ? 1u : 0u});
    }
  }
  std::deque<std::uint64_t> asked;
  for (const auto& one : all) asked.push_back(there_.ask(one));
  for (const auto sequence : asked) expect<cu::RestoreMemory>(sequence, "memory");
}

ModuleLayout CudaDeparture::layout_of(std::uint64_t context, std::uint64_t module, CUmodule native) {
  ModuleLayout layout{context, module, std::vector<std::uint64_t>(1)};
  std::vector<std::uint64_t> found(64);
  std::size_t count = 0;
  for (;;) {
    if (core_.library.sim()->layout(native, found.data(), found.size(), &count) != CUDA_SUCCESS || count > kMostLayout)
      throw std::runtime_error("the driver does not tell where its variables are");
    if (count <= found.size()) break;
    found.resize(count);
  }
  if (count == 0) return layout;
  layout.numbers.assign(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 1; i < count; ++i) {
    CUdeviceptr base = 0;
    size_t size = 0;
    if (core_.table.cuMemGetAddressRange_v2(&base, &size, found[i]) != CUDA_SUCCESS)
      throw std::runtime_error("the driver does not tell how large its variables are");
    layout.numbers.push_back(size);
  }
  return layout;
}

/// Where the variables of a module are, or of a library in each context where it was used.
void CudaDeparture::send_layouts(std::uint64_t module) {
  std::vector<ModuleLayout> found;
  {
    const std::lock_guard guard(core_.lock);
    const auto* record = core_.handles.find(module);
    if (!record) return;
    const auto add = [&](std::uint64_t context) {
      if (!core_.make_current(context)) throw std::runtime_error("one of its contexts has failed");
      CUmodule native = nullptr;
      if (core_.module_of(*record, native) != CUDA_SUCCESS)
        throw std::runtime_error("the driver does not tell where its variables are");
      found.push_back(layout_of(context, module, native));
    };
    if (record->kind == Kind::module) add(record->context);
    else
      for (const auto& [context, function] : record->in_context) add(context);
    core_.current = 0;
  }
  for (auto& one : found) {
    demand(cu::RestoreVariables{.context = one.context, .module = module, .addresses = one.numbers}, "its code");
    layouts_.push_back(std::move(one));
  }
}

void CudaDeparture::drain(std::size_t down_to) {
  while (pieces_.size() > down_to) {
    expect<cu::RestoreBytes>(pieces_.front(), "its memory");
    pieces_.pop_front();
  }
}

void CudaDeparture::send_bytes(std::uint64_t context, std::uint64_t at, std::uint64_t size) {
  for (std::uint64_t done = 0; done < size;) {
    const auto length = std::min(kMovedPiece, size - done);
    drain(kMovedPieces - 1);
    auto bytes = std::make_shared<wire::Bytes>(length);
    {
      const std::lock_guard guard(core_.lock);
      const bool is_read =
          core_.make_current(context) && core_.table.cuMemcpyDtoH_v2(bytes->data(), at + done, length) == CUDA_SUCCESS;
      core_.current = 0;
      if (!is_read) throw std::runtime_error("its memory cannot be read");
    }
    pieces_.push_back(there_.ask_with(cu::RestoreBytes{.context = context, .address = at + done},
                                      &cu::RestoreBytes::data, *bytes, bytes));
    done += length;
  }
}

/// How long ago each event was reached, by the devices' clocks: times between events go over the move.
void CudaDeparture::send_events() {
  std::vector<cu::RestoreEvent> all;
  {
    const std::lock_guard guard(core_.lock);
    std::map<std::uint64_t, CUevent> now;
    core_.handles.each([&](const Record& one) {
      if (one.kind != Kind::event) return;
      auto& mark = now[one.context];
      if (!mark) mark = core_.reached_now(one.context);
      float milliseconds = 0;
      if (mark && core_.table.cuEventElapsedTime(&milliseconds, static_cast<CUevent>(one.native), mark) == CUDA_SUCCESS)
        return all.push_back({.event = one.handle, .milliseconds = milliseconds});
      // Reached before an earlier move, and not recorded since.
      const auto before = core_.reached_before.find(one.handle);
      const auto then = core_.moved_at.find(one.context);
      if (mark && before != core_.reached_before.end() && then != core_.moved_at.end() &&
          core_.table.cuEventElapsedTime(&milliseconds, then->second, mark) == CUDA_SUCCESS)
        all.push_back({.event = one.handle, .milliseconds = before->second + milliseconds});
    });
    for (const auto& [context, mark] : now)
      if (mark) core_.table.cuEventDestroy_v2(mark);
    core_.current = 0;
  }
  for (const auto& one : all) there_.ask(one);
}

void CudaDeparture::hand_over(wire::View session, wire::View link_state) {
  std::uint64_t number = 0;
  {
    const std::lock_guard guard(core_.lock);
    number = modules_.next_own();
  }
  const auto kept = std::make_shared<wire::Bytes>(link_state.begin(), link_state.end());
  expect<cu::TakeOver>(
      there_.ask_with(cu::TakeOver{.number = number, .session = session}, &cu::TakeOver::state, *kept, kept),
      "the session");
}

}  // namespace

std::unique_ptr<Departure> make_departure(Core& core, Modules& modules, Journal& journal, const wire::Dial& to) {
  return std::make_unique<CudaDeparture>(core, modules, journal, to);
}

}  // namespace flexrack::backend::cuda
