import { eachOf, type Sliced } from '../../lib/slices.ts'
import { fold } from '../../lib/text.ts'
import { countryNames } from '../countries.ts'
import { kindOf } from '../good.ts'
import type { Offer } from '../offer.ts'
import { addTo, type Bits, emptyBits, type Postings } from './bits.ts'
import { buildField, type Field } from './field.ts'
import type { AmountKind } from './filters.ts'
import { indexWordsOf, isTypoOf, nameFormsOf } from './words.ts'

/** The offers of one kind, with all that they are found by and that exchange rates do not change. */
export interface Stock extends Readonly<Record<FieldName, Field>> {
  /** By brand name and then by id. The position of an offer in this list stands for it everywhere in the search. */
  readonly offers: readonly Offer[]
  /** All words of its texts. */
  readonly words: Lexicon
  /** The names of its brand, in the forms that a whole text is compared with. */
  readonly brandNames: Lexicon
  /** The words of its brand's name. */
  readonly brandWords: Lexicon
  readonly multiCountry: Bits
  /** NaN if unknown; Infinity if unlimited. */
  readonly dataGb: Float64Array
  readonly days: Float64Array
  /** The bounds of the face value in its own currency. */
  readonly leastFace: Float64Array
  readonly mostFace: Float64Array
}

/** `brand` is the supplier's key; `currency` that of the face value; `duration` in days. */
export type FieldName =
  | 'brand'
  | 'brandName'
  | 'country'
  | 'covers'
  | 'region'
  | 'subType'
  | 'category'
  | 'duration'
  | 'amount'
  | 'currency'

const valuesOf: Readonly<Record<FieldName, (offer: Offer) => readonly string[]>> = {
  brand: ({ brand }: Offer) => [brand],
  brandName: ({ brandName }: Offer) => [brandName],
  country: ({ country }: Offer) => (country === undefined ? [] : [country]),
  covers: coveredBy,
  region: ({ regions }: Offer) => regions,
  subType: ({ subTypes }: Offer) => subTypes,
  category: (offer: Offer) => kindOf(offer).indexed(offer).categories,
  duration: (offer: Offer) => {
    const { durationDays } = kindOf(offer).indexed(offer)
    return durationDays === undefined ? [] : [String(durationDays)]
  },
  amount: ({ price }): AmountKind[] => [price.type === 'RANGE' ? 'open' : 'fixed'],
  currency: ({ faceValue, price }: Offer) => [(faceValue ?? price).currency],
}

export function* stockOf(unsorted: readonly Offer[]): Sliced<Stock> {
  const offers = yield* sorted(unsorted)
  const wordsOf = remembered(indexWordsOf)
  const formsOf = remembered(nameFormsOf)
  return {
    offers,
    ...(yield* fieldsOf(offers)),
    ...(yield* numbersOf(offers)),
    words: yield* buildLexicon(offers, (offer) => textsOf(offer).flatMap(wordsOf)),
    brandNames: yield* buildLexicon(offers, ({ brand, brandName }) =>
      [brand, brandName].flatMap(formsOf),
    ),
    brandWords: yield* buildLexicon(offers, ({ brandName }) => wordsOf(brandName)),
  }
}

function* fieldsOf(offers: readonly Offer[]): Sliced<Record<FieldName, Field>> {
  const built: [string, Field][] = []
  for (const [name, valuesIn] of Object.entries(valuesOf)) {
    built.push([name, yield* buildField(offers, valuesIn)])
  }
  return Object.fromEntries(built) as Record<FieldName, Field>
}

function* numbersOf(offers: readonly Offer[]) {
  const { length } = offers
  const multiCountry = emptyBits(length)
  const [dataGb, days] = [new Float64Array(length), new Float64Array(length)]
  const [leastFace, mostFace] = [new Float64Array(length), new Float64Array(length)]
  yield* eachOf(offers, (offer, position) => {
    const indexed = kindOf(offer).indexed(offer)
    if (indexed.isMultiCountry) addTo(multiCountry, position)
    dataGb[position] = indexed.dataGb ?? Number.NaN
    days[position] = indexed.durationDays ?? Number.NaN
    const face = offer.faceValue ?? offer.price
    const [least, most] = face.type === 'FIXED' ? [face.fixed, face.fixed] : [face.min, face.max]
    leastFace[position] = least / face.divisor
    mostFace[position] = most / face.divisor
  })
  return { multiCountry, dataGb, days, leastFace, mostFace }
}

/** Every country that an offer can be used in, sorted. */
export function coveredBy(offer: Offer): string[] {
  const own = offer.country === undefined ? [] : [offer.country]
  return [...new Set([...own, ...kindOf(offer).indexed(offer).covers])].sort()
}

/** The texts that a search looks in (docs/contributors/decisions/017). */
function textsOf(offer: Offer): string[] {
  const { brand, brandName, shortNotes = '', subTypes, regions, country } = offer
  const places = country === undefined ? [] : countryNames(country)
  const own = kindOf(offer).indexed(offer).texts
  return [brand, brandName, shortNotes, ...subTypes, ...regions, ...own, ...places]
}

/** Sorts brand by brand, so that no sort takes long. */
function* sorted(offers: readonly Offer[]): Sliced<readonly Offer[]> {
  const ofName = new Map<string, Offer[]>()
  yield* eachOf(offers, (offer) => {
    const list = ofName.get(offer.brandName)
    if (list === undefined) ofName.set(offer.brandName, [offer])
    else list.push(offer)
  })
  const names = Array.from(ofName.keys(), (name) => `${fold(name)}\u0000${name}`).sort()
  const inOrder: Offer[] = []
  yield* eachOf(
    names,
    (name) => {
      const own = ofName.get(name.slice(name.indexOf('\u0000') + 1)) as Offer[]
      own.sort((one, other) => (one.id < other.id ? -1 : 1))
      for (const offer of own) inOrder.push(offer)
    },
    1,
  )
  return inOrder
}

/** Thousands of offers share a text, and each is split once. */
function remembered(make: (text: string) => string[]): (text: string) => string[] {
  const made = new Map<string, string[]>()
  return (text) => {
    const known = made.get(text)
    if (known !== undefined) return known
    const fresh = make(text)
    made.set(text, fresh)
    return fresh
  }
}

/** Words or names, sorted, so that those with the same beginning are neighbours, and the offers that have each. */
class Lexicon {
  readonly #entries: readonly string[]
  readonly #postings: readonly Postings[]

  constructor(entries: readonly string[], postings: readonly Postings[]) {
    this.#entries = entries
    this.#postings = postings
  }

  exactly(entry: string): Postings[] {
    const at = this.#firstFrom(entry)
    return this.#entries[at] === entry ? [this.#postings[at] as Postings] : []
  }

  beginningWith(start: string): Postings[] {
    const first = this.#firstFrom(start)
    let end = first
    while (this.#entries[end]?.startsWith(start)) end++
    return this.#postings.slice(first, end)
  }

  /** Those with one letter added, left out, changed, or swapped with its neighbour. */
  typosOf(word: string): Postings[] {
    return this.#postings.filter((_, at) => isTypoOf(word, this.#entries[at] as string))
  }

  #firstFrom(start: string): number {
    let low = 0
    for (let high = this.#entries.length; low < high; ) {
      const middle = (low + high) >>> 1
      if ((this.#entries[middle] as string) < start) low = middle + 1
      else high = middle
    }
    return low
  }
}

function* buildLexicon<O extends Offer>(
  offers: readonly O[],
  entriesOf: (offer: O) => Iterable<string>,
): Sliced<Lexicon> {
  const positions = new Map<string, number[]>()
  yield* eachOf(offers, (offer, position) => {
    for (const entry of entriesOf(offer)) {
      const list = positions.get(entry)
      if (list === undefined) positions.set(entry, [position])
      else if (list[list.length - 1] !== position) list.push(position)
    }
  })
  const entries = [...positions.keys()].sort()
  const postings: Postings[] = []
  yield* eachOf(entries, (entry) => {
    postings.push(new Uint32Array(positions.get(entry) as number[]))
    positions.delete(entry)
  })
  return new Lexicon(entries, postings)
}
