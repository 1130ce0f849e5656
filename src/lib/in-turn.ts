/** Runs pieces of work one after the other, in the order in which they came; a failed one holds up no other. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

export function inTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}
