import {Secret} from '../base/index.ts'
import type {FromEnv, FromStep} from './types.ts'

/** What step `id` gives; with `at` the part at that path. */
export function fromStep(id: string, ...at: string[]): FromStep {
  return {$output: id, ...(at.length > 0 && {at})}
}

/** What the environment of whoever carries the plan out has under that name. */
export function fromEnv(name: string, ...at: string[]): FromEnv {
  return {$env: name, ...(at.length > 0 && {at})}
}

/**
 * A copy of `value` in which every reference is replaced by what it means. Secrets are revealed, so the copy is for
 * whoever has to know them, and never for a plan. What a reference means is data, whoever it came from: in a node's
 * answer nothing is a reference, else it could ask for what other steps have given, the way to the head among them.
 */
export function fill(
  value: unknown,
  outputAt: (from: FromStep) => unknown,
  env: Readonly<Record<string, unknown>>,
): unknown {
  const filled = (one: unknown): unknown => {
    if (one instanceof Secret) return one.reveal()
    if (Array.isArray(one)) return one.map(filled)
    if (typeof one !== 'object' || one === null) return one
    if (isFromStep(one)) return revealed(outputAt(one))
    if (isFromEnv(one)) return revealed(follow(env[one.$env], one.at, `$env ${one.$env}`))
    return Object.fromEntries(Object.entries(one).map(([key, part]) => [key, filled(part)]))
  }
  return filled(value)
}

function revealed(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal()
  if (Array.isArray(value)) return value.map(revealed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, revealed(part)]))
}

/** Every step that a value refers to. */
export function referredSteps(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return isFromStep(value) ? [value.$output] : Object.values(value).flatMap(referredSteps)
}

/** The part of a value at a path. A part that is missing is a fault of the plan: what may be absent is null. */
export function follow(value: unknown, at: readonly string[] | undefined, whose: string): unknown {
  let part = value
  for (const name of at ?? [])
    part =
      typeof part === 'object' && part !== null && Object.hasOwn(part, name)
        ? (part as Record<string, unknown>)[name]
        : undefined
  if (part === undefined) throw new Error(`the plan refers to ${[whose, ...(at ?? [])].join('.')}, which there is not`)
  return part
}

function isFromStep(value: object): value is FromStep {
  return '$output' in value && typeof value.$output === 'string'
}

function isFromEnv(value: object): value is FromEnv {
  return '$env' in value && typeof value.$env === 'string'
}
