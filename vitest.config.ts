import {defineConfig} from 'vitest/config'

export default defineConfig({
  test: {
    testTimeout: process.env.FLEXRACK_LONG ? 3_600_000 : 120_000,
    hookTimeout: 300_000,
    // Two cores is the machine we plan for; integration tests start real servers.
    maxWorkers: 2,
    projects: ['unit', 'integration', 'e2e'].map((name) => ({
      extends: true,
      // Real servers on a shared machine: a second try is allowed there, and the report marks what needed it (retry x1).
      // *.long.test.ts are for `npm run test:long` alone: what they install is large.
      test: {name, setupFiles: name === 'integration' ? ['test/support/protocol.ts'] : [], include: [`test/${name}/**/*.test.ts`], exclude: process.env.FLEXRACK_LONG ? [] : ['**/*.long.test.ts'], retry: name === 'unit' ? 0 : 1},
    })),
  },
})
