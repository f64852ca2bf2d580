// gen/API/requests.h and dispatch.cpp: from a frame to the function that handles it.
import {banner, camel, space} from './cpp.ts'
import type {Message, Spec} from './spec.ts'

export function requestsHeader(spec: Spec): string {
  const requests = spec.messages.filter(({kind}) => kind !== 'notice')
  const notices = spec.messages.filter(({kind}) => kind === 'notice')
  const handler = (message: Message): string => {
    const name = camel(message.name)
    return message.kind === 'call'
      ? `  virtual void on(const ${name}& call, wire::Respond<${name}::Reply> respond) = 0;\n`
      : `  virtual void on(const ${name}& message) = 0;\n`
  }
  return `${banner(spec, `Who handles the messages of ${spec.api}: Requests in the server, Notices in the client.`)}#pragma once

#include "gen/${spec.api}/messages.h"
#include "wire/respond.h"

namespace flexrack::${space(spec)} {

/// What a message's views show is gone when on() returns; a Respond may be kept and answered later, from any thread.
class Requests {
 public:
  virtual ~Requests() = default;
${requests.map(handler).join('')}};

class Notices {
 public:
  virtual ~Notices() = default;
${notices.map(handler).join('')}};

enum class Dispatch {
  ok,
  unknown,   ///< no message of this direction has that op
  malformed  ///< the body is not what the op says; nothing was called
};

Dispatch dispatch(Requests& requests, wire::Link& link, const wire::Header& header, wire::View body);
Dispatch dispatch(Notices& notices, const wire::Header& header, wire::View body);

/// What a message of a client is called, as it is in its struct; null: it is none.
const char* name_of(std::uint16_t op);
/// Somebody waits for the answer to it.
bool is_call(std::uint16_t op);

}  // namespace flexrack::${space(spec)}
`
}

export function dispatchSource(spec: Spec): string {
  const cases = (list: Message[], to: string): string =>
    list
      .map((message) => {
        const name = camel(message.name)
        return `    case ${name}::kOp: return ${message.kind === 'call' ? `call<${name}>(requests, link, header, body)` : `pass<${name}>(${to}, body)`};\n`
      })
      .join('')
  return `${banner(spec, `Finds the handler of a message of ${spec.api}.`)}#include "gen/${spec.api}/requests.h"

namespace flexrack::${space(spec)} {

namespace {

template <class Message, class To>
Dispatch pass(To& to, wire::View body) {
  Message message;
  if (!decode(body, message)) return Dispatch::malformed;
  to.on(message);
  return Dispatch::ok;
}

template <class Message>
Dispatch call(Requests& requests, wire::Link& link, const wire::Header& header, wire::View body) {
  Message message;
  if (!decode(body, message)) return Dispatch::malformed;
  requests.on(message, wire::Respond<typename Message::Reply>(link, header));
  return Dispatch::ok;
}

}  // namespace

Dispatch dispatch(Requests& requests, wire::Link& link, const wire::Header& header, wire::View body) {
  switch (header.op) {
${cases(
  spec.messages.filter(({kind}) => kind !== 'notice'),
  'requests',
)}    default: return Dispatch::unknown;
  }
}

Dispatch dispatch(Notices& notices, const wire::Header& header, wire::View body) {
  switch (header.op) {
${cases(
  spec.messages.filter(({kind}) => kind === 'notice'),
  'notices',
)}    default: return Dispatch::unknown;
  }
}

const char* name_of(std::uint16_t op) {
  switch (op) {
${spec.messages
  .filter(({kind}) => kind !== 'notice')
  .map(({name}) => `    case ${camel(name)}::kOp: return ${camel(name)}::kName;\n`)
  .join('')}    default: return nullptr;
  }
}

bool is_call(std::uint16_t op) {
  switch (op) {
${spec.messages
  .filter(({kind}) => kind === 'call')
  .map(({name}) => `    case ${camel(name)}::kOp:\n`)
  .join('')}      return true;
    default: return false;
  }
}

}  // namespace flexrack::${space(spec)}
`
}
