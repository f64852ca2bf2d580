// What it costs a rank that it tells of itself: each event against the bare call in the same loop, and the start of
// Python.
import {spawnSync} from 'node:child_process'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {medians, report, root} from './measure.ts'

const instrumentation = join(root, 'node/flexrack_node/instrumentation')
const folder = mkdtempSync(join(tmpdir(), 'flexrack-bench-'))
const file = join(folder, 'rank-0.progress')
const rounds = Number(process.env.BENCH_ROUNDS ?? 7)

/**
 * One loop of each kind in turns; prints the median nanoseconds of an iteration. What torch itself adds around its
 * hooks is not in it.
 */
const LOOP = `
import json, statistics, time, flexrack_instrumentation, flexrack_instrumentation_torch as hooks
p = flexrack_instrumentation._progress
bare = lambda: None
noted = hooks._noted(bare, "all_reduce", p)
def loop_bare(n):
    for _ in range(n): bare(); bare()
def loop_step(n):
    for _ in range(n): bare(); p.step()
def loop_collective(n):
    for _ in range(n): bare(); noted()
def loop_batch(n):
    for _ in range(n):
        bare(); p.batch_came(p.wait_for_batch(), 8, 0, True)
def loop_all(n):
    for _ in range(n):
        p.batch_came(p.wait_for_batch(), 8, 0, True); bare(); noted(); p.step()
N, found = 50000, {}
for turn in range(7):
    for name, loop in list(globals().items()):
        if name.startswith("loop_"):
            begin = time.perf_counter_ns(); loop(N); took = (time.perf_counter_ns() - begin) / N
            if turn: found.setdefault(name[5:], []).append(took)
print(json.dumps({name: statistics.median(values) for name, values in found.items()}))
`

function python(code: string, watched: boolean): string {
  writeFileSync(file, Buffer.concat([Buffer.from('FLXRPROG\u0001\0\0\0\0\0\0\0'), Buffer.alloc(2032)]))
  const env = {
    ...process.env,
    ...(watched && {
      PYTHONPATH: instrumentation,
      FLEXRACK_PROGRESS: file,
      FLEXRACK_STACKS: join(folder, 'rank-0.stacks'),
      FLEXRACK_STACKS_SIGNAL: '43',
    }),
  }
  const done = spawnSync('python3', ['-c', code], {encoding: 'utf8', env})
  if (done.status !== 0) throw new Error(done.stderr)
  return done.stdout
}

try {
  const cost = JSON.parse(python(LOOP, true)) as Record<'bare' | 'step' | 'collective' | 'batch' | 'all', number>
  const start = await medians({bare: () => python('pass', false), watched: () => python('pass', true)}, rounds * 3)
  report(
    'in-rank',
    [
      {
        what: 'a step with its batch and one collective: what telling of it adds',
        value: cost.all - cost.bare,
        unit: 'ns',
        bar: 20_000,
        better: 'lower',
      },
      {what: 'the same loop with nothing told', value: cost.bare, unit: 'ns'},
      {what: 'a step alone', value: cost.step - cost.bare, unit: 'ns'},
      {what: 'a batch alone', value: cost.batch - cost.bare, unit: 'ns'},
      {what: 'a collective alone', value: cost.collective - cost.bare, unit: 'ns'},
      {what: 'start of Python with it', value: start.watched, unit: 'ms'},
      {what: 'start of Python without it', value: start.bare, unit: 'ms'},
    ],
    ['All kinds take turns in one process; the two starts take turns as well.'],
  )
} finally {
  rmSync(folder, {recursive: true})
}
