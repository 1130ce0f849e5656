/** Long work that can pause wherever it yields. */
export type Sliced<T> = Generator<undefined, T>

/** How long work holds the process before waiting requests have their turn. */
const sliceMs = 6

/** Does the work in slices of a few milliseconds, and whatever waits before each of them. */
export async function inSlices<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve))
    const until = performance.now() + sliceMs
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < until)
  }
}

/** Does the work without a pause. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** Works through the items, and may pause after every few. */
export function* eachOf<T>(
  items: Iterable<T>,
  work: (item: T, at: number) => void,
  few = 32,
): Sliced<void> {
  let at = 0
  for (const item of items) {
    work(item, at++)
    if (at % few === 0) yield
  }
}
