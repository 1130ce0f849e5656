import { z } from 'zod'
import type { Coin } from '../../payments/coins.ts'
import { ask, describe, type Greenfield, segment } from './greenfield.ts'
import type { BtcpayMethod } from './methods.ts'
import { storeRateSchema } from './schemas.ts'

/**
 * US dollars for one of each coin, as BTCPay has them just now: a look before the invoice, whose own
 * rate is what counts. A coin whose rate BTCPay does not know is missing.
 *
 * @throws when BTCPay does not say
 */
export async function readRates(
  greenfield: Greenfield,
  methods: readonly BtcpayMethod[],
): Promise<ReadonlyMap<Coin, string>> {
  const pairs = methods.map(({ coin }) => `currencyPair=${coin}_USD`).join('&')
  const path = `/stores/${segment(greenfield.storeId)}/rates?${pairs}`
  const response = await ask(greenfield, z.array(storeRateSchema), { method: 'GET', path })
  if (response.outcome === 'unknown') throw new Error(response.reason)
  if (response.outcome === 'refused')
    throw new Error(`BTCPay gives no rates: ${describe(response)}`)
  const known = response.value.flatMap(({ currencyPair, rate }) => {
    const coin = methods.find((method) => `${method.coin}_USD` === currencyPair)?.coin
    return coin === undefined || !rate ? [] : [[coin, rate] as const]
  })
  return new Map(known)
}
