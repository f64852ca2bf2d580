import {mkdir, rm} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import type {CanaryRules, ScalingRules} from '../../types.ts'
import {openDurables, Turns, writeDurably} from '../files/durable.ts'
import {Failure} from '../failure.ts'
import type {QueueRules} from '../queue/settings.ts'
import {checkDocument, readChanges, type Change} from './endpoint-changes.ts'
import {Switch} from './switch.ts'
import type {Served} from '../gateway/calls.ts'

/** What an endpoint is: a document that its owner writes; the gateway reads what of it is active, and what is beside it. */
export interface EndpointRecord {
  revision: number
  document: {
    active?: (Served & {release?: string; targets?: string[]; scaling?: ScalingRules}) | null
    canary?: CanaryRules | null
    queue?: QueueRules
    /** Origins of pages that may call it from a browser. */
    cors?: string[]
  } & Record<string, unknown>
  /** Where the head chooses which servers run: those that answer now, in the place of the document's targets. */
  running?: string[]
}

/** Endpoint documents, one file each, in memory for the gateway. */
export class Endpoints {
  readonly #folder: string
  readonly #records: Map<string, EndpointRecord>
  readonly #turns = new Turns()
  readonly #changed: ((name: string) => void)[] = []
  /** Endpoints that are promised to a switch over several racks (joint/), by name: nobody else changes them. */
  readonly #promised = new Map<string, string>()

  private constructor(folder: string, records: Map<string, EndpointRecord>) {
    this.#folder = folder
    this.#records = records
  }

  static async open(headFolder: string): Promise<Endpoints> {
    const folder = join(headFolder, 'endpoints')
    await mkdir(folder, {recursive: true, mode: 0o700})
    await new Switch(headFolder).recover()
    return new Endpoints(folder, await openDurables('head.endpoint', folder))
  }

  /** Of a standby: what its first head has is given to it (follow), and nothing of it is written. */
  static following(): Endpoints {
    return new Endpoints('', new Map())
  }

  /** Has these and no others from here on. */
  follow(records: Record<string, EndpointRecord>): void {
    const names = new Set([...this.#records.keys(), ...Object.keys(records)])
    this.#records.clear()
    for (const [name, record] of Object.entries(records)) this.#records.set(name, record)
    for (const name of names) this.#tellChanged(name)
  }

  /** Has `tell` called once a document is another one, or none. */
  whenChanged(tell: (name: string) => void): void {
    this.#changed.push(tell)
  }

  #tellChanged(name: string): void {
    for (const tell of this.#changed) tell(name)
  }

  names(): string[] {
    return [...this.#records.keys()].sort()
  }

  find(name: string): EndpointRecord | undefined {
    return this.#records.get(name)
  }

  get(name: string): EndpointRecord {
    const record = this.#records.get(name)
    if (!record) throw new Failure(404, 'NOT_FOUND', `no endpoint ${name}`)
    return record
  }

  /**
   * Replaces a document, on disk before the gateway sees it. `revision` is the one that was read, 0 for a new endpoint.
   */
  put(name: string, given: {revision?: unknown; document?: unknown}): Promise<EndpointRecord> {
    const {revision, document} = given
    let checked: EndpointRecord['document']
    try {
      checked = checkDocument(name, document)
    } catch (error) {
      return Promise.reject(error as Error)
    }
    return this.#turns.take(async () => {
      const record = this.#next(name, revision, checked)
      await writeDurably('head.endpoint', join(this.#folder, `${name}.json`), record)
      return this.#have(name, record)
    })
  }

  /**
   * Keeps these changes possible: nobody else may change their endpoints until release(). `keep` writes the promise down;
   * where it throws there is none. Errors: 400, 409.
   */
  promise(joint: string, changes: Change[], keep: () => Promise<void>): Promise<void> {
    return this.#turns.take(async () => {
      for (const {name, revision, document} of changes) this.#next(name, revision, document, joint)
      await keep()
      for (const {name} of changes) this.#promised.set(name, joint)
    })
  }

  /** Those of a promise that was made before this start. */
  keepPromised(joint: string, names: string[]): void {
    for (const name of names) this.#promised.set(name, joint)
  }

  /** It was decided, and done. */
  release(joint: string): void {
    for (const [name, holder] of this.#promised) if (holder === joint) this.#promised.delete(name)
  }

  /** The switch that it is promised to. */
  promisedTo(name: string): string | undefined {
    return this.#promised.get(name)
  }

  /** The same for several endpoints: all of them or none, whatever happens in between. `joint`: to whom they are promised. */
  putTogether(given: unknown, joint?: string): Promise<EndpointRecord[]> {
    let changes: Change[]
    try {
      changes = readChanges(given)
    } catch (error) {
      return Promise.reject(error as Error)
    }
    return this.#turns.take(async () => {
      const records = changes.map(({name, revision, document}) => this.#next(name, revision, document, joint))
      const before = changes.map(({name}) => [name, this.#records.get(name) ?? null] as const)
      const after = changes.map(({name}, index) => [name, records[index]!] as const)
      await new Switch(dirname(this.#folder)).change(Object.fromEntries(before), Object.fromEntries(after))
      return changes.map(({name}, index) => this.#have(name, records[index]!))
    })
  }

  /** What is to be kept over the revision that was read. Throws 409. */
  #next(name: string, revision: unknown, document: EndpointRecord['document'], joint?: string): EndpointRecord {
    this.#requireFree(name, joint)
    const current = this.#records.get(name)?.revision ?? 0
    if ((revision ?? 0) !== current) {
      const message = `endpoint ${name} was changed in the meantime: it is at revision ${current}`
      throw new Failure(409, 'CONFLICT', message, {revision: current})
    }
    return {revision: current + 1, document}
  }

  /** Errors: 409. */
  #requireFree(name: string, joint?: string): void {
    const holder = this.#promised.get(name)
    if (holder !== undefined && holder !== joint)
      throw new Failure(409, 'CONFLICT', `endpoint ${name} is part of a switch over several racks that is not decided`)
  }

  /** It is on the disk, and holds from here on. */
  #have(name: string, record: EndpointRecord): EndpointRecord {
    const before = this.#records.get(name)
    const isSame = before?.document.active?.release === record.document.active?.release
    if (isSame && before?.running && record.document.active?.scaling) record.running = before.running
    this.#records.set(name, record)
    this.#tellChanged(name)
    return record
  }

  /** Servers that the head has chosen and that answer, or undefined. True where they are others than before. */
  run(name: string, targets: string[] | undefined): boolean {
    const record = this.#records.get(name)
    if (!record || record.running?.join() === targets?.join()) return false
    const {running: _, ...left} = record
    this.#records.set(name, {...left, ...(targets && {running: targets})})
    this.#tellChanged(name)
    return true
  }

  remove(name: string): Promise<void> {
    return this.#turns.take(async () => {
      this.get(name)
      this.#requireFree(name)
      await rm(join(this.#folder, `${name}.json`), {force: true})
      this.#records.delete(name)
      this.#tellChanged(name)
    })
  }
}
