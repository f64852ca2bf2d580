import {EventEmitter} from 'node:events'
import type {Context} from '../../base/index.ts'
import type {Host} from '../../host/index.ts'
import {readReservations} from '../../reservation/index.ts'
import {needVolumes, volumeSteps} from '../../volume/index.ts'
import {planWorkspace} from '../../workspace/index.ts'
import {choosePlacement} from '../choose.ts'
import {outlookFor} from '../outlook.ts'
import {requireMpi} from '../mpi.ts'
import {placeRun} from '../place.ts'
import {sharedWorkspaces} from '../shared-workspaces.ts'
import {leaseSteps} from '../steps/lease.ts'
import {preflightSteps} from '../steps/preflight.ts'
import {reserveStep} from '../steps/reserve.ts'
import {routeSteps} from '../steps/route.ts'
import {startSteps} from '../steps/start.ts'
import type {TrainChoice, TrainPlace} from '../types.ts'
import {openGang} from './gang-hosts.ts'
import type {Placed, Placer} from './types.ts'

/**
 * The nodes of the rack, reserved among flexrack's own runs. Errors: those of placeRun, choosePlacement and
 * planWorkspace, and of a node that could not be looked at.
 */
export const SSH: Placer = {place: placeOnNodes}

/** Whether nodes are chosen by what is free: then others may be quicker. */
export function isChosen({manifest: {train}}: Pick<TrainPlace, 'manifest'>, choice: TrainChoice): boolean {
  if ((choice.gpus ?? train?.gpus) !== undefined) return true
  return choice.nodes === undefined ? train?.minNodes !== undefined : String(choice.nodes).includes('..')
}

async function placeOnNodes(place: TrainPlace, choice: TrainChoice, context: Context): Promise<Placed> {
  const wanted = placeRun(place.manifest, place.rack, choice)
  const outlook = outlookFor(wanted, place, context)
  const room = async (): Promise<string[]> => (await outlook()).room.map((one) => one.run)
  const placed = await choosePlacement(wanted, place, choice, room, context)
  const early = new EventEmitter<{open: [Host]}>()
  const gang = openGang(placed, place.fleet, (host) => early.emit('open', host), context)
  const [{spec}, workspaces, held, sums] = await Promise.all([
    gang,
    choice.shared
      ? sharedWorkspaces(choice.shared)
      : planWorkspace(
          gang.then((one) => one.hosts),
          place.manifest,
          context,
          {command: 'train', early},
        ),
    gang.then((one) =>
      choice.look
        ? readReservations(
            one.spec.placements.map(({node}) => node),
            place.fleet,
            context,
          )
        : [],
    ),
    choice.look ? outlook().then(({sums}) => sums) : [],
    gang.then((one) => Promise.all(one.hosts.map((host) => needVolumes(host, one.spec.volumes, context)))),
    gang.then((one) =>
      one.spec.launcher === 'mpi' && place.manifest.workspace.image === undefined
        ? requireMpi(one.hosts, context)
        : undefined,
    ),
  ])
  for (const error of workspaces.failed.values()) throw error
  return {
    spec,
    workspaces,
    held,
    claim: [
      reserveStep(spec, held, {
        wait: choice.wait,
        isShared: choice.shared !== undefined,
        uri: place.manifest.tracking.uri,
        sums,
      }),
    ],
    ask: [
      ...routeSteps(spec.placements.map((one) => one.node)),
      ...volumeSteps(
        spec.placements.map((one) => one.node.name),
        spec.volumes,
      ),
    ],
    check: preflightSteps(spec, choice.preflight),
    // leases at last: what nobody takes up ends soon
    start: [leaseSteps(spec), startSteps(spec, workspaces.workspaces)],
  }
}
