import type {Recipe} from './types.ts'

/** Whether a model server works with a version of Python, 3.11 or 3.11.2. Pure. */
export function worksWith({atLeast, below}: Recipe['python'], version: string): boolean {
  return minorOf(version) >= minorOf(atLeast) && (below === undefined || minorOf(version) < minorOf(below))
}

function minorOf(version: string): number {
  return Number(version.split('.')[1] ?? 0)
}

/** The same as an environment is asked for. Pure. */
export function rangeOf({atLeast, below}: Recipe['python']): string {
  return `>=${atLeast}${below === undefined ? '' : `,<${below}`}`
}
