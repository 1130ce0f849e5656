import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { storeAt } from '../sandbox/demo/store.ts'
import { query } from '../test/harness/query.ts'
import { sendChoice } from '../test/stories/coins/person.ts'
import { coinTransfers } from './collect.ts'
import { coin, type Parts } from './parts.ts'
import { type Bought, newLog, type Plan, pick } from './purchase.ts'

interface CoinErrand {
  readonly name: string
  readonly plan: Plan
  readonly parts: Pick<Parts, 'nodes' | 'btcpay' | 'database'>
  /** Aborted when even a patient buyer gives up. */
  readonly closed: AbortSignal
}

/** What comes in part or too late goes back. */
const ways = ['full', 'full', 'part', 'late'] as const
/** Of this offer even a part is worth more than 0.50 USDC, of which the store would keep less. */
const dearOutcome = 'LOST'

/**
 * A person buys at the website, pays once, and goes away when the store has seen the payment. What becomes of it is
 * read from the books of the coin's chain.
 */
export function payInCoin({ name, plan, parts, closed }: CoinErrand): Bought {
  const { random } = plan
  const way = pick(random, ways)
  const outcome = way === 'full' ? plan.outcome : dearOutcome
  const seen = newLog(name, '')

  /** Repeats it until it has a result: any part may be down. */
  async function insist<T>(attempt: () => Promise<T | undefined>): Promise<T> {
    for (;;) {
      closed.throwIfAborted()
      const result = await attempt().catch(() => undefined)
      if (result !== undefined) return result
      await delay(300 + random() * 700, undefined, { signal: closed })
    }
  }

  async function choose() {
    const chosen = await sendChoice(pick(random, parts.nodes), coin, { outcome })
    const path = chosen.answer.headers.get('location')
    return path === null ? undefined : { id: path.slice('/pay/'.length), to: chosen.refundTo }
  }

  async function rowOf(id: string) {
    const rows = await query(
      parts.database.url,
      `select doc -> 'invoice' as invoice, settled > 0 as "isPaid" from checkouts where id = $1`,
      [id],
    )
    return rows[0]?.invoice ? rows[0] : undefined
  }

  const post = (path: string, body: object) =>
    storeAt(parts.btcpay.url).post(`/sandbox/invoices/${path}`, z.object({}), body)

  /** Without an answer, the chain is looked at before it is paid again. */
  async function payOnce({ id, address, units }: Invoice) {
    const { incoming } = await coinTransfers(parts.btcpay)
    if (incoming.some((one) => one.to === address)) return true
    const amount = `0.${String((BigInt(units.$bigint) * 4n) / 5n).padStart(8, '0')}`
    await post(`${id}/pay`, { full: {}, part: { amount }, late: { late: true } }[way])
    return undefined
  }

  async function follow(): Promise<void> {
    const { id, to } = await insist(choose)
    const { invoice } = await insist(() => rowOf(id))
    seen.payer = to
    // Each checkout has an address of its own, as each authorization has a nonce.
    seen.nonces.push(invoice.address)
    await insist(() => payOnce(invoice))
    if (way === 'part') await insist(() => post(`${invoice.id}/expire`, {}))
    await insist(async () => ((await rowOf(id)).isPaid ? true : undefined))
    seen.ending = 'left'
  }

  // Whoever gives up was not told, which is a finding.
  return { seen, followed: follow().catch(() => undefined) }
}

interface Invoice {
  readonly id: string
  readonly address: string
  readonly units: { readonly $bigint: string }
}
