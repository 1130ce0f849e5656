import { randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import { digest } from './addresses.ts'
import type { Ticker } from './coins.ts'
import type { Deps } from './deps.ts'

/** An id as the real server makes them: 22 letters for invoices, 27 or so for the others. */
export function newId(bytes = 20): string {
  return base58.encode(randomBytes(bytes))
}

/** The hash of the next transaction on a coin's chain, which depends on the seed alone. */
export function nextTransaction({ ledger, settings }: Deps, coin: Ticker): string {
  const count = ledger.all('transaction').length
  const hash = digest(settings.seed, 'transaction', coin, String(count)).toString('hex')
  return coin === 'ETH' ? `0x${hash}` : hash
}
