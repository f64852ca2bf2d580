import {CliError, type Context} from '../base/index.ts'
import {parseReference, resolveVersion} from '../model/index.ts'
import {evidenceOf, type EvidencePlace} from './evidence.ts'
import {Tracked} from './tracked.ts'
import type {Why} from './types.ts'
import {walk, type Asked, type WalkHow} from './walk.ts'

/**
 * Where what is named comes from: an endpoint, a run or a model, in this order; `endpoint/NAME`, `model/NAME` and `run/ID`
 * say which. Errors: NOT_FOUND, and those of whoever is asked.
 */
export async function why(word: string, verify: boolean, place: EvidencePlace, context: Context): Promise<Why> {
  const how: WalkHow = {evidence: evidenceOf(place, context), verify, signed: place.signers !== undefined}
  for (const asked of meanings(word)) {
    const found = await walk(word, await exact(asked, place), how)
    if (found) return found
  }
  throw new CliError('NOT_FOUND', `there is no endpoint, model or tracked run ${word}`, {
    hint: 'flexrack endpoint list\nflexrack model list\nflexrack runs list',
  })
}

/** What a word may mean, in this order. Pure. */
export function meanings(word: string): Asked[] {
  const [, kind, rest = ''] = /^(endpoint|model|run)\/(.+)$/.exec(word) ?? []
  if (kind === 'endpoint') return [{endpoint: rest}]
  if (kind === 'run') return [{run: rest}]
  if (kind === 'model') return [{model: rest, version: undefined}]
  if (/[/@]/.test(word)) return [{model: word, version: undefined}]
  return [{endpoint: word}, {run: word}, {model: word, version: undefined}]
}

/** A model with its version: an alias is what it points to now. */
async function exact(asked: Asked, {mlflow, elsewhere}: EvidencePlace): Promise<Asked> {
  if (!('model' in asked)) return asked
  const reference = parseReference(asked.model)
  if (reference.alias === undefined) return {model: reference.name, version: reference.version}
  const found = await new Tracked(mlflow, elsewhere).version(reference)
  // What is nowhere is refused in the words of the own workspace.
  const {name, version} = found ?? (await resolveVersion(mlflow, reference))
  return {model: name, version}
}
