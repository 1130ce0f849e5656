import { countryNames } from '../countries.ts'
import type { Offer } from '../offer.ts'
import { packTerms, type Terms } from '../search/terms.ts'
import { indexWordsOf } from '../search/words.ts'
import { type Growing, growing } from './growing.ts'

/** Collects the words of the offers, offer by offer. */
export interface OfferWords {
  /** @param own further texts of the offer that are searched */
  add(offer: Offer, own: readonly string[]): void
  /** @param rows those that become docs, in the order of the docs */
  pack(rows: Uint32Array): Terms
}

export function offerWords(): OfferWords {
  const numbers = new Map<string, number>()
  const numberOf = (word: string) => {
    const known = numbers.get(word)
    if (known !== undefined) return known
    numbers.set(word, numbers.size)
    return numbers.size - 1
  }
  const wordsOf = remembered((text) => indexWordsOf(text).map(numberOf))
  const wordsOfCountry = remembered((code) =>
    countryNames(code).flatMap(indexWordsOf).map(numberOf),
  )
  const words = growing()
  const ends = growing()
  return {
    add(offer, own) {
      for (const text of [...textsOf(offer), ...own])
        for (const word of wordsOf(text)) words.push(word)
      if (offer.country !== undefined) {
        for (const word of wordsOfCountry(offer.country)) words.push(word)
      }
      ends.push(words.length())
    },
    pack: (rows) => packOf(words, { ends, rows, numbers }),
  }
}

/** Words that none of the rows has are left out, so that no typo is corrected to a word without offers. */
function packOf(
  words: Growing<Uint32Array>,
  {
    ends,
    rows,
    numbers,
  }: {
    readonly ends: Growing<Uint32Array>
    readonly rows: Uint32Array
    readonly numbers: Map<string, number>
  },
): Terms {
  const eachWord = (add: (word: number, doc: number) => void) => {
    for (let doc = 0; doc < rows.length; doc++) {
      const row = rows[doc] as number
      for (let at = row === 0 ? 0 : ends.at(row - 1); at < ends.at(row); at++)
        add(words.at(at), doc)
    }
  }
  const used = new Uint32Array(numbers.size)
  const texts: string[] = []
  const all = [...numbers.keys()]
  eachWord((word) => {
    if (used[word] === 0) used[word] = texts.push(all[word] as string)
  })
  return packTerms(texts, (add) => eachWord((word, doc) => add((used[word] as number) - 1, doc)))
}

/** The texts that `search` and `q` look in, besides the country's name (docs/contributors/decisions/017). */
function textsOf({ brand, brandName, shortNotes, subTypes, regions }: Offer): string[] {
  return [brand, brandName, shortNotes ?? '', ...subTypes, ...regions]
}

/** Caches by text: thousands of offers share a description, and each text is split once. */
function remembered<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>()
  return (text) => {
    const known = made.get(text)
    if (known !== undefined) return known
    const fresh = make(text)
    made.set(text, fresh)
    return fresh
  }
}
