// gen/opencl/cl.h: the types, numbers and functions of OpenCL as our own code needs them; opencl.functions and
// opencl.constants are its source.
import {banner} from './cpp.ts'
import {every} from './declarations.ts'
import type {ApiFunction, Spec} from './spec.ts'

export function clHeader(spec: Spec): string {
  const opaques = every(spec.declarations, 'opaque')
  return `${banner(spec, 'OpenCL up to 3.0: types, numbers and functions, laid out as applications and the ICD loader expect them.')}#pragma once

#include <cstddef>
#include <cstdint>

#ifndef CL_CALLBACK
#define CL_CALLBACK
#endif

${opaques.map(({tag}) => `struct ${tag};\n`).join('')}
${opaques.map(({name, tag}) => `using ${name} = ${tag}*;\n`).join('')}
${every(spec.declarations, 'type')
  .map(({name, of}) => `using ${name} = ${of};\n`)
  .join('')}
${every(spec.declarations, 'layout')
  .map(
    ({name, members}) =>
      `struct _${name} {\n${members
        .split('; ')
        .map((member) => `  ${member.replace(/;$/, '')};\n`)
        .join('')}};\nusing ${name} = _${name};\n`,
  )
  .join('\n')}
${every(spec.declarations, 'callback')
  .map(({name, parameters}) => `using ${name} = void(CL_CALLBACK*)${parameters};\n`)
  .join('')}
${spec.constants.map(({type, name, value}) => `inline constexpr ${type} ${name} = ${value};\n`).join('')}
/// What the client defines. What it does not define yet answers CL_INVALID_OPERATION (icd.cpp).
namespace flexrack::client::opencl {

${spec.functions
  .filter(({returns}) => returns)
  .map((one) => `${prototype(one, one.name)};\n`)
  .join('')}
}  // namespace flexrack::client::opencl
`
}

/** The same names for a test that compares them with another header: CONSTANT(name), FUNCTION(name). */
export function clNames(spec: Spec): string {
  const offered = spec.functions.filter(({returns, how}) => returns && how !== 'refuse')
  return `${banner(spec, "Every constant and every function that is not refused, for comparing cl.h with somebody else's.")}
${spec.constants.map(({name}) => `CONSTANT(${name})\n`).join('')}
${offered.map(({name}) => `FUNCTION(${name})\n`).join('')}`
}

export function prototype(one: ApiFunction, name: string): string {
  return `${one.returns} ${name}(${one.parameters.map((parameter) => `${parameter.type} ${parameter.name}`).join(', ')})`
}
