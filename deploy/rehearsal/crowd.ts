import { setTimeout as delay } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signPayment } from '../../test/harness/payer.ts'
import type { Ask, Told } from '../../test/harness/tls-client.ts'
import type { Parts } from './parts.ts'

const path = '/api/catalog/vouchers/purchase/info'
/** Each of them means to buy the same again. */
const body = {
  ...{ offerId: 'TEST-VOUCHER-OK', firstName: 'Ada', lastName: 'Lovelace' },
  confirmAnother: true,
}
/** Buyers look around between purchases, and leave the processor to nodes that are starting; milliseconds. */
const pauseMs = 500
/** How many times a buyer repeats a request that was answered `try_again`. */
const maxTries = 20

/** The results of a crowd's purchases. */
export interface Met {
  /** Orders that were delivered. */
  delivered: number
  /** Answers 503 `try_again`, after which the same request was sent again. */
  askedAgain: number
}

/**
 * Several buyers, each with their own wallet, buy one voucher after the other through the proxy until they
 * are told to stop.
 *
 * @throws Error at an answer other than goods, an order to follow, or `try_again`
 */
export async function crowdBuys(
  ask: Ask,
  { chain }: Parts,
  buyers: number,
  goesOn: (met: Met) => boolean,
): Promise<Met> {
  const met: Met = { delivered: 0, askedAgain: 0 }
  const buy = async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    await chain.faucet(account.address)
    while (goesOn(met)) {
      const asked = await patiently(met, () => ask(path, { body }))
      if (asked.status !== 402) throw unexpected(asked)
      const { header } = await signPayment(account, asked.body.accepts[0])
      const headers = { 'payment-signature': header }
      await followed(met, ask, await patiently(met, () => ask(path, { headers, body })))
      met.delivered += 1
      await delay(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: buyers }, buy))
  return met
}

/** Repeats the request as long as the store answers `try_again`. */
async function patiently(met: Met, send: () => Promise<Told>): Promise<Told> {
  for (let tries = 1; ; tries += 1) {
    const told = await send()
    if (told.status !== 503 || !told.body.retryable || tries === maxTries) return told
    met.askedAgain += 1
    await delay(500)
  }
}

async function followed(met: Met, ask: Ask, bought: Told): Promise<void> {
  const { orderId, accessToken } = bought.body
  const headers = { authorization: `Bearer ${accessToken}` }
  let told = bought
  while (isUnderWay(told)) {
    await delay(1_000)
    told = await patiently(met, () => ask(`/api/catalog/orders/${orderId}`, { headers }))
  }
  if (told.body.orders?.[0]?.state !== 'FULFILLED') throw unexpected(told)
}

const isUnderWay = ({ status, body: { orders } }: Told) =>
  status < 300 && ['PAYMENT_PENDING', 'PAID', 'FULFILLING'].includes(orders?.[0]?.state)

const unexpected = ({ status, text }: Told) => new Error(`A buyer heard ${status}: ${text}`)
