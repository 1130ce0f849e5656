import type { ChildStore } from '../test/child-store.ts'

/** A metric of a running store. */
export async function metricOf({ url }: ChildStore, name: string): Promise<number> {
  const page = await fetch(`${url}/metrics`).then((answer) => answer.text())
  const [, value] = new RegExp(`^${name} (\\S+)`, 'm').exec(page) ?? []
  if (value === undefined) throw new Error(`The store has no metric ${name}:\n${page}`)
  return Number(value)
}
