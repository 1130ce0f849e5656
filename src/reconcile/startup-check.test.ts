import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createHealth } from '../health/health.ts'
import { ample } from '../health/means.fixture.ts'
import type { OrderId } from '../lib/ids.ts'
import { usdc } from '../lib/money.ts'
import type { ChainTransfer, StoreWallet } from './ports.ts'
import { checkStartup, RecordTooOld, type StartupSources } from './startup-check.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

const refund: ChainTransfer = {
  transaction: `0x${'a'.repeat(64)}`,
  block: 4_990,
  logIndex: 1,
  from: '0xrefunds',
  to: '0xpayer',
  amount: usdc(500_000n),
  nonce: 'nonce of ord_known',
}

/** A chain and a database with the contents that the test sets. */
function sources() {
  const said = {
    wallets: [{ role: 'refunds', address: '0xrefunds', isPresent: true }] as StoreWallet[],
    paidBack: [] as ChainTransfer[],
    decided: [] as OrderId[],
    newestBlock: 4_000 as number | undefined,
    acknowledged: [] as Awaited<ReturnType<StartupSources['movements']['acknowledged']>>,
    silent: false,
  }
  const asked: [number, number][] = []
  return {
    said,
    asked,
    chain: {
      get wallets() {
        return said.wallets
      },
      // A block each second.
      blockAt: async (time: Date) => time.getTime() / 1_000,
      heads: async () => {
        if (said.silent) throw new Error('no answer')
        return { newest: 5_000, safe: 4_998 }
      },
      blockBefore: async () => 2_000,
      async *paidBack(from: number, to: number) {
        asked.push([from, to])
        yield said.paidBack
      },
      refundNonceOf: (reference: string) => `nonce of ${reference}`,
    },
    movements: { acknowledged: async () => said.acknowledged },
    store: {
      newestBlock: async () => said.newestBlock,
      idsOf: async (payers: readonly string[]) => (payers.includes('0xpayer') ? said.decided : []),
    },
  }
}

function start(world: ReturnType<typeof sources>) {
  const stop = new AbortController()
  const health = createHealth(() => new Date())
  health.noteCatalog(new Date())
  health.noteMeans(ample)
  const [failed, report] = [vi.fn(), vi.fn()]
  const guard = checkStartup(world, health, { signal: stop.signal, failed, report })
  return {
    stop,
    health,
    failed,
    report,
    guard,
    mayBuy: () => health.signals().agent_action !== 'stop',
  }
}

const { nonce: _, ...withdrawal } = refund
const onRecord = { paidBack: [refund], decided: ['ord_known' as OrderId] }
const goodwill = { ...refund, nonce: 'nonce of ord_known-goodwill' }
const acknowledged = [{ ...refund, reason: 'The key leaked', by: 'Ann Smith' }]

test.each([
  ['every refund on record', onRecord],
  ['goodwill for an order on record', { ...onRecord, paidBack: [goodwill] }],
  ['a refund that the operator has acknowledged', { paidBack: [refund], acknowledged }],
  ['an operator’s withdrawal', { paidBack: [withdrawal] }],
])('starts with %s, and sells then', async (_, said) => {
  const world = sources()
  Object.assign(world.said, said)
  const { guard, mayBuy } = start(world)
  expect(mayBuy()).toBe(false)
  expect(await (await guard).passed).toBe(true)
  expect(mayBuy()).toBe(true)
})

test.each([
  ['from its newest block on', 4_000, 3_700],
  ['as far back as a payment is valid when it is empty', undefined, 2_000],
  ['only the end of the chain when it is ahead of it', 9_000, 4_700],
])('compares the record %s', async (_, newestBlock, from) => {
  const world = sources()
  world.said.newestBlock = newestBlock
  await start(world).guard
  expect(world.asked).toEqual([[from, 5_000]])
})

test.each([
  ['has no such order', []],
  ['has another order of that wallet', ['ord_other' as OrderId]],
])('a record that %s may not be started from', async (_, decided) => {
  const world = sources()
  Object.assign(world.said, { paidBack: [refund], decided })
  const { guard, mayBuy } = start(world)
  await expect(guard).rejects.toThrow(RecordTooOld)
  await expect(guard).rejects.toThrow(refund.transaction)
  expect(mayBuy()).toBe(false)
})

test('sells nothing while a late answer shows an old database, until its operator acknowledges it', async () => {
  const world = sources()
  world.said.silent = true
  const { guard, mayBuy, failed } = start(world)
  await vi.advanceTimersByTimeAsync(10_000)
  const { passed } = await guard
  expect(mayBuy()).toBe(false)
  world.said.silent = false
  world.said.paidBack = [refund]
  await vi.advanceTimersByTimeAsync(10_000)
  expect(failed).toHaveBeenLastCalledWith('start guard', expect.any(RecordTooOld))
  expect(mayBuy()).toBe(false)
  world.said.acknowledged = acknowledged
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await passed).toBe(true)
  expect(mayBuy()).toBe(true)
})

describe('an earlier refund wallet', () => {
  const replacedAt = 4_900
  const earlier = { role: 'refunds', address: '0xearlier', isPresent: false } as const
  const present = { ...earlier, address: '0xrefunds', isPresent: true }
  const sentAt = (block: number) => ({ ...refund, from: '0xearlier', block })
  const worldWith = (paidBack: ChainTransfer[]) => {
    const world = sources()
    world.said.wallets = [{ ...earlier, until: new Date(replacedAt * 1_000) }, present]
    world.said.paidBack = paidBack
    return world
  }

  test('that is used after its replacement is reported, and stops no start', async () => {
    const world = worldWith([sentAt(replacedAt), sentAt(replacedAt + 5)])
    const { guard, report, mayBuy } = start(world)
    expect(await (await guard).passed).toBe(true)
    expect(mayBuy()).toBe(true)
    const { transaction } = refund
    expect(report.mock.calls).toEqual([
      [{ name: 'earlier_wallet_used', transfers: 2, wallet: '0xearlier', transaction }],
    ])
  })

  test('counts until its replacement, and the present one always', async () => {
    const before = start(worldWith([sentAt(replacedAt - 1)])).guard
    await expect(before).rejects.toThrow(RecordTooOld)
    const own = start(worldWith([sentAt(replacedAt), { ...refund, block: 4_999 }])).guard
    await expect(own).rejects.toThrow(RecordTooOld)
  })

  test('counts always if nobody knows when it was replaced', async () => {
    const world = worldWith([sentAt(replacedAt)])
    world.said.wallets = [earlier, present]
    await expect(start(world).guard).rejects.toThrow(RecordTooOld)
  })
})

test('never starts when stopped before the chain answers', async () => {
  const world = sources()
  world.said.silent = true
  const { guard, stop, mayBuy } = start(world)
  await vi.advanceTimersByTimeAsync(10_000)
  const { passed } = await guard
  stop.abort()
  expect(await passed).toBe(false)
  expect(mayBuy()).toBe(false)
})
