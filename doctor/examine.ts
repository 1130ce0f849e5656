import { add } from './faults.ts'
import { checkOpenApi } from './openapi.ts'
import { checkKeys, checkManifest, checkMcp, checkNodes, checkReach } from './published.ts'
import { checkBrowser, checkPurchase, checkSignIn, nameOf } from './purchase.ts'
import { askerOf, type MetricsAccess, tell, type Visit } from './visit.ts'

const rank = { stop: 0, warn: 1, note: 2 } as const
/** A long document must not cause a burst of calls. */
const maxOperations = 8

export type Examined = Awaited<ReturnType<typeof examine>>

/** Examines the whole store. Never pays. Returns the findings, and all paid operations. */
export async function examine(origin: string, publicOrigin = origin, metrics?: MetricsAccess) {
  const visit: Visit = { origin, publicOrigin, ask: askerOf(origin), findings: [] }
  const isThere = await checkReach(visit)
  const operations = isThere ? await examineStore(visit, metrics) : []
  const findings = visit.findings.toSorted((one, other) => rank[one.level] - rank[other.level])
  return { findings, operations }
}

async function examineStore(visit: Visit, metrics?: MetricsAccess): Promise<string[]> {
  for (const path of await checkManifest(visit)) await checkResource(visit, path)
  const paid = await checkOpenApi(visit)
  if (paid.length === 0) add(visit, 'nothing_for_sale', visit.origin)
  for (const { method, path } of paid.slice(0, maxOperations)) {
    // As indexers do: without a payment and without a body.
    const one = { method, path, probe: await visit.ask(path, { method }) }
    await checkPurchase(visit, one)
    await checkBrowser(visit, one)
  }
  await checkKeys(visit)
  await checkMcp(visit)
  if (metrics !== undefined) await checkNodes(visit, metrics)
  return paid.map(nameOf)
}

/** A resource of the manifest must exist. A manifest names no methods, so another one may be allowed. */
async function checkResource(visit: Visit, path: string): Promise<void> {
  const probe = await visit.ask(path)
  const { status } = probe
  if (status === 0 || status === 404 || status === 410 || status >= 500)
    add(visit, 'resource_wrong', `GET ${path}`, tell(probe))
  checkSignIn(visit, { method: 'GET', path, probe })
}
