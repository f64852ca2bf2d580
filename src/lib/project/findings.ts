import {isCliError} from '../base/index.ts'
import type {Problem} from '../manifest/index.ts'

/** One thing that would stop a run (error), or may (warning). */
export interface Finding {
  severity: 'error' | 'warning'
  about: 'manifest' | 'rack' | 'node' | 'head' | 'slurm'
  message: string
  /** A command to paste, or what to change. */
  fix?: string
  node?: string
  /** Absolute path, with line and column from 1. */
  file?: string
  line?: number
  column?: number
  excerpt?: string
}

/** The findings that an error of loading a file amounts to; anything that is not about the file is thrown on. */
export function findingsOf(error: unknown, about: Finding['about']): Finding[] {
  if (!isCliError(error) || error.code === 'INTERRUPTED' || error.code === 'BUG') throw error
  const problems = error.details.problems as Problem[] | undefined
  if (!problems)
    return [{severity: 'error', about, message: error.message, ...(error.hint !== undefined && {fix: error.hint})}]
  return problems.map((problem) => fromProblem(problem, about))
}

export function fromProblem({file, line, column, message, excerpt}: Problem, about: Finding['about']): Finding {
  return {severity: 'error', about, message, file, line, column, ...(excerpt !== undefined && {excerpt})}
}
