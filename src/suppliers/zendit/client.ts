import type { Kind } from '../../catalog/offer.ts'
import { type Answer, callJson, type JsonRequest } from '../../lib/http-call.ts'
import type { SupplierAccess } from '../supplier.ts'

/** The kinds as Zendit's paths name them: `esim` is singular there, the others are plural. */
export const families: Readonly<Record<Kind, string>> = {
  voucher: 'vouchers',
  topup: 'topups',
  esim: 'esim',
}

const testHosts: readonly string[] = ['test-api.zendit.io', 'api.sandbox.zendit.io']

type Access = Pick<SupplierAccess, 'url' | 'key'>

export function isTestMode({ url, key }: Access): boolean {
  return key.startsWith('sand_') || testHosts.includes(URL.parse(url)?.hostname ?? '')
}

export type ZenditClient = ReturnType<typeof createZenditClient>

/** All parts of a path are encoded. */
export function createZenditClient({ url: baseUrl, key }: Access, timeoutMs: number) {
  const service = { baseUrl, authorization: `Bearer ${key}`, timeoutMs }
  return {
    get: (path: string, call: Pick<JsonRequest, 'signal' | 'maxBytes'> = {}) =>
      callJson(service, { method: 'GET', path, ...call }),
    post: (path: string, body: unknown) => callJson(service, { method: 'POST', path, body }),
  }
}

export interface SupplierNo {
  readonly code: string
  /** May be shown to the buyer: it consists of the store's own words and names of fields. */
  readonly reason: string
  readonly namesReference: boolean
  readonly isDuplicate: boolean
}

/** The store's words for the codes that Zendit documents. Any other code is passed on by its name. */
const sentences: ReadonlyMap<string, string> = new Map([
  ['NOT_FOUND', 'The supplier does not sell this offer any more.'],
  ['INVALID_REQUEST', 'The supplier refused the purchase as invalid.'],
  ['INSUFFICIENT_FUNDS', 'The supplier could not take the purchase from this store now.'],
])

/** Only the supplier sends an `errorCode`: a 404 of a proxy or a wrong address proves nothing about a purchase. */
export function refusalOf(
  answer: Extract<Answer, { outcome: 'answered' }>,
): SupplierNo | undefined {
  const body = recordOf(answer.body)
  if (body === undefined || typeof body['errorCode'] !== 'string') return undefined
  return supplierNo(body['errorCode'], Object.keys(recordOf(body['fields']) ?? {}))
}

export function failureOf(error: unknown): SupplierNo {
  return supplierNo(recordOf(error)?.['code'], [])
}

/** Leaves out the supplier's own message, which can repeat the number or the name that the buyer gave. */
function supplierNo(rawCode: unknown, fields: readonly string[]): SupplierNo {
  const line = lineOf(rawCode, 60)
  const code = line !== undefined && /^[A-Za-z0-9_.:-]+$/.test(line) ? line : 'FAILED'
  const sentence = sentences.get(code) ?? `The supplier could not complete the purchase (${code}).`
  const named = fields.filter((field) => /^[A-Za-z][A-Za-z.]{0,59}$/.test(field)).slice(0, 10)
  const reason = named.length === 0 ? sentence : `${sentence} It named ${named.join(', ')}.`
  const namesReference = fields.includes('transactionId')
  return { code, reason, namesReference, isDuplicate: /DUPLICATE/i.test(code) }
}

export type Raw = Readonly<Record<string, unknown>>

// Control characters and marks that reorder text; the first set leaves line breaks and tabs alone.
const unwantedInText = /(?![\n\t])\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu
const unwantedInLine = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\s]+/gu

export function recordOf(value: unknown): Raw | undefined {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord ? (value as Raw) : undefined
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Cut to `max` characters. Empty or no text gives undefined. */
export function lineOf(value: unknown, max: number): string | undefined {
  return typeof value === 'string' ? cleaned(value, unwantedInLine, ' ', max) : undefined
}

export function textOf(value: unknown, max: number): string | undefined {
  return typeof value === 'string' ? cleaned(value, unwantedInText, '', max) : undefined
}

export function linesOf(value: unknown, max: { items: number; length: number }): string[] {
  const lines = listOf(value).map((item) => lineOf(item, max.length))
  const present = lines.filter((line) => line !== undefined)
  return [...new Set(present)].slice(0, max.items)
}

/** A number above zero, or undefined: the supplier writes 0 where a field does not apply. */
export function positiveOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined
}

export function wholePositiveOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? positiveOf(value) : undefined
}

export function present<T extends object>(fields: T): Present<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Present<T>
}

type Present<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key]
} & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>
}

function cleaned(text: string, unwanted: RegExp, instead: string, max: number): string | undefined {
  const clean = text.replace(unwanted, instead).trim()
  const short = clean.length > max ? clean.slice(0, max) : clean
  // Cutting may leave half of a character pair, which no database or client can encode.
  return short === '' ? undefined : short.toWellFormed()
}

export const rejectionReasons = [
  'not_an_object',
  'missing_offer_id',
  'bad_offer_id',
  'disabled',
  'wrong_product_type',
  'no_brand',
  'no_country',
  'unknown_country',
  'no_coverage',
  'bad_required_fields',
  'no_price',
  'unknown_price_type',
  'bad_currency',
  'bad_divisor',
  'price_not_whole',
  'price_not_positive',
  'price_too_high',
  'bad_range',
  'bad_fee',
  'unreadable_cost',
] as const
export type RejectionReason = (typeof rejectionReasons)[number]

/** Zendit gives up to 1024, but parsing those would hold up buyers for some tens of milliseconds. */
const pageSize = 256
/** A page of this many full records is less than a megabyte. */
const maxPageBytes = 64 * 1024 * 1024
/** A higher total is taken for a mistake. */
const maxRecords = 1_000_000

/**
 * The records of a list, page by page. Throws when the list is not whole: a call fails, a page is short, or the total
 * changes. Each page begins with the last record of the one before, which shows a record that moved over the edge.
 *
 * @param filter more of the query, beginning with `&`
 */
export async function* pagesOf(
  client: ZenditClient,
  path: string,
  signal: AbortSignal,
  filter = '',
): AsyncGenerator<readonly unknown[]> {
  const readFrom = (from: number) => {
    const page = readPage(client, `${path}?_limit=${pageSize}&_offset=${from}${filter}`, signal)
    // Whoever has stopped reading does not wait for it.
    page.catch(() => undefined)
    return page
  }
  let offset = 0
  let from = 0
  let total: number | undefined
  let last: string | undefined
  let next = readFrom(from)
  do {
    const page = await next
    total ??= page.total
    if (page.total !== total) {
      throw new Error(`${path} changed while it was read: ${total}, then ${page.total} records`)
    }
    const due = Math.min(page.limit, total - from)
    const fault = faultOf(page, due, last)
    if (fault !== undefined) throw new Error(`${path} ${fault} at ${from}`)
    const records = page.list.slice(offset - from)
    offset = from + page.list.length
    last = overlapOf(page)
    from = last === undefined ? offset : offset - 1
    // Read while the reader works on this one.
    if (offset < total) next = readFrom(from)
    yield records
  } while (offset < total)
}

/** The record that the next page begins with. A supplier that gives one at a time has no room for an overlap. */
function overlapOf({ limit, list }: Page): string | undefined {
  return limit > 1 ? nameOf(list.at(-1)) : undefined
}

/** What identifies a record; two without a name count as the same. */
function nameOf(record: unknown): string {
  const { offerId, transactionId } = recordOf(record) ?? {}
  return JSON.stringify([offerId, transactionId])
}

function faultOf({ list }: Page, due: number, last: string | undefined): string | undefined {
  if (list.length !== due) return `is not whole: it gave ${list.length} of ${due} records`
  if (last === undefined || nameOf(list[0]) === last) return undefined
  return 'moved while it was read: another record is'
}

interface Page {
  readonly limit: number
  readonly total: number
  readonly list: readonly unknown[]
}

async function readPage(client: ZenditClient, url: string, signal: AbortSignal): Promise<Page> {
  const answer = await client.get(url, { signal, maxBytes: maxPageBytes })
  if (answer.outcome === 'unknown') throw new Error(`${url}: ${answer.reason}`)
  if (answer.status !== 200) throw new Error(`${url} was answered with ${answer.status}`)
  const body = recordOf(answer.body)
  const { limit, total, list } = body ?? {}
  if (!isCount(total) || !Array.isArray(list)) throw new Error(`${url} is not a page of records`)
  // A supplier may give fewer at once than it was asked for, and says so.
  const actualLimit = isCount(limit) && limit > 0 && limit < pageSize ? limit : pageSize
  return { limit: actualLimit, total, list }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxRecords
}
