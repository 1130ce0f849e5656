import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { Refusal } from '../lib/refusal.ts'

export interface SandboxDeps {
  readonly rpcUrl: string
  readonly chainId: number
  readonly usdc: string
  readonly supplierUrl: string
  /** Sends 1,000 test USDC to a wallet; returns the hash of the transaction. */
  readonly faucet: (address: string) => Promise<string>
}

const Ask = z.strictObject({ address: z.string().regex(/^0x[0-9a-fA-F]{40}$/) })

export function routeSandbox(app: FastifyInstance, deps: SandboxDeps): void {
  const { rpcUrl, chainId, usdc, supplierUrl } = deps
  app.get('/sandbox', () => ({ rpcUrl, chainId, usdc, supplierUrl }))

  app.post('/sandbox/faucet', { config: { limit: 'purchase' } }, async (request) => {
    const ask = Ask.safeParse(request.body)
    if (!ask.success) {
      const message = 'address must be a wallet: 0x and 40 hexadecimal digits.'
      throw new Refusal('invalid_body', message, { parameter: 'address' })
    }
    const transactionHash = await deps.faucet(ask.data.address)
    return { address: ask.data.address, amount: '1000000000', asset: usdc, transactionHash }
  })
}
