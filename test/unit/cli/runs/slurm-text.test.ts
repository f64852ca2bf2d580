import {expect, it} from 'vitest'
import {makeContext} from '../../../../src/lib/base/index.ts'
import {newsTeller} from '../../../../src/cli/runs/follow.ts'
import {queueText, slurmLine} from '../../../../src/cli/runs/slurm-text.ts'

const job = {
  job: '17',
  state: 'PENDING',
  reason: 'BeginTime',
  start: null,
  partition: 'main',
  source: 'squeue' as const,
  nodes: 2,
}
const why = 'a job that comes first took its place'

it('a job that Slurm has put back into its queue is told as that, with how often and why, where that is known', () => {
  expect(queueText({...job, requeued: null})).toBe('job 17 is pending: BeginTime')
  expect(queueText({...job, requeued: {times: 1, why}})).toBe(
    `job 17 is pending: BeginTime; Slurm requeued it because ${why}`,
  )
  expect(queueText({...job, state: 'RUNNING', reason: null, requeued: {times: 1, why: null}})).toBe(
    'job 17 is running; Slurm requeued it',
  )
  expect(slurmLine({...job, requeued: {times: 3, why}})).toBe(
    `job 17 is pending: BeginTime; Slurm requeued it 3 times, last because ${why}, partition main (says squeue)`,
  )
})

it('who follows a run is warned when its job is back in the queue, and told when it runs again', () => {
  const reported: string[] = []
  const reporter = {
    ...makeContext({env: {}}).reporter,
    warn: (text: string) => void reported.push(`warn ${text}`),
    note: (text: string) => void reported.push(`note ${text}`),
  }
  const teller = newsTeller({...makeContext({env: {}}), reporter})
  for (const state of ['PENDING', 'RUNNING'])
    teller({node: 'login', at: 1, event: 'slurm', ...job, state, reason: null, requeued: {times: 1, why: null}})
  teller({node: 'login', at: 1, event: 'slurm', ...job, requeued: null})
  teller({node: 'login', at: 1, event: 'restarting', attempt: 2, why: `Slurm started the job again: ${why}`})
  expect(reported).toEqual([
    'warn Slurm: job 17 is pending; Slurm requeued it',
    'note Slurm: job 17 is running; Slurm requeued it',
    'note Slurm: job 17 is pending: BeginTime',
    `warn attempt 2 of the whole gang begins: Slurm started the job again: ${why}`,
  ])
})
