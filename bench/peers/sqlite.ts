import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Offer } from '../../src/goods/offer.ts'
import type { Filters } from '../../src/goods/search/filters.ts'
import { wordsOf } from '../../src/primitives/text.ts'
import { documentsOf, type Engine, pageSize } from './engine.ts'

/**
 * SQLite in memory with FTS5: prefix indexes, no more detail than the questions need, and an index
 * for each combination of filters that is asked. Rows stand in the published order, so a page is
 * the first twenty by number. Made offers have one region and one sub-type each, so a column does.
 */
const schema = `
  create table offers (
    id integer primary key, offer_id text not null,
    country text not null, region text not null, sub_type text not null
  );
  create virtual table words using fts5(
    brand_name, text, content = '', detail = column, columnsize = 0, prefix = '2 3 4 5',
    tokenize = 'unicode61 remove_diacritics 2'
  );
`
const indexes = `
  create index by_country on offers (country, id);
  create index by_country_and_type on offers (country, sub_type, id);
  create index by_region_and_type on offers (region, sub_type, id);
  insert into words (words) values ('optimize');
  analyze;
`

export function sqlite(): Engine {
  const database = new DatabaseSync(':memory:')
  const statements = new Map<string, StatementSync>()
  const prepared = (sql: string) => {
    const known = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, known)
    return known
  }
  return {
    build: (offers) => fill(database, offers),
    ask(filters) {
      const { total, page, values } = statementsOf(filters)
      prepared(page).all(...values)
      return Number(prepared(total).get(...values)?.['total'])
    },
    close: async () => database.close(),
  }
}

function fill(database: DatabaseSync, offers: readonly Offer[]): void {
  database.exec(`${schema} begin`)
  const offer = database.prepare('insert into offers values (?, ?, ?, ?, ?)')
  const words = database.prepare('insert into words (rowid, brand_name, text) values (?, ?, ?)')
  for (const document of documentsOf(offers)) {
    const { id, offerId, country, regions, subTypes } = document
    offer.run(id, offerId, country, regions[0] ?? '', subTypes[0] ?? '')
    words.run(id, document.brandName, document.text)
  }
  database.exec(`${indexes} commit`)
}

function statementsOf({ text, brand, country, subType, regions }: Filters) {
  const match = text === undefined ? matchOf('brand_name', brand) : matchOf('text', text)
  const conditions = [
    ['words match ?', match],
    ['country = ?', country],
    ['sub_type = ?', subType],
    ['region = ?', regions?.[0]],
  ].flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]))
  const values = conditions.map(({ value }) => value)
  const where = values.length === 0 ? '' : `where ${conditions.map(({ sql }) => sql).join(' and ')}`
  const joined = 'words join offers on offers.id = words.rowid'
  // A count of words alone needs no look at the offers.
  const counted = match === undefined ? 'offers' : values.length === 1 ? 'words' : joined
  const [paged, order] = match === undefined ? ['offers', 'id'] : [joined, 'words.rowid']
  return {
    total: `select count(*) as total from ${counted} ${where}`,
    page: `select offer_id from ${paged} ${where} order by ${order} limit ${pageSize}`,
    values,
  }
}

/** All words, each as the beginning of one. */
function matchOf(column: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const words = wordsOf(text).map((word) => `"${word}"*`)
  return `${column} : (${words.join(' AND ')})`
}
