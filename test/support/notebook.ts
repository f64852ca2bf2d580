import {once} from 'node:events'
import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, vi} from 'vitest'
import type {Context} from '../../src/lib/base/index.ts'
import {openHost, type Host} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import {planNotebook, reachNotebook, startNotebook, type Notebook} from '../../src/lib/notebook/index.ts'
import {findWorkspaces, upWorkspace, type PlacedWorkspace} from '../../src/lib/workspace/index.ts'
import {sharedEnvironments} from './environments.ts'
import {ask, KernelSession, type JupyterServer} from './kernel.ts'
import {startLocalRack, type TestLocalRack} from './local-rack.ts'

/** A rack of one node, and notebooks of projects on it. */
export class NotebookRack {
  readonly #abort = new AbortController()
  readonly rack: TestLocalRack
  readonly context: Context
  readonly host: Host
  /** Of the projects. */
  readonly folder: string

  private constructor(rack: TestLocalRack, context: Context, host: Host, folder: string) {
    this.rack = rack
    this.context = context
    this.host = host
    this.folder = folder
  }

  static async start(): Promise<NotebookRack> {
    const rack = await startLocalRack({nodes: 1, environments: await sharedEnvironments()})
    const context = rack.context()
    const host = await openHost(rack.fleet(), rack.rack.nodes[0]!, context)
    return new NotebookRack(rack, context, host, await mkdtemp(join(tmpdir(), 'flexrack-notebook-')))
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.rack.stop()
    await rm(this.folder, {recursive: true, force: true})
  }

  async notebook(
    name: string,
    parts: Partial<Manifest['workspace']>,
    idle = 0,
  ): Promise<{notebook: Notebook; workspace: PlacedWorkspace}> {
    const {host, context} = this
    const folder = join(this.folder, name)
    const manifest: Manifest = {
      path: join(folder, 'flexrack.yaml'),
      folder,
      name,
      workspace: {exclude: [], forward: [], env: {}, ...parts},
      tracking: {experiment: name},
      endpoints: {},
    }
    await mkdir(join(folder, 'deep'), {recursive: true})
    await writeFile(join(folder, 'helper.py'), 'ANSWER = 42\n')
    await writeFile(join(folder, 'deep/beside.py'), '')
    await upWorkspace([host], manifest, context)
    const [workspace] = await findWorkspaces(host, name, context)
    const input = {host, workspace: workspace!, volumes: [], idle, lasts: null, gpus: null}
    const plan = planNotebook({...input, env: {GREETING: 'hello'}, isolate: manifest.workspace.isolate})
    return {notebook: await startNotebook(plan, host, context), workspace: workspace!}
  }

  /** Forwards until the rack is stopped. */
  reach(project: string): Promise<JupyterServer> {
    const {signal} = this.#abort
    return new Promise((resolve, reject) => {
      reachNotebook(
        this.host,
        project,
        {port: undefined, connect: () => this.rack.fleet().shell('node-1')},
        ({port, url}) => resolve({port, token: new URL(url).searchParams.get('token')!}),
        () => {},
        this.rack.context({signal}),
      ).catch((error: unknown) => !signal.aborted && reject(error as Error))
    })
  }

  /** `notebook stop`, after which nothing of it runs. */
  async end(project: string): Promise<void> {
    expect(await this.host.call('notebook.remove', {project})).toEqual({stopped: true, removed: true})
    await vi.waitFor(async () => expect(await processes(`${this.host.root}/notebooks/${project}`)).toEqual([]), {
      timeout: 30_000,
    })
  }
}

/** Processes of this machine that have `text` in their arguments or their environment, but for this one. */
export async function processes(text: string): Promise<string[]> {
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    const [words, environment] = await Promise.all(
      ['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')),
    )
    if (`${words}${environment}`.includes(text)) found.push(`${pid} ${words!.replaceAll('\0', ' ')}`)
  }
  return found
}

const KEYBOARD = 'KeyboardInterrupt'
/** Seconds, as no other test has them. */
const SLEEP = `4321.${process.pid}`
/** A cell that is at work until it is interrupted, with a program that it has started. */
const ENDLESS = `import os\nprint(os.getpid(), flush=True)\nos.system("sleep ${SLEEP}")\nwhile True: pass`

export async function interrupted(server: JupyterServer, kernel: string): Promise<void> {
  const session = await KernelSession.open(server, kernel)
  await session.output('kept = 1')
  session.run(ENDLESS)
  await session.until(() => session.printed.includes('\n'))
  await vi.waitFor(async () => expect(await processes(`sleep\0${SLEEP}`)).not.toEqual([]), {timeout: 30_000})
  const interrupt = (): Promise<unknown> =>
    ask(server, `/api/kernels/${kernel}/interrupt`, {token: server.token, method: 'POST', body: {}})
  await vi.waitFor(
    async () => {
      await interrupt()
      // Where the next interrupt comes while IPython still makes the traceback, it prints the name alone, and sends no
      // error (InteractiveShell.showtraceback).
      expect([session.errors[0], ...session.printed.split('\n')].some((one) => one?.startsWith(KEYBOARD))).toBe(true)
    },
    {timeout: 60_000, interval: 1000},
  )
  await vi.waitFor(
    async () => {
      session.errors.length = 0 // the last interrupt may have come to this cell
      expect((await session.output('print(kept)')).split('\n')).toContain('1')
    },
    {timeout: 60_000, interval: 1000},
  )
  session.close()
}

/** In a terminal of the server's page. */
export async function typed(server: JupyterServer, text: string): Promise<void> {
  const {text: made} = await ask(server, '/api/terminals', {token: server.token, method: 'POST', body: {}})
  const {name} = JSON.parse(made) as {name: string}
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/terminals/websocket/${name}?token=${server.token}`)
  await once(socket, 'open')
  socket.send(JSON.stringify(['stdin', text]))
}
