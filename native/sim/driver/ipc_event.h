// Events that several processes have: how often each was recorded, and which records were reached, in a page that all
// of them map.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "gen/cuda/cuda.h"
#include "sim/driver/command.h"
#include "sim/driver/process_files.h"

namespace flexrack::sim {

/// Thread-safe.
class SharedEvent : public std::enable_shared_from_this<SharedEvent> {
 public:
  /// A new one; of another process. Both throw as make_file() and open_file() do.
  static std::shared_ptr<SharedEvent> make();
  static std::shared_ptr<SharedEvent> open(const FileHandle& handle);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  FileHandle handle() const { return handle_of_file(*file_, FileHandle::kEvent); }

  /// This process has put a record into a stream: its number. `reached` is to be said when it is reached.
  std::uint64_t record();
  void reached(std::uint64_t number);
  /// The number of the latest record of all processes; 0: there is none.
  std::uint64_t latest() const;
  bool is_reached(std::uint64_t number) const;
  /// A command that is over when that record is. Where the process that recorded it dies before, the context fails with
  /// CUDA_ERROR_LAUNCH_FAILED.
  Ref<Command> awaits(const Ref<Context>& context, std::uint64_t number);

 private:
  struct Page;
  SharedEvent(SharedFilePointer file, Page* page) : file_(std::move(file)), page_(page) {}

  const SharedFilePointer file_;
  Page* const page_;
};

}  // namespace flexrack::sim
