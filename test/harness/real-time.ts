import { afterEach, vi } from 'vitest'

// Files share a process (vitest.config.ts), so a clock that a test has moved must not reach the next one.
afterEach(() => {
  vi.useRealTimers()
})
