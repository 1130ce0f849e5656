import type { Order } from './answers.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import type { Demo } from './demo.ts'
import type { Teller } from './print.ts'
import { storeAt } from './store.ts'

export const sandbox = {
  rpcUrl: 'http://127.0.0.1:9',
  chainId: 84_532,
  usdc: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  supplierUrl: 'http://127.0.0.1:9/v1',
} as const

export const manifest = {
  x402Version: 2,
  name: 'Test store',
  fulfillment_policy: { retry_after_seconds: 5 },
  refund_policy: { type: 'conditional' },
  signals: { provider_health: 'healthy', agent_action: 'pay' },
} as const

const quiet: Teller = { colours: false, fact() {}, note() {}, block() {} }

/** A demo against the store at `url`, whose waits end at once and are recorded in `waited`. */
export function demoAt(url: string, buyer: Partial<Buyer> = {}) {
  const waited: number[] = []
  const demo: Demo = {
    store: storeAt(url),
    manifest,
    sandbox,
    buyer: { ...newBuyer(sandbox), ...buyer },
    tell: quiet,
    wait: async (seconds) => {
      waited.push(seconds)
    },
  }
  return { demo, waited }
}

export const transaction = `0x${'ab'.repeat(32)}` as const

/** An order as the store publishes it. It is JSON, so no field is undefined. */
export function orderIn(state: string, changes: Partial<Order> = {}): Order {
  const result = state === 'FULFILLED' ? { code: 'SBX-1' } : null
  const error =
    state === 'FULFILLMENT_FAILED' ? { code: 'fulfillment_failed', message: 'Rejected.' } : null
  return {
    paymentId: 'pay_1',
    transactionHash: transaction,
    orderId: 'ord_1',
    orders: [{ offerId: 'TEST-VOUCHER-OK', state, agent_action: null, result, error }],
    refund_state: null,
    refund_contract: null,
    ...changes,
  }
}
