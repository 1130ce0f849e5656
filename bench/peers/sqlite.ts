import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Offer } from '../../src/catalog/offer.ts'
import type { Filters } from '../../src/catalog/search/filters.ts'
import { wordsOf } from '../../src/lib/text.ts'
import { documentsOf, type Engine, pageSize } from './engine.ts'

/**
 * The rows are in the published order, so a page is the first 20 by id. Made offers have one region and one
 * sub-type each, so one column is enough for each.
 */
const schema = `
  create table offers (
    id integer primary key, offer_id text not null, country text not null, region text not null,
    sub_type text not null, brand_name text not null
  );
  create virtual table words using fts5(
    brand_name, text, content = '', detail = column, columnsize = 0, prefix = '2 3 4 5',
    tokenize = 'unicode61 remove_diacritics 2'
  );
`
const filterIndexes = `
  create index by_country on offers (country, id);
  create index by_country_and_type on offers (country, sub_type, id);
  create index by_region_and_type on offers (region, sub_type, id);
`
/** Covering indexes: they have all columns that a facet needs, so that no row is read. */
const facetIndexes = `
  create index of_country on offers (country, sub_type, region, brand_name);
  create index of_type on offers (sub_type, country, region, brand_name);
  create index of_region on offers (region, sub_type, country, brand_name);
  create index of_brand on offers (brand_name);
`

/**
 * SQLite in memory with FTS5: prefix indexes, no more detail than the queries need, and an index for each
 * combination of filters in the queries.
 */
export function sqlite({ facets }: { readonly facets: boolean }): Engine {
  const database = new DatabaseSync(':memory:')
  const statements = new Map<string, StatementSync>()
  const rowsOf = ({ sql, values }: Statement) => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement.all(...values)
  }
  return {
    build: (offers) => fill(database, offers, filterIndexes + (facets ? facetIndexes : '')),
    ask(filters) {
      if (facets) for (const statement of facetStatements(filters)) rowsOf(statement)
      rowsOf(pageStatement(filters))
      return Number(rowsOf(totalStatement(filters))[0]?.['total'])
    },
    async outside() {
      const [row] = rowsOf({
        sql: 'select page_count * page_size as bytes from pragma_page_count, pragma_page_size',
        values: [],
      })
      return Number(row?.['bytes']) / 1e6
    },
    close: async () => database.close(),
  }
}

function fill(database: DatabaseSync, offers: readonly Offer[], indexes: string): void {
  database.exec(`${schema} begin`)
  const offer = database.prepare('insert into offers values (?, ?, ?, ?, ?, ?)')
  const words = database.prepare('insert into words (rowid, brand_name, text) values (?, ?, ?)')
  for (const document of documentsOf(offers)) {
    const { id, offerId, country, regions, subTypes, brandName } = document
    offer.run(id, offerId, country, regions[0] ?? '', subTypes[0] ?? '', brandName)
    words.run(id, brandName, document.text)
  }
  database.exec(`${indexes} insert into words (words) values ('optimize'); analyze; commit`)
}

interface Statement {
  readonly sql: string
  readonly values: readonly string[]
}

function pageStatement(filters: Filters): Statement {
  const { from, where, values, hasWords } = partsOf(filters)
  const order = hasWords ? 'words.rowid' : 'id'
  return { sql: `select offer_id ${from} ${where} order by ${order} limit ${pageSize}`, values }
}

/** A count by words alone does not join the offers. */
function totalStatement(filters: Filters): Statement {
  const { from, where, values, hasWords } = partsOf(filters)
  const counted = hasWords && values.length === 1 ? 'from words' : from
  return { sql: `select count(*) as total ${counted} ${where}`, values }
}

/** For each facet, the values that remain when all other filters apply. */
function facetStatements(filters: Filters): Statement[] {
  const { country: _country, ...anyCountry } = filters
  const { subType: _subType, ...anyType } = filters
  const { regions: _regions, ...anyRegion } = filters
  const { brand: _brand, ...anyBrand } = filters
  return [
    ['country', anyCountry] as const,
    ['sub_type', anyType] as const,
    ['region', anyRegion] as const,
    ['offers.brand_name', anyBrand] as const,
  ].map(([column, others]) => {
    const { from, where, values } = partsOf(others)
    return { sql: `select distinct ${column} ${from} ${where} order by 1`, values }
  })
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
  return {
    hasWords: match !== undefined,
    from: match === undefined ? 'from offers' : 'from words join offers on offers.id = words.rowid',
    where: where === '' ? '' : `where ${where}`,
    values: conditions.map(({ value }) => value),
  }
}

/** The query for all words, each as a prefix. */
function matchOf(column: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const words = wordsOf(text).map((word) => `"${word}"*`)
  return `${column} : (${words.join(' AND ')})`
}
