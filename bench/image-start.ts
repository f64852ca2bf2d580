// How long a program in an image, and in a sandbox, takes to start beside one that is started bare. Bar: 0.3 s (product
// table).
import {execFileSync} from 'node:child_process'
import {getPriority} from 'node:os'
import {join} from 'node:path'
import {report, root, type Row} from './measure.ts'

type Case = 'bare' | 'python' | 'image' | 'sandbox' | 'ch-run' | 'proot'

const found = JSON.parse(
  execFileSync('python3', [join(root, 'bench/image_start.py'), process.env.BENCH_ROUNDS ?? '21'], {encoding: 'utf8'}),
) as Partial<Record<Case, {ms: number; cpu: number}>> &
  Record<'bare' | 'python' | 'image' | 'sandbox', {ms: number; cpu: number}>
const rows: Row[] = [
  {what: '`/bin/true`, bare', value: found.bare.ms, unit: 'ms'},
  {what: "Python alone, which flexrack's entrance is", value: found.python.ms, unit: 'ms'},
]
for (const [name, title] of [
  ['image', 'in an image'],
  ['sandbox', 'in an image and a sandbox'],
  ['ch-run', 'in an image by ch-run'],
  ['proot', 'in an image by proot'],
] as const) {
  const one = found[name]
  if (!one) continue
  rows.push({what: `\`/bin/true\` ${title}, above bare`, value: one.ms - found.bare.ms, unit: 'ms', bar: 300})
  rows.push({what: `${title}: processor time`, value: one.cpu, unit: 'ms'})
  rows.push({
    what: `${title}: times Python alone, in turns with it`,
    value: one.ms / found.python.ms,
    unit: '× Python alone',
  })
}
report('image-start', rows, [
  'Medians; the image is a small system of this machine, in one layer.',
  ...(getPriority() < 0 ? [`It ran before what else the machine did (nice ${getPriority()}).`] : []),
])
