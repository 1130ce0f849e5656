const firstDay = Date.UTC(2023, 0, 1)
const lastDay = Date.UTC(2025, 9, 1)

function between(next: () => number, from: number): number {
  return Math.floor(from + next() * (lastDay - from))
}

/** When an offer was created and last changed. Drawn from its seed, so it is the same at every start. */
export function stamps(next: () => number): { createdAt: string; updatedAt: string } {
  const created = between(next, firstDay)
  const updated = between(next, created)
  return {
    createdAt: new Date(created).toISOString(),
    updatedAt: new Date(updated).toISOString(),
  }
}
