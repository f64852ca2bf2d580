import {execFile, spawn, type ChildProcess} from 'node:child_process'
import {randomBytes} from 'node:crypto'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir, userInfo} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {promisify} from 'node:util'
import {freePort} from './sshd.ts'

const run = promisify(execFile)
const PROGRAMS = ['/usr/sbin/munged', '/usr/sbin/slurmctld', '/usr/sbin/slurmd', '/usr/bin/sbatch']

/**
 * A real Slurm on this machine: a controller and nodes c1, c2, ... that are all here, two CPUs and two GPUs (plain
 * files) each.
 */
export interface TestSlurm {
  /** What its programs need to find it: SLURM_CONF. */
  env: Record<string, string>
  nodes: string[]
  /** Runs one of Slurm's programs and returns what it printed. */
  slurm(program: string, ...words: string[]): Promise<string>
  /** Until `look` gives something true; throws with the queue in the message after `seconds`. */
  until<T>(look: () => Promise<T | false | undefined>, seconds?: number): Promise<T>
  /** Cancels every job, ends every process of this Slurm, removes its folder. */
  stop(): Promise<void>
}

/** What a test wants otherwise than the rest. */
export interface SlurmWishes {
  /** Lines of slurm.conf(5) besides. */
  lines?: string[]
  /** Partitions that have all nodes, the first by default: `PartitionName=...` without Nodes and Default. */
  partitions?: string[]
  /** Seconds for which a step's credential is good, and until a requeued job may start again. */
  credentials?: number
}

/**
 * Starts one. Everything about it, munge's key and socket too, is in a temporary folder; it also ends when this process
 * dies.
 */
export async function startSlurm(count: number, wishes: SlurmWishes = {}): Promise<TestSlurm> {
  const missing = PROGRAMS.filter((program) => !existsSync(program))
  if (missing.length > 0)
    throw new Error(
      `these tests need ${missing.join(', ')}: install Debian's slurmctld, slurmd, slurm-client and munge`,
    )
  const folder = await mkdtemp(join(tmpdir(), 'flexrack-slurm-'))
  await chmod(folder, 0o711) // munged wants its socket to be reachable
  for (const name of ['state', 'spool', 'log']) await mkdir(join(folder, name), {mode: 0o700})
  const key = join(folder, 'munge.key')
  await writeFile(key, randomBytes(1024), {mode: 0o600})
  const nodes = Array.from({length: count}, (_, index) => `c${index + 1}`)
  const conf = join(folder, 'slurm.conf')
  await writeFile(conf, await configuration(folder, nodes, wishes))
  await writeFile(
    join(folder, 'gres.conf'),
    nodes.map((node) => `NodeName=${node} Name=gpu File=${folder}/gpu-${node}-[0-1]\n`).join(''),
  )
  for (const node of nodes) for (const gpu of [0, 1]) await writeFile(join(folder, `gpu-${node}-${gpu}`), '')
  const env = {SLURM_CONF: conf}
  const daemons: ChildProcess[] = []
  const start = (program: string, ...words: string[]): void => {
    // The shell ends the daemon when its stdin does, so that nothing is left when the test's own process dies.
    const daemon = spawn('sh', ['-c', '"$@" & read -r _; kill $!; wait', 'sh', program, ...words], {
      env: {...process.env, ...env},
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    daemons.push(daemon)
  }
  const slurm: TestSlurm['slurm'] = async (program, ...words) =>
    (await run(program, words, {env: {...process.env, ...env}})).stdout
  const until: TestSlurm['until'] = async (look, seconds = 240) => {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(100)) {
      const found = await look().catch(() => undefined)
      if (found) return found
    }
    throw new Error(
      `it did not come within ${seconds} s; the queue:\n${await slurm('squeue', '--states=all').catch(String)}\n${await readFile(join(folder, 'log/slurmctld'), 'utf8').catch(String)}`,
    )
  }
  const stop = async (): Promise<void> => {
    await slurm('scancel', '--me').catch(() => '')
    await until(async () => (await slurm('squeue', '--noheader')).trim() === '', 15).catch(() => {})
    for (const daemon of daemons) daemon.stdin?.end()
    const ended = Promise.all(daemons.map((daemon) => daemon.exitCode === null && once(daemon, 'exit')))
    await Promise.race([ended, sleep(3000)]) // a slurmd waits for its steps
    for (const pid of await ownProcesses(conf)) killQuietly(pid)
    await ended
    await rm(folder, {recursive: true, force: true})
  }
  const socket = join(folder, 'munge.socket')
  start(
    '/usr/sbin/munged',
    '--foreground',
    `--socket=${socket}`,
    `--key-file=${key}`,
    `--pid-file=${folder}/munge.pid`,
    `--log-file=${folder}/log/munge`,
    `--seed-file=${folder}/munge.seed`,
  )
  try {
    await until(async () => existsSync(socket))
    start('/usr/sbin/slurmctld', '-D')
    for (const node of nodes) start('/usr/sbin/slurmd', '-D', '-N', node)
    await until(
      async () => (await slurm('sinfo', '--noheader', '--states=idle', '--format=%D')).trim() === String(count),
    )
  } catch (error) {
    await stop()
    throw error
  }
  return {env, nodes, slurm, until, stop}
}

/** slurm.conf(5): without cgroups, which a test must not need, and with short times. */
async function configuration(
  folder: string,
  nodes: string[],
  {lines: more = [], partitions = ['PartitionName=main'], credentials}: SlurmWishes,
): Promise<string> {
  const user = userInfo().username
  const lines = [
    'ClusterName=test',
    'SlurmctldHost=localhost(127.0.0.1)',
    `SlurmctldPort=${await freePort()}`,
    `SlurmUser=${user}`,
    `SlurmdUser=${user}`,
    'AuthType=auth/munge',
    `AuthInfo=socket=${folder}/munge.socket${credentials === undefined ? '' : `,cred_expire=${credentials}`}`,
    'CredType=cred/munge',
    `StateSaveLocation=${folder}/state`,
    `SlurmdSpoolDir=${folder}/spool/%n`,
    `SlurmctldPidFile=${folder}/slurmctld.pid`,
    `SlurmdPidFile=${folder}/%n.pid`,
    `SlurmctldLogFile=${folder}/log/slurmctld`,
    `SlurmdLogFile=${folder}/log/%n`,
    'ProctrackType=proctrack/linuxproc',
    'TaskPlugin=task/none',
    'SwitchType=switch/none',
    'MpiDefault=none',
    'JobAcctGatherType=jobacct_gather/none',
    'AccountingStorageType=accounting_storage/none',
    'SchedulerType=sched/backfill',
    'SelectType=select/cons_tres',
    'SelectTypeParameters=CR_CPU',
    'SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=10000,batch_sched_delay=0',
    'SlurmdParameters=config_overrides',
    'GresTypes=gpu',
    'ReturnToService=2',
    'KillWait=10',
    ...more,
  ]
  for (const node of nodes)
    lines.push(
      `NodeName=${node} NodeHostname=localhost NodeAddr=127.0.0.1 Port=${await freePort()} CPUs=2 RealMemory=1000 Gres=gpu:2`,
    )
  const own = partitions.map(
    (one, index) => `${one} Nodes=${nodes.join(',')} Default=${index === 0 ? 'YES' : 'NO'} State=UP`,
  )
  return [...lines, ...own, ''].join('\n')
}

/** slurmstepd leaves its slurmd, and what it starts may leave it; the environment stays. */
async function ownProcesses(conf: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '')
    if (environment.split('\0').includes(`SLURM_CONF=${conf}`)) found.push(Number(name))
  }
  return found
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has just ended
  }
}
