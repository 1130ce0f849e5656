import type { BrowserContext } from 'playwright-core'
import { encodeAbiParameters, type Hex, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** The state of a wallet and the decisions of its owner. A test may change them at any time. */
export interface WalletState {
  /** The selected chain. */
  chainId: number
  /** The chains that it knows; others must be added before it switches to them. */
  knownChains: number[]
  /** What its owner rejects. */
  rejects: 'nothing' | 'connect' | 'switch' | 'sign'
  /** The balance that it reports, in atomic USDC; undefined asks the node at `rpcUrl`. */
  balance: bigint | undefined
  /** Awaited before it signs, like a person who is still reading. */
  beforeSigning: (() => Promise<void>) | undefined
}

export interface WalletOptions extends Partial<WalletState> {
  readonly privateKey: Hex
  readonly name?: string
  /** The node of the chain, for the values that the state does not set. */
  readonly rpcUrl?: string
}

/** Errors of wallets: rejected by the owner and unsupported (EIP-1193), and unknown chain. */
const rejected = { code: 4001, message: 'User rejected the request.' }
const unknownChain = { code: 4902, message: 'Unrecognized chain ID.' }
const unsupported = { code: 4200, message: 'The wallet does not do this.' }

const icon =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"%3E%3Ccircle cx="4" cy="4" r="4"/%3E%3C/svg%3E'

/**
 * Installs a wallet in every page of a browser, as an extension would. Pages discover it by EIP-6963, and
 * this process signs with the given key. Call it before a page is opened; each call adds a wallet.
 */
export async function installWallet(context: BrowserContext, options: WalletOptions) {
  const { privateKey, name = 'Test Wallet', rpcUrl, ...changes } = options
  const account = privateKeyToAccount(privateKey)
  const chainId = changes.chainId ?? 84_532
  const state: WalletState = {
    chainId,
    knownChains: [chainId],
    rejects: 'nothing',
    balance: undefined,
    beforeSigning: undefined,
    ...changes,
  }
  /** All methods that pages called, in order. */
  const calls: string[] = []
  const answers = answersOf(account, state, rpcUrl)
  const handle = `wallet${crypto.randomUUID().replaceAll('-', '')}`
  await context.exposeFunction(handle, async (method: string, params: readonly unknown[]) => {
    calls.push(method)
    try {
      const answer = answers[method]
      return answer === undefined ? { error: unsupported } : { result: await answer(params) }
    } catch (error) {
      return { error: isWalletError(error) ? error : { code: -32_603, message: String(error) } }
    }
  })
  await context.addInitScript(announce, { handle, name, icon })
  return { address: account.address, state, calls }
}

export type InstalledWallet = Awaited<ReturnType<typeof installWallet>>

type Account = ReturnType<typeof privateKeyToAccount>
type Answers = Readonly<Record<string, (params: readonly unknown[]) => unknown>>

function answersOf(account: Account, state: WalletState, rpcUrl: string | undefined): Answers {
  const unless = (kind: WalletState['rejects']) => {
    if (state.rejects === kind) throw rejected
  }
  const signing = async <T>(sign: () => Promise<T>) => {
    await state.beforeSigning?.()
    unless('sign')
    return sign()
  }
  return {
    eth_requestAccounts: () => {
      unless('connect')
      return [account.address]
    },
    eth_accounts: () => [account.address],
    eth_chainId: () => numberToHex(state.chainId),
    wallet_switchEthereumChain: ([wanted]) => {
      unless('switch')
      const chainId = Number((wanted as { chainId: Hex }).chainId)
      if (!state.knownChains.includes(chainId)) throw unknownChain
      state.chainId = chainId
      return null
    },
    wallet_addEthereumChain: ([chain]) => {
      unless('switch')
      state.chainId = Number((chain as { chainId: Hex }).chainId)
      state.knownChains.push(state.chainId)
      return null
    },
    eth_call: (params) =>
      state.balance === undefined
        ? askNode(rpcUrl, 'eth_call', params)
        : encodeAbiParameters([{ type: 'uint256' }], [state.balance]),
    eth_signTypedData_v4: ([, data]) =>
      signing(() => account.signTypedData(JSON.parse(String(data)))),
    personal_sign: ([message]) =>
      signing(() => account.signMessage({ message: { raw: message as Hex } })),
  }
}

async function askNode(rpcUrl: string | undefined, method: string, params: readonly unknown[]) {
  if (rpcUrl === undefined) throw new Error('this wallet has no node to ask')
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
  if (error !== undefined) throw error
  return result
}

function isWalletError(error: unknown): error is { code: number; message: string } {
  return typeof error === 'object' && error !== null && 'code' in error && 'message' in error
}

/** Runs in the page, so it cannot use anything from outside the function. */
function announce({ handle, name, icon }: { handle: string; name: string; icon: string }) {
  type Answered = { result?: unknown; error?: { code: number; message: string } }
  type Ask = (method: string, params: readonly unknown[]) => Promise<Answered>
  const page = globalThis as unknown as EventTarget
  const ask = (globalThis as unknown as Record<string, Ask>)[handle]
  const provider = {
    async request({ method, params = [] }: { method: string; params?: unknown[] }) {
      const { result, error } = (await ask?.(method, params)) ?? {}
      if (error) throw Object.assign(new Error(error.message), error)
      return result
    },
    on() {},
    removeListener() {},
  }
  const detail = Object.freeze({
    info: Object.freeze({ uuid: handle, name, icon, rdns: 'test.wallet' }),
    provider,
  })
  const tell = () => page.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  page.addEventListener('eip6963:requestProvider', tell)
  tell()
}
