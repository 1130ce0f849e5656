import { wordsOf } from '../../lib/text.ts'
import { kinds } from '../good.ts'
import type { Kind } from '../offer.ts'
import { oneOf, type Param } from '../search/params.ts'
import { vocabulary } from './vocabulary.ts'

const published = oneOf(kinds)

/** A kind of goods by its name, or by a word for it that people write: "gift card" is a voucher. */
export const kindAsked: Param<Kind> = {
  schema: published.schema,
  read(name, value) {
    const meaning = vocabulary().meanings.get(wordsOf(value).join(' '))
    return meaning?.type === 'kind' ? meaning.kind : published.read(name, value)
  },
}
