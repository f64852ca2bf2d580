import {open} from 'node:fs/promises'
import {Readable} from 'node:stream'
import {CliError, isCliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {QuotaSum} from '../head/index.ts'
import {sumsText} from '../holding/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {Handlers, PlanOf, StepOf} from '../plan/index.ts'
import type {DataManifest, DataOrder} from '../protocol/index.ts'
import {counted} from './counted.ts'
import {given, Spread} from './spread.ts'
import {DataStore} from './store.ts'

/** Bytes: less of it comes from this machine, as others would only wait for it. */
const SMALL = 1 << 20

type DataInput = {
  node: string
  name: string
  /** The version. */
  digest: string
  files: number
  bytes: number
  /** Bytes that data may take on the node; null: what the disk has. */
  limit: number | null
  /** The run that is about to begin with it: nothing else takes its place until then. */
  run?: string
}

type Sent = DataOrder['send'][number]

/** What came to a node. */
export interface Pushed {
  node: string
  name: string
  digest: string
  /** Bytes that came to it; 0 where it was there already. */
  sent: number
  /** The node that they came from; null: this machine. */
  from: string | null
  /** Versions that gave way. */
  evicted: string[]
}

export type DataKinds = {'data.push': {input: DataInput; output: Pushed}}

export interface DataEnv {
  host(node: string): Host | Promise<Host>
  /** Where it counts for quotas, and of which project. */
  rack?: Rack
  fleet?: Fleet
  project?: string
  context: Context
}

export const DATA_HANDLERS: Handlers<DataKinds, DataEnv> = {
  'data.push': (input, _done, env) => counted(input, env, () => push(input, env)),
}

/** One a node and version; what is there already costs a question. `sums`: what all of it comes to. Pure. */
export function dataSteps(
  nodes: readonly string[],
  versions: readonly DataManifest[],
  limit: number | null,
  {run, sums = []}: {run?: string; sums?: readonly QuotaSum[]} = {},
): StepOf<DataKinds>[] {
  const text = sumsText(sums)
  const steps = nodes.flatMap((node) =>
    versions.map(({name, digest, files, bytes}) => ({
      id: `data:${name}:${node}`,
      node,
      kind: 'data.push' as const,
      title: `Bring the data ${name}@${digest.slice(0, 12)}, as far as it is not there`,
      needs: [],
      input: {node, name, digest, files: files.length, bytes, limit, ...(run !== undefined && {run})},
    })),
  )
  const [first, ...others] = steps
  return first && text !== '' ? [{...first, title: `${first.title}; with all of it: ${text}`}, ...others] : steps
}

/** `data push`. */
export function planPush(
  nodes: readonly string[],
  versions: readonly DataManifest[],
  limit: number | null,
  sums: readonly QuotaSum[] = [],
): PlanOf<DataKinds> {
  return {command: 'data push', steps: dataSteps(nodes, versions, limit, {sums})}
}

/** Errors: NOT_FOUND (the version is not here any more), CONFLICT (a content here is damaged), NODE_UNFIT (no room). */
async function push({node, name, digest, limit, run}: DataInput, {host: hostOf, context}: DataEnv): Promise<Pushed> {
  const host = await hostOf(node)
  const {signal} = context
  const claim = run === undefined ? {} : {claim: run}
  const there = await host.call('data.list', {digest, ...claim}, {signal})
  const spread = spreadOf(context, digest)
  if (there.versions.length > 0) spread.has(host)
  if (there.versions.length > 0) return {node, name, digest, sent: 0, from: null, evicted: []}
  const store = new DataStore(context)
  const manifest = await store.find(`${name}@${digest}`)
  for (let go = 1; ; go++) {
    const {missing} = await host.call('data.missing', manifest, {signal})
    const sizes = new Map(manifest.files.map(([, , size, content]) => [content, size]))
    const send = missing.map(([content, executable, before]): Sent => [
      content,
      executable,
      sizes.get(content) ?? 0,
      before,
    ])
    const total = send.reduce((sum, [, , size, before]) => sum + size - before, 0)
    const from = total > SMALL ? await spread.want(host, context) : null
    if (from) {
      const pushed = await fetched(
        {manifest, send, total, order: {limit, ...claim}, node},
        host,
        from.from,
        context,
      ).finally(from.done)
      if (pushed) {
        spread.has(host)
        return pushed
      }
      spread.isOut(from.from)
      continue
    }
    const progress = context.reporter.begin(`Bring the data ${name}`, node)
    const trouble: {error?: CliError} = {}
    const body = Readable.from(
      contents(store, send, (sent) => progress.amount(sent, total, 'bytes'), trouble),
      {objectMode: false},
    )
    try {
      const {bytes, evicted} = await host.call('data.receive', {manifest, send, limit, ...claim}, {body, signal})
      progress.done()
      spread.has(host)
      return {node, name, digest, sent: bytes, from: null, evicted}
    } catch (error) {
      progress.fail()
      spread.failed(host)
      if (trouble.error) throw trouble.error
      if (!isCliError(error, 'CONFLICT') || error.details.retry !== true || go >= 3) throw error
    } finally {
      body.destroy()
    }
  }
}

/**
 * From another node; undefined where that does not give it: then it comes from elsewhere. Errors: those of the
 * receiver.
 */
async function fetched(
  {
    manifest,
    send,
    total,
    order,
    node,
  }: {
    manifest: DataManifest
    send: Sent[]
    total: number
    order: Pick<DataOrder, 'limit' | 'claim'>
    node: string
  },
  host: Host,
  from: Host,
  context: Context,
): Promise<Pushed | undefined> {
  const {name, digest} = manifest
  const progress = context.reporter.begin(`Bring the data ${name} from ${from.node}`, node)
  const {signal} = context
  try {
    const {bytes, evicted} = await given(
      from,
      digest,
      send.map(([content, executable, , before]) => [content, executable, before]),
      context,
      (source) =>
        host.call(
          'data.fetch',
          {manifest, send, source, ...order},
          {
            signal,
            onEvent: (event) => void (event.event === 'progress' && progress.amount(event.done, total, 'bytes')),
          },
        ),
    )
    progress.done()
    return {node, name, digest, sent: bytes, from: from.node, evicted}
  } catch (error) {
    progress.fail()
    if (signal.aborted || (isCliError(error) && ['NODE_UNFIT', 'LOCKED', 'INTERRUPTED', 'BUG'].includes(error.code)))
      throw error
    context.reporter.warn(`${node} did not get the data ${name} from ${from.node}: ${(error as Error).message}`)
    return undefined
  }
}

const spreads = new WeakMap<Context, Map<string, Spread>>()

/** Of one command: its nodes are asked at the same time. */
function spreadOf(context: Context, digest: string): Spread {
  const known = spreads.get(context) ?? new Map<string, Spread>()
  spreads.set(context, known)
  const spread = known.get(digest) ?? new Spread()
  known.set(digest, spread)
  return spread
}

async function* contents(
  store: DataStore,
  send: readonly Sent[],
  onSent: (bytes: number) => void,
  trouble: {error?: CliError},
): AsyncGenerator<Buffer> {
  let sent = 0
  for (const [content, , , before] of send) {
    const file = await open(store.blob(content)).catch(() => undefined)
    if (!file) {
      const message = `the content ${content.slice(0, 12)} is not in the store here any more`
      trouble.error = new CliError('NOT_FOUND', message, {
        hint: 'flexrack data verify NAME\nflexrack data add FOLDER NAME',
      })
      return // the node sees the end too early, and drops what has come
    }
    try {
      for (let position = before; ;) {
        const {bytesRead, buffer} = await file.read({buffer: Buffer.allocUnsafe(256 << 10), position})
        if (bytesRead === 0) break
        position += bytesRead
        sent += bytesRead
        onSent(sent)
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await file.close()
    }
  }
}
