// How a random sequence makes a call: wrong now and then, with a wait list of what it has to come after.
#pragma once

#include <algorithm>

#include "sequence_state.h"

inline cl_bitfield pick(State& s, std::initializer_list<cl_bitfield> from) {
  return from.begin()[s.random.below(from.size())];
}

constexpr const char* kLaunch = "launch";

inline bool invalid(State& s) { return s.random.one_in(5); }

/// Adds a way in which the wait list is wrong now and then; `list` and `count` are what the call is given.
inline void spoil_waits(State& s, std::vector<cl_event>& list, cl_uint& count, const cl_event*& given, bool may) {
  count = static_cast<cl_uint>(list.size());
  given = list.empty() ? nullptr : list.data();
  if (!s.random.one_in(40) || !may) return;
  switch (s.random.below(4)) {
    case 0: count = 1, given = nullptr; break;
    case 1: list.insert(list.begin(), nullptr), count = static_cast<cl_uint>(list.size()), given = list.data(); break;
    case 2: list.push_back(s.foreign_event), count = static_cast<cl_uint>(list.size()), given = list.data(); break;
    default: count = 0, given = &s.foreign_event;
  }
}

/// Makes the call with its wait list and event; notes it where it was accepted.
template <class Call>
void command(State& s, const char* what, std::initializer_list<Memory*> read, std::initializer_list<Memory*> written,
             Call&& call) {
  std::vector<cl_event> list;
  if (s.random.one_in(8)) { list = s.waits({}); }
  for (auto both : {read, written})
    for (auto* memory : both) list.insert(list.end(), memory->touched->events.begin(), memory->touched->events.end());
  cl_uint count;
  const cl_event* given;
  spoil_waits(s, list, count, given, what != kLaunch);  // PoCL follows the wrong wait lists of a launch
  cl_event event = nullptr;
  const auto code = call(count, given, &event);
  say("%zu %s: %s%s", s.step, what, code_name(code).c_str(), event ? " event" : "");
  if (code == CL_SUCCESS && event) s.note(event, read, written);
}
