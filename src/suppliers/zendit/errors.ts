import type { Answer } from '../../adapters/json-call.ts'
import { lineOf, recordOf } from './raw.ts'

/** A definite no of the supplier, in its own code. */
export interface SupplierNo {
  readonly code: string
  /** May be shown to the buyer: it is made of our words and the names of fields only. */
  readonly reason: string
  /** Whether it names our reference: then that was used before. */
  readonly namesReference: boolean
  /** Whether it calls the request a duplicate: of our reference, or of another purchase. */
  readonly isDuplicate: boolean
}

/** Our words for the codes that Zendit documents. Every other code passes through by its name. */
const sentences: ReadonlyMap<string, string> = new Map([
  ['NOT_FOUND', 'The supplier does not sell this offer any more.'],
  ['INVALID_REQUEST', 'The supplier refused the purchase as invalid.'],
  ['INSUFFICIENT_FUNDS', 'The supplier could not take the purchase from this store now.'],
])

/**
 * The supplier's no in an error answer, or undefined when it is not one. Only the supplier sends
 * an `errorCode`: a proxy's or a wrong address's 404 proves nothing about a purchase.
 */
export function refusalOf(
  answer: Extract<Answer, { outcome: 'answered' }>,
): SupplierNo | undefined {
  const body = recordOf(answer.body)
  if (body === undefined || typeof body['errorCode'] !== 'string') return undefined
  return supplierNo(body['errorCode'], Object.keys(recordOf(body['fields']) ?? {}))
}

/** The no of a failed transaction, from its `error`. */
export function failureOf(error: unknown): SupplierNo {
  return supplierNo(recordOf(error)?.['code'], [])
}

/**
 * The supplier's own message is left out on purpose: it can repeat the number or the name that the
 * buyer gave, and the reason is stored and shown without a check of who reads it.
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
