import { connect } from 'node:net'
import { expect } from 'vitest'
import type { Answer } from './requests.ts'
import type { Store } from './store.ts'

/** A request that hangs fails its story. Milliseconds. */
const maxAnswerMs = 60_000

interface CallOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

/** Of a call: the answer, and its body as it came. */
export interface Read extends Answer {
  readonly text: string
}

export type Call = (path: string, options?: CallOptions) => Promise<Read>

/** Calls the store, each time from another client address. */
export function callerFor(store: Pick<Store, 'url'>): Call {
  const nextAddress = addresses()
  return async (path, { method = 'GET', headers = {}, body } = {}) => {
    const response = await fetch(`${store.url}${path}`, {
      method,
      headers: { 'x-forwarded-for': nextAddress(), ...headers },
      signal: AbortSignal.timeout(maxAnswerMs),
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    const parsed = isJson && text !== '' ? JSON.parse(text) : text
    return { status: response.status, headers: response.headers, body: parsed, text }
  }
}

/** Client addresses, none twice. */
function addresses(): () => string {
  let count = 0
  return () => {
    count += 1
    return `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`
  }
}

/**
 * The tables that a request could write to. The catalog is not among them: the store reads it by itself, at
 * its own times. Nor is what a payment is reserved for, which is all that stays for a day of one that was
 * checked and refused.
 */
async function tablesOf({ query }: Pick<Store, 'query'>): Promise<readonly string[]> {
  const tables = await query(
    `select table_name from information_schema.tables 
       where table_schema = 'public'
         and table_name not in ('catalog_snapshot', 'catalog_pages', 'payment_reservations') order by 1`,
  )
  return tables.map(({ table_name }) => table_name)
}

/** How many rows each table has that a request could write to. */
export async function rowsOf(store: Pick<Store, 'query'>): Promise<Record<string, number>> {
  return ofEach(store, await tablesOf(store), 'count(*)::int')
}

/** What an SQL expression says of the rows of each table, by table, at one moment. */
async function ofEach<T>(
  { query }: Pick<Store, 'query'>,
  tables: readonly string[],
  what: string,
): Promise<Record<string, T>> {
  const each = tables.map(
    (table) => `select '${table}' as name, ${what} as said from "${table}" one`,
  )
  const rows = await query(each.join(' union all '))
  return Object.fromEntries(rows.map(({ name, said }) => [name, said]))
}

/** Words that only our insides know: stacks, files, the libraries, the database. */
const insides =
  /\bstack\b|\n\s+at |\bat \S+ \(|\/src\/|\bnode_modules\b|\bnode:|\.ts\b|\bECONN|\bEPIPE\b|\bfastify\b|\bFST_|\bzod\b|\bundici\b|\bviem\b|\bpostgres|\bsql\b|\bselect \w|\binsert into|\bdelete from|\brelation "|\bconstraint\b|\b\w+Error\b:|\bundefined\b|\[object/i

/** Demands in base64, signed prices and what is signed as RFC 7515 says are random letters, and random letters make words. */
const randomLetters = /(?<=payment-required: )\S+|(?<="quote":")[^"]+|\beyJ[\w-]+\.[\w-]+\.[\w-]+/gi

/** What a text tells about how the store is made; undefined when it tells nothing. */
export function insidesIn(text: string): string | undefined {
  return insides.exec(text.replace(randomLetters, ''))?.[0]
}

/** Fails when a refusal tells anything about how the store is made. */
export function expectNoInsides(text: string, about = ''): void {
  const found = insidesIn(text)
  expect(found, `${about} says ${text}`).toBeUndefined()
}

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number
  readonly text: string
}

/**
 * Writes bytes to the store as they are, for what `fetch` would mend or refuse, and reads until the
 * store closes the connection. A store that leaves the connection open fails the story.
 */
export function sendRaw(
  { url }: Pick<Store, 'url'>,
  request: string | readonly (string | Uint8Array)[],
): Promise<RawAnswer> {
  const { port, hostname } = new URL(url)
  const parts = typeof request === 'string' ? [request] : request
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new Error(`No end of an answer: ${Buffer.concat(chunks).toString('latin1')}`))
    }, maxAnswerMs)
    socket.on('connect', () => {
      for (const part of parts) socket.write(part)
    })
    socket.on('data', (chunk) => chunks.push(chunk))
    // A store that has answered may close while we still send; what it said by then is its answer.
    socket.on('error', (error) => {
      if (chunks.length === 0) reject(error)
    })
    socket.on('close', () => {
      clearTimeout(timer)
      const text = Buffer.concat(chunks).toString('utf8')
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text })
    })
  })
}
