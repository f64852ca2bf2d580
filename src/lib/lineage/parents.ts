import {CliError} from '../base/index.ts'
import {findRun, resolveVersion} from '../model/index.ts'
import type {RunParent} from '../protocol/index.ts'
import type {Mlflow} from '../tracking/index.ts'
import {RECORD_TAG} from './find-record.ts'

/**
 * What a run is said to begin with, as its record is to have it: models (`digits/3`, `digits@production`) and runs, each
 * with its hash. Errors: NOT_FOUND, USAGE.
 */
export function parentsOf(words: readonly string[], mlflow: Mlflow): Promise<RunParent[]> {
  return Promise.all(words.map((word) => parentOf(word, mlflow)))
}

async function parentOf(word: string, mlflow: Mlflow): Promise<RunParent> {
  if (/[/@]/.test(word)) {
    const {name, version, tags} = await resolveVersion(mlflow, word)
    const digest = tags['flexrack.sha256']
    return {kind: 'model', name: `${name}/${version}`, ...(digest !== undefined && {digest})}
  }
  const {name, status, tags} = await findRun(mlflow, word)
  if (status === 'RUNNING' || status === 'SCHEDULED')
    throw new CliError('USAGE', `run ${word} has not ended, so its record is not complete`, {
      hint: `flexrack runs wait ${word}`,
    })
  const digest = tags[RECORD_TAG]
  return {kind: 'run', name: tags['flexrack.run'] ?? name, ...(digest !== undefined && {digest})}
}
