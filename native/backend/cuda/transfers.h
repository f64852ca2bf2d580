// Payloads to and from the device. A stream waits for its payload at a latch, so dispatch and other streams go on.
#pragma once

#include <functional>

#include "backend/cuda/core.h"

namespace flexrack::backend::cuda {

class CallContext;

class Transfers : public virtual cu::Requests {
 public:
  explicit Transfers(Core& core) : core_(core) {}

  /// The payload of that link's ticket into `enqueue(source)` on the stream, behind a latch until it has landed.
  void bring_from(CallContext& call, CUstream stream, wire::Link& from, std::uint64_t ticket, std::uint64_t size,
                  const std::function<CUresult(const void* source)>& enqueue);
  /// The other way: `enqueue(target)` puts it on the stream, the payload goes when the stream has got there.
  void send_out(CallContext& call, CUstream stream, std::uint64_t size, std::uint64_t ticket, wire::Link* to,
                const std::function<CUresult(void* target)>& enqueue);
  /// Runs `reached(status)` on another thread when the stream has got to where it is now. False: `call` has failed.
  bool when_reached(CallContext& call, CUstream stream, std::function<void(CUresult)> reached);

 private:
  void on(const cu::WriteMemory& m) override;
  void on(const cu::ReadMemory& m) override;
  void on(const cu::CopyMemory& m) override;
  void on(const cu::WriteRows& m) override;
  void on(const cu::ReadRows& m) override;
  void on(const cu::CopyRows& m) override;
  void on(const cu::Fill& m) override;
  void on(const cu::WriteRanges& m) override;

  /// Puts a payload into `enqueue(source)` on that stream: at once where it is here, else behind a latch until it has
  /// landed.
  void bring(CallContext& call, CUstream stream, const wire::Payload& data,
             const std::function<CUresult(const void* source)>& enqueue);
  /// when_reached() once what is returned is called; null: `call` has failed.
  std::function<void()> wait_from_here(CallContext& call, CUstream stream, std::function<void(CUresult)> reached);

  Core& core_;
};

}  // namespace flexrack::backend::cuda
