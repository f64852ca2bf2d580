import {basename} from 'node:path'
import type {Attested} from '../attest/index.ts'
import type {RunRecord} from '../protocol/index.ts'
import type {ModelVersion, TrackedRun} from '../tracking/index.ts'
import {RECORD_TAG} from './find-record.ts'
import type {ArrowCheck, Evidence, FoundRecord, ServedRelease} from './types.ts'

/** What an endpoint's release says of its version, and what the registry says. Pure. */
export function checkRelease({model}: ServedRelease, {tags, runId}: ModelVersion): ArrowCheck {
  if (model.runId !== runId) return broken(`the release says it is of run ${model.runId}, and the registry ${runId}`)
  if (model.record !== undefined && model.record !== tags[RECORD_TAG])
    return broken(`the release names the record ${short(model.record)}, and the registry ${short(tags[RECORD_TAG])}`)
  const [main] = model.files
  const [path, sha256] = [tags['flexrack.path'], tags['flexrack.sha256']]
  if (
    main &&
    sha256 !== undefined &&
    path !== undefined &&
    basename(path) === basename(main.path) &&
    main.sha256 !== sha256
  )
    return broken(`${main.path} of the release is ${short(main.sha256)}, and of the registry ${short(sha256)}`)
  return {holds: true, why: 'the registry says the same'}
}

/** Every file that is served left the run: weights beside a graph, too. Pure. */
export function checkFiles({model}: ServedRelease, {outputs}: RunRecord): ArrowCheck {
  const other = model.files.find((file) => !outputs.some((one) => one.sha256 === file.sha256))
  return other
    ? broken(`${other.path}, which is served, is ${short(other.sha256)}: no output of the run`)
    : {holds: true, why: 'every file that is served left the run'}
}

/** The files on the nodes that serve it. Pure. */
export function checkServed(servers: readonly {node: string; whole: boolean}[]): ArrowCheck {
  const wrong = servers.filter((one) => !one.whole).map((one) => one.node)
  if (wrong.length > 0) return broken(`${wrong.join(', ')} has other model files than the release says`)
  if (servers.length === 0) return broken('no node serves it')
  return {holds: true, why: `its files on ${servers.map((one) => one.node).join(', ')} are those of the release`}
}

/** A record is of this run, and is the one that run and version name. Pure. */
export function checkRecord(
  run: TrackedRun,
  {sha256, record}: FoundRecord,
  version: ModelVersion | undefined,
): ArrowCheck {
  if (record.tracked !== run.id || record.run !== run.tags['flexrack.run'])
    return broken(`its record is that of another run, ${record.run}`)
  if (run.tags[RECORD_TAG] !== sha256)
    return broken(`its record is ${short(sha256)}, and its tag names ${short(run.tags[RECORD_TAG])}: one was changed`)
  const named = version?.tags[RECORD_TAG]
  if (named !== undefined && named !== sha256)
    return broken(`the version names the record ${short(named)}, and the run has ${short(sha256)}`)
  return {holds: true, why: 'its record is the one that is named'}
}

/** A version's files are outputs of the run. `files`: as they are in the store now; undefined: not read. Pure. */
export function checkVersion(
  version: ModelVersion,
  record: RunRecord,
  files: Map<string, string> | undefined,
): ArrowCheck {
  const path = version.tags['flexrack.path']
  if (path === undefined) return broken('the version does not say which output of the run it is')
  const outputs = record.outputs.filter((one) => one.path === path || one.path.startsWith(`${path}/`))
  // What the program logs by itself is no output; without hashing, that is no reason to doubt it.
  if (outputs.length === 0)
    return files
      ? broken(`${path} is no output of the run: its program logged it by itself, and no record has its hash`)
      : {holds: true, why: 'the program of the run logged it by itself'}
  const sha256 = version.tags['flexrack.sha256']
  const [only] = outputs
  if (sha256 !== undefined && only?.path === path && only.sha256 !== sha256)
    return broken(`${path} left the run as ${short(only.sha256)}, and was registered as ${short(sha256)}`)
  for (const one of files ? outputs : []) {
    const name = one.path === path ? basename(path) : one.path.slice(path.length + 1)
    const now = files?.get(name)
    if (now === undefined) return broken(`${one.path} is not in the store any more`)
    if (now !== one.sha256) return broken(`${one.path} left the run as ${short(one.sha256)}, and is ${short(now)} now`)
  }
  return {holds: true, why: files ? 'its files are as they left the run' : 'it is an output of the run'}
}

/** What is signed is what the registry says. `signed`: by somebody who is allowed to. Pure. */
export function checkSignature(said: Attested, {name, version, tags}: ModelVersion, signed: boolean): ArrowCheck {
  if (said.model !== `${name}/${version}`) return broken(`what is signed is ${said.model}`)
  if (tags[RECORD_TAG] !== said.record)
    return broken(`the record ${short(said.record)} is signed, and the registry names ${short(tags[RECORD_TAG])}`)
  const [now, signedFile] = [tags['flexrack.sha256'], said.files.get(said.path)]
  if (now !== undefined && now !== signedFile)
    return broken(`the file ${short(signedFile)} is signed, and the registry names ${short(now)}`)
  if (signed && said.signer === null) return broken('no allowed signer has signed it')
  return said.signer === null
    ? {holds: true, why: 'whose key that is was not asked: --signers FILE'}
    : {holds: true, why: 'the signature is good, and of an allowed signer'}
}

export async function checkImage(image: string, nodes: string[], evidence: Evidence): Promise<ArrowCheck> {
  if (!/^sha256:[0-9a-f]{64}$/.test(image)) return broken(`${image} is a name, and not a digest`)
  const why = await evidence.image(image, nodes)
  return why === undefined ? {holds: true, why: 'a node of the run has it'} : broken(why)
}

export function broken(why: string): ArrowCheck {
  return {holds: false, why}
}

export function short(digest: string | undefined): string {
  return digest === undefined ? 'none' : digest.slice(0, 12)
}
