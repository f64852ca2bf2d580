/** What would stop a training, or slow it down, found before anything of it starts. */
export {chosenChecks, CHECKS, parseSkip, type CheckName} from './checks.ts'
export {groupFindings} from './group.ts'
export {findMendable, mendNodes} from './mend.ts'
export {runPreflight, type PreflightInput} from './preflight.ts'
export type * from './types.ts'
