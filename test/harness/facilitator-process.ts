import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json, text } from 'node:stream/consumers'
import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { importJWK, type JWK, jwtVerify } from 'jose'
import { createWalletClient, type Hex, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'

/** The authentication of each request: a fixed token, or a JWT signed with this key. */
export type Demand =
  | { readonly token: string }
  | { readonly id: string; readonly alg: string; readonly publicKey: JWK }

export interface FacilitatorSettings {
  readonly rpcUrl: string
  readonly gasKey: Hex
  readonly demand: Demand
}

/** A request that it received, and whether its authentication was valid. */
export interface Asked {
  readonly path: string
  readonly isKnown: boolean
}

/*
 * A hosted x402 facilitator, made from the package's own classes, in a process of its own. It authenticates
 * each request.
 */

const path = '/platform/v2/x402'
const maxTokenSeconds = 120

const settings = (await json(process.stdin)) as FacilitatorSettings
const facilitator = openFacilitator(settings)
const asked: Asked[] = []
const usedNonces = new Set<unknown>()

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy())
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
console.log(`http://127.0.0.1:${port}${path}`)

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = request.url ?? ''
  const body = await text(request)
  if (url === '/asked') return reply(response, 200, asked)
  const isKnown = await knows(request).catch(() => false)
  asked.push({ path: url, isKnown })
  if (!isKnown) return reply(response, 401, { error: 'unauthorized' })
  if (url === `${path}/supported`) return reply(response, 200, facilitator.getSupported())
  const { paymentPayload, paymentRequirements } = JSON.parse(body)
  if (url === `${path}/verify`) {
    return reply(response, 200, await facilitator.verify(paymentPayload, paymentRequirements))
  }
  reply(response, 200, await facilitator.settle(paymentPayload, paymentRequirements))
}

async function knows({ method, headers, url }: IncomingMessage): Promise<boolean> {
  const { demand } = settings
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  if ('token' in demand) return token === demand.token
  const key = await importJWK(demand.publicKey, demand.alg)
  const { payload, protectedHeader } = await jwtVerify(token, key, {
    ...{ algorithms: [demand.alg], issuer: 'cdp', subject: demand.id, audience: 'cdp_service' },
    ...{ maxTokenAge: maxTokenSeconds, requiredClaims: ['nbf', 'exp', 'uris'] },
  })
  const { kid, nonce } = protectedHeader
  const isNew = typeof nonce === 'string' && !usedNonces.has(nonce)
  usedNonces.add(nonce)
  const uses = payload['uris'] as readonly string[]
  const isForThis = uses.length === 1 && uses[0] === `${method} ${headers.host}${url}`
  const isShort = Number(payload.exp) - Number(payload.iat) <= maxTokenSeconds
  return kid === demand.id && isNew && isForThis && isShort
}

function openFacilitator({ rpcUrl, gasKey }: FacilitatorSettings): x402Facilitator {
  const account = privateKeyToAccount(gasKey)
  const client = createWalletClient({ account, chain: baseSepolia, transport: http(rpcUrl) })
  const signer = toFacilitatorEvmSigner({
    ...client.extend(publicActions),
    address: account.address,
  } as never)
  return new x402Facilitator().register('eip155:84532', new ExactEvmScheme(signer))
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify(body))
}
