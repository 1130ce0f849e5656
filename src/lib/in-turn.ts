/** Runs async functions one at a time, in the order of the calls. A failed one does not block the next. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

export function inTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}
