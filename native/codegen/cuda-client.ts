// gen/cuda/client_*: the functions the client defines, the stubs of plain forwards, and the symbols applications find.
import {prototype} from './cl-header.ts'
import {banner, camel} from './cpp.ts'
import {entries} from './cuda-entries.ts'
import {symbols} from './cuda-header.ts'
import {messageName, type Travel, travels, wireCast} from './plain.ts'
import type {ApiFunction, Spec} from './spec.ts'

export function clientFunctions(spec: Spec): string {
  return `${banner(spec, 'The functions of the CUDA client.')}#pragma once

#include "gen/cuda/cuda.h"

/// Where the client defines a function, that is what applications reach; else it is the one in plain, or it answers CUDA_ERROR_NOT_SUPPORTED.
/// In here an unqualified call may mean the symbol too (::cuX, by the argument's type): say cuda::cuX.
namespace flexrack::client::cuda {

${spec.functions.map((one) => `${prototype(one, one.name)};\n`).join('')}
/// Plain forwards as they come from the specification, for those who do something first.
namespace plain {

${spec.functions
  .filter(({plain}) => plain)
  .map((one) => `${prototype(one, one.name)};\n`)
  .join('')}
}  // namespace plain

/// Where the symbol of cu::entry_points()[index] is.
void* entry_address(std::size_t index);

}  // namespace flexrack::client::cuda
`
}

export function clientStubs(spec: Spec): string {
  return `${banner(spec, 'The stubs of plain forwards. Included once, where Call (client/cuda/call.h) is known.')}namespace flexrack::client::cuda::plain {

${spec.functions
  .filter(({plain}) => plain)
  .map((one) => stub(spec, one))
  .join('\n')}
}  // namespace flexrack::client::cuda::plain
`
}

function stub(spec: Spec, one: ApiFunction): string {
  const all = travels(spec, one)
  const type = camel(messageName(one))
  // A new object is made at the server that the others say.
  const into = all
    .filter(({parameter, as}) => parameter.direction !== 'out' && as !== 'count')
    .sort((a, b) => Number(a.parameter.direction === 'new') - Number(b.parameter.direction === 'new'))
  const out = all.filter(({parameter}) => parameter.direction === 'out')
  const made = all.filter(({parameter}) => parameter.direction === 'new')
  const gone = all.filter(({parameter}) => parameter.direction === 'gone')
  const after = [
    ...out.map((travel) => `    ${result(travel)}\n`),
    ...made.map(({parameter}) => `    *${parameter.name} = made_${parameter.name}.keep();\n`),
    ...gone.map(({parameter}) => `    call.gone(${parameter.name});\n`),
  ]
  const needed = [...out, ...made]
    .filter(({parameter}) => !parameter.isOptional)
    .map(({parameter}) => `  call.needs(${parameter.name});\n`)
  const own = all.some(({as}) => as === 'handle' || as === 'device' || as === 'address')
    ? 'context()'
    : 'current_context()'
  const send =
    after.length === 0
      ? one.plain?.kind === 'send'
        ? '  return call.send(m);\n'
        : '  return call.ask(m, [](const auto&) {});\n'
      : one.plain?.kind === 'send'
        ? `  const auto status = call.send(m);\n  if (status == CUDA_SUCCESS) {\n${after.join('')}  }\n  return status;\n`
        : `  return call.ask(m, [&](const cu::${type}Reply&${out.length > 0 ? ' reply' : ''}) {\n${after.join('')}  });\n`
  return `${prototype(one, one.name)} {
  Call call;
  cu::${type} m;
${needed.join('')}${into.map((travel) => given(travel)).join('')}  m.context = call.${own};
${send}}
`
}

function given({parameter: {name, direction, isOptional, count}, as, isArray, field, type}: Travel): string {
  const target = `m.${field.name}`
  if (direction === 'new')
    return `  const auto made_${name} = call.make<${type}>();\n  ${target} = made_${name}.handle();\n`
  const list = isOptional ? 'optional_list' : 'list'
  if (isArray && as === 'handle')
    return `  const auto all_${name} = call.handles(call.${list}(${name}, ${count}));\n  ${target} = all_${name};\n`
  if (isArray && as === 'flat')
    return `  const auto all_${name} = call.local(call.${list}(${name}, ${count}));\n  ${target} = wire::bytes_of(all_${name});\n`
  if (isArray) return `  ${target} = call.${list}(${name}, ${count});\n`
  switch (as) {
    case 'handle':
      return `  ${target} = call.handle(${name});\n`
    case 'device':
      return `  ${target} = call.device(${name});\n`
    case 'address':
      return `  ${target} = call.address(${name});\n`
    case 'text':
      return `  ${target} = call.text(${name});\n`
    case 'flat':
      return `  const auto own_${name} = call.local(${direction === 'in' ? `call.value(${name})` : name});\n  ${target} = wire::bytes_of(own_${name});\n`
    default:
      return `  ${target} = ${wireCast(field, name)};\n`
  }
}

function result({parameter: {name, isOptional}, as, field, type}: Travel): string {
  const take =
    as === 'flat'
      ? `call.take(reply.${field.name}, *${name});`
      : `*${name} = static_cast<${type}>(reply.${field.name});`
  return isOptional ? `if (${name}) ${take}` : take
}

export function clientExports(spec: Spec): string {
  return `${banner(spec, 'What applications reach. Included once, where guard, per_thread and PerThread (client/cuda/guard.h) are known.')}#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {

${spec.functions.map(fallback).join('')}
}  // namespace flexrack::client::cuda

extern "C" {

${symbols(spec).map(exported).join('')}
}  // extern "C"

namespace flexrack::client::cuda {

void* entry_address(std::size_t index) {
  static void* const kAddresses[] = {
${entries(spec)
  .map(({symbol}) => `      reinterpret_cast<void*>(&::${symbol}),\n`)
  .join('')}  };
  return kAddresses[index];
}

}  // namespace flexrack::client::cuda
`
}

/** What is there until the client has more to say. */
function fallback(one: ApiFunction): string {
  const list = one.parameters.map(({name}) => name).join(', ')
  if (one.plain) return `[[gnu::weak]] ${prototype(one, one.name)} { return plain::${one.name}(${list}); }\n`
  if (one.same) return `[[gnu::weak]] ${prototype(one, one.name)} { return cuda::${one.same}(${list}); }\n`
  return `[[gnu::weak]] ${one.returns} ${one.name}(${one.parameters.map(({type}) => type).join(', ')}) { return CUDA_ERROR_NOT_SUPPORTED; }\n`
}

function exported({symbol, isPerThread, of}: {symbol: string; isPerThread: boolean; of: ApiFunction}): string {
  const streams = of.parameters.some(({type}) => type === 'CUstream')
  const list = of.parameters
    .map(({type, name}) => (isPerThread && type === 'CUstream' ? `per_thread(${name})` : name))
    .join(', ')
  const scope = isPerThread && !streams ? 'flexrack::client::cuda::PerThread scope; ' : ''
  const call = list.replaceAll('per_thread(', 'flexrack::client::cuda::per_thread(')
  return `${prototype(of, symbol)} {\n  ${scope}return flexrack::client::cuda::guard([&] { return flexrack::client::cuda::${of.name}(${call}); });\n}\n`
}
