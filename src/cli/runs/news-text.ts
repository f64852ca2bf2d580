import type {Hang, RunEventName, SlurmState} from '../../lib/protocol/index.ts'
import type {RunNews} from '../../lib/runs/index.ts'
import {hangText} from './hang-text.ts'
import {queueText} from './slurm-text.ts'

/** How loudly, and what. */
type Told = ['warn' | 'note', string]

/** Who follows a run need not know; it stays in events.jsonl. */
const nothing = (): undefined => undefined
const warn = (news: RunNews): Told | undefined => (news.message ? ['warn', `${news.node}: ${news.message}`] : undefined)

/** What is told, beside the ranks' lines, to who follows a run. What each event is: protocol/runfiles.json. */
const TOLD: {[name in RunEventName | 'slurm']: (news: RunNews) => Told | undefined} = {
  started: nothing,
  stopping: nothing,
  ended: nothing,
  restarting: (news) => [
    'warn',
    `attempt ${String(news.attempt)} of the whole gang begins${news.why === undefined ? '' : `: ${String(news.why)}`}`,
  ],
  refused: nothing,
  joined: nothing,
  'no port': nothing,
  'link lost': (news) => ['warn', `the connection within the gang to ${String(news.to)} was lost`],
  'asked about': nothing,
  awaits: nothing,
  'put out': (news) => ['warn', String(news.why)],
  'put out came back': nothing,
  'came back': nothing,
  leaving: nothing,
  lost: nothing,
  'leader lost': nothing,
  elected: (news) => [
    'warn',
    `${news.node} leads the run from now on, chosen by ${together(news.votes as string[])}, in the place of ${String(news.instead)}`,
  ],
  'not elected': nothing,
  follows: nothing,
  'stepped down': (news) => ['warn', String(news.why)],
  'gang lost': nothing,
  'makes room': (news) => [
    'warn',
    `it makes room for ${String(news.why)}: its ranks end after their next checkpoint, ${String(news.seconds)} s from now at the latest`,
  ],
  'made room': (news) => ['warn', `it has made room for ${String(news.why)}, and waits for its turn`],
  hang: (news) => ['warn', hangText(news as unknown as Hang)],
  'hang over': () => ['note', 'the ranks make progress again'],
  'checkpoint lost': (news) => [
    'warn',
    `checkpoint ${String(news.checkpoint)} was on ${String(news.had)} alone and is lost; ${news.instead ? `it goes on from ${String(news.instead)}` : 'it begins anew'}`,
  ],
  copied: nothing,
  'not copied': nothing,
  'copy not used': nothing,
  fetched: nothing,
  'not fetched': nothing,
  'uploads begun': nothing,
  'uploads ended': nothing,
  'uploaded again': nothing,
  uploaded: nothing,
  'not uploaded': nothing,
  'not recorded': nothing,
  reconciled: nothing,
  repaired: nothing,
  'no record': nothing,
  'record not sent': nothing,
  'relay closed': nothing,
  'tracking.away': warn,
  'tracking.back': (news) => ['note', `${news.node}: ${news.message}`],
  'tracking.failed': warn,
  'tracking.full': warn,
  'tracking.refused': warn,
  'tracking.rejected': warn,
  'reservation lost': nothing,
  swept: nothing,
  'sampler failed': nothing,
  'gpu metrics lost': nothing,
  'metrics not written': nothing,
  'GPU jobs not written': nothing,
  'hardware not recorded': nothing,
  'usage not noted': nothing,
  bug: (news) => ['warn', `the supervisor on ${news.node} failed: see events.jsonl in the run's folder there`],
  slurm: (news) => [
    news.requeued && news.state === 'PENDING' ? 'warn' : 'note',
    `Slurm: ${queueText(news as unknown as SlurmState)}`,
  ],
}

/** Undefined where nothing is told, also of an event of a newer release. */
export function newsText(news: RunNews): Told | undefined {
  return Object.hasOwn(TOLD, news.event) ? TOLD[news.event](news) : undefined
}

/** `a`, `a and b`, `a, b and c`. */
function together(names: string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
