import type { Engine } from './engine.ts'
import { flexSearch } from './flexsearch.ts'
import { miniSearch } from './minisearch.ts'
import { orama } from './orama.ts'
import { ours } from './ours.ts'
import { fullText, postgres, trigrams } from './postgres.ts'
import { sqlite } from './sqlite.ts'

export interface Contender {
  readonly name: string
  /** Whether a typo is forgiven, and whether the facets are in the answer. */
  readonly typos: boolean
  readonly facets: boolean
  /** What its answer is, and how it was set up. */
  readonly note: string
  make(databaseUrl: string): Engine
}

export const self: Contender = {
  name: 'Ours',
  typos: true,
  facets: true,
  note: 'Exact total, page of 20 in the published order (best match first for a text), and four facets. Nothing of an answer is kept for the next question but the facets of one filter.',
  make: ours,
}

/** What others would pick, each set up as its documentation recommends for these questions. */
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
    note: 'The same with `fuzzy` of one edit for words of five letters or more. Its typos and ours differ: in it a swap of neighbours is two edits, and a brand forgives them too.',
    make: () => miniSearch({ typos: true }),
  },
  {
    name: 'Orama',
    typos: false,
    facets: false,
    note: 'Its `count` and 20 hits with their documents, ranked by BM25, `where` over enum fields, no sort index. It counts a word with several matches more than once, so some totals of several words are wrong, and its time grows with the square of the offers that a short prefix finds.',
    make: () => orama({ typos: false }),
  },
  {
    name: 'Orama, typos on',
    typos: true,
    facets: false,
    note: 'The same with a `tolerance` of one, which it applies to prefixes and to words of any length, so its totals are larger than by our rule.',
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
    make: sqlite,
  },
  {
    name: 'PostgreSQL, full text',
    typos: false,
    facets: false,
    note: 'Prefix `tsquery` on a GIN index of a `tsvector` column, the same filter indexes, one prepared statement for the count and 20 ids in the published order, vacuumed. Over loopback TCP, whose way there and back is in the time. Its memory is the size of the table and its indexes in the server. No best match first, no facets.',
    make: (databaseUrl) => postgres(databaseUrl, fullText),
  },
  {
    name: 'PostgreSQL, pg_trgm',
    typos: false,
    facets: false,
    note: 'The same, words found by `like` on a GIN index of trigrams. Its own answer to typos is a similarity of whole texts, which gives other totals, and is not used.',
    make: (databaseUrl) => postgres(databaseUrl, trigrams),
  },
]
