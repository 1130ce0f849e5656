import { expect, test } from 'vitest'
import { madeOffers, madeQueries } from '../search-load.ts'
import { others, self } from './engines.ts'
import { totalsByScan } from './scan.ts'

const offers = madeOffers(400)
const queries = madeQueries(offers, 140)

/** The engines that count exactly and need no server. If they find another total, they are set up wrongly. */
const exact = [self, ...others].filter(
  ({ name }) => !/Orama|PostgreSQL|MiniSearch, typos/.test(name),
)

test.each(exact)('$name finds as many as a plain scan', async ({ typos, make }) => {
  const engine = make('')
  await engine.build(offers)
  const totals: number[] = []
  for (const filters of queries) totals.push(await engine.ask(filters))
  await engine.close?.()
  expect(totals).toEqual(totalsByScan(offers, queries, { typos }))
})

test('a scan that forgives typos finds what one that does not forgive leaves out', () => {
  const [offer] = offers
  const text = offer?.brandName.split(' ')[0]?.toLowerCase().replace(/.$/, 'x') ?? ''
  expect(text.length).toBeGreaterThan(4)
  const [strict] = totalsByScan(offers, [{ text }], { typos: false })
  const [forgiving] = totalsByScan(offers, [{ text }], { typos: true })
  expect(strict).toBe(0)
  expect(forgiving).toBeGreaterThan(0)
})
