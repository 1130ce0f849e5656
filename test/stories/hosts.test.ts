import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { type Host, hosts, noHosts } from './hosts.ts'
import { paymentFor } from './mcp/client.ts'
import { answerOf, get } from './requests.ts'
import { openStore, type Store } from './store.ts'

const esim = { offerId: 'TEST-ESIM-OK' }
const keyed = { ...esim, idempotency_key: 'the-one-key-of-this-host' }

/** The JSON in what a model reads, around which a framework may say more. */
// biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is what is tested
function dataIn(read: string): any {
  return JSON.parse(read.slice(read.indexOf('{'), read.lastIndexOf('}') + 1))
}

describe.skipIf(noHosts).each(Object.entries(hosts))('in %s', (_, { sendsMeta, open }) => {
  let store: Store
  let buyer: Buyer
  let host: Host
  // A store for each: all come from this address, and a store limits what an address may ask.
  beforeAll(async () => {
    store = await openStore({ offers: 50 })
    buyer = await newBuyer()
    host = await open(`${store.url}/mcp`)
  })
  afterAll(async () => {
    await host.close()
    await store.close()
  })

  test('the model is told of the six tools', () => {
    const names = ['search', 'get_offer', 'quote', 'buy', 'order_status', 'refund']
    expect([...host.tools].sort()).toEqual(names.sort())
  })

  test.each([
    [
      'buy',
      { ...keyed, offerId: 'NO-SUCH' },
      /There is no offer with the id NO-SUCH.*offer_not_found/,
    ],
    ['search', { query: 'steam', contry: 'US' }, /There is no parameter .*contry.*country/],
    ['search', { kind: 'topup', country: 'Guatemala' }, /country must be .*GT/],
    ['search', { query: 'steam', limit: 99 }, /limit must be .*50/],
    ['buy', { ...esim, idempotency_key: 'short' }, /idempotency_key/],
    // LangChain and Mastra check the schema themselves.
    ['buy', esim, /idempotency_key|did not match expected schema/],
  ])('a wrong call of %s with %j is answered with what to correct', async (tool, args, said) => {
    expect(await host.call(tool, args)).toMatch(said)
  })

  test('it buys', async () => {
    const before = await buyer.balance()
    const demand = dataIn(await host.call('buy', keyed))
    const orderId = sendsMeta ? await boughtHere(demand) : await boughtByAddress(demand)
    expect(await host.call('order_status', { orderId })).toContain('FULFILLED')
    expect(await buyer.balance()).toBe(before - 500_000n)
  })

  type Demand = ReturnType<typeof dataIn>

  async function boughtHere({ accepts }: Demand): Promise<string> {
    const read = await host.call('buy', keyed, await paymentFor(buyer, accepts[0]))
    expect(read).toContain('reveal.url')
    return /ord_\w+/.exec(read)?.[0] ?? read
  }

  /** What the demand says to a host that cannot send a payment with a call: an x402 client GETs an address. */
  async function boughtByAddress({ message }: Demand): Promise<string> {
    const [, page = ''] =
      /GET the payableUrl of quote, or give the person (\S+) to pay/.exec(message) ?? []
    expect((await get('', page)).body).toContain('Sandbox Test')
    const read = await host.call('quote', esim)
    const [payableUrl = read] = /http:[\w:./-]+\/x402\/[\w-]+/.exec(read) ?? []
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer.account))
    const { status, body } = await answerOf(await wrapFetchWithPayment(fetch, client)(payableUrl))
    expect(status).toBe(200)
    expect(body.orders[0].result).toHaveProperty('iccid')
    return body.orderId
  }
})
