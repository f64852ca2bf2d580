import {CliError} from '../../lib/base/index.ts'
import type {Change, DeployInput} from '../../lib/endpoint/index.ts'
import type {ChangeAnswer} from './text.ts'

/**
 * What to deploy: the same of each endpoint that is named. Errors: USAGE where something is said that can be meant for one
 * endpoint alone.
 */
export function deploysOf(names: string[], input: Omit<DeployInput, 'name'>): DeployInput[] {
  const several = names.length > 1
  const alone = [input.model !== undefined && '--model', input.canary && '--canary and --shadow'].find(Boolean)
  if (several && alone)
    throw new CliError('USAGE', `${alone} are for one endpoint, and ${names.length} were named`, {
      hint: 'say in flexrack.yaml which model each endpoint serves (docs/manifest.md, `endpoints`)',
    })
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new CliError('USAGE', `endpoint ${twice} is named twice`)
  return names.map((name) => ({...input, name}))
}

export function deployAnswer({changed, endpoint}: Change): ChangeAnswer {
  return {command: 'deploy', changed, endpoint}
}
