import {CliError, type Context} from '../base/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet, NodeShell} from '../ssh/index.ts'
import {callVerb, type Installation} from './call.ts'
import {toCliError} from './node-error.ts'
import {loadProgram, type NodeProgram} from './program.ts'
import {installScript, lookScript, presentScript, readLook, type Folders} from './scripts.ts'
import type {Host} from './types.ts'

const installations = new WeakMap<NodeShell, Map<string, Promise<Installation>>>()

/**
 * A node with the node program in place: one round trip when it is there, none when this connection has looked before.
 * Errors: those of Fleet.shell; NODE_UNFIT without Python 3.9 or newer, or where the root cannot be written or the disk
 * is full.
 */
export async function openHost(fleet: Fleet, node: RackNode, ctx: Context): Promise<Host>
/** Undefined where nothing of flexrack is: nothing is put there then. */
export async function openHost(
  fleet: Fleet,
  node: RackNode,
  ctx: Context,
  options: {ifPresent: true},
): Promise<Host | undefined>
export async function openHost(
  fleet: Fleet,
  node: RackNode,
  ctx: Context,
  options: {ifPresent?: boolean} = {},
): Promise<Host | undefined> {
  const shell = await fleet.shell(node.name)
  const folders = {
    root: node.root,
    environments: node.environments ?? `${node.root.replace(/\/$/, '')}/environments`,
    pooled: node.pooled ?? false,
  }
  if (options.ifPresent && (await shell.exec(presentScript(folders), {signal: live(ctx)})).status !== 0)
    return undefined
  const known = installations.get(shell) ?? new Map<string, Promise<Installation>>()
  installations.set(shell, known)
  const key = JSON.stringify(folders)
  const promise = known.get(key) ?? prepare(shell, folders, ctx)
  known.set(key, promise)
  promise.catch(() => known.delete(key))
  const installation = await promise
  return {
    node: node.name,
    shell,
    root: installation.root,
    environments: installation.environments,
    program: installation.folder,
    python: installation.python,
    ...(node.address !== undefined && {address: node.address}),
    network: {way: node.network ?? 'direct', hosts: node.networkHosts ?? []},
    call: (verb, input, options) => callVerb(shell, installation, verb, input, options),
  }
}

async function prepare(shell: NodeShell, folders: Folders, ctx: Context): Promise<Installation> {
  const program = await loadProgram()
  const look = readLook(await shell.run(lookScript(program.hash, folders), {signal: live(ctx)}))
  if (look.python === '') {
    throw new CliError(
      'NODE_UNFIT',
      `${shell.node} has no Python 3.9 or newer${look.found ? ` (it has ${look.found})` : ''}`,
      {
        details: {node: shell.node, found: look.found},
        hint: `ssh to ${shell.node} and install it, e.g. with: sudo apt-get install python3 python3-venv`,
      },
    )
  }
  const root = look.present ? look.root : await install(shell, program, {...look, pooled: folders.pooled}, ctx)
  return {
    root,
    environments: look.environments,
    python: look.python,
    folder: `${root}/program/${program.hash}/flexrack_node`,
  }
}

/** Returns this machine's folder in the root. */
async function install(
  shell: NodeShell,
  program: NodeProgram,
  {root, python, pooled}: {root: string; python: string; pooled: boolean},
  ctx: Context,
): Promise<string> {
  const head = JSON.stringify({root, pooled, hash: program.hash, python})
  const order = `${head.slice(0, -1)},"files":${program.json}}`
  const result = await shell.exec(installScript(python), {input: order, signal: live(ctx)})
  const line = result.stdout.trim().split('\n').at(-1) ?? ''
  const answer = parse(line)
  if (answer?.error) throw toCliError(shell.node, answer.error)
  if (result.status !== 0 || !answer?.result) {
    throw new CliError('REMOTE_FAILED', `flexrack's program could not be put on ${shell.node}`, {
      details: {node: shell.node, status: result.status, stderr: result.stderr.slice(-2000)},
    })
  }
  return answer.result.root
}

/** After the first Ctrl-C the node may still be needed to put things in order. */
function live(ctx: Context): AbortSignal {
  return ctx.signal.aborted ? ctx.kill : ctx.signal
}

function parse(line: string): {result?: {root: string}; error?: unknown} | undefined {
  try {
    return JSON.parse(line) as {result?: {root: string}; error?: unknown}
  } catch {
    return undefined
  }
}
