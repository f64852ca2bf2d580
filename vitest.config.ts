import {defineConfig} from 'vitest/config'

export default defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 300_000,
    // Two cores is the machine we plan for; integration tests start real servers.
    maxWorkers: 2,
    projects: ['unit', 'integration', 'e2e'].map((name) => ({
      extends: true,
      test: {name, include: [`test/${name}/**/*.test.ts`]},
    })),
  },
})
