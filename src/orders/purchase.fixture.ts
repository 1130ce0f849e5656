import { memoryReservations } from '../../test/doubles/memory-reservations.ts'
import {
  alwaysSold,
  noBudgets,
  orderWorld,
  plainWords,
  type Script,
} from '../../test/doubles/orders.ts'
import { catalogOf } from '../../test/fixtures/catalog.ts'
import { esim, fixed, fixturePricing, open, voucher } from '../../test/fixtures/offers.ts'
import { createLiveCatalog } from '../catalog/catalog.ts'
import type { Offer } from '../catalog/offer.ts'
import type { Unsold } from '../health/verdict.ts'
import { Refusal } from '../lib/refusal.ts'
import type { Checked, X402Payment } from '../payments/payment.ts'
import { fixturePayee, paymentFor } from '../payments/payments.fixture.ts'
import { createQuotes, type PaymentPayload } from '../payments/terms.ts'
import { createSigner } from '../secrets/secrets.ts'
import { type PurchaseDeps, purchase } from './purchase.ts'
import type { PurchaseRequest } from './replay.ts'

export const card = voucher('CARD', { price: fixed(2_000) })
export const openCard = voucher('OPEN', { price: open(500, 10_000, 250) })
export const plan = esim('PLAN')
export const ada = { offerId: 'CARD', firstName: 'Ada', lastName: 'Lovelace' }

/** A store whose methods and supplier are scripted, and a buyer. */
export function purchaseWorld(changes: Partial<Script> = {}, settings: Partial<PurchaseDeps> = {}) {
  const world = orderWorld(changes)
  const { clock, calls } = world
  const pricing = fixturePricing()
  const liveCatalog = createLiveCatalog()
  const putOnSale = (...offers: Offer[]) => liveCatalog.replace(catalogOf(offers, pricing))
  putOnSale(card, openCard, plan)
  const says: {
    unsold: Unsold | undefined
    check: (payment: X402Payment) => Checked<X402Payment>
    isSigned: boolean
    isUnused: boolean
  } = {
    unsold: undefined,
    isSigned: true,
    isUnused: true,
    check: (payment) => ({ outcome: 'good', payment }),
  }
  const check = async (payment: X402Payment) => {
    calls.push('check')
    return says.check(payment)
  }
  const isSignedByPayer = async () => says.isSigned
  const isUnused = async () => {
    calls.push('isUnused')
    return says.isUnused
  }
  const x402 = { ...world.deps.methods.x402, check, isSignedByPayer, isUnused }
  const deps: PurchaseDeps = {
    ...world.deps,
    limits: world.orders.limits,
    reservations: memoryReservations(clock.now),
    approvals: world.orders.approvals,
    approvalWords: plainWords,
    methods: { ...world.deps.methods, x402 },
    budgets: noBudgets,
    liveCatalog,
    pricing,
    payee: fixturePayee,
    quotes: createQuotes(createSigner([Buffer.alloc(32, 7)], 'quote'), clock.now),
    health: { ...alwaysSold, unsold: () => says.unsold, sell: () => says.unsold },
    ...settings,
  }
  return { ...world, deps, liveCatalog, putOnSale, says, ...buyerOf(deps) }
}

const unpaid = { kind: 'voucher', fields: ada, payment: undefined, viewer: {} } as const

function buyerOf(deps: PurchaseDeps) {
  let signed = 0
  const ask = (request: Partial<PurchaseRequest> = {}) =>
    purchase(deps, { ...unpaid, isAnother: true, ...request })

  /** Signs a payment for the store's current terms, with a fresh nonce. */
  async function pay(request: Partial<PurchaseRequest> = {}): Promise<PaymentPayload> {
    const { accepts } = expectPaymentRequired(
      await ask({ ...request, viewer: {}, payment: undefined }),
    )
    signed += 1
    return paymentFor(accepts[0], deps.now(), { nonce: `0x${String(signed).padStart(64, '0')}` })
  }

  /** Asks for the price and pays it. */
  const buy = async (request: Partial<PurchaseRequest> = {}) =>
    ask({ ...request, payment: await pay(request) })

  return { ask, pay, buy }
}

type Answer = Awaited<ReturnType<typeof purchase>>

export function expectPaymentRequired(answer: Answer) {
  if (answer.type === 'payment_required') return answer
  throw new Error(`the answer is the order ${answer.order.state}`)
}

export function expectOrder(answer: Answer) {
  if (answer.type === 'order') return answer
  throw new Error(`payment is required: ${answer.fault?.reason}`)
}

/** The refusal that the call rejects with; anything else fails the test. */
export async function refusalOf(act: Promise<unknown>): Promise<Refusal> {
  const error = await act.then(
    () => new Error('nothing was refused'),
    (error: unknown) => error,
  )
  if (error instanceof Refusal) return error
  throw error
}
