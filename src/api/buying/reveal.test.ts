import { beforeEach, expect, test, vi } from 'vitest'
import {
  failed,
  fulfilled,
  fulfilling,
  paid,
  pending,
} from '../../../test/fixtures/sample-orders.ts'
import type { In, Order } from '../../orders/order.ts'
import { createSigner, createVault } from '../../secrets/secrets.ts'
import type { BuyingDeps } from '../operation.ts'
import { openReveal, revealLink } from './reveal.ts'

const vault = createVault([Buffer.alloc(32, 5)])
const key = Buffer.alloc(32, 6)
const noteShown = vi.fn()
const start = new Date('2026-01-05T12:00:00Z').getTime()
let now = start
beforeEach(() => {
  now = start
  noteShown.mockClear()
})

const delivered: In<'FULFILLED'> = (() => {
  const order = { ...fulfilled(fulfilling(paid(pending()))), recipient: undefined }
  const goods = { kind: order.item.kind, code: 'SECRET-1' }
  return { ...order, delivery: vault.seal(goods, { order: order.id, field: 'delivery' }) }
})()

/** An API whose records hold this order. */
function revealingWith(found: () => Order | undefined | Promise<never>) {
  const used = new Map<string, Date>()
  const useOnce = async (nonce: string, until: Date) =>
    !used.has(nonce) && used.set(nonce, until) !== undefined
  const deps = {
    site: { url: 'https://store.example' },
    purchases: { now: () => new Date(now) },
    receipts: { vault, site: { url: 'https://store.example' }, noteShown },
    orders: { find: async () => found() },
    signIn: { nonces: { useOnce } },
    reveals: createSigner([key], 'reveal'),
  } as unknown as BuyingDeps
  const tokenOf = (order: Order) => revealLink(deps, order).url.split('#')[1] ?? ''
  return { deps, used, tokenOf, open: (token: string) => openReveal(deps, token) }
}

test('a link names the store, keeps its secret behind the #, and says when it ends', () => {
  const { deps } = revealingWith(() => delivered)
  const { url, expiresAt } = revealLink(deps, delivered)
  expect(url).toMatch(/^https:\/\/store\.example\/reveal#[\w-]+\.[\w-]+$/)
  expect(expiresAt).toBe('2026-01-06T12:00:00.000Z')
  expect(revealLink(deps, delivered).url).not.toBe(url)
})

test('it opens once, and each link of an order opens for itself', async () => {
  const { tokenOf, open } = revealingWith(() => delivered)
  const [one, other] = [tokenOf(delivered), tokenOf(delivered)]
  expect(await open(one)).toMatchObject({ type: 'goods', result: { code: 'SECRET-1' } })
  expect(await open(one)).toEqual({ type: 'used' })
  expect(noteShown.mock.calls).toEqual([[delivered.id, 'once']])
  expect(await open(`  ${other}\n`)).toMatchObject({ type: 'goods' })
})

test('it ends after a day, and its use is remembered for as long', async () => {
  const { tokenOf, open, used } = revealingWith(() => delivered)
  const [one, other] = [tokenOf(delivered), tokenOf(delivered)]
  now = start + 24 * 3_600_000 - 1_000
  expect(await open(one)).toMatchObject({ type: 'goods' })
  expect([...used.values()]).toEqual([new Date(start + 24 * 3_600_000)])
  now += 1_000
  expect(await open(other)).toEqual({ type: 'expired' })
})

test('signed for something else, or by another store, it is unknown', async () => {
  const { open, tokenOf } = revealingWith(() => delivered)
  const named = [delivered.id, 'x', start]
  const others = [createSigner([key], 'quote'), createSigner([Buffer.alloc(32, 7)], 'reveal')]
  for (const signer of others) expect(await open(signer.sign(named))).toEqual({ type: 'unknown' })
  expect(await open(`${tokenOf(delivered)}x`)).toEqual({ type: 'unknown' })
  expect(await open('')).toEqual({ type: 'unknown' })
})

test.each<[string, Order | undefined, string]>([
  ['under way', fulfilling(paid(pending())), 'not_yet'],
  ['that failed', { ...failed(fulfilling(paid(pending()))), state: 'EXPIRED' }, 'never'],
  ['that is gone', undefined, 'unknown'],
])('of an order %s it is not used up', async (_, order, type) => {
  const { open, tokenOf, used } = revealingWith(() => order)
  expect(await open(tokenOf(delivered))).toEqual({ type })
  expect(used.size).toBe(0)
})

test('while the records cannot be read it is not used up', async () => {
  const { open, tokenOf, used } = revealingWith(() => Promise.reject(new Error('down')))
  await expect(open(tokenOf(delivered))).rejects.toThrow('down')
  expect(used.size).toBe(0)
})

test('goods that cannot be opened do not use it up', async () => {
  const broken = { ...delivered, delivery: fulfilled(fulfilling(paid(pending()))).delivery }
  const { open, tokenOf, used } = revealingWith(() => broken)
  await expect(open(tokenOf(broken))).rejects.toThrow()
  expect(used.size).toBe(0)
})
