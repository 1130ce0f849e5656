import { type Called, notNowOf } from './calls.ts'
import type { Seen } from './facts.ts'

type Answer = Extract<Called, { type: 'answer' }>

type Mutable = {
  -readonly [Key in keyof Seen]: Seen[Key] extends readonly (infer Item)[] ? Item[] : Seen[Key]
}

/** A buyer's record of one purchase. Entries are only added, never removed. */
export function openPurchaseLog(about: Pick<Seen, 'purchase' | 'payer' | 'kind' | 'offerId'>) {
  const seen: Mutable = {
    ...about,
    nonces: [],
    orderIds: [],
    goods: [],
    refunded: [],
    refused: [],
    unexpected: [],
    unanswered: 0,
    putOff: 0,
    pausedAt: [],
    ending: 'not told',
  }

  return {
    seen: seen as Seen,

    /** Records the result of any call. Returns whether it is an answer to read. */
    called(called: Called): called is Answer {
      if (called.type === 'none') seen.unanswered += 1
      else {
        const code = notNowOf(called)
        if (code === undefined) return true
        seen.putOff += 1
        if (code === 'store_paused') seen.pausedAt.push(Date.now())
      }
      return false
    },

    signed(nonce: string) {
      seen.nonces.push(nonce.toLowerCase())
    },

    /** Records an answer that shows an order. Returns whether the order has ended. */
    shown({ body }: Answer): boolean {
      const { orderId, orders: [order] = [], refund_state: refund } = body
      if (orderId === undefined || order === undefined) return false
      add(seen.orderIds, orderId)
      addGoods(seen.goods, orderId, order.result)
      if (refund === 'REFUNDED') add(seen.refunded, orderId)
      const ending = endingOf(order.state, refund)
      return ending !== undefined && end(ending)
    },

    refused(nonce: string, called: Answer) {
      const { code, detail } = called.body
      seen.refused.push({ nonce: nonce.toLowerCase(), answer: `402 ${code ?? detail ?? ''}` })
      if (seen.ending === 'not told') end('unpaid')
    },

    unexpected(what: string, called: Answer) {
      const { code, detail } = called.body
      seen.unexpected.push(`${what}: ${called.status} ${code ?? ''} ${detail ?? ''}`)
    },

    end,
  }

  function end(ending: Seen['ending']): true {
    seen.ending = ending
    return true
  }
}

export type PurchaseLog = ReturnType<typeof openPurchaseLog>

function endingOf(state: string, refund: string | null | undefined): Seen['ending'] | undefined {
  if (state === 'FULFILLED') return 'delivered'
  if (refund === 'REFUNDED') return 'refunded'
  return state === 'PAYMENT_FAILED' ? 'unpaid' : undefined
}

/** Keeps equal goods of an order once; different goods for one order are a finding. */
function addGoods(goods: Mutable['goods'], orderId: string, shown: unknown): void {
  if (shown === null || shown === undefined) return
  const result = JSON.stringify(shown)
  if (!goods.some((one) => one.orderId === orderId && one.result === result)) {
    goods.push({ orderId, result })
  }
}

function add(list: string[], one: string): void {
  if (!list.includes(one)) list.push(one)
}
