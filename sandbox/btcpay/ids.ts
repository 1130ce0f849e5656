import { randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import { digest } from './addresses.ts'
import type { Ticker } from './coins.ts'
import type { Deps } from './deps.ts'
import type { ChainTransaction } from './models.ts'

/** An id as the real server makes them: 22 letters for invoices, about 27 for everything else. */
export function newId(bytes = 20): string {
  return base58.encode(randomBytes(bytes))
}

/** The hash of the next transaction on a coin's chain. It depends only on the seed and on the transactions so far. */
export function nextTransaction({ ledger, settings }: Deps, coin: Ticker): string {
  const count = ledger.all('transaction').length
  const hash = digest(settings.seed, 'transaction', coin, String(count)).toString('hex')
  return coin === 'ETH' ? `0x${hash}` : hash
}

/** The id of a transfer: the hash of its transaction, and its place there unless it is the first. */
export function transferId(hash: string, place: number): string {
  return place === 0 ? hash : `${hash}/${place}`
}

export function hashOf({ id }: Pick<ChainTransaction, 'id'>): string {
  return id.split('/')[0] ?? id
}

export function placeOf({ id }: ChainTransaction): number {
  return Number(id.split('/')[1] ?? 0)
}
