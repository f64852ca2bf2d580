// Real programs, unchanged, natively and on a device that is elsewhere: are their results equal, and how much longer do
// they take. Words as arguments: only programs with one of them in their names.
import {spawnSync} from 'node:child_process'
import {join} from 'node:path'
import {buildNative} from '../scripts/build-native.ts'
import {report, root, type Row} from './measure.ts'

interface Program {
  name: string
  /** Null: natively it fails already. */
  equal: boolean | null
  seconds: {native: number; tls: number; shm: number}
  note: string
}

await buildNative()
const done = spawnSync('python3', [join(root, 'native/bench/programs.py'), ...process.argv.slice(2)], {
  stdio: ['ignore', 'pipe', 'inherit'],
  encoding: 'utf8',
})
if (done.status !== 0) throw new Error(`native/bench/programs.py ended with ${done.status ?? done.signal}`)
const programs = JSON.parse(done.stdout) as Program[]
const verdict = ({equal}: Program): string =>
  equal === null ? 'natively it fails' : equal ? 'results equal' : 'RESULTS DIFFER'
const rows = programs.flatMap((program): Row[] => [
  {what: `${program.name} natively (${verdict(program)})`, value: program.seconds.native, unit: 's'},
  ...(['tls', 'shm'] as const).map((how): Row => ({
    what: `${program.name}, ${how} over native`,
    value: program.seconds[how] / program.seconds.native,
    unit: '× native',
  })),
])
const differ = programs.filter(({equal}) => equal === false)
report(
  'gpu-programs',
  [{what: 'programs whose results differ', value: differ.length, unit: 'programs', bar: 0}, ...rows],
  [
    'Seconds from start to end of the program, the better of two runs, what the device compiled kept between them.',
    ...programs
      .filter(({note}) => note !== '')
      .map(({name, note}) => `${name}: ${note.replaceAll('\n', ' ').replaceAll('|', '/')}`),
  ],
)
