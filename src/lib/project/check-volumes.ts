import {randomBytes} from 'node:crypto'
import {isCliError, type Context} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import type {VolumeSeen} from '../protocol/index.ts'
import {selectNodes, type Rack, type RackNode, type RackVolume} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {volumesFor} from '../volume/index.ts'
import type {Finding} from './findings.ts'

/** Types of file systems that several machines see (proc(5)); what is none of these may still be one. */
const SHARED =
  /^(?:nfs4?|lustre|gpfs|beegfs|ceph|fuse\.ceph.*|glusterfs|fuse\.glusterfs|wekafs|cifs|smb3|fuse\.juicefs|fuse\.sshfs|9p|virtiofs)$/
/** Of a disk or a quota, the part that is too little. */
const LITTLE = 0.02

export interface VolumeOfNode extends VolumeSeen {
  node: string
  kind: RackVolume['kind']
}

/** Every volume of the rack file on every node that is to have it, and whether those that are to be shared are. */
export async function checkVolumes(
  rack: Rack,
  nodes: RackNode[],
  manifest: Manifest | undefined,
  fleet: Fleet,
  ctx: Context,
): Promise<{volumes: VolumeOfNode[]; findings: Finding[]}> {
  const findings: Finding[] = []
  const report = (node: string | undefined, severity: Finding['severity'], message: string, fix?: string): void =>
    void findings.push({
      severity,
      about: node === undefined ? 'rack' : 'node',
      ...(node !== undefined && {node}),
      message,
      ...(fix !== undefined && {fix}),
    })
  try {
    if (manifest) volumesFor(manifest, rack)
  } catch (error) {
    if (!isCliError(error)) throw error
    report(undefined, 'error', error.message, error.hint)
  }
  const wanted = new Map((manifest?.volumes ?? []).map(({name, write}) => [name, write]))
  const hosts = new Map<string, Host>()
  const volumes: VolumeOfNode[] = []
  await Promise.all(
    nodes.map(async (node) => {
      const own = Object.entries(rack.volumes ?? {}).filter(([, {nodes: chosen}]) =>
        selectNodes(rack, chosen, rack.nodes).includes(node),
      )
      if (own.length === 0) return
      try {
        const host = await openHost(fleet, node, ctx)
        hosts.set(node.name, host)
        const asked = own.map(([name, {path}]) => ({name, path, write: wanted.get(name) === true}))
        const seen = await host.call('volume.look', {volumes: asked, try_write: true}, {signal: ctx.signal})
        volumes.push(
          ...seen.map((one, index): VolumeOfNode => ({...one, node: node.name, kind: own[index]?.[1].kind ?? 'local'})),
        )
      } catch (error) {
        if (!isCliError(error) || error.code === 'INTERRUPTED' || error.code === 'BUG') throw error
        report(node.name, 'error', error.message, error.hint)
      }
    }),
  )
  // In the same order whoever answered first.
  volumes.sort((a, b) => a.node.localeCompare(b.node, undefined, {numeric: true}) || a.name.localeCompare(b.name))
  for (const one of volumes) judge(one, report)
  await Promise.all(
    Object.entries(rack.volumes ?? {})
      .filter(([, {kind}]) => kind === 'shared')
      .map(async ([name, {path}]) => {
        const having = volumes.filter((one) => one.name === name && one.trouble === null)
        const apart = having.length > 1 ? await separate(path, having, hosts, ctx) : []
        for (const {node, from} of apart) {
          const message = `its ${path} is not that of ${from}: the volume ${name} is to be shared`
          report(node, 'error', message, `mount the same there, or say kind: local in ${rack.path}`)
        }
      }),
  )
  return {volumes, findings}
}

/** Pure. */
function judge(
  {node, name, kind, path, trouble, hint, type, free, total, quota}: VolumeOfNode,
  report: (node: string, severity: Finding['severity'], message: string, fix?: string) => void,
): void {
  if (trouble !== null) return report(node, 'error', `the volume ${name} cannot be used: ${trouble}`, hint ?? undefined)
  if (kind === 'local' && SHARED.test(type)) {
    const message = `the volume ${name} is said to be local, and ${path} is on ${type}`
    report(node, 'warning', message, 'say kind: shared in the rack file')
  }
  if (total > 0 && free < total * LITTLE) {
    const message = `the volume ${name} is nearly full: ${gib(free)} of ${gib(total)} are free at ${path}`
    report(node, 'warning', message, 'remove files there')
  }
  if (quota && quota.used > quota.limit * (1 - LITTLE)) {
    const message = `the quota at ${path} is nearly used up: ${gib(quota.used)} of ${gib(quota.limit)}`
    report(node, 'warning', message, 'remove files there')
  }
}

const gib = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`

/**
 * Nodes that do not see what another one sees: by a file that one writes and the others read;
 * where none may write, by what the folder itself is.
 */
export async function separate(
  path: string,
  having: VolumeOfNode[],
  hosts: ReadonlyMap<string, Pick<Host, 'call'>>,
  {signal}: Pick<Context, 'signal'>,
): Promise<{node: string; from: string}[]> {
  const writer = having.find(({writable}) => writable)
  const first = writer ?? having[0]
  if (!first) return []
  const others = having.filter((one) => one !== first)
  if (!writer)
    return others.filter(({identity}) => identity !== first.identity).map(({node}) => ({node, from: first.node}))
  const nonce = randomBytes(16).toString('hex')
  const mark = async (node: string, step: 'write' | 'read' | 'remove'): Promise<boolean> => {
    const host = hosts.get(node) as Pick<Host, 'call'>
    return (await host.call('volume.mark', {path, nonce, step}, {signal})).found
  }
  try {
    await mark(writer.node, 'write')
    const found = await Promise.all(
      others.map(async ({node}) => ({node, from: writer.node, isSame: await mark(node, 'read')})),
    )
    return found.filter(({isSame}) => !isSame).map(({node, from}) => ({node, from}))
  } finally {
    await mark(writer.node, 'remove').catch(() => {})
  }
}
