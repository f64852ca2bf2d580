import {readFileSync} from 'node:fs'
import {expect, test} from 'vitest'
import {LOCKED_PYTHON, pinsOf, readPythonLocks, withoutHashes} from '../../../src/lib/base/index.ts'

const names = (lock: string): string[] =>
  [...lock.matchAll(/^([A-Za-z0-9][\w.-]*)==/gm)].map((match) => match[1] as string)

test.each([
  [['head']],
  [['head', 'head-boto3', 'head-psycopg2']],
  [['head', 'head-google-cloud-storage', 'head-azure-storage-blob']],
  [['sweep', 'sweep-scipy', 'sweep-cmaes']],
])(
  'every package of %j has an exact version and hashes, and there is one version for a Python and platform',
  (locks) => {
    const lock = readPythonLocks(locks)
    for (const block of lock.trim().split(/\n(?=[A-Za-z0-9])/))
      expect(block).toMatch(/^[A-Za-z0-9][\w.[\],-]*==[\w.!+-]+( ; [^\\]+)? \\\n {4}--hash=sha256:[0-9a-f]{64}/)
    const pins = lock
      .split('\n')
      .filter((line) => /^[A-Za-z0-9]/.test(line))
      .map((line) => line.replace(/ \\$/, ''))
    expect(new Set(pins).size).toBe(pins.length)
    // Two versions of one package are for different Pythons or platforms.
    for (const name of new Set(names(lock)))
      expect(
        pins
          .filter((pin) => pin.startsWith(`${name}==`))
          .every((pin, _, all) => all.length === 1 || pin.includes(' ; ')),
      ).toBe(true)
    expect(lock).not.toMatch(/^--|:\/\//m)
  },
)

test('without hashes a lock has the same versions, a line each', () => {
  const lock = readPythonLocks(['sweep', 'sweep-scipy'])
  const plain = withoutHashes(lock)
  expect(plain).not.toContain('--hash')
  expect(plain).not.toContain('\\')
  expect(names(plain)).toEqual(names(lock))
  expect(pinsOf(plain, ['optuna'])).toEqual([expect.stringMatching(/^optuna==\d/)])
})

test.each(['head', 'sweep'])('the Pythons that environments of the %s are asked for are those of its lock', (name) => {
  expect(
    /^# python: (.+)$/m.exec(readFileSync(new URL(`../../../locks/${name}.in`, import.meta.url), 'utf8'))?.[1],
  ).toBe(LOCKED_PYTHON.slice(2))
})
