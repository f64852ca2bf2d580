#include "server/worker_swap.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace flexrack::server {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRest{100}, kMoment{10};
constexpr int kMostLooks = 100;   // of kRest each
constexpr milliseconds kTryAgain{100};

std::uint64_t nanoseconds_since(std::uint64_t begun) { return ResidencyFile::now() - begun; }

std::string lost(const backend::SwapLost& error) {
  return std::string("its memory is lost between host and device, and its contexts have failed: ") + error.what();
}

}  // namespace

WorkerSwap::WorkerSwap(wire::ServerLink& link, backend::Backend& backend, Residency& residency, Say say)
    : link_(link), backend_(backend), residency_(residency), say_(std::move(say)) {
  link_.on_kept = [this] { residency_.held(); };
  thread_ = std::thread([this] { run(); });
}

void WorkerSwap::close() {
  if (!thread_.joinable()) return;
  residency_.close();
  thread_.join();
}

void WorkerSwap::run() {
  for (;;) {
    switch (residency_.next()) {
      case Residency::Task::end: return;
      case Residency::Task::leave: go(); break;
      case Residency::Task::come: come(); break;
      case Residency::Task::pass: link_.unpark(); break;
    }
  }
}

void WorkerSwap::go() {
  // Without a message for a while it may compute all the same: then it has its whole turn.
  if (residency_.is_early() && !backend_.is_at_rest(milliseconds(0))) return residency_.stays(false);
  auto why = backend_.what_keeps();
  if (why.empty()) {
    if (!park_at_rest()) {
      // As long as it is about to leave nobody else is asked to.
      if (!residency_.is_closed()) residency_.stays(true), link_.unpark();
      return;
    }
    why = backend_.what_keeps();
    const auto begun = ResidencyFile::now();
    if (why.empty()) {
      try {
        backend_.swap_out();
        return residency_.went(nanoseconds_since(begun));
      } catch (const backend::SwappedInPart& error) {
        say(std::string("some of its memory does not get back to the device: ") + error.what());
        if (!bring_in()) return;
        why = "some of it could not leave";
      } catch (const backend::SwapLost& error) { why = lost(error); } catch (const std::exception& error) {
        why = error.what();
      }
    }
  }
  say("its memory stays on the device: " + why);
  residency_.stays(true);
  link_.unpark();
}

/// What runs may wait for what the program says next, a host function for one: for a moment it may, again and again,
/// and in between it has the longer to come to rest the longer it has not. False: it does not for
/// long, or the session is over.
bool WorkerSwap::park_at_rest() {
  for (auto looks = 1;; looks = std::min(looks * 2, kMostLooks)) {
    residency_.stops();
    link_.park();
    for (int i = 0; i < looks; ++i) {
      if (backend_.is_at_rest(kRest)) return true;
      if (residency_.is_closed()) return false;
    }
    if (looks == kMostLooks) return false;
    residency_.goes_on();
    link_.unpark();
    std::this_thread::sleep_for(kMoment);
  }
}

void WorkerSwap::come() {
  const auto begun = ResidencyFile::now();
  if (!bring_in()) return;
  residency_.is_back(nanoseconds_since(begun));
  link_.unpark();
}

/// False: the session is over. What does not come back at all has failed, as the client is told at its next call: that
/// has to get through.
bool WorkerSwap::bring_in() {
  for (;; std::this_thread::sleep_for(kTryAgain)) {
    if (residency_.is_closed()) return false;
    try {
      backend_.swap_in();
      return true;
    } catch (const backend::SwapLost& error) {
      say(lost(error));
      return true;
    } catch (const std::exception& error) {
      // Programs that are not ours may have the memory: until they give it back, this session waits.
      say(std::string("its memory does not get back to the device: ") + error.what());
    }
  }
}

/// Once what is said again and again.
void WorkerSwap::say(const std::string& text) {
  if (text != said_) say_(text);
  said_ = text;
}

}  // namespace flexrack::server
