// gen/API/fuzz_cases.{h,cpp}: a valid example of every body, the seeds of the fuzzers and the matter of the round-trip
// tests.
import {banner, bodies, cppType, hex, space} from './cpp.ts'
import {SCALARS} from './scalars.ts'
import type {Field, Spec} from './spec.ts'

export function fuzzCasesHeader(spec: Spec): string {
  return `${banner(spec, `A valid example of every request, reply and notice of ${spec.api}.`)}#pragma once

#include "gen/${spec.api}/messages.h"

namespace flexrack::${space(spec)} {

struct FuzzCase {
  const char* name;     ///< as in the specification, "_reply" added for a reply
  std::uint16_t op;
  bool is_reply;
  bool is_notice;
  wire::Bytes (*make)();
  /// Decodes a body and, where that went well, encodes it again into the empty \`out\`.
  bool (*again)(wire::View body, wire::Bytes& out);
};

std::span<const FuzzCase> fuzz_cases();

}  // namespace flexrack::${space(spec)}
`
}

export function fuzzCasesSource(spec: Spec): string {
  const cases = bodies(spec)
  const number = counter()
  return `${banner(spec, `The examples of ${spec.api}.`)}#include "gen/${spec.api}/fuzz_cases.h"

namespace flexrack::${space(spec)} {

namespace {

constexpr std::uint8_t kBytes[] = {0x66, 0x6c, 0x65, 0x78, 0x00, 0xff, 0x80};
${Object.entries(SCALARS)
  .filter(([name]) => name !== 'handle')
  .map(([name, {cpp}]) => `[[maybe_unused]] constexpr ${cpp} k_${name}[] = {1, 2, 3};\n`)
  .join('')}
template <class Message>
bool again(wire::View body, wire::Bytes& out) {
  Message message;
  if (!decode(body, message)) return false;
  encode(out, message);
  return true;
}

${cases.map(({name, fields}) => `wire::Bytes make_${name}() {\n  ${name} m;\n${fields.map((field) => assign(spec, 'm', field, number)).join('')}  wire::Bytes out;\n  encode(out, m);\n  return out;\n}\n`).join('')}
constexpr FuzzCase kCases[] = {
${cases.map(({name, message, isReply}) => `    {"${message.name}${isReply ? '_reply' : ''}", ${hex(message.op)}, ${isReply}, ${message.kind === 'notice'}, make_${name}, again<${name}>},\n`).join('')}};

}  // namespace

std::span<const FuzzCase> fuzz_cases() { return kCases; }

}  // namespace flexrack::${space(spec)}
`
}

type Counter = () => number

function counter(): Counter {
  let last = 0
  return () => (last = (last % 100) + 1)
}

function assign(spec: Spec, owner: string, field: Field, number: Counter): string {
  const target = `${owner}.${field.name}`
  if (!field.isArray) return assignOne(spec, target, field, number)
  if (SCALARS[field.type]) return `  ${target} = k_${field.type === 'handle' ? 'u64' : field.type};\n`
  return `  ${target}.resize(2);\n${[0, 1].map((index) => assignOne(spec, `${target}[${index}]`, {...field, isArray: false}, number)).join('')}`
}

function assignOne(spec: Spec, target: string, field: Field, number: Counter): string {
  if (SCALARS[field.type]) return `  ${target} = ${number()};\n`
  if (field.type === 'string') return `  ${target} = "${field.name} ${number()}";\n`
  if (field.type === 'bytes') return `  ${target} = kBytes;\n`
  if (field.type === 'payload') return `  ${target} = {0, sizeof kBytes, kBytes};\n`
  const struct = spec.structs.find(({name}) => name === field.type)
  if (!struct) throw new Error(`no example of ${cppType(field)}`)
  return struct.fields.map((part) => assign(spec, target, part, number)).join('')
}
