/** What runs in the browser's page: the stock client, and nothing that knows the store. */
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

export interface Call {
  /** The wallet that pays; without one, nothing pays. */
  readonly privateKey?: Hex
  readonly url: string
  readonly init: RequestInit
}

/** What a program in a page can read of an answer: a header that is not exposed is not there. */
export interface Seen {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

export async function call({ privateKey, url, init }: Call): Promise<Seen> {
  const response = await (privateKey === undefined ? fetch : payingFetch(privateKey))(url, init)
  return {
    status: response.status,
    body: await response.json(),
    headers: Object.fromEntries(response.headers),
  }
}

function payingFetch(key: Hex): typeof fetch {
  const scheme = new ExactEvmScheme(privateKeyToAccount(key))
  return wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', scheme))
}
