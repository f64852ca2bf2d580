#include "backend/opencl/notices.h"

namespace flexrack::backend::opencl {

void NoticeSender::completed(const cl::Completion& completion) {
  std::unique_lock guard(lock_);
  waiting_.push_back(completion);
  if (is_sending_) return;
  is_sending_ = true;
  cl::Completed notice;
  while (!waiting_.empty()) {
    notice.events.clear();
    notice.events.swap(waiting_);
    guard.unlock();
    send(notice);
    link_.flush();
    guard.lock();
  }
  is_sending_ = false;
}

}  // namespace flexrack::backend::opencl
