import {copyFile, mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {Swept} from '../../src/lib/sweep/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {buildProgram, flexrack as program, type Ended} from '../support/program.ts'
import {SWEEP_SCRIPT} from '../support/sweep-script.ts'

/** Trials with GPUs, whole ones and shares. There is one GPU, in software. */
const MiB = 1024 ** 2
const built = process.env.FLEXRACK_NATIVE ?? resolve(import.meta.dirname, '../../native/build/release')
/** Tells what it sees of GPUs, at its beginning; trials 0 and 1 then wait for each other where PAIRS says so. */
const SCRIPT = `import json, os, pathlib, subprocess, sys, time
events = pathlib.Path(os.environ["EVENTS"])
def note(word, **more):
    with open(events, "a") as file: file.write(json.dumps({"trial": int(os.environ["FLEXRACK_TRIAL"]), "word": word, **more}) + "\\n")
note("begin", gpus=[json.loads(line)["memory"] for line in subprocess.check_output([sys.executable, "devices.py"], text=True).splitlines()])
while os.environ["PAIRS"] == "yes" and len({line for line in events.read_text().splitlines() if '"begin"' in line}) < 2: time.sleep(0.05)
${SWEEP_SCRIPT}
note("end")
`
let home: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  buildProgram()
  home = await mkdtemp(join(tmpdir(), 'flexrack-sweep-gpus-'))
  env = {FLEXRACK_HOME: home, FLEXRACK_NATIVE: built, FLEXRACK_RESERVATIONS: join(home, 'reservations')}
  await mkdir(join(home, 'reservations'), {mode: 0o700})
  const environments = await sharedEnvironments()
  for (const words of [
    [
      'local',
      'up',
      '--nodes',
      '1',
      '--gpu',
      'sim',
      '--sim-devices',
      '1',
      '--sim-memory',
      '1GiB',
      '--environments',
      environments,
    ],
    ['head', 'start', '--rack', 'local'],
  ]) {
    const {status, stderr} = await program(words, {env, cwd: home})
    expect(status, stderr).toBe(0)
  }
}, 900_000)
afterAll(async () => {
  await program(['local', 'down', '--purge', '--yes', '--grace', '1'], {env, cwd: home})
  await rm(home, {recursive: true, force: true})
})

async function sweep(
  name: string,
  train: string,
  {pairs}: {pairs: boolean},
): Promise<{ended: Ended; seen: {trial: number; word: string; gpus?: number[]}[]}> {
  const folder = join(home, name)
  await mkdir(folder)
  await copyFile(join(import.meta.dirname, '../fixtures/gpu/cuda_devices.py'), join(folder, 'devices.py'))
  await writeFile(join(folder, 'train.py'), SCRIPT)
  const variables = `{EVENTS: ${folder}.events, STARTS: ${folder}.starts, PAIRS: '${pairs ? 'yes' : 'no'}'}`
  await writeFile(
    join(folder, 'flexrack.yaml'),
    `name: ${name}\nrack: local\ntrain: {command: train.py, launcher: plain, env: ${variables}, ${train}}\nsweep: {metric: loss, goal: minimize, sampler: grid, parallel: 4, parameters: {x: [0, 1, 2, 3]}}\n`,
  )
  const ended = await program(['sweep', '--json'], {env, cwd: folder})
  const seen = (await readFile(`${folder}.events`, 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as {trial: number; word: string; gpus?: number[]})
  return {ended, seen}
}

/** Trials that were between their begin and their end at the same time, at most. */
function together(seen: {word: string}[]): number {
  let now = 0
  return Math.max(...seen.map(({word}) => (now += word === 'begin' ? 1 : -1)))
}

test(
  'trials have shares of one GPU, as many at a time as it has shares, and nothing stays leased',
  {timeout: 300_000},
  async () => {
    const {ended, seen} = await sweep('shares', 'gpus: {count: 1, fraction: 0.5}', {pairs: true})
    expect(ended.status, ended.stderr + ended.stdout).toBe(0)
    const swept = JSON.parse(ended.stdout) as Swept
    expect(swept.trials.map((one) => [one.state, one.attempt])).toEqual(Array(4).fill(['complete', 1]))
    expect(seen.filter((one) => one.word === 'begin').map((one) => one.gpus)).toEqual(Array(4).fill([512 * MiB]))
    expect(together(seen)).toBe(2)
    expect(
      JSON.parse((await program(['gpu', 'leases', '--json', '--rack', 'local'], {env, cwd: home})).stdout),
    ).toMatchObject({leases: []})
  },
)

test(
  'more than any GPU has ends the sweep with the reason, instead of waiting for ever',
  {timeout: 600_000},
  async () => {
    const {ended, seen} = await sweep('toomuch', 'gpus: {count: 1, memory: 4GiB}', {pairs: false})
    expect([ended.status, seen]).toEqual([7, []])
    expect(ended.stdout + ended.stderr).toContain('flexrack sweep --resume toomuch-sweep-')
  },
)
