import { x402Client as OlderClient, wrapAxiosWithPayment } from '@x402/axios'
import { x402Client as Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import axios from 'axios'
import { evm, Mppx } from 'mppx/client'
import type { LocalAccount } from 'viem'
import { type Answer, answerOf } from '../requests.ts'

/** How a client is called: it pays by itself when it is asked to. */
type Post = (
  url: string,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>

/** A published client of somebody else, made for one wallet, set up as its documentation says. */
export type StockClient = (account: LocalAccount) => Post

const json = { 'content-type': 'application/json' }

const x402Fetch: StockClient = (account) => {
  const client = new Client().register('eip155:*', new ExactEvmScheme(account))
  return postWith(wrapFetchWithPayment(fetch, client))
}

/** Brings an x402 core of its own, sixteen releases older than ours. */
const x402Axios: StockClient = (account) => {
  const client = new OlderClient().register('eip155:*', new ExactEvmScheme(account))
  const instance = wrapAxiosWithPayment(axios.create(), client)
  return async (url, body, headers = {}) => {
    const response = await instance
      .post(url, body, { headers: { ...json, ...headers } })
      .catch((error: unknown) => {
        if (axios.isAxiosError(error) && error.response) return error.response
        throw error
      })
    const { status, data } = response
    return { status, headers: new Headers(response.headers as Record<string, string>), body: data }
  }
}

/** The client of another protocol (MPP), which pays an x402 demand where it meets no other. */
const mppx: StockClient = (account) => {
  const method = evm.charge({ account, networks: [84_532], maxAmount: '1', decimals: 6 })
  return postWith(Mppx.create({ methods: [method], polyfill: false }).fetch)
}

/** None of them knows this store; all of them have to be able to buy here. */
export const clients: Readonly<Record<string, StockClient>> = {
  '@x402/fetch 2.27.0': x402Fetch,
  '@x402/axios 2.11.0': x402Axios,
  'mppx 0.11.0': mppx,
}

function postWith(send: (url: string, init: RequestInit) => Promise<Response>): Post {
  return async (url, body, headers = {}) =>
    answerOf(
      await send(url, {
        method: 'POST',
        headers: { ...json, ...headers },
        body: JSON.stringify(body),
      }),
    )
}
