import { expect } from 'vitest'
import type { OrderPageView, OwnOrderView } from '../../api/tracking/order-view.ts'
import type { OrderId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import { document, type Page } from '../frame/layout.ts'
import { frame } from '../frame/page.fixture.ts'
import { structureFaults } from '../frame/structure.fixture.ts'
import { breakout } from '../frame/website.fixture.ts'
import { textsIn } from '../texts/texts.ts'

export const at = new Date('2026-11-22T03:00:00Z')
export const parts = {
  t: textsIn('en'),
  recentUrl: '/recent.js',
  contact: 'ops@kiosk.example',
}

/** A delivered order, with the changes of a test. */
export const view = (changes: Partial<OrderPageView> = {}): OrderPageView => ({
  id: `ord_${'1'.repeat(26)}` as OrderId,
  kind: 'voucher',
  stage: 'delivered',
  network: 'Base',
  coin: undefined,
  checkout: undefined,
  times: { placed: at, paid: at, deliverBy: at, delivered: at },
  why: undefined,
  hasReceipt: true,
  own: undefined,
  version: '4.0',
  isFinished: true,
  isLasting: false,
  ...changes,
})

/** What its buyer sees. */
export const own = (changes: Partial<OwnOrderView> = {}): OwnOrderView => ({
  kind: 'voucher',
  brandName: breakout,
  offer: undefined,
  country: undefined,
  fairUse: undefined,
  value: undefined,
  receives: undefined,
  phone: undefined,
  paidUnits: undefined,
  refund: undefined,
  returnTo: undefined,
  amount: usdc(12_500_000n),
  payment: { transaction: `0x${'a'.repeat(64)}`, url: 'https://basescan.org/tx/0xaa' },
  returns: [],
  ...changes,
})

/** The page as text, after a check that its structure has no faults. */
export function whole(page: Page): string {
  const text = document(frame, page)
  expect(structureFaults(text)).toEqual([])
  return text
}
