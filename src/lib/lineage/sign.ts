import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {existsSync} from 'node:fs'
import {homedir, tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {attest, MOST_ENVELOPE, readAttested, statementPath} from '../attest/index.ts'
import {CliError, type Context} from '../base/index.ts'
import {resolveVersion} from '../model/index.ts'
import {checkRecord, checkVersion} from './checks.ts'
import {evidenceOf, type EvidencePlace} from './evidence.ts'
import {findRecord} from './find-record.ts'

/** What ssh itself tries, in this order; the .pub of one that the agent has will do. */
const KEYS = ['id_ed25519', 'id_ecdsa', 'id_rsa'] as const

export interface SignedModel {
  model: string
  run: string
  /** SHA-256 of the record. */
  record: string
  files: Record<string, string>
  /** Fingerprints of all keys that have signed it. */
  keys: string[]
}

/**
 * Signs what a version came from, once its files and its record have been hashed again and hold. Errors: NOT_FOUND,
 * CHECK_FAILED where something does not hold, or the key does not sign.
 */
export async function signModel(
  reference: string,
  keyFile: string | undefined,
  place: EvidencePlace,
  context: Context,
): Promise<SignedModel> {
  const evidence = evidenceOf(place, context)
  const version = await resolveVersion(place.mlflow, reference)
  const model = `${version.name}/${version.version}`
  const run = version.runId === undefined ? undefined : await evidence.run(version.runId)
  const found = run && (await findRecord(run, evidence))
  if (!run || !found)
    throw new CliError('NOT_FOUND', `nothing says where ${model} comes from: its run has no record`, {
      hint: `flexrack why ${model}`,
    })
  const stored = await evidence.versionFiles(version)
  const wrong = [checkRecord(run, found, version), checkVersion(version, found.record, stored)].find(
    (one) => !one.holds,
  )
  if (wrong)
    throw new CliError('CHECK_FAILED', `${model} is not signed: ${wrong.why}`, {hint: `flexrack why ${model} --verify`})
  const path = version.tags['flexrack.path'] as string
  // With what lies beside it: weights of a graph may.
  const files = found.record.outputs.filter(
    (one) => dirname(one.path) === dirname(path) || one.path.startsWith(`${path}/`),
  )
  const statement = {model, path, files: new Map(files.map((one) => [one.path, one.sha256])), record: found.sha256}
  const target = statementPath(version.name, version.version)
  const known = await evidence.artifact(run, target, MOST_ENVELOPE)
  const text = await attest(statement, found.record, keyFile ?? ownKey(context), known)
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-sign-'))
  try {
    await writeFile(join(folder, 'statement'), text, {mode: 0o600})
    await place.mlflow.uploadArtifact(run.id, target, join(folder, 'statement'))
  } finally {
    await rm(folder, {recursive: true, force: true})
  }
  const {keys} = await readAttested(Buffer.from(text), undefined)
  return {model, run: found.record.run, record: found.sha256, files: Object.fromEntries(statement.files), keys}
}

function ownKey({env}: Context): string {
  const folder = join(env.HOME || homedir(), '.ssh')
  const found = KEYS.flatMap((name) => [join(folder, name), join(folder, `${name}.pub`)]).find((file) =>
    existsSync(file),
  )
  if (found !== undefined) return found
  throw new CliError('NOT_FOUND', `there is no key in ${folder} to sign with`, {hint: '--key FILE'})
}
