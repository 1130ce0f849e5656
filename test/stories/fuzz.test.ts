import { beforeAll, expect, test } from 'vitest'
import { kinds } from '../../fuzz/draft.ts'
import { openSource, type Source } from '../../fuzz/material.ts'
import { type Findings, run } from '../../fuzz/run.ts'
import { transactionsOf } from './chain.ts'
import { settled } from './facts.ts'
import { contentsOf } from './reading.ts'
import { useStore } from './store.ts'

/** A few seconds of what `npm run fuzz` does for as long as one likes. */
const inputs = 10_000
const seed = 402

const store = useStore({ offers: 200 })
let source: Source
let found: Findings
let before: unknown

beforeAll(async () => {
  source = await openSource({ url: store.url, chain: store.parts, seed, webhook: store.webhook })
  // No order moves by itself while the inputs are sent.
  await settled(store)
  before = await effects()
  const { port } = new URL(store.url)
  const address = { host: '127.0.0.1', port: Number(port) }
  found = await run({ address, ...source }, { seed, from: 0, to: inputs, atOnce: 16 })
})

/** What nobody who paid nothing may change. All that the store does on the chain, this wallet sends. */
async function effects() {
  const sent = await transactionsOf(store.parts, store.gasWallet)
  return { contents: await contentsOf(store), sent }
}

test('every answer to anything is one that was promised', () => {
  expect(found.failures).toEqual([])
})

test('nothing was stored and nothing sent to the chain', async () => {
  expect(await effects()).toEqual(before)
})

test('the log tells of no error, no secret and no person', () => {
  const words = [...source.secrets, ...source.person, store.webhook.value]
  const bad = (line: string) =>
    JSON.parse(line).level >= 40 || words.some((word) => line.includes(word))
  expect(store.logLines.length).toBeGreaterThan(inputs / 2)
  expect(store.logLines.filter(bad)).toEqual([])
})

test('every way of using the store was met in success and in refusal', () => {
  const met = (name: string) => [...(found.answers.get(name)?.keys() ?? [])]
  for (const kind of kinds) {
    expect(met(`buy ${kind}`)).toEqual(expect.arrayContaining([402, 400, 422]))
    expect(met(`quote ${kind}`)).toEqual(expect.arrayContaining([200, 400]))
  }
  expect(met('repeat')).toEqual(expect.arrayContaining([200, 400]))
  // It would tell a stranger what the payment did not buy.
  expect(met('repeat')).not.toContain(409)
  const tools = ['search', 'get_offer', 'quote', 'buy', 'order_status', 'refund']
  for (const tool of tools) {
    expect(met(`tool ${tool}`)).toEqual(expect.arrayContaining([200, 400]))
  }
  expect(met('webhook')).toEqual(expect.arrayContaining([204, 401]))
  expect(met('claim')).toEqual(expect.arrayContaining([404, 409, 422]))
  expect(met('orders')).toEqual(expect.arrayContaining([401, 402]))
  expect(met('order')).toEqual(expect.arrayContaining([200, 404]))
  const reads = [...found.answers.keys()].filter((name) => name.startsWith('read /'))
  expect(reads.length).toBeGreaterThan(25)
})
