/**
 * Tests, and one closing line over all of them: `N passed, N failed`.
 *   npm test                              the gate: everything that proves a promise
 *   npm test -- unit node                 these suites: checks, node, unit, integration, e2e, native
 *   npm test -- unit train/place          of a suite what has a word in its path (native: in its name)
 *   npm test -- test/unit/train/x.test.ts one file
 *   npm test -- --watch unit train/place  again at each change
 *   npm run check | test:fast | test:long types, lint and generated files | what needs no packages or servers | at random, for an hour
 */
import {prepareMachine} from './prepare.ts'
import {beginCpu} from './testing/cpu.ts'
import {addCounts, closingText, noCounts, type Counts} from './testing/counts.ts'
import {countsOf} from './testing/outcomes.ts'
import {trySecond} from './testing/second-try.ts'
import {runStage, stagesOf} from './testing/stages.ts'
import {beginBuilds, FAST, LONG, partsOf, type Part} from './testing/suites.ts'
import {watchVitest} from './testing/vitest.ts'

// What runs would go on without us: unlike a terminal's Ctrl-C, these two come to this process alone.
process.on('SIGTERM', () => process.exit(143))
process.on('SIGHUP', () => process.exit(129))

await main().catch((error: Error) => {
  console.error(error.message)
  process.exitCode = 2
})

async function main(): Promise<void> {
  const {tier, isWatched, words} = readWords(process.argv.slice(2))
  const parts = tier === 'fast' ? FAST : tier === 'long' ? LONG : partsOf(words)
  // Fuzzing with libFuzzer needs a compiler of its own.
  const isFuzzing = tier === 'long' || process.env.FLEXRACK_FUZZ_SECONDS !== undefined
  if (tier !== 'fast')
    await prepareMachine([
      ...parts.map(({suite}) => suite),
      ...(isFuzzing ? ['fuzzing'] : []),
      ...(tier === 'long' ? ['long'] : []),
    ])
  if (isWatched) {
    const [part] = parts
    if (!part || parts.length > 1 || !['unit', 'integration', 'e2e'].includes(part.suite))
      throw new Error('--watch takes one suite: unit, integration or e2e')
    process.exitCode = await watchVitest(part.suite, part.words)
  } else {
    await runAll(parts)
  }
}

async function runAll(chosen: Part[]): Promise<void> {
  const tellCpu = process.env.FLEXRACK_CPU === undefined ? () => '' : beginCpu()
  const builds = await beginBuilds(chosen)
  const total = noCounts()
  for (const stage of stagesOf(chosen)) {
    console.log(`\n── ${stage.map(titleOf).join(', ')}`)
    const started = performance.now()
    for (const [part, counts] of await runStage(stage, builds)) {
      console.log(`── ${titleOf(part)}: ${lineOf(counts)} in ${((performance.now() - started) / 1000).toFixed(0)} s`)
      addCounts(total, counts)
    }
  }
  if (total.unsettled.length > 0) addCounts(total, await trySecond(total.unsettled.splice(0)))
  console.log(tellCpu() + closingText(total))
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
}

function titleOf({suite, words}: Part): string {
  return [suite, ...words].join(' ')
}

/** With the failures that may have a second try. */
function lineOf(counts: Counts): string {
  const first = noCounts()
  for (const more of [counts, ...counts.unsettled.map(({outcomes}) => countsOf(outcomes))]) addCounts(first, more)
  return `${first.passed} passed, ${first.failed} failed, ${first.skipped} skipped`
}

function readWords(given: string[]): {tier: string; isWatched: boolean; words: string[]} {
  const found = given.findIndex((word) => word === '--tier')
  const others = given.filter(
    (word, index) => word !== '--watch' && (found === -1 || (index !== found && index !== found + 1)),
  )
  return {tier: found === -1 ? 'gate' : (given[found + 1] ?? ''), isWatched: given.includes('--watch'), words: others}
}
