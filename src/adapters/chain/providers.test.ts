import { toFunctionSelector } from 'viem'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { newOrderId } from '../../../test/doubles/ids.ts'
import { type ProviderHabits, providerOf } from '../../../test/doubles/rpc-provider.ts'
import type { X402Payment } from '../../payments/payment.ts'
import {
  cancel,
  landedPayment,
  newPayment,
  nodeBefore,
  price,
  startStillChain,
} from './chain.fixture.ts'

// Nodes of providers: they answer for small ranges, prune state, lag and limit rates.

const chain = await startStillChain()
const node = await nodeBefore(chain.rpcUrl)

/** After every authorization expired, so that nothing is sent any more. */
const later = () => new Date(Date.now() + 30 * 86_400_000)

/** A store whose node is of such a provider. */
function behind(habits: ProviderHabits, now?: () => Date) {
  node.tamper(providerOf(chain.rpcUrl, habits))
  return chain.connect({ rpcUrl: node.url }, now)
}

const landed = () => landedPayment(chain)

const asked = (method: string) => node.calls.filter((call) => call === method).length

describe('a provider that answers for a few blocks of logs at once', () => {
  const ranges = [
    [500, 'code'],
    [2_000, 'http413'],
    [10_000, 'range'],
  ] as const

  /** The store sees block numbers multiplied by this, so few real blocks make a long chain. */
  const stretch = 400
  const mine = (blocks: number) => chain.mine(Math.ceil(blocks / stretch))
  /** A landed payment whose receipt has the block number that the store sees. */
  async function landedAs() {
    const { receipt, ...payment } = await landed()
    return { ...payment, receipt: { ...receipt, block: receipt.block * stretch } }
  }

  test.each(ranges)(
    '%i blocks, refused by %s: an old refund is found and a new one paid',
    async (blocks, refusal) => {
      const { payment, payer, receipt } = await landedAs()
      await mine(11_100)
      const habits = { stretch, logRange: { blocks, refusal } }
      const store = behind(habits)
      await store.probe()
      expect(await store.x402.confirmationOf(payment, receipt)).toBe('final')

      const signed = await store.x402.signRefund({
        reference: newOrderId(),
        payment,
        since: receipt,
      })
      expect(await store.x402.payBack(signed)).toMatchObject({ outcome: 'pending' })
      await mine(1)
      expect(await store.x402.payBack(signed)).toMatchObject({ outcome: 'paid' })
      expect(await chain.transfers(chain.refundWallet, payer)).toMatchObject([{ value: price }])

      // Another process, which has not learnt the page size, finds it as well, a day later.
      await mine(43_200)
      expect(await behind(habits).x402.payBack(signed)).toMatchObject({ outcome: 'paid' })
      expect(await chain.transfers(chain.refundWallet, payer)).toHaveLength(1)
    },
  )

  test('and has no state of its safe block: an old payment is never final', async () => {
    const { payment, receipt } = await landedAs()
    const logRange = { blocks: 2_000, refusal: 'parameter' } as const
    const { x402 } = behind({ stretch, logRange, stateBlocks: 128 })
    await mine(1_000)
    expect(await x402.confirmationOf(payment, receipt)).toBe('final')
    await mine(2_000)
    expect(await x402.confirmationOf(payment, receipt)).toBe('unknown')
  })

  test('is asked for the time of the authorization, however long ago that was', async () => {
    const { payment, receipt } = await landedAs()
    await chain.passTime(400)
    await mine(43_200)
    const { x402 } = behind({ stretch, logRange: { blocks: 500, refusal: 'parameter' } }, later)
    expect(await x402.collect(payment)).toEqual({ outcome: 'settled', receipt })
    // Five refusals teach the page size. To read all blocks since then would take 87 pages.
    expect(asked('eth_getLogs')).toBeLessThanOrEqual(12)
  })

  describe('is asked little about a payment that ended', () => {
    const minute = 60
    const year = 365 * 86_400
    let paid: X402Payment
    beforeAll(async () => {
      paid = (await landedAs()).payment
      await chain.passTime(400)
      await mine(43_200)
    })
    const forged = `0x${'11'.repeat(64)}1b`
    const payments = {
      paid: () => paid,
      'of a stranger': () => ({ ...paid, signature: forged }),
      'never used': () => ({ ...paid, nonce: forged.slice(0, 66) }),
    } as const

    test.each([
      ['paid', 50 * minute, 12],
      ['paid', 61 * minute, 0],
      ['paid', 2 * year, 0],
      ['of a stranger', minute, 0],
      ['of a stranger', 2 * year, 0],
      ['never used', minute, 0],
      ['never used', 2 * year, 0],
    ] as const)('%s, %i s ago: %i pages of logs at most', async (which, late, pages) => {
      const payment = payments[which]()
      const now = () => new Date((payment.validBefore + late) * 1_000)
      const habits = { stretch, logRange: { blocks: 500, refusal: 'parameter' } } as const
      await behind(habits, now).x402.check(payment)
      expect(asked('eth_getLogs')).toBeLessThanOrEqual(pages)
      expect(node.calls.length).toBeLessThanOrEqual(pages === 0 ? 6 : 80)
    })
  })
})

test('a provider that answers no logs up to the safe block is not well, since that shows what is final', async () => {
  await expect(behind({ noSafeLogs: true }).probe()).rejects.toThrow()
  await behind({}).probe()
})

test('a provider that shows a log and not its receipt proves nothing about a payment that has landed', async () => {
  const { payment, receipt } = await landed()
  await chain.mine()
  const unknown = { outcome: 'unknown', charged: 'unknown' }
  expect(await behind({ hidesReceipts: true }).x402.check(payment)).toMatchObject(unknown)
  await chain.passTime(400)
  const { x402 } = behind({ hidesReceipts: true }, later)
  expect(await x402.collect(payment)).toMatchObject({ outcome: 'unknown' })
  expect(await x402.confirmationOf(payment, receipt)).toBe('unknown')
  expect(await x402.check(payment)).toMatchObject(unknown)
  expect(await behind({}, later).x402.collect(payment)).toMatchObject({ outcome: 'settled' })
})

describe('a provider with several nodes behind one address', () => {
  // Requests made together arrive in any order, so the turns begin with each kind of node.
  const turns = [
    [0, 3],
    [3, 0],
    [5, 0, 1],
  ] as const

  test.each(turns.map((backends) => [backends]))(
    '%j blocks behind: a payment that has landed is never gone, failed or refused',
    async (backends) => {
      const { payment, receipt } = await landed()
      const { x402, probe } = behind({ backends })
      const late = chain.connect({ rpcUrl: node.url }, later)
      // A store looks at its node all the time, so it has seen the newest block.
      // Five requests a look, so that three looks reach each node with each kind of request.
      for (let look = 0; look < 3; look += 1) {
        for (const see of [probe, late.probe]) await see().catch(() => undefined)
      }
      for (let look = 1; look <= 6; look += 1) {
        expect(['final', 'not_yet', 'unknown']).toContain(
          await x402.confirmationOf(payment, receipt),
        )
        expect(['settled', 'unknown']).toContain((await late.x402.collect(payment)).outcome)
        expect(['good', 'unknown']).toContain((await x402.check(payment)).outcome)
        await chain.mine()
      }
      expect(await behind({}).x402.confirmationOf(payment, receipt)).toBe('final')
    },
  )

  test('a refusal because a payment has landed makes it not bad where its nonce still looks unused', async () => {
    const { payment } = await landed()
    // The newest node answers every simulation of the transfer, the lagging one everything else.
    const lagging = providerOf(chain.rpcUrl, { backends: [1] })
    const isUsed = toFunctionSelector('authorizationState(address,bytes32)')
    node.tamper((method, params) => {
      const { to, data } = params[0] as { to?: string; data?: string }
      const isOfToken = to?.toLowerCase() === chain.usdc.toLowerCase()
      const isSimulation = isOfToken && !data?.startsWith(isUsed)
      return isSimulation ? undefined : lagging(method, params)
    })
    const { x402 } = chain.connect({ rpcUrl: node.url })
    expect(await x402.check(payment)).toMatchObject({ outcome: 'unknown', charged: 'unknown' })
  })
})

const habits = { stateBlocks: 128, safeLag: 200 }

test('a full node whose safe block is further back than its state proves that a payment was cancelled, and that one is final', async () => {
  const cancelled = await newPayment(chain)
  await cancel(chain, cancelled)
  const { payment, receipt } = await landed()
  const { x402 } = behind(habits, later)
  expect(await x402.confirmationOf(payment, receipt)).toBe('not_yet')
  await chain.mine(250)
  expect(await x402.confirmationOf(payment, receipt)).toBe('final')
  expect(await x402.collect(cancelled.payment)).toMatchObject({
    outcome: 'failed',
    code: 'authorization_cancelled',
  })
})

describe('a provider whose quota payers use up', () => {
  const refusing = (methods: readonly string[]) =>
    node.tamper((method) => (methods.includes(method) ? { status: 429 } : undefined))

  const begun = new Date()
  let late: number
  /** The looks of a store at its node, by a clock that is `late` seconds after the beginning. */
  const looking = () => {
    late = 0
    const now = () => new Date(begun.getTime() + late * 1_000)
    return chain.connect({ rpcUrl: node.url, maxHeadSeconds: 10 ** 9 }, now)
  }

  test('is well while it answers other questions, for five minutes', async () => {
    const { probe } = looking()
    refusing(['eth_estimateGas'])
    await expect(probe()).rejects.toThrow()
    refusing([])
    await probe()
    refusing(['eth_estimateGas'])
    late = 299
    for (let time = 0; time < 4; time += 1) await probe()
    late = 301
    await expect(probe()).rejects.toThrow()
  })

  test('is down when it answers nothing, or is wrong in another way', async () => {
    const { probe } = looking()
    await probe()
    node.tamper((method) => (method === 'eth_estimateGas' ? { status: 403 } : undefined))
    await expect(probe()).rejects.toThrow()
    node.tamper()
    await probe()
    refusing(['eth_estimateGas', 'eth_getBlockByNumber', 'eth_call', 'eth_getLogs'])
    await probe()
    await expect(probe()).rejects.toThrow()
  })

  test('is asked to check few payments at once until it bears it again', async () => {
    const { x402 } = chain.connect({ rpcUrl: node.url })
    const payments: Awaited<ReturnType<typeof newPayment>>[] = []
    for (let many = 0; many < 8; many += 1) payments.push(await newPayment(chain))
    const { payment } = await newPayment(chain)
    vi.useFakeTimers({ toFake: ['performance'] })
    refusing(['eth_estimateGas'])
    expect(await x402.check(payment)).toMatchObject({ outcome: 'unknown' })
    refusing([])
    node.calls.length = 0
    const checked = await Promise.all(payments.map(({ payment }) => x402.check(payment)))
    expect(checked.filter(({ outcome }) => outcome === 'good')).toHaveLength(4)
    expect(checked.filter(({ outcome }) => outcome === 'unknown')).toHaveLength(4)
    expect(asked('eth_estimateGas')).toBe(4)
  })
})
