import type { Answer } from '../../adapters/json-call.ts'
import { lineOf, recordOf } from './raw.ts'

/** A definite refusal by the supplier, with its own code. */
export interface SupplierNo {
  readonly code: string
  /** May be shown to the buyer: it consists of the store's own words and names of fields. */
  readonly reason: string
  /** Whether it names the reference as faulty: then the reference was used before. */
  readonly namesReference: boolean
  /** Whether it calls the request a duplicate: of the same reference, or of another purchase. */
  readonly isDuplicate: boolean
}

/** The store's words for the codes that Zendit documents. Any other code is passed on by its name. */
const sentences: ReadonlyMap<string, string> = new Map([
  ['NOT_FOUND', 'The supplier does not sell this offer any more.'],
  ['INVALID_REQUEST', 'The supplier refused the purchase as invalid.'],
  ['INSUFFICIENT_FUNDS', 'The supplier could not take the purchase from this store now.'],
])

/**
 * The supplier's refusal in an error answer, or undefined if it is none. Only the supplier sends an `errorCode`:
 * a 404 of a proxy or a wrong address proves nothing about a purchase.
 */
export function refusalOf(
  answer: Extract<Answer, { outcome: 'answered' }>,
): SupplierNo | undefined {
  const body = recordOf(answer.body)
  if (body === undefined || typeof body['errorCode'] !== 'string') return undefined
  return supplierNo(body['errorCode'], Object.keys(recordOf(body['fields']) ?? {}))
}

/** Why a transaction failed, from its `error`. */
export function failureOf(error: unknown): SupplierNo {
  return supplierNo(recordOf(error)?.['code'], [])
}

/**
 * Leaves out the supplier's own message on purpose: it can repeat the number or the name that the buyer gave,
 * and the reason is stored and shown without checking who reads it.
 */
function supplierNo(rawCode: unknown, fields: readonly string[]): SupplierNo {
  const line = lineOf(rawCode, 60)
  const code = line !== undefined && /^[A-Za-z0-9_.:-]+$/.test(line) ? line : 'FAILED'
  const sentence = sentences.get(code) ?? `The supplier could not complete the purchase (${code}).`
  const named = fields.filter((field) => /^[A-Za-z][A-Za-z.]{0,59}$/.test(field)).slice(0, 10)
  const reason = named.length === 0 ? sentence : `${sentence} It named ${named.join(', ')}.`
  const namesReference = fields.includes('transactionId')
  return { code, reason, namesReference, isDuplicate: /DUPLICATE/i.test(code) }
}
