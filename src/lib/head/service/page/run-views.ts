import type {PageLines, PageRun} from '../../types.ts'
import {compareBody, MOST_COMPARED, type Compared} from './compare.ts'
import {Failure} from '../failure.ts'
import {liveParts} from './live.ts'
import {logSection, readChoice, wishOf, type LogChoice} from './log.ts'
import {curvesOf, historiesOf, paramsOf} from './mlflow-facts.ts'
import {stacksBody} from './ranks.ts'
import {placesOf} from './seen.ts'
import {runBody, runParts, type RunSeen} from './run.ts'
import {readFilter, runsBody, runsParts, type RunList} from './runs.ts'
import {Tail} from './tail.ts'
import type {Topic} from './topics.ts'
import type {Site, View} from './views.ts'
import {isOpen, isSystem, outdated} from './words.ts'

const RUNS_MS = 5000
const RUN_MS = 3000
const MOST_RUNS = 500
const MOST_METRICS = 12

function runsTopic({topics, view, hands}: Site): Topic<RunList> {
  return topics.open(`${view} runs`, RUNS_MS, () => hands.askAny(view, 'runs', {limit: MOST_RUNS}))
}

/** The list of runs, and the page of one. */
export function runsView(path: readonly string[], query: URLSearchParams, site: Site): View | undefined {
  const [run, part] = path
  if (run !== undefined && part === 'stacks' && path.length === 2) return stacksView(run, site)
  if (path.length > 1) return undefined
  if (run !== undefined) return runView(run, query, site)
  const [topic, filter] = [runsTopic(site), readFilter(query)]
  return {
    draw: async () => {
      const [seen, now] = [await topic.fresh(), Date.now()]
      const body = runsBody(seen.value, outdated(seen, now), filter, now)
      return {page: 'runs', title: 'Runs', body, command: 'flexrack runs list --all', isLive: true}
    },
    live: liveParts(topic, (seen) => {
      const now = Date.now()
      return seen.value ? runsParts(seen.value, outdated(seen, now), filter, now) : {}
    }),
  }
}

function runView(run: string, query: URLSearchParams, site: Site): View {
  const {topics, tails, view, hands, parts, may} = site
  const topic = topics.open<RunSeen>(`${view} run ${run}`, RUN_MS, async () => {
    const detail = await hands.askAny(view, 'run', {run})
    return {detail, curves: await curvesOf(parts, detail.tracked, placesOf(detail.project, site))}
  })
  const choice = readChoice(query)
  const {rank, attempt, only, search} = choice
  const log = `${view} log ${run} ${String(rank)} ${attempt} ${only ? search : ''}`
  const read = (at: LogChoice['at']): Promise<PageLines> => {
    const wish = wishOf(run, {...choice, at})
    return 'ranks' in wish ? hands.askAny(view, 'merged', wish) : hands.askAny(view, 'lines', wish)
  }
  return {
    draw: async () => {
      const [seen, lines] = await Promise.all([
        topic.fresh(),
        read(choice.at).then(
          (found) => ({found, error: undefined}),
          (failure: Error) => ({found: undefined, error: failure.message}),
        ),
      ])
      const [{value}, now] = [seen, Date.now()]
      if (!value) throw new Failure(404, 'NOT_FOUND', seen.error ?? `there is no run ${run}`)
      const drawn = logSection(value.detail, choice, lines.found, lines.error)
      return {
        page: 'runs',
        title: run,
        body: runBody(value, outdated(seen, now), drawn, may, now),
        command: `flexrack runs show ${run}`,
        isLive: isOpen(value.detail),
      }
    },
    live: liveParts(topic, (seen) => {
      const now = Date.now()
      return seen.value ? runParts(seen.value, outdated(seen, now), now) : {}
    }),
    tail: () => {
      const found = tails.get(log)
      if (found) return found
      const made = new Tail(
        (from) => read({from}),
        () => tails.delete(log),
      )
      tails.set(log, made)
      return made
    },
  }
}

/** Where the ranks are just now: it holds them for a moment, so that it is asked of who has this page open alone. */
function stacksView(run: string, {hands, login, may}: Site): View {
  return {
    draw: async () => {
      if (!may) throw new Failure(403, 'REFUSED', 'this login only looks at the page')
      const body = stacksBody(run, await hands.ask(login, 'stacks', {run}))
      return {page: 'runs', title: `Stacks of ${run}`, body, command: `flexrack runs stacks ${run}`}
    },
  }
}

/** Runs beside each other: `run` once for each. */
export function compareView(path: readonly string[], query: URLSearchParams, site: Site): View | undefined {
  if (path.length > 0) return undefined
  const names = [...new Set(query.getAll('run').filter((one) => one !== ''))].slice(0, MOST_COMPARED)
  return {
    draw: async () => {
      const all = (await runsTopic(site).fresh()).value?.runs ?? []
      const runs = names.flatMap((name) => all.find((one) => one.run === name) ?? [])
      const missing = names.filter((name) => !runs.some((one) => one.run === name))
      const [metrics, params] = await Promise.all([metricsOf(runs, site), paramsOfRuns(runs, site)])
      const compared: Compared = {runs, missing, metrics, params}
      const others = all.filter((one) => one.tracked !== null && !names.includes(one.run)).slice(0, 100)
      return {
        page: 'runs',
        title: 'Compare',
        body: compareBody(compared, others, Date.now()),
        command: `flexrack runs compare ${names.join(' ')}`,
      }
    },
  }
}

/** Of each run what it was started with. */
async function paramsOfRuns(runs: readonly PageRun[], site: Site): Promise<Compared['params']> {
  if (!site.parts.mlflow.isReady) return runs.map(() => ({}))
  const found = await Promise.all(
    [...Map.groupBy(runs, (one) => one.project)].map(([project, those]) =>
      paramsOf(
        placesOf(project, site),
        those.flatMap((one) => one.tracked ?? []),
      ),
    ),
  )
  const all = new Map(found.flatMap((one) => [...one]))
  return runs.map((one) => all.get(one.tracked ?? '') ?? {})
}

/** Those that most of the runs have come first. */
async function metricsOf(runs: readonly PageRun[], site: Site): Promise<Compared['metrics']> {
  const ids = runs.flatMap((one) => one.tracked ?? [])
  if (ids.length === 0 || !site.parts.mlflow.isReady) return []
  const counts = new Map<string, number>()
  for (const name of runs.flatMap((one) => Object.keys(one.metrics)))
    if (!isSystem(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
  const names = [...counts].toSorted((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([name]) => name)
  const places = [...Map.groupBy(runs, (one) => one.project)].flatMap(([project, those]) =>
    placesOf(project, site).map((place) => ({place, ids: those.flatMap((one) => one.tracked ?? [])})),
  )
  const found = await Promise.all(
    names.slice(0, MOST_METRICS).map(async (name) => {
      const parts = await Promise.all(
        places.flatMap(({place, ids: those}) => (those.length === 0 ? [] : historiesOf(place, those, name))),
      )
      const histories = new Map(parts.flatMap((one) => [...one]))
      return {name, lines: runs.map((one) => histories.get(one.tracked ?? '') ?? [])}
    }),
  )
  return found.filter(({lines}) => lines.some((one) => one.length > 0))
}
