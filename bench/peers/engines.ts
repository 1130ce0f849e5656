import type { Engine } from './engine.ts'
import { flexSearch } from './flexsearch.ts'
import { miniSearch } from './minisearch.ts'
import { orama } from './orama.ts'
import { ours } from './ours.ts'
import { fullText, postgres, trigrams } from './postgres.ts'
import { sqlite } from './sqlite.ts'

export interface Contender {
  readonly name: string
  /** Whether it tolerates typos, and whether its answer has facets. */
  readonly typos: boolean
  readonly facets: boolean
  /** What its answer contains, and how it is set up. */
  readonly note: string
  make(databaseUrl: string): Engine
}

export const self: Contender = {
  name: 'Ours',
  typos: true,
  facets: true,
  note: 'Exact total, page of 20 in the published order (best match first for a text), and four facets.',
  make: ours,
}

/** Engines that others would pick, each set up as its documentation recommends for these queries. */
export const others: readonly Contender[] = [
  {
    name: 'MiniSearch',
    typos: false,
    facets: false,
    note: 'All results, ranked by BM25, of which the first 20 are the page and their number is the total. Filters are fields of whole values in one query tree, which is faster than its `filter` function. No facets, no order but by rank.',
    make: () => miniSearch({ typos: false }),
  },
  {
    name: 'MiniSearch, typos on',
    typos: true,
    facets: false,
    note: 'The same with `fuzzy` of one edit for words of a text of five letters or more. In it a swap of neighbours is two edits, in ours one.',
    make: () => miniSearch({ typos: true }),
  },
  {
    name: 'Orama',
    typos: false,
    facets: false,
    note: 'Its `count` and 20 hits with their documents, ranked by BM25, `where` over enum fields, no sort index. A word that begins two words of an offer counts as two, so some totals of several words are wrong; the slowest is the first letter of a common word, because each offer it finds is looked for among those found before.',
    make: () => orama({ typos: false }),
  },
  {
    name: 'Orama, typos on',
    typos: true,
    facets: false,
    note: 'The same with a `tolerance` of one, which it applies to words of any length and to beginnings of words too, so some totals are others than by our rule.',
    make: () => orama({ typos: true }),
  },
  {
    name: 'FlexSearch',
    typos: false,
    facets: false,
    note: 'The `forward` tokenizer and tags, met by its resolver; all ids without a limit, whose number is the total. A text with a tag, asked without the resolver, looks only at the first 100 that the text finds. No facets, no order but by its own score.',
    make: flexSearch,
  },
  {
    name: 'SQLite FTS5',
    typos: false,
    facets: false,
    note: 'In memory through `node:sqlite`: prefix indexes of two to five letters, a covering index for each combination of filters asked, prepared statements; a count, and 20 ids in the published order. No best match first, no facets.',
    make: () => sqlite({ facets: false }),
  },
  {
    name: 'SQLite FTS5, with facets',
    typos: false,
    facets: true,
    note: 'The same, and four lists of distinct values as our facets are, from covering indexes made for them.',
    make: () => sqlite({ facets: true }),
  },
  {
    name: 'PostgreSQL, full text',
    typos: false,
    facets: false,
    note: 'Prefix `tsquery` on a GIN index of a `tsvector` column, the same filter indexes, one prepared statement for the count and 20 ids in the published order, vacuumed. Over loopback TCP, whose way there and back is in the time. No best match first, no facets.',
    make: (databaseUrl) => postgres(databaseUrl, { textSearch: fullText, facets: false }),
  },
  {
    name: 'PostgreSQL, full text, with facets',
    typos: false,
    facets: true,
    note: 'The same, and four lists of distinct values as our facets are, in the same statement.',
    make: (databaseUrl) => postgres(databaseUrl, { textSearch: fullText, facets: true }),
  },
  {
    name: 'PostgreSQL, pg_trgm',
    typos: false,
    facets: false,
    note: 'The same, words found by `like` on a GIN index of trigrams. Its own answer to typos is a similarity of whole texts, which gives other totals, and is not used.',
    make: (databaseUrl) => postgres(databaseUrl, { textSearch: trigrams, facets: false }),
  },
]
