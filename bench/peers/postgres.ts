import pg from 'pg'
import type { Offer } from '../../src/catalog/offer.ts'
import type { Filters } from '../../src/catalog/search/filters.ts'
import { wordsOf } from '../../src/lib/text.ts'
import { type Document, documentsOf, type Engine, pageSize } from './engine.ts'

interface Condition {
  readonly sql: string
  readonly value: string
}

/** How words are stored in a column, and found by their prefixes. */
export interface TextSearch {
  readonly type: string
  readonly indexed: (column: string) => string
  readonly keep: (text: string) => string
  readonly conditions: (column: string, text: string) => readonly Condition[]
}

/** Full text search: the words as a `tsvector` column with a GIN index. */
export const fullText: TextSearch = {
  type: 'tsvector',
  indexed: (column) => column,
  keep: (text) => [...new Set(wordsOf(text))].map((word) => `'${word}'`).join(' '),
  conditions: (column, text) => [
    {
      sql: `${column} @@ ?::tsquery`,
      value: wordsOf(text)
        .map((word) => `'${word}':*`)
        .join(' & '),
    },
  ],
}

/** Trigrams: folded text with a GIN index. A leading space lets every word begin after a space. */
export const trigrams: TextSearch = {
  type: 'text',
  indexed: (column) => `${column} gin_trgm_ops`,
  keep: (text) => ` ${wordsOf(text).join(' ')}`,
  conditions: (column, text) =>
    wordsOf(text).map((word) => ({ sql: `${column} like ?`, value: `% ${word}%` })),
}

/** The same columns and filters as in SQLite; the rows are in the published order. */
const schemaFor = (type: string) => `
  create extension if not exists pg_trgm;
  drop table if exists offers;
  create table offers (
    id integer primary key, offer_id text not null, country text not null, region text not null,
    sub_type text not null, brand_name text not null, brand_words ${type} not null, words ${type} not null
  )`
const indexesFor = ({ indexed }: TextSearch) => `
  create index on offers (country, id);
  create index on offers (country, sub_type, id);
  create index on offers (region, sub_type, id);
  create index on offers using gin (${indexed('brand_words')}) with (fastupdate = off);
  create index on offers using gin (${indexed('words')}) with (fastupdate = off)`

/** Covering indexes: they have all columns that a facet needs, so that no row is read. */
const facetIndexes = `
  create index on offers (country, sub_type, region, brand_name);
  create index on offers (sub_type, country, region, brand_name);
  create index on offers (region, sub_type, country, brand_name);
  create index on offers (brand_name)`

interface Options {
  readonly textSearch: TextSearch
  readonly facets: boolean
}

/** PostgreSQL over loopback TCP, one connection, a prepared statement for each form of query. */
export function postgres(databaseUrl: string, { textSearch, facets }: Options): Engine {
  const client = new pg.Client({
    connectionString: databaseUrl,
    // JIT and parallel workers cost short queries more than they save.
    options: '-c jit=off -c max_parallel_workers_per_gather=0 -c work_mem=64MB',
  })
  const names = new Map<string, string>()
  return {
    async build(offers) {
      await client.connect()
      await client.query(schemaFor(textSearch.type))
      await fill(client, offers, textSearch)
      await client.query(indexesFor(textSearch))
      if (facets) await client.query(facetIndexes)
      await client.query('vacuum analyze offers')
    },
    async ask(filters) {
      const { text, values } = statementOf(filters, textSearch, facets)
      const name = names.get(text) ?? `form_${names.size}`
      names.set(text, name)
      const { rows } = await client.query({ name, text, values, rowMode: 'array' })
      return Number(rows[0]?.[0])
    },
    async outside() {
      const { rows } = await client.query(`select pg_total_relation_size('offers') as bytes`)
      return Number(rows[0]?.bytes) / 1e6
    },
    close: () => client.end(),
  }
}

async function fill(client: pg.Client, offers: readonly Offer[], { type, keep }: TextSearch) {
  const columns: readonly ((document: Document) => unknown)[] = [
    ({ id }) => id,
    ({ offerId }) => offerId,
    ({ country }) => country,
    ({ regions }) => regions[0],
    ({ subTypes }) => subTypes[0],
    ({ brandName }) => brandName,
    ({ brandName }) => keep(brandName),
    ({ text }) => keep(text),
  ]
  const documents = documentsOf(offers)
  for (let at = 0; at < documents.length; at += 20_000) {
    const some = documents.slice(at, at + 20_000)
    await client.query(
      `insert into offers select id, offer_id, country, region, sub_type, brand_name, brand_words::${type}, words::${type}
       from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
         as one (id, offer_id, country, region, sub_type, brand_name, brand_words, words)`,
      columns.map((column) => some.map(column)),
    )
  }
}

type Column = 'words' | 'brand_words' | 'country' | 'sub_type' | 'region'

/** One statement for everything, so that a query is one round trip. */
function statementOf(filters: Filters, textSearch: TextSearch, facets: boolean) {
  const conditions = conditionsOf(filters, textSearch)
  const values = conditions.map(({ value }) => value)
  const numbered = conditions.map(({ column, sql }, at) => ({
    column,
    sql: sql.replace('?', `$${at + 1}`),
    isWords: column === 'words' || column === 'brand_words',
  }))
  const fromWith = (some: typeof numbered, table: string) =>
    `from ${table}${some.length === 0 ? '' : ` where ${some.map(({ sql }) => sql).join(' and ')}`}`
  // Matches of words are materialised once; for values it is faster to scan their index again.
  const words = numbered.filter(({ isWords }) => isWords)
  const kept = words.length === 0 || facets ? words : numbered
  const without = (column?: Column) => {
    const others = numbered.filter((one) => one.column !== column)
    return kept.length === 0 || kept.some((one) => one.column === column)
      ? fromWith(others, 'offers')
      : fromWith(
          others.filter((one) => !kept.includes(one)),
          'found',
        )
  }
  const found = `with found as materialized (select id, offer_id, country, sub_type, region, brand_name ${fromWith(kept, 'offers')})`
  const wanted = [
    `(select count(*) ${without()})`,
    `array(select offer_id ${without()} order by id limit ${pageSize})`,
    ...(facets ? facetsOf(without) : []),
  ]
  return { text: `${kept.length === 0 ? '' : found} select ${wanted.join(', ')}`, values }
}

/** For each facet, the values that remain when all other filters apply. */
function facetsOf(without: (column: Column) => string): string[] {
  return [
    `array(select distinct country ${without('country')} order by 1)`,
    `array(select distinct sub_type ${without('sub_type')} order by 1)`,
    `array(select distinct region ${without('region')} order by 1)`,
    `array(select distinct brand_name ${without('brand_words')} order by 1)`,
  ]
}

function conditionsOf(
  { text, brand, country, subType, regions }: Filters,
  { conditions }: TextSearch,
): (Condition & { readonly column: Column })[] {
  const words = (column: Column, value: string | undefined) =>
    value === undefined ? [] : conditions(column, value).map((one) => ({ ...one, column }))
  const equal = (column: Column, value: string | undefined) =>
    value === undefined ? [] : [{ column, sql: `${column} = ?`, value }]
  return [
    ...words('words', text),
    ...words('brand_words', brand),
    ...equal('country', country),
    ...equal('sub_type', subType),
    ...equal('region', regions?.[0]),
  ]
}
