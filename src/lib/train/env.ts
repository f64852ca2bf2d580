import {randomBytes} from 'node:crypto'
import {hostname} from 'node:os'
import {CliError, type Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import {fill} from '../plan/index.ts'
import type {RunOrder} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {ProjectFiles} from '../workspace/index.ts'
import type {Unfilled} from './spec.ts'
import type {Done, TrainEnv} from './steps/types.ts'
import {userName} from './track.ts'
import type {SharedStart} from './types.ts'

export interface EnvParts {
  /** Flexrack's own. */
  version: string
  /** Variables of the ranks, by name. */
  variables: Record<string, string>
  /** What was read of the project when the plan was made. */
  files?: ProjectFiles
  shared?: SharedStart | undefined
  /** Sections of rclone.conf, where the run has inputs or uploads. */
  remotes?: string
}

/** What steps of a training need besides their plan, with a secret for a new gang. */
export function openTrainEnv(
  {rack, fleet, manifest}: {rack: Rack; fleet: Fleet; manifest?: {name: string}},
  {version, variables, files = new ProjectFiles(), shared, remotes = ''}: EnvParts,
  context: Context,
): TrainEnv {
  return {
    rack,
    fleet,
    ...(manifest && {project: manifest.name}),
    variables,
    files,
    remotes,
    context,
    host: async (name) => {
      const node = rack.nodes.find((one) => one.name === name)
      if (!node)
        throw new CliError('NOT_FOUND', `there is no node named ${name} in rack ${rack.name}`, {details: {node: name}})
      return openHost(fleet, node, context)
    },
    secret: randomBytes(32).toString('hex'),
    user: userName(context),
    version,
    machine: hostname(),
    ...(shared && {shared: {tracking: shared.tracking, source: shared.source}}),
  }
}

/** spec.json with everything that is known now. Holds secrets: it is for a node alone. */
export function filledSpec(
  template: Unfilled<RunOrder>,
  done: Pick<Done, 'at'>,
  {
    secret,
    user,
    version,
    machine,
    variables,
    remotes,
  }: Pick<TrainEnv, 'secret' | 'user' | 'version' | 'machine' | 'variables' | 'remotes'>,
): RunOrder {
  const known = {secret, user, version, machine, variables, remotes, now: Date.now() / 1000}
  return fill(template, (from) => done.at(from), known) as RunOrder
}
