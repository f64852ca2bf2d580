import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {isCliError} from '../../../src/lib/base/index.ts'
import {loadManifest, type Problem} from '../../../src/lib/manifest/index.ts'

const GOOD = `# A comment
name: digits
rack: local
workspace:
  python: requirements.txt
  sync: {exclude: [data/, "*.pt"]}
  forward: [8888, 6006]
  env: {OMP_NUM_THREADS: 4, GREETING: "hello world"}
train:
  command: train.py --epochs 5 --note 'two words'
  launcher: torchrun
  nodes: 2
  processes_per_node: 2
  restarts: 1
  outputs: [model.onnx, checkpoints/]
  grace: 10s
tracking:
  experiment: digits
endpoints:
  digits: {model: digits@production, runtime: onnx, replicas: 2}
`
const PIECES = [
  '',
  ' ',
  '\n',
  '\t',
  ':',
  ': ',
  '- ',
  '[',
  ']',
  '{',
  '}',
  '"',
  "'",
  '&a ',
  '*a',
  '!x ',
  '|',
  '>',
  '#',
  '%',
  '@',
  '`',
  '?',
  ',',
  '0',
  '-1',
  '1e999',
  '.nan',
  'null',
  '~',
  'true',
  '__proto__',
  '<<',
  '\u0000',
  '\uFEFF',
  '\u2028',
  '😀',
  '\r',
  '---\n',
  '...\n',
]

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-mutations-'))
  await writeFile(join(folder, 'requirements.txt'), '')
})
afterAll(() => rm(folder, {recursive: true, force: true}))

it('takes the manifest that is mutated below', async () => {
  await writeFile(join(folder, 'flexrack.yaml'), GOOD)
  await expect(loadManifest(folder)).resolves.toMatchObject({name: 'digits'})
})

it.each(Array.from({length: 20}, (_, index) => index + 1))(
  'answers any mutation with a manifest or with problems that have a place (seed %i)',
  async (seed) => {
    const random = generator(seed)
    for (let round = 0; round < 40; round++) {
      const text = mutate(GOOD, random)
      await writeFile(join(folder, 'flexrack.yaml'), text)
      try {
        expect((await loadManifest(folder)).name).toEqual(expect.any(String))
      } catch (error) {
        if (!isCliError(error, 'MANIFEST_INVALID'))
          throw new Error(`an unexpected error for ${JSON.stringify(text)}`, {cause: error})
        const problems = error.details.problems as Problem[]
        expect(problems.length).toBeGreaterThan(0)
        const lines = text.split('\n')
        for (const {line, column, message} of problems) {
          expect(message, text).toMatch(/^[^\n]+$/)
          expect(line, text).toBeGreaterThanOrEqual(1)
          expect(line, text).toBeLessThanOrEqual(lines.length)
          expect(column, text).toBeGreaterThanOrEqual(1)
          expect(column, text).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1)
        }
      }
    }
  },
)

function mutate(text: string, random: (below: number) => number): string {
  let mutated = text
  for (let edits = 1 + random(4); edits > 0; edits--) {
    const at = random(mutated.length + 1)
    const piece = PIECES[random(PIECES.length)] ?? ''
    const lines = mutated.split('\n')
    const from = random(lines.length)
    switch (random(5)) {
      case 0:
        mutated = mutated.slice(0, at) + piece + mutated.slice(at)
        break
      case 1:
        mutated = mutated.slice(0, at) + mutated.slice(at + 1 + random(12))
        break
      case 2:
        mutated = mutated.slice(0, at) + piece + mutated.slice(at + 1 + random(6))
        break
      case 3:
        lines.splice(random(lines.length), 0, lines[from] ?? '')
        mutated = lines.join('\n')
        break
      default:
        lines[from] = ' '.repeat(random(6)) + (lines[from] ?? '').trimStart()
        mutated = lines.join('\n')
    }
  }
  return mutated
}

/** Numbers that look random and are the same in every run: mulberry32, by Tommy Ettinger, public domain. */
function generator(seed: number): (below: number) => number {
  let state = seed * 0x9e37_79b9
  return (below) => {
    state = (state + 0x6d2b_79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, below)
  }
}
