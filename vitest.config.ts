import { defineConfig } from 'vitest/config'

/**
 * Three kinds of tests: the ones beside the code, the stories on real parts that are started once
 * for all of them, and the ones that start the store as its user does, as a process of its own.
 */
export default defineConfig({
  test: {
    // Only ends what hangs: nothing is measured by it, and machines stand still at times.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 170_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'sandbox/**/*.test.ts',
            'test/*.test.ts',
            'test/doubles/*.test.ts',
            'test/crash-points/*.test.ts',
            'test/simulation/*.test.ts',
            'bench/**/*.test.ts',
            'chaos/**/*.test.ts',
            'fuzz/**/*.test.ts',
            'doctor/**/*.test.ts',
            'openapi/**/*.test.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'stories',
          include: ['test/stories/**/*.test.ts'],
          globalSetup: ['test/stories/setup.ts'],
          setupFiles: ['test/stories/every-answer.ts'],
          // Stories wait for the chain and the supplier more than they compute.
          maxWorkers: 4,
        },
      },
      {
        extends: true,
        test: { name: 'processes', include: ['test/processes/**/*.test.ts'] },
      },
    ],
  },
})
