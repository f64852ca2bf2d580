import {spawn, type ChildProcess} from 'node:child_process'
import {chmodSync, closeSync, mkdirSync, openSync, rmSync} from 'node:fs'
import {mkdtemp} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {textIfThere} from '../../../base/index.ts'
import {HEAD_FILES, type MlflowState, type ServiceConfig} from '../../types.ts'
import {logLine} from '../log.ts'
import {LONGEST_SOCKET_PATH, MLFLOW_TAG, mlflowCommand} from './mlflow-command.ts'
import {readMlflow} from './mlflow-reader.ts'
import {endTagged} from './processes.ts'
import {rotateInPlace} from './rotation.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** One that ran this long is started again without a pause that has grown. */
const SETTLED_MS = 60_000
const READY_MS = 180_000
const LOOK_MS = 250
const HEALTH_MS = 10_000
const UNHEALTHY_TIMES = 6
const STOP_GRACE_MS = 12_000

/** Keeps one `mlflow server` running: started, watched, started again with a growing pause, ended with proof. */
export class MlflowServer {
  readonly socket: string
  readonly #config: ServiceConfig
  /** True where the head's own path is too long for a socket, and a folder was made for it. */
  readonly #ownsFolder: boolean
  #child: ChildProcess | undefined
  #state: MlflowState = 'stopped'
  #version: string | null = null
  #restarts = 0
  #startedAt: number | null = null
  #lastError: string | null = null
  #stopping = false
  #wake = (): void => {}
  #running: Promise<void> | undefined

  /** Whether what is started next is to keep projects apart. */
  readonly #hasWorkspaces: () => boolean

  private constructor(config: ServiceConfig, socket: string, hasWorkspaces: () => boolean) {
    this.#config = config
    this.#hasWorkspaces = hasWorkspaces
    this.socket = socket
    this.#ownsFolder = dirname(socket) !== config.folder
  }

  static async prepare(config: ServiceConfig, hasWorkspaces = (): boolean => false): Promise<MlflowServer> {
    const near = join(config.folder, 'mlflow.sock')
    const fits = Buffer.byteLength(near) <= LONGEST_SOCKET_PATH
    const socket = fits ? near : join(await mkdtemp(join(tmpdir(), 'flexrack-head-')), 'mlflow.sock')
    return new MlflowServer(config, socket, hasWorkspaces)
  }

  get status(): {
    state: MlflowState
    version: string | null
    pid: number | null
    restarts: number
    startedAt: number | null
    lastError: string | null
  } {
    return {
      state: this.#state,
      version: this.#version,
      pid: this.#child?.pid ?? null,
      restarts: this.#restarts,
      startedAt: this.#startedAt,
      lastError: this.#lastError,
    }
  }

  get isReady(): boolean {
    return this.#state === 'ready'
  }

  /** Begins to keep it running; does not wait until it is ready. */
  start(): void {
    this.#running ??= this.#keepRunning()
  }

  /** Ends what runs; it is started anew by itself, with what is wanted of it now. */
  async restart(): Promise<void> {
    this.#state = 'waiting'
    if (this.#running) await this.#end()
  }

  /** SIGTERM, grace, SIGKILL; resolves when no process of it is left. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#wake()
    await this.#end()
    await this.#running
    rmSync(this.#ownsFolder ? dirname(this.socket) : this.socket, {recursive: true, force: true})
    this.#state = 'stopped'
  }

  async #keepRunning(): Promise<void> {
    let failures = 0
    while (!this.#stopping) {
      // what an earlier head, or the last one of ours, may have left: two must never write to one store
      await this.#end()
      if (this.#stopping) return
      const began = Date.now()
      const reason = await this.#runOnce().catch((error: Error) => error.message) // a full disk, say: it is tried again
      if (this.#stopping) return
      failures = Date.now() - began > SETTLED_MS ? 1 : failures + 1
      const wait = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)
      this.#lastError = `${reason}: ${await this.#lastWords()}`
      this.#state = 'waiting'
      this.#restarts++
      logLine(`MLflow ended (${reason}); starting it again in ${wait} ms`)
      await this.#sleep(wait)
    }
  }

  /** Starts it and resolves with the reason when it has ended. */
  async #runOnce(): Promise<string> {
    const command = mlflowCommand(this.#config, this.socket, this.#hasWorkspaces())
    rmSync(this.socket, {force: true})
    mkdirSync(join(this.#config.folder, 'artifacts'), {recursive: true, mode: 0o700})
    const output = openSync(join(this.#config.folder, HEAD_FILES.mlflowLog), 'a', 0o600)
    this.#state = 'starting'
    this.#startedAt = Date.now()
    const child = spawn(command.file, command.args, {
      cwd: this.#config.folder,
      env: {...process.env, ...command.env},
      stdio: ['ignore', output, output],
    })
    closeSync(output)
    this.#child = child
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit status ${code}`))
    })
    logLine(`MLflow starts as process ${child.pid}`)
    const reason = await Promise.race([ended, this.#watch()])
    this.#child = undefined
    return reason
  }

  /** Resolves with a reason where it does not become ready, or does not answer any more. */
  async #watch(): Promise<string> {
    const mine = this.#child
    const until = Date.now() + READY_MS
    while (this.#child === mine && !(await this.#answers('/health'))) {
      if (Date.now() > until) return 'it did not become ready'
      await this.#sleep(LOOK_MS)
    }
    // uvicorn makes it 0666, whatever the umask says; until here the folder alone has kept others out
    if (this.#child === mine) chmodSync(this.socket, 0o600)
    this.#version = (await this.#answers('/version')) ?? this.#version
    if (this.#child === mine && !this.#stopping) {
      this.#state = 'ready'
      logLine(`MLflow ${this.#version} is ready`)
    }
    for (let missed = 0; this.#child === mine;) {
      await this.#sleep(HEALTH_MS)
      missed = (await this.#answers('/health')) === undefined ? missed + 1 : 0
      if (missed >= UNHEALTHY_TIMES) return 'it does not answer any more'
      await rotateInPlace(join(this.#config.folder, HEAD_FILES.mlflowLog))
    }
    return 'ended'
  }

  async #answers(path: string): Promise<string | undefined> {
    const answer = await readMlflow(this.socket, path, 5000).catch(() => undefined)
    return answer?.status === 200 ? answer.text : undefined
  }

  async #end(): Promise<void> {
    const left = await endTagged(MLFLOW_TAG, this.#config.folder, STOP_GRACE_MS)
    if (left.length > 0) logLine(`processes ${left.join(', ')} of MLflow do not end`)
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      timer.unref()
      this.#wake = () => (clearTimeout(timer), resolve())
    })
  }

  async #lastWords(): Promise<string> {
    const text = await textIfThere(join(this.#config.folder, HEAD_FILES.mlflowLog))
    return (text ?? '').trim().split('\n').at(-1)?.slice(0, 500) ?? ''
  }
}
