import { defineConfig } from 'vitest/config'

/** What `npm test` leaves to `npm run test:long`, because it takes long by its nature. */
const long = [
  // Everything that may go wrong, at every call.
  'test/crash-points/**/*.test.ts',
  'test/simulation/**/*.test.ts',
  // The store as its user starts it, and what kills its parts.
  'test/processes/**/*.test.ts',
  // The tests of our tools.
  'sandbox/**/*.test.ts',
  'bench/**/*.test.ts',
  'chaos/**/*.test.ts',
  'fuzz/**/*.test.ts',
  'doctor/**/*.test.ts',
  // What other programs say of the files for operators.
  'deploy/**/*.test.ts',
]
const longStories = [
  // Its nodes start anew, one after the other.
  'test/stories/changed-keys.test.ts',
  'test/stories/database-away.test.ts',
  'test/stories/rehearsed-start.test.ts',
  'test/stories/released.test.ts',
  // It waits for a facilitator that forgets.
  'test/stories/keyed-facilitator.test.ts',
  'test/stories/restored-backup.test.ts',
  // Programs that others made: proxies, examples in other languages.
  'test/stories/deployed.test.ts',
  'test/stories/examples.test.ts',
  'test/stories/hosts.test.ts',
  'test/stories/mcp/conformance.test.ts',
  'test/stories/doctor.test.ts',
  // Every call and every page, one after the other.
  'test/stories/openapi.test.ts',
  'test/stories/web/browser/every-page.test.ts',
  'test/stories/web/browser/screens.test.ts',
]

/** Stories run on real parts, which are started once for all of them. */
const onRealParts = {
  globalSetup: ['test/stories/setup.ts'],
  setupFiles: ['test/stories/every-answer.ts'],
}

export default defineConfig({
  test: {
    // Only ends what hangs: nothing is measured by it, and machines stand still at times.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 170_000 } },
    // Tests wait for PostgreSQL, the chain and the supplier more than they compute. `npm run test:long` has one
    // worker less, because its tests start stores, proxies and browsers besides.
    maxWorkers: 4,
    // A file leaves nothing behind in its process, so the next one need not load everything again.
    isolate: false,
    setupFiles: ['test/harness/real-time.ts'],
    // Each file makes its WebAssembly anew, and V8 may end a process that frees the last one's code
    // where the processor protects memory by keys: nodejs/node#64500.
    execArgv: ['--no-memory-protection-keys'],
    // The many processes of a run compile the store once.
    env: { NODE_COMPILE_CACHE: 'build/compiled' },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'openapi/**/*.test.ts',
            'test/*.test.ts',
            'test/doubles/*.test.ts',
          ],
          globalSetup: ['test/harness/migrated-postgres.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'stories',
          include: ['test/stories/**/*.test.ts'],
          exclude: longStories,
          ...onRealParts,
        },
      },
      { extends: true, test: { name: 'long', include: long } },
      { extends: true, test: { name: 'long-stories', include: longStories, ...onRealParts } },
    ],
  },
})
