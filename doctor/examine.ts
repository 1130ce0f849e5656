import type { MetricsAccess } from './arguments.ts'
import { askerOf } from './ask.ts'
import { checkBodies, checkOtherMethods } from './checks/bodies.ts'
import { checkClock, checkSignIn } from './checks/clock.ts'
import { checkCors } from './checks/cors.ts'
import { checkAsIndexers, checkProbe, checkTravel } from './checks/demand.ts'
import { checkForwarding, checkListing } from './checks/listing.ts'
import { checkManifest } from './checks/manifest.ts'
import { checkMcp } from './checks/mcp.ts'
import { checkNodes } from './checks/nodes.ts'
import { checkOpenApi } from './checks/openapi.ts'
import { checkPages } from './checks/pages.ts'
import { checkUnreadablePayments } from './checks/payments.ts'
import { checkTerms } from './checks/terms.ts'
import { named } from './demand.ts'
import { type Finding, keepFindings, type Visit } from './findings.ts'
import { type Operation, type Paid, probe, probeResources } from './operations.ts'

export interface Examined {
  readonly findings: readonly Finding[]
  /** All paid operations that were found. */
  readonly operations: readonly string[]
}

/** How many paid operations are examined in full. */
const maxOperations = 8

/** Examines the whole store. Never pays. */
export async function examine(
  origin: string,
  publicOrigin = origin,
  metrics?: MetricsAccess,
): Promise<Examined> {
  const { note, findings } = keepFindings()
  const visit: Visit = { origin, publicOrigin, ask: askerOf(origin), note }
  const there = await visit.ask('/.well-known/x402')
  if (there.failed !== undefined) {
    note('unreachable', origin, there.failed)
    return { findings: findings(), operations: [] }
  }
  if (isOpenHttp(publicOrigin)) note('not_https', publicOrigin)
  const { paid, signIns } = await findOperations(visit)
  if (paid.length === 0) note('nothing_for_sale', origin)
  for (const one of paid.slice(0, maxOperations)) await examinePurchase(visit, one)
  for (const one of signIns) checkSignIn(visit, one)
  await checkClock(visit)
  await checkPages(visit)
  await checkMcp(visit)
  if (metrics !== undefined) await checkNodes(visit, metrics)
  return { findings: findings(), operations: paid.map(named) }
}

async function findOperations(visit: Visit) {
  const listed = await checkManifest(visit)
  const { paid: described, isUnpriced } = await checkOpenApi(visit)
  const { paid, signIns } = await probeResources(visit, listed)
  for (const one of paid) {
    if (isUnpriced(one)) visit.note('openapi_unpriced', named(one))
  }
  const isNew = (operation: Operation) => !paid.some((one) => named(one) === named(operation))
  const more: Paid[] = []
  for (const operation of described.filter(isNew).slice(0, maxOperations)) {
    more.push(await probe(visit, operation))
  }
  return { paid: [...paid, ...more], signIns }
}

async function examinePurchase(visit: Visit, paid: Paid): Promise<void> {
  const demand = checkProbe(visit, paid)
  await checkOtherMethods(visit, paid)
  await checkUnreadablePayments(visit, paid, demand)
  await checkCors(visit, paid)
  if (demand === undefined) return
  checkTravel(visit, paid)
  checkTerms(visit, named(paid), demand)
  checkListing(visit, paid, demand)
  checkAsIndexers(visit, paid, demand)
  checkSignIn(visit, paid)
  await checkForwarding(visit, paid)
  await checkBodies(visit, paid, demand)
}

/** Plain HTTP to another machine than this one, which others can read on the way. */
function isOpenHttp(publicOrigin: string): boolean {
  const { protocol, hostname } = new URL(publicOrigin)
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
