import type { Clock } from '../model/clock.ts'

interface Planned {
  readonly at: number
  /** Orders events at the same moment: first scheduled, first run. */
  readonly turn: number
  readonly act: () => void
}

/** Virtual time for many concurrent waiters. It moves only when everything waits. */
export interface Scheduler extends Clock {
  /** Epoch milliseconds. */
  time(): number
  sleep(ms: number): Promise<void>
  /** Runs the scheduled events until `isDone`, or until none is left before `end`. */
  run(isDone: () => boolean, end: number): Promise<void>
}

export function scheduler(start: Date): Scheduler {
  const agenda = earliestFirst()
  let time = start.getTime()
  let turns = 0

  function later(ms: number, act: () => void): void {
    turns += 1
    agenda.push({ at: time + Math.max(0, ms), turn: turns, act })
  }

  return {
    now: () => new Date(time),
    time: () => time,
    later,
    sleep: (ms) => new Promise((resolve) => later(ms, resolve)),

    async run(isDone, end) {
      await everythingWaits()
      while (!isDone()) {
        const next = agenda.pop()
        if (!next || next.at > end) return
        time = next.at
        next.act()
        await everythingWaits()
      }
    },
  }
}

/** Waits for the next turn of the event loop. All promises settle before it, in a deterministic order. */
function everythingWaits(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A binary heap, because a run schedules tens of thousands of events. */
function earliestFirst() {
  const heap: Planned[] = []
  const isBefore = (one: Planned | undefined, other: Planned | undefined) =>
    one !== undefined &&
    other !== undefined &&
    (one.at < other.at || (one.at === other.at && one.turn < other.turn))

  function swap(one: number, other: number): void {
    const [first, second] = [heap[one], heap[other]]
    if (!first || !second) return
    heap[one] = second
    heap[other] = first
  }

  function sink(from: number): void {
    let at = from
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      const child = isBefore(heap[right], heap[left]) ? right : left
      if (!isBefore(heap[child], heap[at])) return
      swap(at, child)
      at = child
    }
  }

  return {
    push(planned: Planned): void {
      let at = heap.push(planned) - 1
      while (at > 0 && isBefore(heap[at], heap[(at - 1) >> 1])) {
        swap(at, (at - 1) >> 1)
        at = (at - 1) >> 1
      }
    },

    pop(): Planned | undefined {
      const [first] = heap
      const last = heap.pop()
      if (!first || !last || first === last) return first
      heap[0] = last
      sink(0)
      return first
    },
  }
}
