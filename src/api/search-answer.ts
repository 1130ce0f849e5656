import type { Offer } from '../catalog/offer.ts'
import { copyReady, type ReadyForm } from '../catalog/ready-json.ts'
import type { Column, Places } from '../catalog/search/column.ts'
import { areKept, type Facets } from '../catalog/search/facets.ts'
import type { ReadSearch } from '../catalog/search/offer-search.ts'
import { search, searchWithFacets } from '../catalog/search/search.ts'
import type { SearchIndex } from '../catalog/search/search-index.ts'
import { type JsonBytes, jsonBytes } from './json-bytes.ts'
import { type Query, queryOf } from './query.ts'
import type { Published } from './views/discovery-offer.ts'

/** A search as requested by a caller. */
export interface SearchRequest {
  readonly index: SearchIndex
  readonly asked: ReadSearch
  readonly form: ReadyForm
  /** Renders each offer of the page anew, while the finished JSON is out of date. */
  readonly view?: ((offer: Offer) => Published) | undefined
  /** Whether the answer contains the facets. */
  readonly hasFacets?: boolean
}

/** The request of a search. Its key needs neither the kind, which is in the route, nor the catalog. */
export function searchQuery(request: SearchRequest): Query {
  const { params, page } = request.asked
  return queryOf({ ...params, ...page }, () => searchAnswer(request))
}

const answer = jsonBytes()

/** One page of offers, or a hint why there are none, as the bytes of its JSON. */
function searchAnswer(request: SearchRequest): Buffer {
  const { index, asked, hasFacets } = request
  const { page, filters } = asked
  const found = hasFacets
    ? searchWithFacets(index, filters, page)
    : { ...search(index, filters, page), facets: undefined }
  answer.begin()
  answer.text(`{"total":${found.total},"limit":${page.limit},"offset":${page.offset},"items":[`)
  addItems(request, found.docs)
  answer.text(']')
  if (found.total === 0) answer.text(`,"hint":${JSON.stringify(asked.hint())}`)
  if (found.facets !== undefined) addFacets(index, found.facets)
  answer.text('}')
  return answer.take()
}

function addItems(
  { index, form, view }: Pick<SearchRequest, 'index' | 'form' | 'view'>,
  docs: Uint32Array,
): void {
  if (view !== undefined) {
    answer.text(
      index
        .offersAt(docs)
        .map((offer) => JSON.stringify(view(offer)))
        .join(),
    )
    return
  }
  for (let at = 0; at < docs.length; at++) {
    if (at > 0) answer.text(',')
    copyReady(index.ready, index.rows[docs[at] as number] as number, form, answer)
    answer.text('}')
  }
}

function addFacets(index: SearchIndex, facets: Facets): void {
  const { countries, regions, brands, subTypes } = facets
  answer.text(',"facets":{"countries":')
  addValues(index.countries, countries)
  answer.text(',"regions":')
  addValues(index.regions, regions)
  answer.text(',"brands":')
  addValues(index.brandNames, brands.places)
  answer.text(',"subTypes":')
  addValues(index.subTypes, subTypes)
  answer.text(`},"facetTotals":{"brands":${brands.total}}`)
}

/** Finished lists of values, for facets that are requested repeatedly. */
const finished = new WeakMap<Places, Buffer>()
const list = jsonBytes()

function addValues(column: Column, places: Places): void {
  const known = finished.get(places)
  if (known !== undefined) answer.bytes(known)
  else if (!areKept(places)) writeValues(answer, column, places)
  else {
    list.begin()
    writeValues(list, column, places)
    const made = list.take()
    finished.set(places, made)
    answer.bytes(made)
  }
}

/** Copies runs of adjacent values at once. */
function writeValues(into: JsonBytes, { quoted: { starts, bytes } }: Column, places: Places): void {
  into.text('[')
  for (let at = 0; at < places.length; ) {
    const first = places[at] as number
    let next = first
    while (places[at] === next) {
      at += 1
      next += 1
    }
    // Without the comma after the last value.
    const end = (starts[next] as number) - (at === places.length ? 1 : 0)
    into.range(bytes, starts[first] as number, end)
  }
  into.text(']')
}
