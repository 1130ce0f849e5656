import { setImmediate } from 'node:timers/promises'
import type { ZenditClient } from './client.ts'
import { recordOf } from './raw.ts'

/** The largest `_limit` that Zendit takes. */
const pageSize = 1024
/** A page of this many full records is one to three megabytes. */
const maxPageBytes = 64 * 1024 * 1024
/** Beyond this a total is taken for a mistake, not for a list. */
const maxRecords = 1_000_000

/**
 * The records of a list, page by page. Throws when the list is not whole: a call that fails, a
 * page that is short, or a total that changes between two pages. Each page begins with the last record
 * of the one before it, so that a list of which one record went and another came is seen to have moved:
 * its total stays, and what slid over the edge of a page would be lost.
 *
 * @param filter more of the query, beginning with `&`
 */
export async function* pagesOf(
  client: ZenditClient,
  path: string,
  signal: AbortSignal,
  filter = '',
): AsyncGenerator<readonly unknown[]> {
  let offset = 0
  let total: number | undefined
  let last: string | undefined
  do {
    const from = last === undefined ? offset : offset - 1
    const page = await readPage(
      client,
      `${path}?_limit=${pageSize}&_offset=${from}${filter}`,
      signal,
    )
    total ??= page.total
    if (page.total !== total) {
      throw new Error(`${path} changed while it was read: ${total}, then ${page.total} records`)
    }
    const due = Math.min(page.limit, total - from)
    const fault = faultOf(page, due, last)
    if (fault !== undefined) throw new Error(`${path} ${fault} at ${from}`)
    yield page.list.slice(offset - from)
    offset = from + page.list.length
    // A supplier that gives one record at once has no room for the last one.
    last = page.limit > 1 ? nameOf(page.list.at(-1)) : undefined
    // Requests of buyers come first; parsing a page takes some milliseconds.
    await setImmediate()
  } while (offset < total)
}

/** What a record is known again by; two that have no name count as the same. */
function nameOf(record: unknown): string {
  const { offerId, transactionId } = recordOf(record) ?? {}
  return JSON.stringify([offerId, transactionId])
}

/** @param last the name of the record that the page must begin with, where there is one */
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
  const given = isCount(limit) && limit > 0 && limit < pageSize ? limit : pageSize
  return { limit: given, total, list }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxRecords
}
