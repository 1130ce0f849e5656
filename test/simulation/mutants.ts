import type { OfferId } from '../../src/lib/ids.ts'
import { usdc } from '../../src/lib/money.ts'
import type { Order } from '../../src/orders/order.ts'
import { paymentKeyOf } from '../../src/payments/payment.ts'
import { createQuotes } from '../../src/payments/terms.ts'
import { fixtureNow } from '../fixtures/offers.ts'
import type { Chain } from '../model/chain.ts'
import { ofPayment } from '../model/payment-method.ts'
import { modelShop } from '../model/shop.ts'
import type { Mutant } from './world.ts'

/** Parts that are broken on purpose. The simulation must find each of them. */
export const mutants: Readonly<Record<string, Mutant>> = {
  'a store whose move ignores versions': {
    orders: (store) => ({
      ...store,
      async move(from, to) {
        const stored = await store.find(from.id)
        return store.move(stored ?? from, to)
      },
    }),
  },

  'a store that forgets what the supplier accepted': {
    orders: (store) => ({
      ...store,
      move: (from, to) => store.move(from, withoutAcceptance(to)),
    }),
  },

  'a supplier adapter that takes a return for done when it is accepted': {
    supplier: (supplier) => ({
      ...supplier,
      async cancel(...asked) {
        const cancelled = await supplier.cancel(...asked)
        return cancelled.outcome === 'pending' ? { outcome: 'cancelled' } : cancelled
      },
    }),
  },

  'a store that gives an order to two sweeps': {
    orders: (store) => {
      const shared = new Map<string, Awaited<ReturnType<typeof store.claimDue>>[number]>()
      return {
        ...store,
        async claimDue(...wanted) {
          const due = await store.claimDue(...wanted)
          const again = [...shared.values()]
          shared.clear()
          for (const order of due) shared.set(order.id, order)
          return [...due, ...again]
        },
      }
    },
  },

  'a store that shows goods to whoever has a key': {
    orders: (store) => ({ ...store, hasKey: async () => true, findByKey: store.findByKey }),
  },

  'a store that never asks whether a purchase was meant twice': {
    orders: (store) => ({
      ...store,
      open: (order, keys, opened) => store.open(order, keys, { ...opened, twins: undefined }),
    }),
  },

  'a store that knows no payment again': {
    orders: (store) => ({
      ...store,
      findByPayment: async (key) => {
        const order = await store.findByPayment(key)
        return order && order.state !== 'PAYMENT_PENDING' && paymentKeyOf(order.payment) === key
          ? order
          : undefined
      },
    }),
  },

  'a method that believes a nonce that is used': {
    method: (method, chain) => ({
      ...method,
      async collect(payment) {
        const collected = await method.collect(payment)
        return chain.isUsed(ofPayment(payment)) ? settledAt(chain) : collected
      },
    }),
  },

  'a method that says failed when it does not know': {
    method: (method) => ({
      ...method,
      async collect(payment) {
        const collected = await method.collect(payment)
        return collected.outcome === 'unknown'
          ? { outcome: 'failed', code: 'timeout', reason: 'timeout' }
          : collected
      },
    }),
  },

  'a method that believes a block that can be dropped': {
    method: (method) => ({ ...method, confirmationOf: async () => 'final' }),
  },

  'a method that does not look where a payment is now': {
    method: (method, chain) => ({
      ...method,
      async confirmationOf(payment, receipt) {
        if (!chain.isSafe(receipt.block)) return 'not_yet'
        return chain.isUsed(ofPayment(payment)) ? 'final' : 'gone'
      },
    }),
  },

  'a method that takes a refund in any block for paid': {
    method: (method, chain) => ({
      ...method,
      async payBack(refund) {
        const sent = chain.transfers.find(({ nonce }) => nonce === refund.nonce)
        return sent ? { outcome: 'paid', transaction: sent.transaction } : method.payBack(refund)
      },
    }),
  },

  'a refund nonce that counts attempts': {
    method: (method) => {
      let attempts = 0
      return {
        ...method,
        async signRefund(due) {
          const signed = await method.signRefund(due)
          attempts += 1
          const nonce = `${signed.nonce.slice(0, -2)}${attempts.toString(16).padStart(2, '0')}`
          return { ...signed, nonce }
        },
      }
    },
  },

  'a supplier reference that counts attempts': {
    supplier: (supplier) => {
      const attempts = new Map<string, number>()
      const nameOf = (reference: string) => `${reference}${attempts.get(reference) ?? 0}`
      return {
        ...supplier,
        place(order) {
          attempts.set(order.reference, (attempts.get(order.reference) ?? 0) + 1)
          return supplier.place({ ...order, reference: nameOf(order.reference) })
        },
        lookup: (kind, reference) => supplier.lookup(kind, nameOf(reference)),
      }
    },
  },

  'a supplier adapter that says none when it does not know': {
    supplier: (supplier) => ({
      ...supplier,
      async lookup(kind, reference) {
        const held = await supplier.lookup(kind, reference)
        return held.outcome === 'pending'
          ? { outcome: 'declined', code: 'PENDING', reason: 'not delivered at once' }
          : held
      },
    }),
  },

  'a method that pays a refund to somebody else': {
    method: (method) => ({
      ...method,
      signRefund: async (due) => ({
        ...(await method.signRefund(due)),
        to: `0x${'66'.repeat(20)}`,
      }),
    }),
  },

  'a method that keeps a unit of a refund': {
    method: (method) => ({
      ...method,
      async signRefund(due) {
        const signed = await method.signRefund(due)
        return 'nonce' in signed ? { ...signed, amount: usdc(signed.amount - 1n) } : signed
      },
    }),
  },

  'a method that calls a payment settled when it does not know': {
    method: (method, chain) => ({
      ...method,
      async collect(payment) {
        const collected = await method.collect(payment)
        return collected.outcome === 'unknown' ? settledAt(chain) : collected
      },
    }),
  },

  'a supplier adapter that takes silence for a refusal': {
    supplier: (supplier) => ({
      ...supplier,
      async place(order) {
        const placed = await supplier.place(order)
        return placed.outcome === 'unknown'
          ? { outcome: 'declined', code: 'SILENT', reason: 'no answer' }
          : placed
      },
    }),
  },

  'payout limits that forget their switch': {
    payoutLimits: ({ rules, allow }) => ({
      async allow(id) {
        const { stoppedAt } = rules
        rules.stoppedAt = Infinity
        const allowed = await allow(id)
        rules.stoppedAt = stoppedAt
        return allowed
      },
    }),
  },

  'payout limits without a cap': {
    payoutLimits: ({ rules, allow }) => ({
      async allow(id) {
        const { hour, day } = rules
        Object.assign(rules, { hour: 10n ** 12n, day: 10n ** 12n })
        const allowed = await allow(id)
        Object.assign(rules, { hour, day })
        return allowed
      },
    }),
  },

  'payout limits that put no grant on record': {
    payoutLimits: () => ({ allow: async () => 'granted' }),
  },

  'a price without the markup': {
    prices: ({ pricing, quotes }) => ({ pricing: { ...pricing, markupBps: 0 }, quotes }),
  },

  'a promise of a price that holds for any offer': {
    prices: ({ pricing, quotes }) => ({
      pricing,
      quotes: {
        ...quotes,
        promise: (_, amount) => quotes.promise(anything, amount),
        promised: (text) => quotes.promised(text, anything),
      },
    }),
  },

  'a promise of a price that never ends': {
    prices: ({ pricing }) => ({
      pricing,
      quotes: createQuotes(modelShop().signer, () => fixtureNow),
    }),
  },

  'a store that counts nothing that a wallet has spent': {
    orders: (store) => {
      Object.assign(store.limits, { requireWithin: () => {}, spends: async () => [] })
      return store
    },
  },

  'a store that counts no failed order of a payer': {
    orders: (store) => ({
      ...store,
      spentBudget: async () => undefined,
      open: (order, keys, opened) => store.open(order, keys, { ...opened, counted: undefined }),
    }),
  },

  'a sender that takes any end of a call for a delivery': {
    webhooks: (store) => ({
      ...store,
      end: (delivery, { answer }) => store.end(delivery, { type: 'delivered', answer }),
    }),
  },

  'an event with a new id in every attempt': {
    webhooks: (store) => ({
      ...store,
      claimDue: async (limit) =>
        (await store.claimDue(limit)).map((one) => ({ ...one, id: `${one.id}.${one.attempts}` })),
      end: (delivery, result) =>
        store.end({ ...delivery, id: delivery.id.replace(/\.\d+$/, '') }, result),
    }),
  },

  'events that tell what the order became before it did': {
    webhooks: (store) => ({
      ...store,
      claimDue: async (limit) =>
        (await store.claimDue(limit)).map((one) => ({
          ...one,
          data: { ...one.data, state: 'FULFILLED' },
        })),
    }),
  },

  'a reference of a return that counts attempts': {
    processor: (processor) => {
      let attempts = 0
      return {
        ...processor,
        payOut: (payout) => {
          attempts += 1
          return processor.payOut({ ...payout, reference: `${payout.reference}.${attempts}` })
        },
      }
    },
  },

  'a processor adapter that takes a payment for confirmed when it is seen': {
    processor: (processor) => ({
      ...processor,
      async read(...asked) {
        const read = await processor.read(...asked)
        if (read.outcome !== 'found') return read
        const { invoice } = read
        const payments = invoice.payments.map((one) => ({ ...one, status: 'SETTLED' }) as const)
        const status = invoice.status === 'PROCESSING' ? 'SETTLED' : invoice.status
        return { ...read, invoice: { ...invoice, status, payments } }
      },
    }),
  },

  'a processor adapter that sends a return to somebody else': {
    processor: (processor) => ({
      ...processor,
      payOut: (payout) => processor.payOut({ ...payout, to: 'btc-address-of-eve' }),
    }),
  },
}

const anything = { offer: 'ANY' as OfferId, value: undefined, units: '' }

function withoutAcceptance<T extends Order>(order: T): T {
  const { acceptedAt: _, ...forgotten } = { acceptedAt: undefined, ...order }
  return forgotten as unknown as T
}

/** The result of a settlement in the newest block. */
function settledAt(chain: Chain) {
  const block = chain.head()
  const receipt = { method: 'x402', transaction: '0xused', block } as const
  return { outcome: 'settled', receipt } as const
}
