import type {Manifest} from '../manifest/index.ts'
import type {NodeHere, RunRecord} from '../protocol/index.ts'

/** Something that is not as it was. */
export interface Difference {
  what: string
  was: string
  is: string
}

/** How things are now, as far as it is known before anything starts. */
export interface Now {
  version: string
  /** Nodes on which it would run, with what they say; null of one that does not answer. */
  nodes: {node: string; facts: Pick<NodeHere, 'kernel' | 'machine' | 'cpu' | 'driver'> | null}[]
  /** Hash of the environment that it would get. */
  environment: string | null
  /** Names, as `pets@DIGEST`, that this machine does not have. */
  missing: string[]
  manifest: Manifest
  /** Paths that could not be checked out, with why. */
  left: [path: string, why: string][]
}

/** What differs from the record, the code first. Pure. */
export function differencesOf(record: RunRecord, now: Now): Difference[] {
  const found: Difference[] = now.left.map(([path, why]) => ({what: path, was: 'part of the code', is: why}))
  const put = (what: string, was: string | null | undefined, is: string | null | undefined): void => {
    if ((was ?? null) !== (is ?? null)) found.push({what, was: was ?? 'none', is: is ?? 'none'})
  }
  put('environment', record.environment?.hash, now.environment)
  for (const name of now.missing)
    put(`data ${name}`, 'there', 'gone: neither its name nor its files are on this machine')
  put('nodes', record.nodes.map((one) => one.node).join(', '), now.nodes.map((one) => one.node).join(', '))
  for (const {node, facts} of now.nodes) {
    const was = record.nodes.find((one) => one.node === node) ?? record.nodes[0]
    if (!was) continue
    if (!facts) {
      put(`node ${node}`, 'answered', 'does not answer')
      continue
    }
    const whose = was.node === node ? node : `${node} (was ${was.node})`
    put(`kernel of ${whose}`, was.kernel, facts.kernel)
    put(`machine of ${whose}`, was.machine, facts.machine)
    put(`CPU of ${whose}`, was.cpu, facts.cpu)
    put(`driver of ${whose}`, was.driver, facts.driver)
  }
  put('flexrack', record.origin?.version, now.version)
  const env = {...now.manifest.workspace.env, ...now.manifest.train?.env}
  for (const name of record.env)
    if (!(name in env)) put(`variable ${name}`, 'set by the command', 'not set: values are not recorded')
  for (const {name, from} of record.inputs) put(`input ${name}`, from, `what ${from} has now: buckets have no digest`)
  return found
}
