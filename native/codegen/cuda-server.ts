// gen/cuda/driver_table.{h,cpp}, server_calls.inc, server_overrides.inc: the driver's functions, and the handlers of
// plain forwards.
import {banner, camel} from './cpp.ts'
import {messageName, type Travel, travels, wireCast} from './plain.ts'
import type {ApiFunction, Spec} from './spec.ts'

export function driverTableHeader(spec: Spec): string {
  return `${banner(spec, 'The functions of a CUDA driver that was opened by its path.')}#pragma once

#include <functional>

#include "gen/cuda/cuda.h"

namespace flexrack::cu {

/// Every function that is not refused, under its symbol; null where the driver lacks it.
struct DriverTable {
${used(spec)
  .map(({name}) => `  decltype(&::${name}) ${name} = nullptr;\n`)
  .join('')}};

/// \`find\` gives the address of a symbol, or null.
void fill(DriverTable& table, const std::function<void*(const char* symbol)>& find);

}  // namespace flexrack::cu
`
}

export function driverTableSource(spec: Spec): string {
  return `${banner(spec, 'Finds the functions of a driver.')}#include "gen/cuda/driver_table.h"

namespace flexrack::cu {

void fill(DriverTable& table, const std::function<void*(const char* symbol)>& find) {
${used(spec)
  .map(({name}) => `  table.${name} = reinterpret_cast<decltype(table.${name})>(find("${name}"));\n`)
  .join('')}}

}  // namespace flexrack::cu
`
}

/** Into the class that handles the messages. */
export function serverOverrides(spec: Spec): string {
  return `${banner(spec, 'The handlers of plain forwards, as members of Forwards (backend/cuda/forwards.h).')}${plain(
    spec,
  )
    .map((one) => `${head(one, '', ' override')};\n`)
    .join('')}`
}

export function serverCalls(spec: Spec): string {
  return `${banner(spec, 'The handlers of plain forwards. Included once, where Forwards and CallContext (backend/cuda/forwards.h, call_context.h) are known.')}namespace flexrack::backend::cuda {

${plain(spec)
  .map((one) => handler(spec, one))
  .join('\n')}
}  // namespace flexrack::backend::cuda
`
}

function used(spec: Spec): ApiFunction[] {
  return spec.functions.filter(({how}) => how !== 'refuse')
}

function plain(spec: Spec): ApiFunction[] {
  return spec.functions.filter((one) => one.plain)
}

function head(one: ApiFunction, owner: string, end: string): string {
  const type = camel(messageName(one))
  return one.plain?.kind === 'call'
    ? `void ${owner}on(const cu::${type}& m, wire::Respond<cu::${type}Reply> respond)${end}`
    : `void ${owner}on(const cu::${type}& m)${end}`
}

function handler(spec: Spec, one: ApiFunction): string {
  const all = travels(spec, one)
  const type = camel(messageName(one))
  const lists = all.filter(({isArray}) => isArray)
  const checks = lists
    .slice(1)
    .map(
      ({parameter}) =>
        `  call.check(${parameter.isOptional ? `${parameter.name}.empty() || ` : ''}${parameter.name}.size() == ${lists[0]?.parameter.name}.size());\n`,
    )
  const end =
    one.plain?.kind === 'send'
      ? '  call.end();\n'
      : [
          `  cu::${type}Reply reply;\n  reply.status = call.status();\n`,
          ...all
            .filter(({parameter}) => parameter.direction === 'out')
            .map(
              ({parameter: {name}, as, field}) =>
                `  reply.${field.name} = ${as === 'flat' ? `wire::bytes_of(${name})` : wireCast(field, name)};\n`,
            ),
          '  respond(reply);\n',
        ].join('')
  const after = all.flatMap(({parameter: {name, direction}, field, type: of}) =>
    direction === 'new'
      ? [`  call.keep(m.${field.name}, ${name}, ${partOf(all)});\n`]
      : direction === 'gone'
        ? [`  call.drop<${of}>(m.${field.name});\n`]
        : [],
  )
  return `${head(one, 'Forwards::', '')} {
  CallContext call(core_, m.kOp, m.context);
${all.map((travel) => prepared(travel)).join('')}${checks.join('')}  call.run(core_.table.${one.name}${all.map((travel) => `, ${argument(travel, all)}`).join('')});
${after.join('')}${end}}
`
}

function prepared({parameter: {name, direction}, as, isArray, field, type}: Travel): string {
  const source = `m.${field.name}`
  if (direction === 'out' || direction === 'new') return `  ${type} ${name}{};\n`
  if (isArray && as === 'handle') return `  const auto ${name} = call.get_all<${type}>(${source});\n`
  if (isArray && as === 'flat') return `  const auto ${name} = call.flat_all<${type}>(${source});\n`
  switch (as) {
    case 'handle':
      return `  const auto ${name} = call.get<${type}>(${source});\n`
    case 'device':
      return `  const auto ${name} = call.device(${source});\n`
    case 'text':
      return `  const std::string ${name}(${source});\n`
    case 'flat':
      return `  ${direction === 'in' ? '' : 'const '}auto ${name} = call.flat<${type}>(${source});\n`
    default:
      return ''
  }
}

function argument({parameter, as, isArray, field, type}: Travel, all: Travel[]): string {
  const {name, direction, isOptional} = parameter
  if (as === 'count')
    return `static_cast<${type}>(${all.find((one) => one.parameter.count === name)?.parameter.name}.size())`
  if (isArray) {
    const data = parameter.type.startsWith('const ') ? `${name}.data()` : `const_cast<${type}*>(${name}.data())`
    return isOptional ? `${name}.empty() ? nullptr : ${data}` : data
  }
  if (direction === 'out' || direction === 'new' || direction === 'in') return `&${name}`
  if (as === 'text') return `${name}.c_str()`
  if (as === 'address') return `call.address(m.${field.name}, ${wordBytes(all)})`
  if (type === 'CUtexObject' || type === 'CUsurfObject')
    return `call.shown(${type === 'CUsurfObject'}, m.${field.name})`
  return as === 'number' ? `static_cast<${type}>(m.${field.name})` : name
}

/** What a call makes out of something is a part of that, and goes with it. */
function partOf(all: Travel[]): string {
  const whole = all.find(
    ({parameter: {direction}, as, isArray}) =>
      as === 'handle' && !isArray && direction !== 'new' && direction !== 'gone',
  )
  return whole ? `m.${whole.field.name}` : '0'
}

/** How much memory is meant by an address: the word that goes there, or whatever lies at it. */
function wordBytes(all: Travel[]): number {
  return (
    {cuuint64_t: 8, cuuint32_t: 4}[all.find(({type}) => type === 'cuuint64_t' || type === 'cuuint32_t')?.type ?? ''] ??
    1
  )
}
