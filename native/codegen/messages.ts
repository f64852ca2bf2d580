// gen/API/messages.{h,cpp}: the structs, and how they are written and read.
import {banner, bodies, camel, cppType, hex, initial, smallest, space, uniform} from './cpp.ts'
import {SCALARS} from './scalars.ts'
import type {Field, Spec} from './spec.ts'

export function messagesHeader(spec: Spec): string {
  const structs = spec.structs.map(({name, fields}) => `struct ${name} {\n${members(fields)}};\n`)
  const messages = bodies(spec).map(({name, fields, message, isReply}) => {
    if (isReply)
      return `/// Answers ${camel(message.name)}.\nstruct ${name} {\n${members(fields)}};\nvoid encode(wire::Bytes& out, const ${name}& m);\nbool decode(wire::View body, ${name}& m);\n`
    const reply = message.reply ? `  using Reply = ${name}Reply;\n` : ''
    return `struct ${name} {\n  static constexpr std::uint16_t kOp = ${hex(message.op)};\n  static constexpr char kName[] = "${name}";\n${reply}${members(fields)}};\nvoid encode(wire::Bytes& out, const ${name}& m);\nbool decode(wire::View body, ${name}& m);\n`
  })
  return `${banner(spec, `The messages of ${spec.api}.`)}#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "wire/codec.h"

/// Texts, byte strings and arrays of scalars are views: of the caller's memory when encoding, of the body after decoding.
/// encode() appends a body, padded to 8 bytes; decode() is false for anything that encode() would not have written.
namespace flexrack::${space(spec)} {

${structs.join('\n')}
${messages.join('\n')}
}  // namespace flexrack::${space(spec)}
`
}

export function messagesSource(spec: Spec): string {
  const structs = spec.structs
    .filter(({name}) => !uniform(spec, name))
    .map(({name, fields}) => writerAndReader(spec, name, fields))
  const messages = bodies(spec).map(
    ({name, fields}) => `${writerAndReader(spec, name, fields)}
void encode(wire::Bytes& out, const ${name}& m) {
  wire::Writer w(out);
  write(w, m);
  w.align(8);
}
bool decode(wire::View body, ${name}& m) {
  wire::Reader r(body);
  read(r, m);
  return is_finished(r, body);
}
`,
  )
  return `${banner(spec, `How the messages of ${spec.api} are written and read.`)}#include "gen/${spec.api}/messages.h"

#include <algorithm>

namespace flexrack::${space(spec)} {

namespace {

bool is_finished(const wire::Reader& r, wire::View body) {
  return r.ok() && body.size() % 8 == 0 && r.left() < 8 && std::ranges::all_of(body.last(r.left()), [](std::uint8_t byte) { return byte == 0; });
}

void write_payload(wire::Writer& w, const wire::Payload& payload) {
  w.put(payload.ticket);
  w.put(payload.size);
  w.put_array(payload.inline_data);
}
/// Inline and whole, or nothing here and a ticket.
wire::Payload read_payload(wire::Reader& r) {
  wire::Payload payload;
  payload.ticket = r.get<std::uint64_t>();
  payload.size = r.get<std::uint64_t>();
  payload.inline_data = r.get_array<std::uint8_t>();
  if (payload.ticket == 0 ? !payload.is_inline() : !payload.inline_data.empty()) r.fail();
  return payload;
}

${structs.join('\n')}
}  // namespace

${messages.map((text) => text.replace(/^void write/m, 'static void write').replace(/^void read/m, 'static void read')).join('\n')}
}  // namespace flexrack::${space(spec)}
`
}

function members(fields: Field[]): string {
  return fields.map((field) => `  ${cppType(field)} ${field.name}${initial(field)};\n`).join('')
}

function writerAndReader(spec: Spec, name: string, fields: Field[]): string {
  const unused = fields.length === 0 ? '[[maybe_unused]] ' : ''
  return `void write(${unused}wire::Writer& w, ${unused}const ${name}& m) {
${fields.map((field) => `  ${writeField(spec, field)}\n`).join('')}}
void read(${unused}wire::Reader& r, ${unused}${name}& m) {
${fields.map((field) => `  ${readField(spec, field)}\n`).join('')}}
`
}

function writeField(spec: Spec, field: Field): string {
  if (SCALARS[field.type]) return field.isArray ? `w.put_array(m.${field.name});` : `w.put(m.${field.name});`
  if (!field.isArray) return writeOne(spec, field, `m.${field.name}`)
  return `w.put<std::uint64_t>(m.${field.name}.size());\n  for (const auto& one : m.${field.name}) ${writeOne(spec, field, 'one')}`
}

function writeOne(spec: Spec, field: Field, value: string): string {
  if (field.type === 'string') return `w.put_text(${value});`
  if (field.type === 'bytes') return `w.put_array(${value});`
  if (field.type === 'payload') return `write_payload(w, ${value});`
  return uniform(spec, field.type) ? `w.put(${value});` : `write(w, ${value});`
}

function readField(spec: Spec, field: Field): string {
  const scalar = SCALARS[field.type]?.cpp
  if (scalar)
    return field.isArray ? `m.${field.name} = r.get_array<${scalar}>();` : `m.${field.name} = r.get<${scalar}>();`
  if (!field.isArray) return readOne(spec, field, `m.${field.name}`)
  const least = smallest(spec, {...field, isArray: false})
  return `m.${field.name}.resize(r.get_count(${least}));\n  for (auto& one : m.${field.name}) ${readOne(spec, field, 'one')}`
}

function readOne(spec: Spec, field: Field, target: string): string {
  if (field.type === 'string') return `${target} = r.get_text();`
  if (field.type === 'bytes') return `${target} = r.get_array<std::uint8_t>();`
  if (field.type === 'payload') return `${target} = read_payload(r);`
  return uniform(spec, field.type) ? `${target} = r.get<${field.type}>();` : `read(r, ${target});`
}
