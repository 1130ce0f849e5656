const firstDay = Date.UTC(2023, 0, 1)
const lastDay = Date.UTC(2025, 9, 1)

function between(next: () => number, from: number): number {
  return Math.floor(from + next() * (lastDay - from))
}

/** When an offer was made and last changed: drawn, so that every start tells the same. */
export function stamps(next: () => number): { createdAt: string; updatedAt: string } {
  const created = between(next, firstDay)
  const updated = between(next, created)
  return {
    createdAt: new Date(created).toISOString(),
    updatedAt: new Date(updated).toISOString(),
  }
}
