import type {ZodType} from 'zod'
import {describeIssue, flattenIssues} from './issue.ts'
import {problemAt} from './problem.ts'
import {schemaAt} from './schema.ts'
import type {Path, Problem, Source} from './types.ts'

/** Names that the product has but this version does not, by dotted path (`workspace.image`, `train.launcher=mpi`). */
export type NotYet = Record<string, string>

/** Checks a source against its schema. Either a value, or at least one problem; all of them at once. */
export function validateSource<T>(
  source: Source,
  schema: ZodType<T>,
  notYet: NotYet = {},
): {value?: T; problems: Problem[]} {
  if (source.broken) return {problems: source.problems}
  const parsed = schema.safeParse(source.value ?? {})
  const problems = [...source.problems]
  if (!parsed.success) {
    for (const issue of flattenIssues(parsed.error.issues)) {
      for (const {path, what, message, expected, nearest} of describeIssue(
        issue,
        source.value ?? {},
        (at: Path) => schemaAt(schema, at),
        notYet,
      )) {
        problems.push(
          problemAt(source, source.span(path, what), message, {...(expected && {expected}), ...(nearest && {nearest})}),
        )
      }
    }
  }
  return parsed.success && problems.length === 0 ? {value: parsed.data, problems} : {problems}
}
