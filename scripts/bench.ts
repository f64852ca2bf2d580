// Runs every measurement of bench/ one after the other and writes bench/results/latest.md.
// Names as arguments run only those: npm run bench -- startup
import {spawnSync} from 'node:child_process'
import {readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {markdown, type Result} from '../bench/measure.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const bench = join(root, 'bench')
const all = readdirSync(bench)
  .filter((file) => file.endsWith('.ts') && file !== 'measure.ts')
  .map((file) => file.slice(0, -3))
  .sort()
const requested = process.argv.slice(2)
const unknown = requested.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`There is no measurement ${unknown.join(', ')}; there are: ${all.join(', ')}`)
  process.exit(2)
}

run('the build', join(root, 'scripts/build.ts'))
const failed = (requested.length > 0 ? requested : all).filter((name) => {
  console.error(`Measuring ${name} ...`)
  return !run(name, join(bench, `${name}.ts`))
})
writeFileSync(join(bench, 'results/latest.md'), latest())
if (failed.length > 0) console.error(`Failed: ${failed.join(', ')}`)
process.exitCode = failed.length > 0 ? 1 : 0

function run(name: string, file: string): boolean {
  const {status} = spawnSync(process.execPath, [file], {stdio: 'inherit', cwd: root})
  if (status !== 0) console.error(`${name} ended with ${status}`)
  return status === 0
}

/** All results that there are, also those of earlier days; each machine is told once. */
function latest(): string {
  const results = readdirSync(join(bench, 'results'))
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(bench, 'results', file), 'utf8')) as Result)
  const rows = results.flatMap((result) => result.rows.filter((row) => row.holds !== undefined))
  const missed = rows.filter((row) => !row.holds)
  const days = results.map(
    ({name, takenAt, machine}) =>
      `${name}: ${takenAt.slice(0, 10)}, ${machine.cores} cores of ${machine.processor}, ${machine.memoryGiB} GiB, ${machine.platform}, kernel ${machine.kernel}, Node ${machine.node}`,
  )
  return [
    '# Measurements',
    '',
    'Written by `npm run bench`; medians of runs that take turns. Compare within one machine only.',
    '',
    `${rows.length - missed.length} of ${rows.length} bars hold${missed.length > 0 ? `; missed: ${missed.map((row) => row.what).join('; ')}` : ''}.`,
    '',
    ...results.map(markdown),
    '## Taken',
    '',
    ...days.map((line) => `- ${line}`),
    '',
  ].join('\n')
}
