import {posix} from 'node:path'
import {MOST_ENVELOPE, readAttested, statementPath, type Attested} from '../attest/index.ts'
import {CliError, isCliError} from '../base/index.ts'
import type {ModelVersion} from '../tracking/index.ts'
import type {ModelFile} from './document.ts'
import type {Site} from './site.ts'

/**
 * What an allowed signer says of a version, where the manifest demands that for the endpoint; undefined where it does
 * not. Errors: CHECK_FAILED with the way out; NOT_FOUND (the file of signers).
 */
export async function requireSigned(site: Site, name: string, version: ModelVersion): Promise<Attested | undefined> {
  const signers = site.manifest?.endpoints[name]?.signers
  if (signers === undefined) return undefined
  const refuse = (why: string): CliError => refusal(name, version, why)
  const bytes = await envelopeOf(site, version)
  if (!bytes) throw refuse('nobody has signed it')
  const said = await readAttested(bytes, signers).catch((error: unknown) => {
    throw isCliError(error, 'CHECK_FAILED') ? refuse(error.message) : error
  })
  if (said.signer === null) throw refuse(`no allowed signer has signed it, only ${said.keys.join(', ')}`)
  if (said.model !== `${version.name}/${version.version}`) throw refuse(`what is signed is ${said.model}`)
  const [record, sha256] = [version.tags['flexrack.record'], version.tags['flexrack.sha256']]
  if (record !== said.record) throw refuse('the registry names another record than the one that is signed')
  if (sha256 !== undefined && sha256 !== said.files.get(said.path))
    throw refuse('the registry names another file than the one that is signed')
  return said
}

/**
 * The files that were fetched are the signed ones, each by its own name: two that are signed and have changed places
 * are another model. Errors: CHECK_FAILED. Pure.
 */
export function requireSignedFiles(
  name: string,
  version: ModelVersion,
  said: Attested,
  files: readonly ModelFile[],
): void {
  // A version that is one file was fetched with what lies beside it, else all of its folder.
  const base = said.files.has(said.path) ? posix.dirname(said.path) : said.path
  const other = files.find((one) => one.sha256 !== said.files.get(posix.join(base, one.path)))
  if (other) throw refusal(name, version, `${other.path} is not a file that ${said.signer} has signed`)
}

async function envelopeOf({mlflow}: Site, version: ModelVersion): Promise<Buffer | undefined> {
  if (version.runId === undefined) return undefined
  try {
    const stream = await mlflow.openArtifact(version.runId, statementPath(version.name, version.version))
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of stream) {
      size += (chunk as Buffer).length
      chunks.push(chunk as Buffer)
      if (size > MOST_ENVELOPE) break // its reader says so
    }
    return Buffer.concat(chunks)
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

function refusal(endpoint: string, {name, version}: ModelVersion, why: string): CliError {
  return new CliError(
    'CHECK_FAILED',
    `endpoint ${endpoint} takes signed models only (endpoints.${endpoint}.require). ${name}/${version}: ${why}`,
    {hint: `flexrack why ${name}/${version} --verify\nflexrack model sign ${name}/${version}`},
  )
}
