import type { OrderId } from '../lib/ids.ts'
import type { Notifier } from './ports.ts'

/** Notifies within one process. Other nodes notice by polling: a notification only saves time. */
export function createNotifier(stopping: AbortSignal): Notifier {
  const waiting = new Map<OrderId, Set<() => void>>()
  stopping.addEventListener('abort', () => {
    for (const wake of [...waiting.values()].flatMap((wakers) => [...wakers])) wake()
  })

  return {
    notify(id) {
      for (const wake of waiting.get(id) ?? []) wake()
    },

    wait(id, ms) {
      if (stopping.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const wakers = waiting.get(id) ?? new Set()
        waiting.set(id, wakers)
        const wake = () => {
          clearTimeout(timer)
          wakers.delete(wake)
          if (wakers.size === 0) waiting.delete(id)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        wakers.add(wake)
      })
    },
  }
}
