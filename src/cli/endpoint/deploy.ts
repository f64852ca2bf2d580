import {CliError, type Context} from '../../lib/base/index.ts'
import type {Change, DeployInput} from '../../lib/endpoint/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import {openSession, type SessionFlags} from '../base/session.ts'
import {endpointsOf} from './open.ts'
import {namesRacks, openNamedSet, setAnswers} from './sets.ts'
import type {ChangeAnswer} from './text.ts'

/** Deploys what is named, or plans that: one endpoint, several of a rack, or of several racks. */
export async function deployNamed(
  words: string[],
  input: Omit<DeployInput, 'name'>,
  flags: SessionFlags,
  context: Context,
): Promise<{plan(): Promise<Plan>; carryOut(): Promise<ChangeAnswer[]>}> {
  if (namesRacks(words)) {
    requireForOne(words, input)
    const {set, sets} = await openNamedSet(words, flags, context)
    const all = set.map((one) => ({...input, ...one}))
    return {plan: () => sets.planDeploy(all), carryOut: async () => setAnswers('deploy', await sets.deploy(all))}
  }
  const all = deploysOf(words, input)
  const endpoints = await endpointsOf(await openSession(flags, context), context)
  const [only] = all
  if (!only || all.length > 1)
    return {
      plan: () => endpoints.planDeployTogether(all),
      carryOut: async () => (await endpoints.deployTogether(all)).map(deployAnswer),
    }
  return {plan: () => endpoints.planDeploy(only), carryOut: async () => [deployAnswer(await endpoints.deploy(only))]}
}

/**
 * What to deploy: the same of each endpoint that is named. Errors: USAGE where something is said that can be meant for one
 * endpoint alone.
 */
export function deploysOf(names: string[], input: Omit<DeployInput, 'name'>): DeployInput[] {
  requireForOne(names, input)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new CliError('USAGE', `endpoint ${twice} is named twice`)
  return names.map((name) => ({...input, name}))
}

/** The same model at two racks is meant as well as two endpoints. */
function requireForOne(words: string[], input: Omit<DeployInput, 'name'>): void {
  const names = new Set(words.map((word) => word.split('@')[0]))
  const isMany = input.canary ? words.length > 1 : names.size > 1
  const alone = [input.model !== undefined && '--model', input.canary && '--canary and --shadow'].find(Boolean)
  if (isMany && alone)
    throw new CliError('USAGE', `${alone} are for one endpoint, and ${words.length} were named`, {
      hint: 'say in flexrack.yaml which model each endpoint serves (docs/manifest.md, `endpoints`)',
    })
}

export function deployAnswer({changed, endpoint}: Change): ChangeAnswer {
  return {command: 'deploy', changed, endpoint}
}
