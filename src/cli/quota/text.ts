import {QUOTA_WORDS, quotaAmount} from '../../lib/base/index.ts'
import type {QueuedRun} from '../../lib/head/index.ts'
import type {QuotaChange, QuotaReport} from '../../lib/quota/index.ts'
import {paint} from '../terminal/print.ts'
import {ago, minute, table} from '../terminal/render.ts'

export function quotasText(report: QuotaReport): string {
  const own = ownText(report)
  return report.slurm ? `${own}\n\n${slurmText(report.slurm)}` : own
}

/** What Slurm limits, and how the account's fair share stands. */
function slurmText({user, associations, shares, problem}: NonNullable<QuotaReport['slurm']>): string {
  const rows = associations.map(({account, partition, qos, limits}) => {
    const share = shares.find((one) => one.account === account)
    return {
      account,
      partition: partition ?? 'all',
      qos: qos.join(', '),
      limits: Object.entries(limits)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
      share: shareText(share?.share),
      used: shareText(share?.used),
      fair: share?.fair_share?.toFixed(3) ?? '-',
    }
  })
  const fair = {key: 'fair', title: 'FAIR SHARE'}
  return [
    paint.dim(`Slurm, for ${user}; it alone decides for its jobs`),
    rows.length === 0
      ? 'It tells no limits.'
      : table(rows, ['account', 'partition', 'qos', {key: 'limits', spare: true}, 'share', 'used', fair]),
    ...(problem === null ? [] : [problem]),
  ].join('\n')
}

function shareText(share: number | null | undefined): string {
  return share === null || share === undefined ? '-' : `${Math.round(share * 100)} %`
}

function ownText({rack, quotas, slurm, artifacts_elsewhere: isElsewhere}: QuotaReport): string {
  if (quotas.length === 0 && slurm) return `The head of rack ${rack} limits nothing.`
  if (quotas.length === 0) return `Rack ${rack} has no quotas. Set one: flexrack quota set user:alice --gpus 4`
  const rows = quotas.flatMap(({of, limits}) =>
    limits.map(({what, most, soft, have, by}) => ({
      of,
      what: QUOTA_WORDS[what],
      used: have === null ? '' : String(quotaAmount(what, have)),
      most: `${quotaAmount(what, most)}${soft ? ' (soft)' : ''}`,
      by: of.startsWith('user:')
        ? ''
        : Object.entries(by)
            .map(([user, number]) => `${user} ${quotaAmount(what, number)}`)
            .join(', '),
    })),
  )
  const shown = table(rows, ['of', 'what', {key: 'used', align: 'right'}, 'most', 'by'])
  const limitsDisk = quotas.some(({limits}) => limits.some(({what}) => what === 'disk'))
  return limitsDisk && isElsewhere
    ? `${shown}\n\n${paint.dim('Artifacts are in a store elsewhere (head.artifacts), and count for no quota of disk.')}`
    : shown
}

export function quotaChangeText({of, limits}: QuotaChange): string {
  return limits ? `${of} has this quota now. What is there goes on where it is more.` : `${of} has no quota any more.`
}

export function queueText(queue: QueuedRun[]): string {
  if (queue.length === 0) return 'Nobody waits that the head knows of.'
  const rows = queue.map(({position, run, user, gpus, priority, since, by, why}) => ({
    '#': String(position),
    run,
    user,
    gpus: String(gpus),
    priority: String(priority),
    came: ago(since),
    by: by === null ? 'not known' : minute(by),
    why,
  }))
  const latest = {key: 'by', title: 'STARTS BY (UTC)'}
  return table(rows, ['#', 'run', 'user', 'gpus', 'priority', 'came', latest, 'why'])
}
