// The head's environment (MLflow and what it needs, from its lock file): cold, from uv's cache, on four nodes at once,
// beside uv alone.
import {mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {ensureEnvironment, openHost, type Host} from '../src/lib/host/index.ts'
import {startLocalRack, type TestLocalRack} from '../test/support/local-rack.ts'
import {report, root, runProgram} from './measure.ts'

const rounds = Number(process.env.BENCH_ROUNDS ?? 3)
const lock = join(root, 'locks/head.txt')
const requirements = readFileSync(lock, 'utf8')
const packages = requirements.match(/^[A-Za-z0-9][^=\n]*==/gm)?.length ?? 0
/** Means the same, and is another environment. */
const again = `--only-binary :all:\n${requirements}`
const folder = mkdtempSync(join(tmpdir(), 'flexrack-bench-'))
const times = {
  cold: [] as number[],
  warm: [] as number[],
  four: [] as number[],
  uvCold: [] as number[],
  uvWarm: [] as number[],
}
/** Of one round each: what else the machine does, and the line to the index, hit both sides of it alike. */
const ratios = {cold: [] as number[], warm: [] as number[], four: [] as number[]}
try {
  for (let round = 0; round < rounds; round++) {
    const place = join(folder, String(round))
    const rack = await openRack(join(place, 'one'))
    const [host] = rack.hosts as [Host]
    times.cold.push(await seconds(() => build(rack.rack, [host], requirements)))
    times.warm.push(await seconds(() => build(rack.rack, [host], again)))
    alone(uvOf(join(place, 'one')), place)
    await rack.rack.stop()
    const four = await openRack(join(place, 'four'), 4)
    times.four.push(await seconds(() => build(four.rack, four.hosts, requirements)))
    await four.rack.stop()
    const last = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, all.at(-1) ?? NaN])) as Record<
      keyof typeof times,
      number
    >
    ratios.cold.push(last.cold / last.uvCold)
    ratios.warm.push(last.warm / last.uvWarm)
    ratios.four.push(last.four / last.cold)
    rmSync(place, {recursive: true})
  }
} finally {
  rmSync(folder, {recursive: true, force: true})
}
const best = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, Math.min(...all)])) as Record<
  keyof typeof times,
  number
>
report(
  'environments',
  [
    {
      what: `an environment of ${packages} packages, empty cache, uv sent to the node`,
      value: best.cold,
      unit: 's',
      bar: 10,
    },
    {what: 'uv alone, empty cache', value: best.uvCold, unit: 's'},
    {what: 'another environment of the same packages, from the cache', value: best.warm, unit: 's', bar: 4},
    {what: 'uv alone, from its cache', value: best.uvWarm, unit: 's'},
    {what: 'four nodes that share their environments, at once, empty cache', value: best.four, unit: 's'},
    {what: 'one environment, empty cache, beside uv alone', value: middle(ratios.cold), unit: '× uv alone'},
    {what: 'one environment, from the cache, beside uv alone', value: middle(ratios.warm), unit: '× uv alone'},
    {what: 'four nodes at once beside one', value: middle(ratios.four), unit: '× one', bar: 1.3},
  ],
  [
    'Times: the best of the rounds, as the package index and its line take part. Ratios: the median of those of each round. Client and nodes share this one machine.',
  ],
)

function middle(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}

async function openRack(environments: string, nodes = 1): Promise<{rack: TestLocalRack; hosts: Host[]}> {
  mkdirSync(environments, {recursive: true, mode: 0o700})
  const rack = await startLocalRack({nodes, environments})
  const fleet = rack.fleet()
  return {rack, hosts: await Promise.all(rack.rack.nodes.map((node) => openHost(fleet, node, rack.context())))}
}

async function build(rack: TestLocalRack, hosts: Host[], text: string): Promise<void> {
  await Promise.all(hosts.map((host) => ensureEnvironment(host, {requirements: text}, rack.context())))
}

function uvOf(environments: string): string {
  const bin = join(environments, '.uv/bin')
  return join(bin, readdirSync(bin)[0] as string)
}

/** What nobody can be faster than: uv makes the folder and fills it. */
function alone(uv: string, place: string): void {
  const env = {...process.env, UV_CACHE_DIR: join(place, 'uv-cache')}
  for (const [index, name] of (['uvCold', 'uvWarm'] as const).entries()) {
    const venv = join(place, `venv-${index}`)
    const began = performance.now()
    runProgram([uv, 'venv', '--quiet', '--no-project', venv], env)
    runProgram(
      [uv, 'pip', 'install', '--quiet', '--python', join(venv, 'bin/python'), '--require-hashes', '-r', lock],
      env,
    )
    times[name].push((performance.now() - began) / 1000)
  }
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}
