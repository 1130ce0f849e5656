import { recordOf, type ZenditClient } from './client.ts'

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
    // A supplier that gives one record at a time has no room for an overlap.
    last = page.limit > 1 ? nameOf(page.list.at(-1)) : undefined
  } while (offset < total)
}

/** What identifies a record; two without a name count as the same. */
function nameOf(record: unknown): string {
  const { offerId, transactionId } = recordOf(record) ?? {}
  return JSON.stringify([offerId, transactionId])
}

/** @param last the name of the record that the page must begin with, if any */
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
