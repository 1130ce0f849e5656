import { expect, test } from 'vitest'
import {
  failed,
  fulfilling,
  paid,
  pending,
  refunded,
  unpayable,
} from '../../../test/fixtures/sample-orders.ts'
import type { BuyingDeps } from '../../api/operation.ts'
import type { Order, Refunding } from '../../orders/order.ts'
import { createVault } from '../../secrets/secrets.ts'
import { orderOutcome } from './orders.ts'

const failing = failed(fulfilling(paid(pending())))
const gone = { state: 'FAILED', code: 'payment_vanished', reason: 'It vanished.' } as const
const vanished: Refunding = { ...failing, settlement: 'LOST', payout: gone }

test.each<[string, Order, string]>([
  ['is due', failing, 'The full amount is refunded automatically'],
  ['was paid', refunded(failing), 'The full amount was refunded'],
  ['has failed', unpayable(failing), 'the operator of the store has to act'],
  ['is for a payment that vanished', vanished, 'no money moved'],
  ['is claimed for one', { ...vanished, payout: { state: 'DUE' } }, 'no money moved'],
])('says of a refund that %s what is true of the money', async (_, order, advice) => {
  const site = { url: 'https://kiosk.example', contact: 'help@kiosk.example' }
  const vault = createVault([Buffer.alloc(32, 7)])
  const deps = { receipts: { vault, site, noteShown: () => undefined } } as unknown as BuyingDeps
  const showing = { inline: false, withQr: false, visit: undefined }
  const outcome = await orderOutcome(deps, { order, reveal: false }, showing)
  expect(outcome.advice).toContain(advice)
})
