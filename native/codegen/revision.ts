// gen/API/revision.h: one number for all messages of an API, which both ends of a session say in their hello.
import {createHash} from 'node:crypto'
import {banner, hex, space} from './cpp.ts'
import type {Field, Spec} from './spec.ts'

export function revisionHeader(spec: Spec): string {
  return `${banner(spec, `Which messages of ${spec.api} these are.`)}#pragma once

#include "wire/api.h"

namespace flexrack::${space(spec)} {

/// The revision is a hash over the ops, names and fields of all messages: two ends that differ in it do not understand each other.
inline constexpr wire::Api kApi{${JSON.stringify(spec.api)}, ${hex(spec.firstOp)}, 0x${revision(spec)}};

}  // namespace flexrack::${space(spec)}
`
}

/** 16 hex digits. Names count as well as types: a field that is called something else means something else. */
export function revision(spec: Spec): string {
  const fields = (list: Field[]): string =>
    list.map(({name, type, isArray}) => `${name}:${type}${isArray ? '[]' : ''}`).join(' ')
  const structs = spec.structs.map((one) => `struct ${one.name} {${fields(one.fields)}}`)
  const messages = spec.messages.map(
    (one) =>
      `${hex(one.op)} ${one.kind} ${one.name} {${fields(one.fields)}}${one.reply ? ` -> {${fields(one.reply)}}` : ''}`,
  )
  return createHash('sha256')
    .update([...structs.sort(), ...messages.sort()].join('\n'))
    .digest('hex')
    .slice(0, 16)
}
