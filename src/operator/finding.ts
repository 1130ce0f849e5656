import { findOrders as findStored, type Sought } from '../adapters/storage/finding.ts'
import { numbersMeantBy } from '../catalog/phone.ts'
import { formatUsdc, usdc } from '../lib/money.ts'
import { identityOf, personDigests } from '../orders/denylist.ts'
import { recoveryDigests } from '../orders/finding.ts'
import { orderIdOfReference } from '../orders/order.ts'
import { coins } from '../payments/coins.ts'
import { createDigest, type OperatorKeys } from '../secrets/secrets.ts'
import { type Operator, Refused } from './operator.ts'

const idPattern = /\b(?:ord|chk|pay)_[0-9a-z]{26}\b|\bord[0-9a-z]{26}\b/
const requestPattern = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/i
const transactionPattern = /(?<![0-9a-z])(?:0x)?([0-9a-f]{64})(?![0-9a-z])/i
/** Of any coin, perhaps in a payment link (BIP-21). */
const addressPattern = /^(?:[a-z]+:)?([0-9a-z]{25,120})(?:[?@].*)?$/i

/** All that a text may name. */
function soughtIn(text: string, keys: OperatorKeys): readonly Sought[] {
  const typed = text.trim()
  const id = idPattern.exec(typed)?.[0]
  if (id !== undefined) return [soughtById(id)]
  const request = requestPattern.exec(typed)?.[0]
  if (request !== undefined) return [{ by: 'request', values: [request.toLowerCase()] }]
  const hash = transactionPattern.exec(typed)?.[1]?.toLowerCase()
  if (hash !== undefined) return [{ by: 'transaction', values: [hash, `0x${hash}`] }]
  const recovery = recoveryDigests(createDigest(keys, 'orders'), typed)
  const persons = personsMeantBy(typed).flatMap((identity) => digestsOf(keys, identity))
  const address = addressPattern.exec(typed)?.[1]?.toLowerCase()
  return [
    { by: 'recovery', values: recovery } as const,
    { by: 'person', values: persons } as const,
    { by: 'address', values: address === undefined ? [] : payersAt(address) } as const,
  ].filter(({ values }) => values.length > 0)
}

function soughtById(id: string): Sought {
  if (id.startsWith('chk')) return { by: 'checkout', values: [id] }
  if (id.startsWith('pay')) return { by: 'payment', values: [id] }
  return { by: 'order', values: [orderIdOfReference(id) ?? id] }
}

/** A wallet, and the address for each coin: the payer of an order in a coin has the coin before it. */
function payersAt(address: string): readonly string[] {
  return [address, ...coins.map((coin) => `${coin}:${address}`.toLowerCase())]
}

/** E-mail addresses, phone numbers in any spelling, and ICCIDs, as `identityOf` writes them. */
export function personsMeantBy(text: string): readonly string[] {
  const typed = text.trim()
  if (/^\S+@\S+\.\S+$/.test(typed)) return [...new Set([identityOf(typed), typed.toLowerCase()])]
  if (!/^\+?[\d\s()./-]{6,30}$/.test(typed)) return []
  const digits = typed.replace(/\D/g, '')
  return /^\d{18,22}$/.test(digits) ? [digits] : numbersMeantBy(typed.replaceAll('/', ' '))
}

/** All digests by which the store may know a person: with orders, with mail, and of a delivered eSIM. */
export function digestsOf(keys: OperatorKeys, identity: string): readonly string[] {
  const orders = createDigest(keys, 'orders')
  const left = identity.includes('@') ? createDigest(keys, 'order-mail').every(identity) : []
  const iccids = /^\d+$/.test(identity) ? orders.every(identity) : []
  return [...personDigests(orders, identity), ...left, ...iccids]
}

/**
 * Orders, and checkouts that have none yet, by whatever a buyer names; the newest first, at most 50 of each reading.
 *
 * @throws Refused for a text by which nothing could be found
 */
export async function findOrders({ config, database }: Operator, text: string) {
  const sought = soughtIn(text, config.secretsKeys)
  if (sought.length === 0) throw new Refused('That is nothing by which an order could be found.')
  const results = await Promise.all(sought.map((one) => findStored(database, one)))
  const found = results.flatMap((result, at) =>
    result.found.map(({ amount, ...one }) => {
      return { ...one, foundBy: sought[at]?.by, amountUsdc: formatUsdc(usdc(amount)) }
    }),
  )
  const byOrder = new Map(found.map((one) => [one.order, one]))
  return {
    found: [...byOrder.values()].toSorted((a, b) => b.placedAt.getTime() - a.placedAt.getTime()),
    isMore: results.some(({ isMore }) => isMore),
  }
}
