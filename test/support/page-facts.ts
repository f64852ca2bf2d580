import type {PageHours, PageIdle, PageLease, PageNode, PageRack, PageRun} from '../../src/lib/head/types.ts'

const GIB = 2 ** 30
const OWNERS = ['alice@lab1', 'bob@lab2', 'carol@lab3']

/** A rack as a `head ui` tells of it: with `nodes` nodes of eight GPUs, some leased. The same each time but for `tick`. */
export function rackOf(nodes: number, {tick = 0, now = Date.now()}: {tick?: number; now?: number} = {}): PageRack {
  const leases: PageLease[] = []
  const made = Array.from({length: nodes}, (_, index): PageNode => {
    const name = `gpu${String(index + 1).padStart(2, '0')}`
    if (index === 5)
      return {...away(name), message: `${name} does not answer: connection timed out after 10 s (192.0.2.16 port 22)`}
    const wave = (Math.sin(index * 1.7 + tick / 5) + 1) / 2
    return {
      name,
      host: `10.0.0.${index + 11}`,
      ok: true,
      message: null,
      gone: false,
      cores: 64,
      load: 3 + wave * 40,
      busy: 0.05 + wave * 0.8,
      memory: {used: (60 + wave * 300) * GIB, total: 512 * GIB},
      disk: {free: (index === 2 ? 30 : 900 + index * 10) * GIB, total: 1800 * GIB},
      gpuCount: 8,
      gpus: index % 8 === 7 ? [] : Array.from({length: 8}, (_, gpu) => gpuOf(name, index, gpu, wave, leases, now)),
      reserved: index % 8 === 7 ? [{owner: 'dave@lab4', state: 'running', gpus: 4}] : [],
    }
  })
  return {rack: 'lab', at: now, nodes: made, runs: runsOf(now), leases, unknown: []}
}

function away(name: string): PageNode {
  return {
    name,
    host: name,
    ok: false,
    message: null,
    gone: false,
    cores: null,
    load: null,
    busy: null,
    memory: null,
    disk: null,
    gpuCount: 0,
    gpus: [],
    reserved: [],
  }
}

function gpuOf(
  node: string,
  index: number,
  gpu: number,
  wave: number,
  leases: PageLease[],
  now: number,
): PageNode['gpus'][number] {
  const seed = (index * 8 + gpu) % 7
  const taken = seed < 4
  const owner = OWNERS[(index + gpu) % OWNERS.length]!
  const lease = `${String(index).padStart(4, '0')}${String(gpu).padStart(4, '0')}`.padEnd(32, 'a')
  const from = seed === 1 ? '10.0.9.7' : null
  const used = taken ? (10 + seed * 18) * GIB : 0
  if (taken)
    leases.push({
      lease,
      node,
      owner,
      purpose: seed === 0 ? 'kernel of digits' : 'run digits-ab12c',
      state: 'held',
      from,
      gpus: [gpu],
      used,
      created: now - (index * 8 + gpu) * 60_000,
    })
  const holder = {owner, purpose: seed === 0 ? 'kernel of digits' : 'run digits-ab12c', lease, share: 1, from}
  return {
    index: gpu,
    name: 'NVIDIA H100 80GB HBM3',
    memory: 80 * GIB,
    used,
    busy: taken && seed !== 3 ? 0.4 + wave * 0.6 : 0,
    whole: taken && seed !== 2,
    holders: !taken
      ? []
      : seed === 2
        ? [
            {...holder, share: 0.5},
            {...holder, owner: 'bob@lab2', share: 0.25},
          ]
        : [holder],
  }
}

/** Runs of all states; one has a name and a cause that a browser must not take for markup. */
export function runsOf(now = Date.now()): PageRun[] {
  const run = (name: string, status: string, minutes: number, more: Partial<PageRun> = {}): PageRun => ({
    run: name,
    project: name.replace(/-[^-]*$/, ''),
    user: minutes % 7 === 0 ? 'alice' : 'bob',
    status,
    nodes: ['gpu01', 'gpu02'],
    worldSize: 16,
    started: now - minutes * 60_000,
    ended: ['running', 'starting'].includes(status) ? null : now - (minutes / 3) * 60_000,
    attempt: 1,
    cause: null,
    sweep: null,
    tracked: `${name.length}`.padStart(32, 'f'),
    metrics: {loss: 0.4213 + minutes / 1000, 'val/accuracy': 0.91 - minutes / 9000},
    ...more,
  })
  return [
    run('digits-ab12c', 'running', 84, {nodes: ['gpu01', 'gpu02', 'gpu03', 'gpu04'], worldSize: 32, attempt: 2}),
    run('llama-x0k3p', 'starting', 0.4, {metrics: {}}),
    run('digits-9dkw2', 'finished', 240),
    run('<img src=x onerror=alert(1)>', 'failed', 300, {
      project: '"><script>alert(2)</script>',
      cause: 'rank 3 on gpu02 ended with exit code 17: <b>no such file</b>',
    }),
    run('digits-swp01', 'stopped', 600, {sweep: 'digits-lr'}),
    run('resnet-7tq1m', 'finished', 1500),
  ]
}

/** Idle GPUs of all kinds, and two days of hours. */
export function idleOf(now = Date.now()): PageIdle {
  const hour = 3_600_000
  const hours = Array.from({length: 40}, (_, back): PageHours => {
    const at = new Date((Math.floor(now / hour) - 1 - back) * hour).toISOString()
    const all = 8 + (back % 5) * 3
    const seen = back % 11 === 10 ? null : all
    const busy = seen === null ? null : all * (back === 0 ? 0.75 : 0.3 + (back % 7) / 10)
    return {name: `${at.slice(0, 10)} ${at.slice(11, 16)}Z`, runs: 2, hours: all, seen, busy}
  }).toReversed()
  const of = (name: string, all: number, busy: number): PageHours => ({
    name,
    runs: 4,
    hours: all,
    seen: all * 0.9,
    busy: all * busy,
  })
  const nobody = {owner: null, holder: null, since: null}
  const alice = {owner: 'alice@lab1', since: now - 7 * hour}
  return {
    idle: [
      {...nobody, state: 'free', node: 'gpu01', gpus: 1, index: 3, why: 'shared, and nobody has a lease'},
      {...nobody, state: 'free', node: 'gpu08', gpus: 4, index: null, why: 'no run has reserved them'},
      {
        ...alice,
        state: 'leased',
        node: 'gpu02',
        gpus: 1,
        index: 0,
        holder: '00010000',
        why: 'no program uses the lease',
      },
      {
        ...alice,
        state: 'dark',
        node: 'gpu03',
        gpus: 4,
        index: null,
        holder: 'digits-ab12c',
        why: 'busy 1.2 % of the 410 min of its attempt',
      },
    ],
    since: now - 7 * 24 * hour,
    until: now,
    users: [of('alice', 812.5, 0.7), of('bob', 96, 0.2), of('<img src=x onerror=alert(1)>', 3, 0)],
    projects: [of('digits', 700, 0.6), of('llama', 211.5, 0.5)],
    hours,
    total: of('all', 911.5, 0.55),
    unasked: ['gpu07: connection refused'],
  }
}
