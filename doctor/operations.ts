import { type Answer, isRecord, tell } from './ask.ts'
import { demandOf } from './demand.ts'
import type { Visit } from './findings.ts'

export interface Operation {
  readonly method: string
  readonly path: string
}

/** A paid operation, with its answer to an empty call. */
export interface Paid extends Operation {
  readonly probe: Answer
}

/** The resources of a manifest that answer as paid operations or with a sign-in. */
export interface Asked {
  readonly paid: readonly Paid[]
  /** Operations whose 402 asks for a sign-in instead of money. */
  readonly signIns: readonly Paid[]
}

/** The most resources to probe: a long manifest must not cause a burst of calls. */
const maxResources = 30

/** Calls without a payment and without a body, as indexers do. */
export async function probe({ ask }: Visit, { method, path }: Operation): Promise<Paid> {
  return { method, path, probe: await ask(path, { method }) }
}

/**
 * Finds out which resources are paid. A manifest does not name methods, so a resource that GET does not
 * answer is tried with POST, empty and unpaid, as an indexer would.
 */
export async function probeResources(visit: Visit, paths: readonly string[]): Promise<Asked> {
  const paid: Paid[] = []
  const signIns: Paid[] = []
  const plain = [...new Set(paths)].filter((path) => !/\{|%7B/i.test(path))
  for (const path of plain.slice(0, maxResources)) {
    const found = await probeResource(visit, path)
    if (found === undefined) continue
    if (asksForSignIn(found.probe)) signIns.push(found)
    else paid.push(found)
  }
  return { paid, signIns }
}

async function probeResource(visit: Visit, path: string): Promise<Paid | undefined> {
  const read = await probe(visit, { method: 'GET', path })
  if (read.probe.status === 429) visit.note('rate_limited', `GET ${path}`)
  if (read.probe.status === 402) return read
  if (read.probe.status >= 200 && read.probe.status < 300) return undefined
  const bought = await probe(visit, { method: 'POST', path })
  const { status } = bought.probe
  if (status >= 200 && status < 300) return undefined
  if (status === 402 || status >= 500 || refusesBody(status)) return bought
  if (!isThere.includes(read.probe.status)) {
    visit.note('resource_unreachable', `GET ${path}`, tell(read.probe))
  }
  return undefined
}

/** Statuses of a refused GET that show that the resource exists. */
const isThere = [400, 401, 403, 406, 409, 422, 429]

/** The request was refused for its body, so the route exists, and validates before it asks for money. */
function refusesBody(status: number): boolean {
  return status === 400 || status === 411 || status === 415 || status === 422
}

function asksForSignIn(answer: Answer): boolean {
  const demand = demandOf(answer)
  if (demand === undefined || demand.accepts.length > 0) return false
  return isRecord(demand.extensions?.['sign-in-with-x'])
}
