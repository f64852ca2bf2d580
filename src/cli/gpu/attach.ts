import {constants, accessSync, statSync} from 'node:fs'
import {delimiter, join} from 'node:path'
import {CliError, type Context} from '../../lib/base/index.ts'
import type {Attached, AttachedLease, AttachInput, MirrorReport} from '../../lib/gpu/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import {atClose} from '../base/context.ts'
import {gpuNodes, waitSeconds, type GpuFlags} from './request.ts'
import {runHere, type LocalResult} from './local-run.ts'
import {exitStatus} from '../base/remote-run.ts'
import type {Session} from '../base/session.ts'

/** A command's end and output, and what it had leased. */
export interface AttachAnswer extends LocalResult {
  leases: AttachedLease[]
  /** How often it was started again, as its GPUs were lost. */
  restarts: number
  /** With --mirror: what was lost and what the servers differed in. */
  mirror?: MirrorReport
}

export interface AttachFlags extends GpuFlags {
  count?: number | undefined
  on?: string | undefined
  restart?: number | undefined
  mirror?: boolean
  'on-mismatch'?: string | undefined
  'dry-run'?: boolean
}

/** Seconds in which GPUs come back after a loss, or others are found, where no other time is asked for. */
const RESTART_WAIT = 60

/** `attach`: leases, runs the command here, gives back. Sets the exit status to the command's. */
export async function attachHere(
  words: string[],
  flags: AttachFlags,
  session: Session,
  context: Context,
  json: boolean,
): Promise<Plan | AttachAnswer | undefined> {
  const {attachGpus, gpuRequest, planAttach} = await import('../../lib/gpu/index.ts')
  const {transport} = flags
  const wait = waitSeconds(flags)
  const input: AttachInput = {
    nodes: await gpuNodes(session, [], flags.on),
    request: gpuRequest(flags, session.manifest?.gpus),
    words,
    ...(wait !== undefined && {wait}),
    ...(transport !== undefined && {transport}),
  }
  if (flags['dry-run']) return planAttach(session, input, context)
  requireProgram(words[0] as string, context.env)
  const most = flags.restart ?? 0
  if (most > 0) input.asksLoss = true
  for (let restarts = 0; ; restarts++) {
    const attached = await attachGpus(session, input, context)
    const close = atClose(context, () => attached.release())
    const env = environmentOf(attached, context.env)
    if (most > 0) env.FLEXRACK_ATTEMPT = `${restarts + 1}`
    const {asked, ...result} = await runHere([...attached.prefix, ...words], env, context, json)
    const loss = restarts < most && !asked && result.status !== 0 ? await attached.readLoss() : null
    if (!loss || loss.released) {
      const mirror = input.request.mirror && (await attached.readMirror())
      if (mirror && input.request.mirror?.onMismatch === 'stop') checkAgreement(mirror, result)
      process.exitCode = await exitStatus(result)
      return json ? {...result, leases: attached.leases, restarts, ...(mirror && {mirror})} : undefined
    }
    await close()
    context.reporter.warn(`the GPUs were lost (${loss.why}): starting again, ${restarts + 1} of ${most}`)
    input.wait ??= RESTART_WAIT
  }
}

/** A program that does not look at errors ends well. Throws GPU_MISMATCH. */
function checkAgreement({mismatches}: MirrorReport, {status}: LocalResult): void {
  if (mismatches.length > 0 && status === 0)
    throw new CliError('GPU_MISMATCH', mismatches[0] as string, {
      hint: 'flexrack attach --mirror --on-mismatch primary',
      details: {mismatches},
    })
}

function environmentOf({env, libraries}: Attached, own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const {FLEXRACK_LEASE_LOST: _, ...around} = own // of an attach around this one: its GPUs are not lost with ours
  const all: NodeJS.ProcessEnv = {...around, ...env}
  if (env.OCL_ICD_VENDORS) delete all.OCL_ICD_FILENAMES // drivers besides those of the folder
  if (libraries) all.LD_LIBRARY_PATH = [libraries, ...(own.LD_LIBRARY_PATH ? [own.LD_LIBRARY_PATH] : [])].join(':')
  return all
}

/** Said before anything is leased. Throws NOT_FOUND with the status that a shell would give. */
function requireProgram(name: string, env: NodeJS.ProcessEnv): void {
  const places = name.includes('/')
    ? [name]
    : (env.PATH ?? '').split(delimiter).map((folder) => join(folder === '' ? '.' : folder, name))
  const found = places.filter((path) => statSync(path, {throwIfNoEntry: false})?.isFile())
  if (found.length === 0) throw new CliError('NOT_FOUND', `there is no command ${name} here`, {exitCode: 127})
  if (!found.some(isExecutable))
    throw new CliError('NOT_FOUND', `${found[0]} cannot be executed`, {exitCode: 126, hint: `chmod +x ${found[0]}`})
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
