/**
 * One thing that is wrong in a file, at its place. `message` says everything on one line; the rest is for machines and
 * excerpts.
 */
export interface Problem {
  /** Absolute path. */
  file: string
  /** From 1. */
  line: number
  /** From 1, in UTF-16 units as editors count. */
  column: number
  message: string
  /** What would have been right: `one of torchrun, plain`. */
  expected?: string
  /** The valid name that is nearest to the one given. */
  nearest?: string
  /** The source line with its number, and below it carets under what is meant: two lines. */
  excerpt?: string
}

export type Path = readonly PropertyKey[]

/** Start and end offset in the text. */
export type Span = readonly [start: number, end: number]

/** A YAML file that was read: its text, its plain value, and where each part of the value stands. */
export interface Source {
  file: string
  text: string
  /** Plain data; null for an empty file. */
  value: unknown
  /** What is wrong with the YAML itself. If `broken`, the value is not to be trusted. */
  problems: Problem[]
  broken: boolean
  /** Where a value stands, or its key; of the nearest parent if the path is not there. */
  span(path: Path, what: 'key' | 'value'): Span
}
