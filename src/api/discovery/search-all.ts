import { goods } from '../../catalog/good.ts'
import { phoneMeantBy } from '../../catalog/phone.ts'
import type { Question } from '../../catalog/question/asked.ts'
import { coverageOf, type Found, type FoundKind, findFor } from '../../catalog/question/find.ts'
import { kindAsked } from '../../catalog/question/kind-asked.ts'
import { readPhonePlace } from '../../catalog/question/phone-place.ts'
import { questionHint } from '../../catalog/question/question-hint.ts'
import { copyReady } from '../../catalog/ready-json.ts'
import type { ParamSource } from '../../catalog/search/param-source.ts'
import {
  amount,
  countries,
  country,
  described,
  dollars,
  oneOf,
  pageOf,
  paging,
  question,
  readParams,
  refused,
  text,
  wholeNumber,
} from '../../catalog/search/params.ts'
import type { ReadDeps } from '../deps.ts'
import { jsonBytes } from '../json-bytes.ts'
import { answers, inDiscovery } from '../operation.ts'
import { searchPath } from '../paths.ts'
import { type Query, queryOf } from '../query.ts'
import { QuestionResult } from '../shapes/lists.ts'
import { unfinishedView } from '../views/catalog-offer.ts'

/** The maximum offset; a caller who has read so many items should ask more narrowly. */
const maxOffset = 1_000

const query = {
  query: described(
    question,
    'What is wanted, in plain words: a brand, countries, data, days, a budget, a phone number. Such as "10 GB for Japan, 2 weeks" or "25 EUR Netflix card for Germany"',
  ),
  kind: described(kindAsked, 'Only goods of this kind'),
  country: described(
    country,
    'ISO 3166-1 alpha-2 code (XK is Kosovo): where a card or a line is from, and where a plan works',
  ),
  covers: described(
    countries,
    'Country codes with commas between them: an eSIM plan that works in every one',
  ),
  minDataGb: described(
    amount,
    'At least so many gigabytes; unlimited data is more than any number',
  ),
  minDays: described(wholeNumber(1, 3650), 'Valid for at least so many days'),
  maxUsdc: described(dollars, 'What a purchase may cost at most, in USDC'),
  phone: described(
    text,
    'A phone number to top up, with + and the code of its country. Its likely operator comes first. The number is not kept',
  ),
  sort: described(
    oneOf(['match', 'price']),
    'match: the likeliest kind first, each by price. price: all kinds by price',
    { default: 'match' },
  ),
  ...paging(50),
  offset: described(wholeNumber(0, maxOffset), 'How many items to skip', { default: 0 }),
}

export const searchAll = inDiscovery({
  id: 'search',
  path: searchPath,
  name: 'Search everything',
  description:
    'Vouchers, topups and eSIM plans by one question, in plain words, as parameters, or both; what a parameter says counts. Each item says its kind, what it costs in USDC, its face value and what a purchase requires. Words that the result does not take into account are listed in leftOut.',
  query,
  answers: answers('A page of offers of any kind', QuestionResult),
  ask,
})

function ask(given: ParamSource, deps: ReadDeps): Query {
  const { limit, offset, ...params } = readParams(given, query)
  const page = pageOf({ limit, offset })
  const { phone, sort = 'match', ...fields } = params
  if (Object.values(fields).every((value) => value === undefined) && phone === undefined) {
    throw refused('query', 'query is required, or another parameter that says what is wanted.')
  }
  const asked: Question = {
    ...fields,
    ...(phone === undefined ? {} : lineOf(phone, fields.country)),
  }
  return queryOf({ ...asked, sort, ...page }, () => searchAnswer(deps, asked, { ...page, sort }))
}

function lineOf(
  phone: string,
  own: string | undefined,
): Pick<Question, 'phoneCountry' | 'phoneOperator'> {
  for (const written of [phone, phoneMeantBy(phone, own) ?? '']) {
    const place = readPhonePlace(written, own)
    if (place?.country !== undefined) {
      return { phoneCountry: place.country, phoneOperator: place.operator }
    }
  }
  throw refused(
    'phone',
    'phone must be a phone number with + and the code of its country, such as +5355564362.',
  )
}

interface Wanted {
  readonly limit: number
  readonly offset: number
  readonly sort: 'match' | 'price'
}

const answer = jsonBytes()

function searchAnswer(deps: ReadDeps, asked: Question, { limit, offset, sort }: Wanted): Buffer {
  const { sold, rates } = deps.liveCatalog.current()
  const found = findFor(sold, asked, rates, offset + limit)
  const hint =
    found.total === 0 ? questionHint({ indexes: sold, question: asked, found, rates }) : undefined
  answer.begin()
  answer.text(`{"total":${found.total},"limit":${limit},"offset":${offset},"items":[`)
  addItems(deps, found, pageIn(deps, found, { limit, offset, sort }))
  answer.text(`],"leftOut":${JSON.stringify(found.leftOut)}`)
  const { operator, kinds } = found.asked
  if (operator !== undefined && kinds.includes('topup'))
    answer.text(`,"likelyOperator":${JSON.stringify(operator)}`)
  if (hint !== undefined) answer.text(`,"hint":${JSON.stringify(hint)}`)
  answer.text('}')
  return answer.take()
}

type Place = Pick<FoundKind, 'kind'> & { readonly doc: number }

function pageIn(
  { liveCatalog }: ReadDeps,
  { kinds: found }: Found,
  { limit, offset, sort }: Wanted,
): Place[] {
  const { sold } = liveCatalog.current()
  const places = found.flatMap(({ kind, docs }) => Array.from(docs, (doc) => ({ kind, doc })))
  const price = ({ kind, doc }: Place) => sold[kind].usdc.values[doc] as number
  if (sort === 'price') places.sort((one, other) => price(one) - price(other))
  return places.slice(offset, offset + limit)
}

function addItems(deps: ReadDeps, { asked }: Found, places: readonly Place[]): void {
  const { sold } = deps.liveCatalog.current()
  const view = unfinishedView(deps)
  for (const [at, { kind, doc }] of places.entries()) {
    const index = sold[kind]
    if (at > 0) answer.text(',')
    if (view === undefined) copyReady(index.ready, index.rows[doc] as number, 'catalog', answer)
    else answer.text(JSON.stringify(view(index.offerAt(doc))).slice(0, -1))
    if (goods[kind].isByCoverage)
      answer.text(`,"coverage":${JSON.stringify(coverageOf(index, doc, asked.countries))}`)
    answer.text('}')
  }
}
