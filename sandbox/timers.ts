/** At most one timer for each key; `stop` ends all of them. */
export interface Timers {
  set(key: string, delayMs: number, action: () => void): void
  stop(): void
}

/** The longest wait of setTimeout, in milliseconds; with a longer one it fires at once. */
const longest = 2 ** 31 - 1

export function createTimers(): Timers {
  const running = new Map<string, NodeJS.Timeout>()
  return {
    set(key, delayMs, action) {
      clearTimeout(running.get(key))
      const delay = Math.min(Math.max(0, delayMs), longest)
      const timer = setTimeout(() => {
        running.delete(key)
        action()
      }, delay)
      running.set(key, timer)
    },
    stop() {
      for (const timer of running.values()) clearTimeout(timer)
      running.clear()
    },
  }
}
