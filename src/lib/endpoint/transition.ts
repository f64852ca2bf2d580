import {CliError, isCliError} from '../base/index.ts'
import {executePlan, valuesOf} from '../plan/index.ts'
import {ProjectFiles} from '../workspace/index.ts'
import {
  keptReleases,
  nodesOf,
  pruned,
  putRelease,
  settled,
  type EndpointDocument,
  type EndpointRecord,
} from './document.ts'
import {pruneFolders, stopReplicas} from './leftovers.ts'
import type {FetchedModel} from './model-files.ts'
import {transitionPlan, type Transition, type TransitionRules} from './plan.ts'
import {recipeOf} from './runtime-of.ts'
import {hostOf, type Site} from './site.ts'
import {ENDPOINT_HANDLERS, type EndpointKinds, type TransitionEnv} from './steps.ts'
import {putEndpoint} from './store.ts'
import {inProject, serversAfter} from './count.ts'
import type {Joint} from './together.ts'

export interface TransitionInput extends TransitionRules {
  change: Transition
  /** What was read of the project, where it has to come to nodes. */
  files?: ProjectFiles | undefined
  /** Those that switch with it. */
  together?: Joint | undefined
  fetch(): Promise<FetchedModel>
}

/**
 * Carries out a transition over `record`, holding the lock. The gateway is switched only when every new replica is
 * ready and has answered; a failure before that ends what was started and leaves what served serving. Errors:
 * ENDPOINT_FAILED, TIMED_OUT, INTERRUPTED and those of the steps; details.lines has the server's last lines.
 */
export async function carryOut(site: Site, record: EndpointRecord, input: TransitionInput): Promise<EndpointDocument> {
  const {change} = input
  const plan = transitionPlan(change, input)
  const begun = await putEndpoint(site.head, record, announce(inProject(site, record.document), change))
  const until = new AbortController()
  let fetched: Promise<FetchedModel> | undefined
  const urls = begun.document.releases.flatMap((release) => release.replicas.flatMap((replica) => replica.url ?? []))
  const env: TransitionEnv = {
    site,
    record: begun,
    switched: false,
    together: input.together,
    uncertain: false,
    taken: new Set(urls.map((url) => Number(new URL(url).port))),
    custom: change.release.custom,
    host: (node) => hostOf(site, node),
    files: input.files ?? new ProjectFiles(),
    context: site.context,
    recipe: (runtime) => recipeOf({...change.release, runtime}, site.context.env),
    fetch: () => (fetched ??= input.fetch()),
  }
  // Once switched, Ctrl-C comes too late: what is left to do (end the old servers) is done.
  const stop = (): void => void (env.switched || until.abort())
  site.context.signal.addEventListener('abort', stop)
  if (site.context.signal.aborted) stop()
  const outcomes = await executePlan(plan, ENDPOINT_HANDLERS, env, {signal: until.signal})
  site.context.signal.removeEventListener('abort', stop)
  await (await fetched?.catch(() => undefined))?.remove()
  if (env.switched)
    return finish(
      {...site, context: {...site.context, signal: site.context.kill}},
      env.record,
      valuesOf<EndpointKinds, 'endpoint.stop'>(outcomes, 'endpoint.stop').every(Boolean),
    )
  const failed = outcomes.find((one) => one.status === 'failed')?.error
  const error = failed ?? outcomes.find((one) => one.error)?.error ?? new CliError('INTERRUPTED', 'interrupted')
  throw await undo(env, change, error)
}

/** What is about to happen, written down first: whoever finds it after a crash knows where to look. */
function announce(before: EndpointDocument, change: Transition): EndpointDocument {
  const {release, start, prepare = []} = change
  const pending = [...new Set([...start, ...prepare].map((replica) => replica.node))]
  const known = before.releases.find((one) => one.id === release.id)
  const document = {...before, planned: serversAfter(before, change)}
  // A release that serves keeps the replicas it has until the switch.
  if (known?.state === 'active' || known?.state === 'canary') return putRelease(document, {...known, pending})
  return putRelease(document, {...release, state: 'starting', pending})
}

async function finish(site: Site, done: EndpointRecord, allStopped: boolean): Promise<EndpointDocument> {
  const {planned: _, ...rest} = done.document
  const document = pruned(allStopped ? settled(rest, '') : rest)
  await pruneFolders(
    site,
    document.name,
    nodesOf(done.document).filter((name) => site.rack.nodes.some((node) => node.name === name)),
    keptReleases(document),
  )
  return (await putEndpoint(site.head, done, document)).document
}

async function undo({site, record, uncertain}: TransitionEnv, change: Transition, error: Error): Promise<Error> {
  // Ctrl-C must not keep us from taking back what was started.
  const calm: Site = {...site, context: {...site.context, signal: site.context.kill}}
  const reason = isCliError(error, 'INTERRUPTED') ? 'interrupted' : error.message
  if (uncertain) {
    return new CliError(
      'HEAD_FAILED',
      `the head went away while endpoint ${change.endpoint} was being switched to release ${change.release.id}; both releases were left running`,
      {
        hint: `flexrack head start --rack ${site.rack.name}\nflexrack endpoint show ${change.endpoint}`,
        details: {release: change.release.id},
        cause: error,
      },
    )
  }
  try {
    const all = [...change.start, ...(change.prepare ?? [])]
    const ended = await stopReplicas(calm, all)
    const document = ended ? settled(record.document, reason) : record.document
    await pruneFolders(calm, change.endpoint, [...new Set(all.map((replica) => replica.node))], keptReleases(document))
    await putEndpoint(calm.head, record, document)
  } catch (second) {
    site.context.reporter.warn(
      `what was started of release ${change.release.id} could not be taken back yet (${(second as Error).message}); the next deploy does`,
    )
  }
  if (!isCliError(error)) return error
  const what = `release ${change.release.id} of endpoint ${change.endpoint}`
  if (change.takeBack !== undefined) return error // nothing was begun
  const ending = record.document.active ? `; release ${record.document.active.release} keeps serving` : ''
  const how =
    error.code === 'INTERRUPTED'
      ? `interrupted: ${what} was taken back`
      : `${what} was not switched to: ${error.message}`
  return new CliError(error.code, `${how}${ending}`, {
    hint: error.hint ?? `flexrack endpoint show ${change.endpoint}`,
    details: {...error.details, release: change.release.id},
    cause: error,
  })
}
