/** At most one timer a key; all of them end with `stop`. */
export interface Timers {
  set(key: string, delayMs: number, action: () => void): void
  stop(): void
}

/** The longest wait that setTimeout takes without firing at once. */
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
