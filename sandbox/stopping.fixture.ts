import { afterEach } from 'vitest'

/** What a test adds to this list is stopped after the test, in the order in which it was added. */
export function stoppedAfterEach(): { stop(): Promise<unknown> }[] {
  const started: { stop(): Promise<unknown> }[] = []
  afterEach(async () => {
    for (const each of started.splice(0)) await each.stop()
  })
  return started
}
