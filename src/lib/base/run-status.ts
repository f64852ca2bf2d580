/** Of NodeRunStatus (protocol/result.json): a run that goes on, or will. */
const OPEN = ['starting', 'waiting', 'running', 'stopping', 'recording']

/** Whether a run of this status goes on, or will. */
export function isOpenStatus(status: string): boolean {
  return OPEN.includes(status)
}
