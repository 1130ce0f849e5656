import { AsyncLocalStorage } from 'node:async_hooks'

/** Adds up the time that one piece of work waits for calls to others; simultaneous calls count once. */
export interface OutsideClock {
  /** Milliseconds since the clock was made. */
  readonly waited: () => number
}

export interface OutsideWatch {
  /** Runs the work with a clock of its own, which follows it through its asynchronous calls. */
  clocked(work: (clock: OutsideClock) => void): void
}

/**
 * Watches all calls to these addresses through `fetch`, until the process ends. Calls of work without a
 * clock, such as those of the sweep during a purchase, are not counted.
 */
export function watchOutside(addresses: readonly string[]): OutsideWatch {
  const clocks = new AsyncLocalStorage<Stopwatch>()
  const original = globalThis.fetch

  async function timed(clock: Stopwatch, ...call: Parameters<typeof fetch>): Promise<Response> {
    clock.begin()
    try {
      const response = await original(...call)
      // The wait includes the body; reading it again from memory costs almost nothing.
      const body = await response.arrayBuffer()
      return new Response(body.byteLength === 0 ? null : body, response)
    } finally {
      clock.end()
    }
  }

  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    const clock = clocks.getStore()
    const isOutside = addresses.some((address) => url.startsWith(address))
    return clock && isOutside ? timed(clock, input, init) : original(input, init)
  }
  return {
    clocked(work) {
      const clock = createStopwatch()
      clocks.run(clock, work, clock)
    },
  }
}

interface Stopwatch extends OutsideClock {
  begin(): void
  end(): void
}

function createStopwatch(): Stopwatch {
  let inFlight = 0
  let since = 0
  let total = 0
  return {
    begin() {
      if (inFlight === 0) since = performance.now()
      inFlight += 1
    },
    end() {
      inFlight -= 1
      if (inFlight === 0) total += performance.now() - since
    },
    waited: () => total,
  }
}
