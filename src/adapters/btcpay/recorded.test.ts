import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { expectAnswerFits } from '../../../test/harness/greenfield.ts'
import type { CoinPayout } from '../../checkouts/ports.ts'
import type { Coin } from '../../payments/coins.ts'
import { back, begin, operator, storeId } from './sandbox.fixture.ts'
import { playing } from './scripted.fixture.ts'

/**
 * What BTCPay Server 2.4.1 answers where it surprises, written down from its API document and its sources, and what the
 * store makes of it. The adapter is held to both, and the stand-in to the answers.
 */
interface Recorded {
  readonly what: string
  /** By call. */
  readonly answers: Readonly<Record<string, unknown>>
  readonly do: string
  readonly gives: object
}

const folder = new URL('../../../test/fixtures/greenfield-2.4.1/', import.meta.url)
const recorded = readdirSync(folder).map((file): readonly [string, Recorded] => [
  file.replace('.json', ''),
  JSON.parse(readFileSync(new URL(file, folder), 'utf8')),
])

const payout: CoinPayout = {
  ...{ reference: 'ref_1', coin: 'LTC', network: 'Litecoin', units: 150_000n },
  to: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
}

it.each(recorded)('reads %s as it is meant', async (_name, { answers, do: act, gives }) => {
  for (const [call, json] of Object.entries(answers)) {
    const [method = '', path = ''] = call.split(' ')
    expectAnswerFits(method, path, 200, json)
  }
  const replies = Object.entries(answers).map(([call, json]) => [call, { json }])
  const { processor, unfit } = playing(Object.fromEntries(replies))
  const [verb, coin] = act.split(' ')
  const made =
    verb === 'read' ? await processor.read('Inv1', coin as Coin) : await processor.payOut(payout)
  const plain = JSON.stringify(made, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(JSON.parse(plain)).toMatchObject(gives)
  expect(unfit).toEqual([])
})

type World = Awaited<ReturnType<typeof begin>>

const partOf = (coin: Coin, act?: 'replace') => async (world: World) => {
  const { invoice, pay, act: does } = await world.open(coin)
  await pay(act ? invoice.units : invoice.units / 2n, { confirm: false })
  if (act) await does(act)
  return invoice.id
}

async function wholeOf(world: World) {
  const { act, invoice, pay } = await world.open('USDT')
  await pay(invoice.units, { confirm: false })
  await act('confirm')
  return invoice.id
}

async function pullPayment(world: World, refused: boolean): Promise<string> {
  await world.post('/broadcasts', { refused })
  await expect
    .poll(() => world.processor.payOut(back('ref_1')))
    .toMatchObject({
      reason: 'the payout is sent and not confirmed yet',
    })
  const list = await world.get(`/stores/${storeId}/pull-payments`)
  return (list as { id: string }[])[0]?.id ?? ''
}

/** Brings the stand-in to where each was recorded. Returns the id in the path of the calls. */
const situations: Readonly<Record<string, (world: World) => Promise<string>>> = {
  'bitcoin-paid-in-part': partOf('BTC'),
  'monero-paid-in-part': partOf('XMR'),
  'payment-replaced': partOf('BTC', 'replace'),
  'payout-in-progress': (world) => pullPayment(world, true),
  async 'pull-payment-archived'(world) {
    const id = await pullPayment(world, true)
    await world.archive('ref_1')
    return id
  },
  'usdt-paid': wholeOf,
}

/** What programs go by stays; other texts become what kind of text they are. */
function shapeOf(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => shapeOf(one))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shapeOf(one, key)]))
  }
  if (typeof value === 'number') return 'number'
  return typeof value === 'string' && !words.has(name) ? kindOf(value) : value
}

function kindOf(text: string): string {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text) === 0 ? 'nothing' : 'some'
  const known = text.replace(/[0-9a-f]{64}/, 'hash')
  return known === text ? 'text' : known.replace(/\d+/g, '0')
}

const words = new Set(['status', 'additionalStatus', 'state', 'paymentMethodId', 'currency'])

/** What an operator, a wallet or a person chooses, or the store does not read. */
const free = ['checkout', 'checkoutLink', 'viewLink', 'paymentLink', 'metadata', 'receipt']

function comparable(answer: unknown): unknown {
  const text = JSON.stringify(answer, (name, value) => (free.includes(name) ? undefined : value))
  return shapeOf(JSON.parse(text))
}

it.each(recorded)('the stand-in answers as BTCPay does: %s', async (name, { answers }) => {
  const fees = { networkFeeMode: 'MultiplePaymentsOnly', confirmMs: 60_000 } as const
  const world = await begin({ ...operator, ...fees })
  const id = (await situations[name]?.(world)) ?? ''
  for (const [call, answer] of Object.entries(answers)) {
    const path = call
      .replace('GET /api/v1', '')
      .replace('/S1', `/${storeId}`)
      .replace(/Inv1|Pull1/, id)
    expect(comparable(await world.get(path))).toMatchObject(comparable(answer) as object)
  }
})
