/** Adds up the time during which the store waits for somebody else, calls side by side counted once. */
export interface OutsideClock {
  /** Milliseconds since the clock was made. */
  readonly waited: () => number
}

/** Watches every call to these addresses for the rest of the process; they all go through `fetch`. */
export function watchOutside(addresses: readonly string[]): OutsideClock {
  const original = globalThis.fetch
  let inFlight = 0
  let since = 0
  let total = 0

  async function timed(...call: Parameters<typeof fetch>): Promise<Response> {
    if (inFlight === 0) since = performance.now()
    inFlight += 1
    try {
      const response = await original(...call)
      // The answer is there when its body is; reading it again from memory costs next to nothing.
      const body = await response.arrayBuffer()
      return new Response(body.byteLength === 0 ? null : body, response)
    } finally {
      inFlight -= 1
      if (inFlight === 0) total += performance.now() - since
    }
  }

  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    const isOutside = addresses.some((address) => url.startsWith(address))
    return isOutside ? timed(input, init) : original(input, init)
  }
  return { waited: () => total }
}
