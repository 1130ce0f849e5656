import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { countryNames } from '../src/catalog/countries.ts'
import type { Offer } from '../src/catalog/offer.ts'
import type { Filters } from '../src/catalog/search/filters.ts'
import { foldedWords } from '../src/lib/text.ts'

/** The rows are in the published order, so a page is the first 20 by id. */
const schema = `
  create table offers (
    id integer primary key, offer_id text, country text, region text, sub_type text, brand_name text
  );
  create virtual table words using fts5(
    brand_name, text, content = '', detail = column, columnsize = 0, prefix = '2 3 4 5',
    tokenize = 'unicode61 remove_diacritics 2'
  );
`
/** Covering indexes for the filters and the facets of the queries, so that no row is read. */
const indexes = `
  create index by_country on offers (country, sub_type, region, brand_name);
  create index by_type on offers (sub_type, country, region, brand_name);
  create index by_region on offers (region, sub_type, country, brand_name);
  create index by_brand on offers (brand_name);
`

/**
 * SQLite in memory with FTS5: prefix indexes, covering indexes, prepared statements. Each search gives the
 * total, 20 ids and four facets, without typos and without the best match first.
 */
export function openSqlite(offers: readonly Offer[]) {
  const database = new DatabaseSync(':memory:')
  fill(database, offers)
  const statements = new Map<string, StatementSync>()
  const rowsOf = (sql: string, values: readonly string[]) => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement.all(...values)
  }
  return {
    /** @returns the total */
    search(filters: Filters): number {
      for (const [column, own] of facets) {
        const { from, values } = partsOf({ ...filters, [own]: undefined })
        rowsOf(`select distinct ${column} ${from} order by 1`, values)
      }
      const { from, values } = partsOf(filters)
      rowsOf(`select offers.id, offer_id ${from} order by offers.id limit 20`, values)
      return Number(rowsOf(`select count(*) as total ${from}`, values)[0]?.['total'])
    },
    close: () => database.close(),
  }
}

const facets = [
  ['country', 'country'],
  ['sub_type', 'subType'],
  ['region', 'regions'],
  ['offers.brand_name', 'brand'],
] as const

function fill(database: DatabaseSync, offers: readonly Offer[]): void {
  database.exec(`${schema} begin`)
  const row = database.prepare('insert into offers values (?, ?, ?, ?, ?, ?)')
  const words = database.prepare('insert into words (rowid, brand_name, text) values (?, ?, ?)')
  for (const [at, offer] of offers.entries()) {
    const { id, brand, brandName, country = '', regions, subTypes } = offer
    const names = countryNames(country)
    row.run(at + 1, id, country, regions[0] ?? '', subTypes[0] ?? '', brandName)
    words.run(at + 1, brandName, [brand, brandName, ...subTypes, ...regions, ...names].join(' '))
  }
  database.exec(`${indexes} insert into words (words) values ('optimize'); analyze; commit`)
}

function partsOf({ text, brand, country, subType, regions }: Filters) {
  const match = text === undefined ? matchOf('brand_name', brand) : matchOf('text', text)
  const conditions = [
    ['words match ?', match],
    ['country = ?', country],
    ['sub_type = ?', subType],
    ['region = ?', regions?.[0]],
  ].flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]))
  const where = conditions.map(({ sql }) => sql).join(' and ')
  const table = match === undefined ? 'offers' : 'words join offers on offers.id = words.rowid'
  return {
    from: `from ${table}${where === '' ? '' : ` where ${where}`}`,
    values: conditions.map(({ value }) => value),
  }
}

/** The query for all words, each as a prefix. */
function matchOf(column: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const words = foldedWords(text).map((word) => `"${word}"*`)
  return `${column} : (${words.join(' AND ')})`
}
