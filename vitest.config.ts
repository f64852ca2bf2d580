import {fileURLToPath} from 'node:url'
import {defineConfig} from 'vitest/config'
import LongestFirst from './scripts/testing/longest-first.ts'

// Where it is set, every process of a test would compile the packages it imports anew: PyTorch for five seconds.
delete process.env.PYTHONDONTWRITEBYTECODE
// Of each file all programs would compile our sources anew, as each has a FLEXRACK_HOME of its own, with a cache in it.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url))

export default defineConfig({
  test: {
    // A test that starts a service changes no crontab of whoever runs it.
    env: {FLEXRACK_REBOOT: 'stay'},
    testTimeout: process.env.FLEXRACK_LONG ? 3_600_000 : 300_000,
    hookTimeout: 300_000,
    // One second if nothing is said, which a busy machine may take for anything.
    expect: {poll: {timeout: 120_000}},
    // Two cores is the machine we plan for. What starts real servers waits for them most of the time
    // (scripts/testing/vitest.ts runs four files of it at once).
    maxWorkers: 2,
    sequence: {sequencer: LongestFirst},
    projects: ['unit', 'integration', 'e2e'].map((name) => ({
      extends: true,
      // *.long.test.ts are for `npm run test:long` alone: what they install is large.
      // No retry here: what fails on a busy machine has its second try at the end, alone
      // (scripts/testing/second-try.ts). Tests change nothing that another file would see: to read all modules anew for
      // each file is half of what unit tests cost, and most of a second of each file of the others.
      test: {
        name,
        isolate: false,
        setupFiles: [
          ...(process.env.FLEXRACK_CPU_GROUPS === undefined ? [] : ['test/support/own-cpu.ts']),
          ...(name === 'unit' ? [] : ['test/support/hold-messages.ts']),
        ],
        include: [`test/${name}/**/*.test.ts`],
        exclude: process.env.FLEXRACK_LONG ? [] : ['**/*.long.test.ts'],
      },
    })),
  },
})
