import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Accepts, type SignOptions, signPayment } from '../test/harness/payer.ts'
import {
  deploy,
  hungryCode,
  signingFor,
  treacherousCode,
} from '../test/stories/contracts/wallet.ts'
import { bodyFor, type Kind, purchasePath } from '../test/stories/requests.ts'
import type { Parts } from './parts.ts'
import { call } from './purchase.ts'

/** The means of an attacker. */
interface Attacker {
  readonly parts: Pick<Parts, 'chain' | 'fund' | 'newAccount'>
  readonly node: string
  /** The one address it calls from. */
  readonly address: string
  readonly until: AbortSignal
  /** Counts an answer of the store by its status and code, or the lack of one. */
  readonly heard: (answer: string) => void
}

/** Prepares an attack; the returned function is called again and again. */
type Attack = (attacker: Attacker) => Promise<() => Promise<unknown>>

/** What a payer, a stranger or a visitor can do to a store without breaking in. */
const attacks = {
  'wallet that agrees only to much gas': (attacker) =>
    contractWallet(attacker, (owner) => hungryCode(owner, 4_400_000)),
  'wallet that agrees only in simulations': (attacker) => contractWallet(attacker, treacherousCode),
  'twenty payments on the price of one': overdrawn,
  'buyer of what fails': freeRider,
  'payments with forged signatures': forger,
  'a hundred page searches at once': searcher,
} as const satisfies Record<string, Attack>

type AttackName = keyof typeof attacks

/** The store's answers to each attack, counted. */
export interface Attacked {
  readonly answers: ReadonlyMap<AttackName, ReadonlyMap<string, number>>
}

const pauseMs = 250

/** Runs all attacks at once, each from one address, until the signal aborts. */
export async function attack(parts: Parts, until: AbortSignal): Promise<Attacked> {
  const names = Object.keys(attacks) as AttackName[]
  const answers = new Map(names.map((name) => [name, new Map<string, number>()]))
  const running = names.map(async (name, at) => {
    const counts = answers.get(name) as Map<string, number>
    const round = await attacks[name]({
      parts,
      node: parts.nodes[at % parts.nodes.length]?.url ?? '',
      address: `192.0.2.${at + 1}`,
      until,
      heard: (answer) => counts.set(answer, (counts.get(answer) ?? 0) + 1),
    })
    while (!until.aborted) {
      await round()
      await delay(pauseMs, undefined, { signal: until }).catch(() => {})
    }
  })
  await Promise.all(running)
  return { answers }
}

/** Pays from a contract whose `isValidSignature` (ERC-1271) behaves differently in a simulation, or wastes gas. */
async function contractWallet(attacker: Attacker, codeOf: (owner: `0x${string}`) => `0x${string}`) {
  const { chain, fund } = attacker.parts
  const owner = privateKeyToAccount(generatePrivateKey())
  const wallet = signingFor(await deploy(chain, codeOf(owner.address)), owner)
  await fund(wallet.address, 1_000_000_000n)
  const terms = await termsOf(attacker, 'voucher', 'OK')
  return () => pay(attacker, wallet, { kind: 'voucher', outcome: 'OK', terms })
}

/** Has the price of one purchase, which fails and is refunded, and pays it 20 times at once. */
async function overdrawn(attacker: Attacker) {
  const account = privateKeyToAccount(generatePrivateKey())
  const terms = await termsOf(attacker, 'voucher', 'FAIL')
  await attacker.parts.fund(account.address, BigInt(terms.amount))
  const once = () => pay(attacker, account, { kind: 'voucher', outcome: 'FAIL', terms })
  return () => Promise.all(Array.from({ length: 20 }, once))
}

async function freeRider(attacker: Attacker) {
  const account = await attacker.parts.newAccount()
  const terms = await termsOf(attacker, 'esim', 'FAIL')
  return () => pay(attacker, account, { kind: 'esim', outcome: 'FAIL', terms })
}

async function forger(attacker: Attacker) {
  const account = await attacker.parts.newAccount()
  const other = privateKeyToAccount(generatePrivateKey())
  const forged = signingFor(account.address, other)
  const terms = await termsOf(attacker, 'voucher', 'OK')
  return () => pay(attacker, forged, { kind: 'voucher', outcome: 'OK', terms })
}

async function searcher({ node, address, heard }: Attacker) {
  let asked = 0
  return async () => {
    // Always new searches, because the store caches answers.
    const paths = Array.from({ length: 100 }, () => `/search?q=gift&max=${90_000 + asked++}`)
    const headers = { 'x-forwarded-for': address, accept: 'text/html' }
    const ask = async (path: string) =>
      heard(answerOf(await call(node, { path, headers, patienceMs: 20_000 })))
    await Promise.all(paths.map(ask))
    await delay(2_000)
  }
}

interface Purchase {
  readonly kind: Kind
  readonly outcome: string
  readonly terms: Accepts
}

/** Short, so that payments that never land are soon proven to have failed. */
const validSeconds = 45

async function pay(attacker: Attacker, account: LocalAccount, { kind, outcome, terms }: Purchase) {
  const options: SignOptions = { validBefore: Math.floor(Date.now() / 1_000) + validSeconds }
  const { header } = await signPayment(account, terms, options)
  const { node, address, heard } = attacker
  const headers = { 'payment-signature': header, 'x-forwarded-for': address }
  const body = { ...bodyFor(kind, outcome), confirmAnother: true }
  heard(answerOf(await call(node, { path: purchasePath(kind), body, headers, patienceMs: 10_000 })))
}

async function termsOf({ node, address, until }: Attacker, kind: Kind, outcome: string) {
  const body = bodyFor(kind, outcome)
  while (!until.aborted) {
    const headers = { 'x-forwarded-for': address }
    const called = await call(node, { path: purchasePath(kind), body, headers, patienceMs: 5_000 })
    if (called.type === 'answer' && called.status === 402)
      return called.body.accepts?.[0] as Accepts
    await delay(500)
  }
  throw new Error('The store never named a price to an attacker.')
}

function answerOf(called: Awaited<ReturnType<typeof call>>): string {
  if (called.type === 'none') return 'no answer'
  return `${called.status}${called.body.code === undefined ? '' : ` ${called.body.code}`}`
}

const lookEveryMs = 500

/**
 * Reads the signals of each node (x402-signals) again and again, and returns every look at which a node did
 * not say `pay`. There are no kills and faults meanwhile, so only attackers can have paused the store.
 */
export async function watchSignals(
  nodes: readonly { readonly url: string }[],
  isOver: () => boolean,
): Promise<readonly string[]> {
  const pauses: string[] = []
  while (!isOver()) {
    for (const { url } of nodes) {
      const said = await signalsOf(url)
      if (said !== 'pay') pauses.push(`${url} said ${said}`)
    }
    await delay(lookEveryMs)
  }
  return pauses
}

async function signalsOf(url: string): Promise<string> {
  try {
    const headers = { 'x-forwarded-for': [10, ...randomBytes(3)].join('.') }
    const signal = AbortSignal.timeout(10_000)
    const answer = await fetch(`${url}/.well-known/x402`, { headers, signal })
    const { signals } = (await answer.json()) as { signals?: { agent_action?: string } }
    return signals?.agent_action ?? `${answer.status} without signals`
  } catch (error) {
    return `nothing: ${error instanceof Error ? error.message : error}`
  }
}
