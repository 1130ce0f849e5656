import { defineConfig } from 'vitest/config'

/**
 * Two kinds of tests: the ones beside the code run side by side, and the stories run on real parts
 * that are started once for all of them.
 */
export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'sandbox/**/*.test.ts',
            'test/*.test.ts',
            'bench/**/*.test.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'stories',
          include: ['test/stories/**/*.test.ts'],
          globalSetup: ['test/stories/setup.ts'],
        },
      },
    ],
  },
})
