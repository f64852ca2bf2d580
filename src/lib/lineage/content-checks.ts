import {createHash} from 'node:crypto'
import {current, isCliError} from '../base/index.ts'
import type {CodeTree, RecordedCode, RecordedEnvironment} from '../protocol/index.ts'
import type {TrackedRun} from '../tracking/index.ts'
import {broken, short} from './checks.ts'
import {MOST_RECORD} from './find-record.ts'
import {differences, readPack, treeDigest} from './pack.ts'
import type {ArrowCheck, Evidence} from './types.ts'

/** Most bytes of a list of files: a hundred thousand of them. */
const MOST_TREE = 32 << 20
/** Most bytes of a pack: more than a node makes. */
export const MOST_PACK = 80 << 20

/** The code's pack has what its digest says, file by file. */
export async function checkCode(run: TrackedRun, code: RecordedCode, evidence: Evidence): Promise<ArrowCheck> {
  const tree = await readTree(run, code, evidence)
  if ('holds' in tree) return tree
  if (!code.pack) return broken(`its contents were not kept: ${code.left_out[0]?.[1] ?? 'nobody says why'}`)
  const bytes = await evidence.artifact(run, 'lineage/code.tar.gz', MOST_PACK)
  if (!bytes) return broken('its contents are not at the tracking server any more')
  try {
    const packed = await readPack(bytes)
    const [wrong] = differences(tree, packed, new Set(code.left_out.map(([path]) => path)))
    if (wrong !== undefined) return broken(wrong)
  } catch (error) {
    if (!isCliError(error, 'CHECK_FAILED')) throw error
    return broken(error.message)
  }
  if (sha256Of(bytes) !== code.pack.sha256) return broken('the pack is not the one that its record names')
  const left = code.left_out.length
  return {
    holds: true,
    why: left === 0 ? 'every file of it is kept, as it was' : `all but ${left} of its files are kept, as they were`,
  }
}

/** The list of its files, where it is what the digest is made of; else what is wrong. */
export async function readTree(
  run: TrackedRun,
  code: RecordedCode,
  evidence: Evidence,
): Promise<CodeTree | ArrowCheck> {
  const bytes = await evidence.artifact(run, 'lineage/tree.json', MOST_TREE)
  if (!bytes) return broken('the list of its files is not at the tracking server any more')
  try {
    const tree = current<CodeTree>('run.tree', JSON.parse(bytes.toString()), 'lineage/tree.json')
    if (treeDigest(tree) === code.digest) return tree
  } catch (error) {
    if (isCliError(error)) throw error
    return broken('the list of its files cannot be read')
  }
  return broken(`the list of its files does not make the digest ${short(code.digest)}`)
}

export async function checkEnvironment(
  run: TrackedRun,
  {lock}: RecordedEnvironment,
  evidence: Evidence,
): Promise<ArrowCheck> {
  const bytes = await evidence.artifact(run, 'lineage/environment.txt', MOST_RECORD)
  if (!bytes) return broken('the list of its packages is not at the tracking server any more')
  const now = sha256Of(bytes)
  return now === lock
    ? {holds: true, why: 'the list of its packages is as it was'}
    : broken(`the list of its packages was ${short(lock)}, and is ${short(now)}`)
}

export async function checkData(name: string, digest: string, evidence: Evidence): Promise<ArrowCheck> {
  const why = await evidence.data(name, digest)
  return why === undefined ? {holds: true, why: 'every file of it is as it was'} : broken(why)
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
