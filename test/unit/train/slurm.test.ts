import {execFileSync, spawnSync} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import type {Manifest, SlurmSpec} from '../../../src/lib/manifest/index.ts'
import type {Rack, RackNode} from '../../../src/lib/rack/index.ts'
import {schedulerOf} from '../../../src/lib/train/place.ts'
import {requestRun} from '../../../src/lib/train/placer/slurm-request.ts'
import {directives, slurmScript, type HandedOrder} from '../../../src/lib/train/placer/slurm-script.ts'
import type {RunSpec, SlurmRequest} from '../../../src/lib/train/types.ts'

const node: RackNode = {name: 'login', host: 'login', root: '~/.flexrack', labels: {}}
const plain: Rack = {name: 'lab', path: '/racks/lab.yaml', nodes: [node], head: {node: 'login', bind: '127.0.0.1'}}
const rack: Rack = {
  ...plain,
  slurm: {login: 'login', partition: 'gpu', account: 'ml', interface: 'ib0', extra: ['--mail-type=FAIL']},
}
const none: SlurmSpec = {exclusive: false, extra: []}
const manifest = (slurm: Partial<SlurmSpec> = {}, train: Partial<NonNullable<Manifest['train']>> = {}): Manifest => ({
  path: '/p/flexrack.yaml',
  folder: '/p',
  name: 'digits',
  workspace: {exclude: [], forward: [], env: {}},
  tracking: {experiment: 'digits'},
  endpoints: {},
  train: {
    command: ['train.py'],
    launcher: 'torchrun',
    nodes: 2,
    processesPerNode: 4,
    restarts: 0,
    outputs: [],
    env: {},
    grace: 10,
    slurm: {...none, ...slurm},
    ...train,
  },
})
const choice = {args: [], tracking: false}
const request = (slurm: Partial<SlurmSpec> = {}): RunSpec & {slurm: SlurmRequest} =>
  requestRun(manifest(slurm), rack, choice, 'k3x9a') as RunSpec & {slurm: SlurmRequest}
const places = {
  folder: '/home/me/.flexrack/runs/digits-k3x9a',
  python: '/e/1/bin/python',
  step: '/p/1/flexrack_node/slurm/step.py',
  root: '/home/me/.flexrack',
  code: '/home/me/.flexrack/workspaces/digits/code',
}

describe('who places a run', () => {
  it('is Slurm where the rack has it, and nobody else', () => {
    expect(schedulerOf(manifest(), rack, choice)).toBe('slurm')
    expect(schedulerOf(manifest(), plain, choice)).toBe('ssh')
    expect(() => schedulerOf(manifest({}, {scheduler: 'ssh'}), rack, choice)).toThrow(
      'flexrack does not place runs there by itself',
    )
    expect(schedulerOf(manifest({}, {scheduler: 'ssh'}), rack, {...choice, scheduler: 'slurm'})).toBe('slurm')
    expect(() => requestRun(manifest(), plain, choice)).toThrow('rack lab has no Slurm')
    expect(() => requestRun(manifest(), rack, {...choice, on: 'login'})).toThrow('which chooses the nodes')
    expect(() => requestRun(manifest(), rack, {...choice, exclude: 'login'})).toThrow('--exclude cannot')
    expect(requestRun(manifest(), rack, {...choice, gpus: 2, processesPerNode: 3})).toMatchObject({slurm: {gpus: '6'}})
    expect(requestRun(manifest({gpus: 'a100:4'}), rack, {...choice, gpus: 2}).slurm?.gpus).toBe('a100:4')
  })
})

describe('what is asked of Slurm', () => {
  it("is the manifest's wish over the rack's default; a CPU for each process where nothing is said", () => {
    expect(request({partition: 'debug', extra: ['--licenses=a:1']})).toMatchObject({
      worldSize: 8,
      slurm: {
        nodes: 2,
        cpus: 4,
        partition: 'debug',
        account: 'ml',
        interface: 'ib0',
        extra: ['--mail-type=FAIL', '--licenses=a:1'],
      },
      placements: [{node: {name: 'login'}, index: 0, ranks: [0, 1, 2, 3, 4, 5, 6, 7]}],
    })
  })

  it('may be a range of nodes, of which the job tells how many it got; spares are refused', () => {
    const spec = requestRun(manifest({}, {nodes: 8, minNodes: 2}), rack, choice, 'k3x9a') as RunSpec & {
      slurm: SlurmRequest
    }
    expect(directives(spec)).toContain('--nodes=2-8')
    expect(slurmScript(spec, places)).toContain('srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" ')
    expect(spec.size).toEqual({min: 2, max: 8, spares: 0})
    expect(() => requestRun(manifest({}, {spares: 1}), rack, choice)).toThrow('which ends a job that loses a node')
  })

  it('may be tasks of one job: the script is the same but for the directive and the folder, which the shell makes of the task', () => {
    const folder = mkdtempSync(join(tmpdir(), "flexrack it's-"))
    try {
      const single = slurmScript(request(), {...places, folder: `${folder}/a-`}).split('\n')
      const array = slurmScript(request(), {...places, folder: `${folder}/a-`, array: '0-3,7%2'}).split('\n')
      expect(array.filter((line) => !single.includes(line))).toEqual([
        '#SBATCH --array=0-3,7%2',
        expect.stringMatching(/^run=/),
      ])
      const line = array.find((one) => one.startsWith('run=')) as string
      expect(
        execFileSync('sh', ['-c', `${line}; printf %s "$run"`], {env: {SLURM_ARRAY_TASK_ID: '7'}, encoding: 'utf8'}),
      ).toBe(`${folder}/a-7`)
    } finally {
      rmSync(folder, {recursive: true, force: true})
    }
  })

  it('becomes directives, each once, in a fixed order', () => {
    expect(
      directives(
        request({
          gpus: 'a100:4',
          cpus: 32,
          memory: '64G',
          time: '12:00:00',
          qos: 'high',
          constraint: 'a100&ib',
          exclusive: true,
        }),
      ),
    ).toEqual([
      '--job-name=digits-k3x9a',
      '--nodes=2',
      '--ntasks-per-node=1',
      '--cpus-per-task=32',
      '--gres=gpu:a100:4',
      '--mem=64G',
      '--time=12:00:00',
      '--partition=gpu',
      '--account=ml',
      '--qos=high',
      '--constraint=a100&ib',
      '--exclusive',
      '--no-requeue',
      '--mail-type=FAIL',
    ])
  })
})

describe('whether Slurm starts the job again that it ended', () => {
  const requested = (slurm: Partial<SlurmSpec>, checkpoint?: {path: string}): string[] =>
    directives(
      requestRun(manifest(slurm, checkpoint && {checkpoint}), rack, choice, 'k3x9a') as RunSpec & {slurm: SlurmRequest},
    ).filter((one) => /requeue|open-mode/.test(one))

  it('is where it can go on from a checkpoint, unless the manifest says otherwise', () => {
    expect(requested({})).toEqual(['--no-requeue'])
    expect(requested({}, {path: 'checkpoints/'})).toEqual(['--requeue', '--open-mode=append'])
    expect(requested({requeue: false}, {path: 'checkpoints/'})).toEqual(['--no-requeue'])
    expect(requested({requeue: true})).toEqual(['--requeue', '--open-mode=append'])
  })

  it('makes no second run of one that is over: the script ends without a step, well where the run finished', () => {
    const folder = mkdtempSync(join(tmpdir(), 'flexrack-over-'))
    try {
      writeFileSync(join(folder, 'srun'), `#!/bin/sh\ntouch '${folder}/stepped'\n`, {mode: 0o700})
      const exitOf = (prepared: number): number => {
        writeFileSync(join(folder, 'python'), `#!/bin/sh\nexit ${prepared}\n`, {mode: 0o700})
        const script = slurmScript(request(), {...places, python: join(folder, 'python')})
        return spawnSync('sh', ['-c', script], {env: {PATH: `${folder}:${process.env.PATH}`}}).status ?? -1
      }
      expect([exitOf(64), exitOf(1), exitOf(2)]).toEqual([0, 1, 1])
      expect(() => readFileSync(join(folder, 'stepped'))).toThrow('ENOENT')
      expect(exitOf(0)).toBe(0)
      expect(readFileSync(join(folder, 'stepped'), 'utf8')).toBe('')
    } finally {
      rmSync(folder, {recursive: true, force: true})
    }
  })
})

describe('the script', () => {
  it('starts one supervisor a node, and waits for it through a SIGTERM', () => {
    const script = slurmScript(request(), places)
    expect(script.split('\n')[0]).toBe('#!/bin/sh')
    expect(script).toContain('srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --cpus-per-task=4 \\\n')
    expect(script).toContain('/e/1/bin/python -I -S "$step" member "$run" </dev/null &')
  })

  it("runs the nodes' part in a container where the manifest says so: with the image's Python, and the run's folders at their own paths", () => {
    const container = {image: 'nvcr.io#nvidia/pytorch:24.10-py3', mounts: ['/datasets:/data:ro']}
    const [batch, step] = slurmScript(request({container}), places).split('trap : TERM') as [string, string]
    expect(batch).toContain('/e/1/bin/python -I -S "$step" prepare "$run"')
    expect(batch).not.toContain('container')
    expect(step.split('\n').filter((line) => /container|member/.test(line))).toEqual([
      "  '--container-image=nvcr.io#nvidia/pytorch:24.10-py3' \\",
      "  '--container-mounts=/home/me/.flexrack:/home/me/.flexrack,/datasets:/data:ro' \\",
      "  '--container-workdir=/home/me/.flexrack/workspaces/digits/code' \\",
      '  python3 -I -S "$step" member "$run" </dev/null &',
    ])
    expect(() => slurmScript(request({container}), {...places, root: '/a,b'})).toThrow('pyxis cannot mount /a,b')
  })

  it('runs as sh reads it: whatever is in a path or in the run, the programs get it whole and nothing else runs', () => {
    const folder = mkdtempSync(join(tmpdir(), 'flexrack-script-'))
    try {
      const strange = `${folder}/it's $(touch ${folder}/bad) \`x\` "y"\\`
      const log = join(folder, 'log')
      // Stands for Slurm's srun and for Python: writes down its words, and its input for `prepare`.
      const tool = `#!/bin/sh\nfor one in "$@"; do printf '%s\\n' "$one" >>'${log}'; done\ncase "$*" in *prepare*) cat >>'${log}';; esac\n`
      for (const name of ['srun', 'python']) writeFileSync(join(folder, name), tool, {mode: 0o700})
      const brings = {env: {A: "'\nFLEXRACK_SPEC\n$(touch bad)"}} as unknown as HandedOrder
      const script = slurmScript(
        request(),
        {...places, folder: strange, python: join(folder, 'python'), step: 'step.py'},
        brings,
      )
      execFileSync('sh', ['-c', script], {env: {PATH: `${folder}:${process.env.PATH}`}, cwd: folder})
      const lines = readFileSync(log, 'utf8').split('\n')
      expect(lines.slice(0, 6)).toEqual([
        '-I',
        '-S',
        'step.py',
        'prepare',
        strange,
        JSON.stringify({schema: 2, ...brings}),
      ])
      expect(lines.slice(-4, -1)).toEqual(['step.py', 'member', strange])
      expect(() => readFileSync(join(folder, 'bad'))).toThrow('ENOENT')
    } finally {
      rmSync(folder, {recursive: true, force: true})
    }
  })
})
