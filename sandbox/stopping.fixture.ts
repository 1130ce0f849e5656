import { afterEach } from 'vitest'

/** A list of which each entry is stopped after the test that added it, in the order of the list. */
export function stoppedAfterEach(): { stop(): Promise<unknown> }[] {
  const started: { stop(): Promise<unknown> }[] = []
  afterEach(async () => {
    for (const each of started.splice(0)) await each.stop()
  })
  return started
}
