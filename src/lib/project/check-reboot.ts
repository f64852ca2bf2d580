import type {Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import type {BootFound} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Finding} from './findings.ts'

/**
 * Whether the services of these nodes run, and come back after a reboot. `goOn`: runs that would go on after a reboot
 * of each of their nodes.
 */
export async function checkReboot(
  nodes: RackNode[],
  fleet: Fleet,
  ctx: Context,
): Promise<{findings: Finding[]; goOn: string[]}> {
  const found = await Promise.all(
    nodes.map(async (node) => ({
      node: node.name,
      ...(await (await openHost(fleet, node, ctx)).call('boot.inspect', {}, {signal: ctx.signal})),
    })),
  )
  const runs = found.flatMap((one) => one.runs)
  const ending = new Set(runs.filter((run) => !run.goes_on).map(({run}) => run))
  return {
    findings: found.flatMap((one) => judgeReboot(one.node, one)),
    goOn: [...new Set(runs.map(({run}) => run))].filter((run) => !ending.has(run)).sort(),
  }
}

/** What a node's answer means. Pure. */
export function judgeReboot(node: string, {comes_back: comesBack, wanted, missing, runs}: BootFound): Finding[] {
  const warn = (message: string, fix: string): Finding => ({severity: 'warning', about: 'node', node, message, fix})
  const down = missing.map(({id, state, exit, last}) => {
    const why = [exit, last].filter((one) => one !== null).join(': ')
    return warn(`${nameOf(id)} is to run there, and is ${state}${why === '' ? '' : ` (${why})`}`, restartOf(id))
  })
  const ending = runs
    .filter((run) => !run.goes_on)
    .map(({run, why}) =>
      warn(
        `run ${run} would not go on after a reboot (${why ?? 'nobody would start it'})`,
        'train.restarts, train.checkpoint and train.restart.after_reboot in flexrack.yaml, for the next run',
      ),
    )
  down.push(...ending)
  if (comesBack.by !== 'none' || wanted.length === 0) return down
  const names = wanted.map(nameOf).join(', ')
  return [
    ...down,
    warn(
      `${names} will not come back after a reboot (${comesBack.why ?? 'nobody would start it'})`,
      'sudo loginctl enable-linger USER, or have cron run (on the node), then start it again',
    ),
  ]
}

function nameOf(id: string): string {
  if (id === 'head') return 'the head'
  return id === 'gpu' ? 'the GPU daemon' : id
}

function restartOf(id: string): string {
  if (id === 'head') return 'flexrack head start'
  if (id === 'gpu') return 'flexrack gpu serve'
  const endpoint = /^endpoint-(.+)-[^-]+-[^-]+$/.exec(id)?.[1]
  return endpoint === undefined ? 'start it again' : `flexrack endpoint show ${endpoint}`
}
