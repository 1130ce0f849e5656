/** What runs in the browser's page: the stock client, and nothing that knows the store. */
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { evm, Mppx } from 'mppx/client'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'

export interface Call {
  readonly client: 'x402' | 'mppx' | 'plain' | 'sign-in'
  readonly privateKey: Hex
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** What a program in a page can read of an answer: a header that is not exposed is null there. */
export interface Seen {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string | null>>
}

const looked = [
  'payment-required',
  'payment-response',
  'location',
  'retry-after',
  'idempotent-replayed',
  'ratelimit',
  'x-request-id',
]

export async function call({
  client,
  privateKey,
  url,
  method,
  headers,
  body,
}: Call): Promise<Seen> {
  const send = senders[client](privateKey)
  const response = await send(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    body: await response.json(),
    headers: Object.fromEntries(looked.map((name) => [name, response.headers.get(name)])),
  }
}

type Send = (url: string, init: RequestInit) => Promise<Response>

const senders: Readonly<Record<Call['client'], (key: Hex) => Send>> = {
  x402: (key) => {
    const account = privateKeyToAccount(key)
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
    return wrapFetchWithPayment(fetch, client)
  },
  mppx: (key) => {
    const method = evm.charge({ account: privateKeyToAccount(key), maxAmount: '1', decimals: 6 })
    return Mppx.create({ methods: [method], polyfill: false }).fetch
  },
  plain: () => fetch,
  'sign-in': signedIn,
}

/**
 * Signs the challenge of a 402 and asks again. The client of `@x402/extensions` would do this, but in
 * a page it needs a stand-in for Node's `Buffer` and, without one, gives up silently; viem needs none.
 */
function signedIn(key: Hex): Send {
  const account = privateKeyToAccount(key)
  return async (url, init) => {
    const asked = await fetch(url, init)
    const { extensions } = JSON.parse(atob(asked.headers.get('payment-required') ?? ''))
    const { info, supportedChains } = extensions['sign-in-with-x']
    const [{ chainId, type }] = supportedChains
    const message = createSiweMessage({
      ...info,
      address: account.address,
      chainId: Number(chainId.split(':')[1]),
      issuedAt: new Date(info.issuedAt),
      expirationTime: new Date(info.expirationTime),
    })
    const signature = await account.signMessage({ message })
    const proof = btoa(
      JSON.stringify({ ...info, address: account.address, chainId, type, signature }),
    )
    return fetch(url, { ...init, headers: { ...init.headers, 'sign-in-with-x': proof } })
  }
}
