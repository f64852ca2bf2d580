import {CliError, type Context} from '../base/index.ts'
import type {Plan} from '../plan/index.ts'
import {applyTogether, planTogether, type RackChanges} from './apply-together.ts'
import {deploy, rollback, type Prepare} from './change.ts'
import type {DeployInput} from './choice.ts'
import {changeOf, type Change} from './endpoints.ts'
import {openSite, type EndpointPlace} from './open-site.ts'

/** An endpoint of one of several racks, by the rack's name. */
export interface RackEndpoint {
  rack: string
  name: string
}

export interface SetChange extends Change {
  rack: string
}

/** Endpoints of several racks that change all at once or not at all. */
export interface EndpointSets {
  planDeploy(inputs: (DeployInput & RackEndpoint)[]): Promise<Plan>
  deploy(inputs: (DeployInput & RackEndpoint)[]): Promise<SetChange[]>
  planRollback(set: RackEndpoint[]): Promise<Plan>
  /** Each to its last good release before the one that serves. */
  rollback(set: RackEndpoint[], seconds?: number): Promise<SetChange[]>
  close(): Promise<void>
}

/** Connects to the head of every rack; the first one's decides. Errors: those of openEndpoints. */
export async function openEndpointSets(places: readonly EndpointPlace[], context: Context): Promise<EndpointSets> {
  const opened: Awaited<ReturnType<typeof openSite>>[] = []
  const close = async (): Promise<void> => void (await Promise.all(opened.map((one) => one.close())))
  try {
    for (const place of places) opened.push(await openSite(place, ofRack(context, place.rack.name), false))
  } catch (error) {
    await close()
    throw error
  }
  const of = <T extends RackEndpoint>(set: T[], prepare: (one: T) => Prepare): RackChanges[] => {
    const foreign = set.find(({rack}) => !opened.some(({site}) => site.rack.name === rack))
    if (foreign) throw new CliError('NOT_FOUND', `rack ${foreign.rack} of endpoint ${foreign.name} was not opened`)
    return opened.map(({site}) => ({
      site,
      changes: new Map(set.flatMap((one) => (one.rack === site.rack.name ? [[one.name, prepare(one)] as const] : []))),
    }))
  }
  const apply = async (racks: RackChanges[]): Promise<SetChange[]> =>
    (await applyTogether(racks)).flatMap((outcomes, at) => {
      const {site} = racks[at]!
      return outcomes.map((one) => ({...changeOf(site, one), rack: site.rack.name}))
    })
  return {
    planDeploy: (inputs) => planTogether(of(inputs, deploy), 'endpoint deploy'),
    deploy: (inputs) => apply(of(inputs, deploy)),
    planRollback: (set) =>
      planTogether(
        of(set, ({name}) => rollback(name, undefined)),
        'endpoint rollback',
      ),
    rollback: (set, seconds) => apply(of(set, ({name}) => rollback(name, seconds))),
    close,
  }
}

/** Nodes of several racks may have the same name. */
function ofRack(context: Context, rack: string): Context {
  const {reporter} = context
  const named = (node: string | undefined): string => (node === undefined ? rack : `${node}@${rack}`)
  return {
    ...context,
    reporter: {
      begin: (title, node) => reporter.begin(title, named(node)),
      note: (text) => reporter.note(`${rack}: ${text}`),
      warn: (text) => reporter.warn(`${rack}: ${text}`),
    },
  }
}
