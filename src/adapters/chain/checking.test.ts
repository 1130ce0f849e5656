import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Rail } from '../../payments/ports.ts'
import {
  cancel,
  type NodeBefore,
  newPayment,
  type StillChain,
  startNodeBefore,
  startStillChain,
} from './chain.fixture.ts'

// What is answered about a payment when the node does not say, or says what cannot be believed.

let chain: StillChain
let node: NodeBefore
let rail: Rail

beforeAll(async () => {
  chain = await startStillChain()
  node = await startNodeBefore(chain.rpcUrl)
})
afterAll(async () => {
  await node.stop()
  await chain.stop()
})
beforeEach(async () => {
  await chain.mine()
  rail = chain.connect({ rpcUrl: node.url }).rail
})
afterEach(() => node.tamper())

describe('a node that does not answer a question is no reason to refuse a payment', () => {
  test('a good payment is good', async () => {
    const { tender } = await newPayment(chain)
    expect(await rail.check(tender)).toMatchObject({ outcome: 'good' })
  })

  test.each(['eth_getCode', 'eth_call', 'eth_getBlockByNumber'])('%s', async (silent) => {
    const { tender } = await newPayment(chain)
    node.tamper((method) => (method === silent ? 'silence' : undefined))
    expect(await rail.check(tender)).toMatchObject({ outcome: 'unknown' })
    expect(node.calls).toContain(silent)
    node.tamper()
    expect(await rail.check(tender)).toMatchObject({ outcome: 'good' })
  })

  test.each([
    ['of its own', -32_603, 'Internal error'],
    ['too many questions', -32_005, 'limit exceeded'],
    ['no resources', -32_002, 'resource unavailable'],
  ])('an error: %s', async (_, code, message) => {
    const { tender } = await newPayment(chain)
    for (const failing of ['eth_getCode', 'eth_call']) {
      node.tamper((method) => (method === failing ? { error: { code, message } } : undefined))
      expect(await rail.check(tender), failing).toMatchObject({ outcome: 'unknown' })
    }
  })

  test('one silence among answers is enough', async () => {
    const { tender } = await newPayment(chain)
    for (const which of [1, 2]) {
      let asked = 0
      // A question is asked a second time by itself, so both times have to fail.
      node.tamper((method, params) => {
        if (method !== 'eth_getCode' || params[0] !== tender.payer) return undefined
        asked += 1
        return asked === which || asked === which + 1 ? 'silence' : undefined
      })
      expect(await rail.check(tender)).toMatchObject({ outcome: 'unknown' })
    }
  })
})

describe('the age of the newest block', () => {
  const at = (secondsLater: number) => () => new Date(Date.now() + secondsLater * 1_000)
  const checkedAt = async (secondsLater: number) => {
    const { tender } = await newPayment(chain, { validSeconds: 1_000 })
    return chain.connect({}, at(secondsLater)).rail.check(tender)
  }

  test('a payment is not judged by a chain that has stopped', async () => {
    expect(await checkedAt(85)).toMatchObject({ outcome: 'good' })
    expect(await checkedAt(95)).toEqual({
      outcome: 'unknown',
      reason: expect.stringMatching(/^The newest block is 9\d s old\.$/),
    })
  })

  test('nor is a bad one called bad by it', async () => {
    const { tender } = await newPayment(chain)
    const signature = `0x${'11'.repeat(64)}1b`
    const stopped = chain.connect({}, at(95)).rail
    expect(await stopped.check({ ...tender, signature })).toMatchObject({ outcome: 'unknown' })
    expect(await rail.check({ ...tender, signature })).toMatchObject({ code: 'bad_signature' })
  })

  test('a node that has stopped at an older block is one that has stopped', async () => {
    const { tender } = await newPayment(chain)
    const head = await chain.client.getBlock()
    const timestamp = `0x${(head.timestamp - 100n).toString(16)}`
    const params = ['latest', false]
    const block: object = await chain.client.request({
      method: 'eth_getBlockByNumber',
      params,
    } as never)
    node.tamper((method) =>
      method === 'eth_getBlockByNumber' ? { result: { ...block, timestamp } } : undefined,
    )
    expect(await rail.check(tender)).toMatchObject({ outcome: 'unknown' })
  })
})

describe('a nonce that is used', () => {
  test('is this payment itself when somebody else has submitted it', async () => {
    const { tender } = await newPayment(chain)
    await chain.connect().rail.collect(tender)
    expect(await rail.check(tender)).toMatchObject({ outcome: 'good' })
  })

  test('is refused when it is shown what for', async () => {
    const payment = await newPayment(chain)
    await cancel(chain, payment)
    const refused = { outcome: 'bad', code: 'nonce_used' }
    expect(await rail.check(payment.tender)).toMatchObject(refused)
    await chain.mine()
    expect(await rail.check(payment.tender)).toMatchObject(refused)
  })

  test('is not refused while the logs are behind the state', async () => {
    const { tender } = await newPayment(chain)
    await chain.connect().rail.collect(tender)
    node.tamper((method) => (method === 'eth_getLogs' ? { result: [] } : undefined))
    expect(await rail.check(tender)).toMatchObject({ outcome: 'unknown' })
  })
})
