import {setTimeout as sleep} from 'node:timers/promises'
import {CliError, type Context} from '../base/index.ts'
import {DataStore} from '../data/index.ts'
import {openEndpoints, type Endpoints} from '../endpoint/index.ts'
import type {PageAsk, PageAsks, PageQuestion} from '../head/index.ts'
import {openHost} from '../host/index.ts'
import type {Manifest} from '../manifest/index.ts'
import {findNotebooks} from '../notebook/index.ts'
import {readOverview, type Overview} from '../overview/index.ts'
import type {Rack} from '../rack/index.ts'
import {openRuns, stopRun, type Runs} from '../runs/index.ts'
import {forEachNode, type Fleet} from '../ssh/index.ts'
import {listSweeps} from '../sweep/index.ts'
import {rackFacts, runFacts} from './facts.ts'
import {idleFacts} from './idle.ts'
import {LogParts} from './lines.ts'
import {notebookFacts, sweepFacts} from './other-facts.ts'
import {detailFacts, stackFacts} from './run-facts.ts'
import {originOf} from './origin.ts'
import {topologyOf} from './topology.ts'
import {answerFacts} from './try.ts'

export interface PagePlace {
  rack: Rack
  fleet: Fleet
  manifest?: Manifest | undefined
}

/** As `top`: a look costs every node something. Milliseconds. */
const LOOK_MS = 2000
/** Runs that are looked for at each look: all that go on, and the newest others. */
const MOST_RUNS = 50

type Answering = {[A in PageAsk]: (input: PageAsks[A]['input']) => Promise<PageAsks[A]['answer']>}

/** What a page is answered, each by what its command does. */
export class Answers {
  readonly #place: PagePlace
  readonly #context: Context
  readonly #logs: LogParts
  #last: Overview | undefined
  #looked = 0
  readonly #by: Answering

  constructor(place: PagePlace, enters: ReadonlyMap<string, () => Promise<string>>, context: Context) {
    this.#place = place
    this.#context = context
    this.#logs = new LogParts(place, context)
    this.#by = {
      rack: () => this.#rack(),
      runs: ({limit}) =>
        this.#withRuns(async (runs) => {
          const found = await runs.list({all: true, limit})
          return {...found, runs: found.runs.map(runFacts)}
        }),
      run: ({run}) => this.#withRuns(async (runs) => detailFacts(await runs.show(run))),
      lines: (input) => this.#logs.read(input),
      merged: (input) => this.#logs.readMerged(input),
      stacks: ({run}) => this.#withRuns(async (runs) => stackFacts(await runs.stacks(await runs.find(run), undefined))),
      topology: ({node}) => topologyOf(place, node, context),
      why: ({name}) => originOf(place, name, context),
      invoke: ({endpoint, text}) =>
        this.#withEndpoints(async (endpoints) =>
          answerFacts(await endpoints.invoke({name: endpoint, file: 'data.json', bytes: Buffer.from(text)})),
        ),
      stop: ({run}) =>
        this.#withRuns(async (runs) =>
          stopRun(runs.place, await runs.find(run), {grace: undefined, kill: false}, this.#context),
        ),
      rollback: ({endpoint}) => this.#rollback(endpoint),
      idle: ({days}) => idleFacts(place, days, context),
      notebooks: () => this.#notebooks(),
      endNotebook: (input) => this.#endNotebook(input),
      sweeps: async () => (await listSweeps(this.#place, {all: true}, this.#context)).map(sweepFacts),
      data: () => this.#data(),
      enter: async ({rack}) => {
        const enter = enters.get(rack)
        if (!enter) throw new CliError('NOT_FOUND', `rack ${rack} is not open here`)
        return {url: await enter()}
      },
    }
  }

  /** Errors: those of what is asked. */
  async to({ask, input}: PageQuestion): Promise<unknown> {
    const answer = this.#by[ask] as ((given: unknown) => Promise<unknown>) | undefined
    if (!answer) throw new Error(`this flexrack does not know what the page asks: ${ask}`)
    return answer(input)
  }

  async #rack(): Promise<PageAsks['rack']['answer']> {
    const pause = this.#looked + LOOK_MS - Date.now()
    if (pause > 0) await sleep(pause, undefined, {signal: this.#context.signal})
    this.#looked = Date.now()
    const now = await readOverview(this.#place, MOST_RUNS, this.#context)
    const facts = rackFacts(now, this.#last, Date.now())
    this.#last = now
    return facts
  }

  /** Of all projects, wherever the command was typed. */
  async #withRuns<T>(use: (runs: Runs) => Promise<T>): Promise<T> {
    const runs = openRuns({rack: this.#place.rack, fleet: this.#place.fleet}, this.#context)
    try {
      return await use(runs)
    } finally {
      await runs.close()
    }
  }

  async #rollback(name: string): Promise<PageAsks['rollback']['answer']> {
    return this.#withEndpoints(async (endpoints) => ({
      release: (await endpoints.rollback(name)).endpoint.release ?? '',
    }))
  }

  async #withEndpoints<T>(use: (endpoints: Endpoints) => Promise<T>): Promise<T> {
    const endpoints = await openEndpoints(this.#place, this.#context)
    try {
      return await use(endpoints)
    } finally {
      await endpoints.close()
    }
  }

  async #notebooks(): Promise<PageAsks['notebooks']['answer']> {
    const {rack, fleet} = this.#place
    const nodes = new Map(rack.nodes.map((one) => [one.name, one]))
    // Those that do not answer are told of on the page of the rack.
    const {done} = await forEachNode(fleet, [...nodes.keys()], async (_shell, name) =>
      findNotebooks(await openHost(fleet, nodes.get(name)!, this.#context), undefined, this.#context),
    )
    return [...done.values()].flat().map(notebookFacts)
  }

  async #endNotebook({name, node}: PageAsks['endNotebook']['input']): Promise<PageAsks['endNotebook']['answer']> {
    const found = this.#place.rack.nodes.find((one) => one.name === node)
    if (!found) throw new Error(`rack ${this.#place.rack.name} has no node ${node}`)
    const host = await openHost(this.#place.fleet, found, this.#context)
    await host.call('notebook.remove', {project: name}, {signal: this.#context.signal})
    return {}
  }

  async #data(): Promise<PageAsks['data']['answer']> {
    const store = new DataStore(this.#context)
    const versions = (await Promise.all((await store.names()).map((one) => store.versions(one)))).flat()
    return versions
      .map(({name, digest, at, files, bytes}) => ({name, digest, files: files.length, bytes, created: at * 1000}))
      .toSorted((a, b) => b.created - a.created)
  }
}
