import { encodeAbiParameters, type Hex, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { networks } from '../../../payments/networks.ts'
import type { WalletSettings, WalletText } from '../../buying/buy-form.ts'
import { createSavedPayments, type PayDeps } from './paying.ts'
import { walletOf } from './provider.ts'

export const account = privateKeyToAccount(`0x${'1'.repeat(64)}`)

export const settings: WalletSettings = {
  store: 'Test Kiosk',
  offerId: 'AMZ_US_25',
  purchaseUrl: '/api/catalog/vouchers/purchase/info',
  network: networks['base-sepolia'],
  payTo: '0x1111111111111111111111111111111111111111',
}

/** The payment requirement in the store's 402. */
export const asked = {
  scheme: 'exact',
  network: settings.network.id,
  asset: settings.network.usdc,
  amount: '25000000',
  payTo: settings.payTo,
  maxTimeoutSeconds: 300,
  extra: { ...settings.network.usdcDomain, quote: 'our-promise' },
}

export const storeTime = new Date('2026-11-22T12:00:00Z')

export function demanding(changes: object = {}, reason = 'Payment required'): Response {
  const body = {
    x402Version: 2,
    error: reason,
    resource: { url: 'https://kiosk.example/x', description: 'Käse' },
    extensions: { 'payment-identifier': { info: {} } },
    accepts: [{ ...asked, ...changes }],
  }
  return answering(402, body)
}

export function answering(status: number, body: object): Response {
  return Response.json(body, { status, headers: { date: storeTime.toUTCString() } })
}

export const ordered = () => answering(202, { orderId: 'ord_1', accessToken: 'kat_1' })

/** An EIP-1193 wallet whose balance, network and errors a test can change. */
export function fakeWallet(changes: Partial<WalletState> = {}) {
  const state: WalletState = { ...whole, ...changes }
  const calls: string[] = []
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    calls.push(method)
    const fault = state.faults[method]
    if (fault !== undefined) throw Object.assign(new Error(fault.message), fault)
    return answerOf(method, params as readonly unknown[], state)
  }
  const provider = { request, on() {}, removeListener() {} } as never
  return { state, calls, wallet: walletOf(provider, settings) }
}

interface WalletState {
  chainId: number
  balance: bigint
  /** The errors of methods, by method. */
  faults: Record<string, { code: number; message: string }>
}

const whole: WalletState = { chainId: 84_532, balance: 30_000_000n, faults: {} }

function answerOf(method: string, params: readonly unknown[], state: WalletState): unknown {
  switch (method) {
    case 'eth_requestAccounts':
      return [account.address]
    case 'eth_chainId':
      return numberToHex(state.chainId)
    case 'wallet_switchEthereumChain':
    case 'wallet_addEthereumChain':
      state.chainId = Number((params[0] as { chainId: Hex }).chainId)
      delete state.faults['wallet_switchEthereumChain']
      return null
    case 'eth_call':
      return encodeAbiParameters([{ type: 'uint256' }], [state.balance])
    case 'eth_signTypedData_v4':
      return account.signTypedData(JSON.parse(String(params[1])))
    default:
      throw Object.assign(new Error(method), { code: 4200 })
  }
}

/** A request as the store receives it. */
export interface Sent {
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

/**
 * A page that pays.
 *
 * @param answers the answers of the store in order; a string is a broken connection
 */
export function page(answers: (Response | string)[], setItem?: () => never) {
  const sent: Sent[] = []
  const shown: WalletText[] = []
  const clock = { ms: 1_000 }
  const stored = new Map<string, string>()
  const storage = {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: setItem ?? ((name: string, value: string) => void stored.set(name, value)),
    removeItem: (name: string) => void stored.delete(name),
  }
  let nonces = 0
  const deps: PayDeps = {
    settings,
    saved: createSavedPayments(() => storage, settings.offerId),
    fetch: async (_, { body, headers }) => {
      sent.push({ body: JSON.parse(String(body)), headers: headers as Sent['headers'] })
      const answer = answers.shift()
      if (answer === undefined || typeof answer === 'string') throw new TypeError('fetch failed')
      return answer
    },
    show: (step) => void shown.push(step),
    random: (bytes) => {
      nonces += 1
      return bytes.fill(nonces)
    },
    monotonicMs: () => clock.ms,
    wait: async (ms) => {
      clock.ms += ms
    },
  }
  return { deps, sent, shown, clock, answers }
}

export const lineItem = {
  fields: { offerId: 'AMZ_US_25', firstName: 'Ada', lastName: 'Lovelace' },
  formKey: 'k'.repeat(22),
  seen: '{"cents":2500}',
}
