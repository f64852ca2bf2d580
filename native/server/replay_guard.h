// What clients have proved their keys with, so that none of it is taken twice.
#pragma once

#include <deque>
#include <set>

#include "wire/secrets.h"

namespace flexrack::server {

/// The newest marks of proofs. Only who has a key adds to it, so that unproven connections push nothing out.
class ReplayGuard {
 public:
  static constexpr std::size_t kMost = 65536;

  /// False: it is there already.
  bool add(const wire::Digest& mark) {
    if (!all_.insert(mark).second) return false;
    in_order_.push_back(mark);
    if (in_order_.size() > kMost) {
      all_.erase(in_order_.front());
      in_order_.pop_front();
    }
    return true;
  }

 private:
  std::set<wire::Digest> all_;
  std::deque<wire::Digest> in_order_;
};

}  // namespace flexrack::server
