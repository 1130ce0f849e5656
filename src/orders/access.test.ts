import { expect, test } from 'vitest'
import { memoryOrders } from '../../test/doubles/memory-orders.ts'
import { newOrder, orderWorld } from '../../test/doubles/orders.ts'
import { hashOf } from '../secrets/tokens.ts'
import { mayReveal, type Viewer } from './access.ts'

const key = 'key-of-16-letters'

async function revealedTo(viewer: Viewer): Promise<boolean> {
  const { deps, clock } = orderWorld()
  const orders = memoryOrders(clock.now)
  const { order } = await orders.open(newOrder(deps), [hashOf(key)])
  return mayReveal(orders, order, viewer)
}

test.each<[string, Viewer]>([
  ['the access token', { accessToken: 'token' }],
  ['the paying wallet', { wallet: `0x${'2'.repeat(40)}` }],
  ['the key it was opened with', { keys: [key] }],
  ['one right key among others', { keys: ['other-key-of-20-let', key] }],
  ['a right key beside a wrong token', { accessToken: 'x', keys: [key] }],
])('goods are shown to %s', async (_, viewer) => {
  expect(await revealedTo(viewer)).toBe(true)
})

test.each<[string, Viewer]>([
  ['nobody', {}],
  ['an empty token', { accessToken: '' }],
  ['a wrong token', { accessToken: 'Token' }],
  ['the hash of the token', { accessToken: hashOf('token') }],
  ['another wallet', { wallet: `0x${'1'.repeat(40)}` }],
  ['an empty wallet', { wallet: '' }],
  ['no keys', { keys: [] }],
  ['another key', { keys: ['other-key-of-20-let'] }],
  ['the hash of the key', { keys: [hashOf(key)] }],
])('goods are kept from %s', async (_, viewer) => {
  expect(await revealedTo(viewer)).toBe(false)
})
