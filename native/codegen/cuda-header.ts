// gen/cuda/cuda.h and layouts.cpp: the types, numbers and functions of CUDA's driver API; cuda.constants and
// cuda.functions are their source.
import {prototype} from './cl-header.ts'
import {banner} from './cpp.ts'
import {type Declaration, every, type Inner} from './declarations.ts'
import type {ApiFunction, Constant, Spec} from './spec.ts'

export function cudaHeader(spec: Spec): string {
  const opaques = every(spec.declarations, 'opaque')
  return `${banner(spec, "CUDA's driver API as of cuda.h 13.0: types, numbers and every symbol, laid out as applications expect them.")}#pragma once

#include <cstddef>
#include <cstdint>

// A name is the symbol of that name: cuMemAlloc is the one of CUDA 2, cuMemAlloc_v2 is what cuda.h calls cuMemAlloc. layouts.cpp asserts sizes and offsets.
// Numbers may come from anywhere, so every enum has a fixed type and takes any value.

${opaques.map(({tag}) => `struct ${tag};\n`).join('')}
${spec.declarations.map(declare).join('')}
${spec.constants.map(constant).join('')}
#pragma GCC visibility push(default)
extern "C" {

${symbols(spec)
  .map(({symbol, of}) => `${prototype(of, symbol)};\n`)
  .join('')}
}  // extern "C"
#pragma GCC visibility pop
`
}

/** Whether the structs came out as the vendor's are. */
export function cudaLayouts(spec: Spec): string {
  return `${banner(spec, 'Whether sizes and offsets are those of cuda.h 13.0.')}#include "gen/cuda/cuda.h"

${every(spec.declarations, 'record')
  .map(({name, size, of}) => `static_assert(sizeof(${name}) == ${size});\n${offsets(name, '', of)}`)
  .join('')}`
}

/** RESULT(name, text) for every error: what cuGetErrorName and cuGetErrorString answer. */
export function cudaResults(spec: Spec): string {
  const results = every(spec.declarations, 'enum').find(({name}) => name === 'cudaError_enum')?.values ?? []
  return `${banner(spec, 'RESULT(name, text) for every CUresult.')}${results.map(({name, text}) => `RESULT(${name}, "${text}")\n`).join('')}`
}

/** PER_THREAD(symbol, plain symbol, (parameters), (arguments)) for every symbol that works on the thread's own default stream. */
export function cudaPerThread(spec: Spec): string {
  const lines = symbols(spec)
    .filter(({isPerThread}) => isPerThread)
    .map(({symbol, of}) => {
      const parameters = of.parameters.map(({type, name}) => `${type} ${name}`).join(', ')
      return `PER_THREAD(${symbol}, ${of.name}, (${parameters}), (${of.parameters.map(({name}) => name).join(', ')}))\n`
    })
  return `${banner(spec, 'PER_THREAD(symbol, plain symbol, (parameters), (arguments)) for every symbol that works on the default stream of its thread.')}${lines.join('')}`
}

/** Every exported symbol with its function, those for the thread's own default stream included. */
export function symbols(spec: Spec): {symbol: string; since: string; isPerThread: boolean; of: ApiFunction}[] {
  return spec.functions.flatMap((of) => [
    {symbol: of.name, since: of.since, isPerThread: false, of},
    ...(of.perThread
      ? [{symbol: `${of.name}_${of.perThread.suffix}`, since: of.perThread.since, isPerThread: true, of}]
      : []),
  ])
}

/** A declaration as the header has it. */
export function declare(one: Declaration): string {
  switch (one.kind) {
    case 'opaque':
      return `using ${one.name} = ${one.tag}*;\n`
    case 'type':
      return `using ${one.name} = ${one.of};\n`
    case 'callback':
      return `using ${one.name} = ${one.returns} (*)${one.parameters};\n`
    case 'enum':
      return `enum ${one.name} : ${one.isSigned ? 'int' : 'unsigned'} {\n${one.values.map(({name, value}) => `  ${name} = ${value},\n`).join('')}};\n`
    case 'record':
      return `${one.of.kind} ${one.align > 0 ? `alignas(${one.align}) ` : ''}${one.name} {\n${inside(one.of, '  ')}};\n`
    case 'layout':
      throw new Error(`${one.name}: a layout without offsets`)
  }
}

function inside(of: Inner, indent: string): string {
  return of.members
    .map(({type, name, array, inner}) =>
      inner
        ? `${indent}${inner.kind} {\n${inside(inner, `${indent}  `)}${indent}}${name ? ` ${name}` : ''};\n`
        : `${indent}${type} ${name}${array};\n`,
    )
    .join('')
}

/** Asserts where the members of a record are. */
export function offsets(record: string, path: string, of: Inner): string {
  return of.members
    .map(({name, inner, offset}) => {
      const own = name ? `static_assert(offsetof(${record}, ${path}${name}) == ${offset});\n` : ''
      return inner ? `${own}${offsets(record, name ? `${path}${name}.` : path, inner)}` : own
    })
    .join('')
}

/** A pointer that stands for a number cannot be a constant of C++. */
export function constant({type, name, value}: Constant): string {
  const isPointer = type.endsWith('*') || type === 'CUstream'
  return isPointer
    ? `#define ${name} (reinterpret_cast<${type}>(std::uintptr_t{${value}}))\n`
    : `inline constexpr ${type} ${name} = ${value};\n`
}
