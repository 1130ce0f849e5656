/** The longest wait of setTimeout, in milliseconds; with a longer one it fires at once. */
const longest = 2 ** 31 - 1

/** At most one timer for each key. */
export function createTimers() {
  const running = new Map<string, NodeJS.Timeout>()
  return {
    set(key: string, delayMs: number, action: () => void): void {
      clearTimeout(running.get(key))
      const delay = Math.min(Math.max(0, delayMs), longest)
      const timer = setTimeout(() => {
        running.delete(key)
        action()
      }, delay)
      running.set(key, timer)
    },
    stop(): void {
      for (const timer of running.values()) clearTimeout(timer)
      running.clear()
    },
  }
}

export type Timers = ReturnType<typeof createTimers>
