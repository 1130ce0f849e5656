import { createTestClient, http, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Account, askPrice, pay, sign, type Terms } from './buyer.ts'
import { type Child, startChild } from './child.ts'
import { amountOf, type Figure, figure, lead, quantile } from './figures.ts'
import { newDatabase, type Parts, startParts } from './shop.ts'
import type { ThroughputServer } from './throughput-server.ts'

const buyers = 8
const rounds = 5
const purchasesEach = 15
/** Enough for 20,000 purchases of 0.50 USDC; atomic units. */
const pocketMoney = 10_000_000_000n

const names = ['store', 'stock', 'documented'] as const
type Name = (typeof names)[number]
type Server = Child<{ readonly port: number }>

interface Turn {
  readonly perSecond: number
  /** CPU time of the server's process for one purchase; milliseconds. */
  readonly cpu: number
  /** The time of each purchase from request to goods; milliseconds. */
  readonly took: readonly number[]
}

type Turns = Readonly<Record<Name, readonly Turn[]>>

/**
 * Purchases per second of the whole store, compared with the payment middleware of the x402 packages,
 * which sells a constant and records nothing. Each runs in a process of its own, all on one chain.
 */
export async function measureThroughput(): Promise<Figure[]> {
  const parts = await startParts()
  const started: Server[] = []
  try {
    const databaseUrl = await newDatabase(parts, 'throughput')
    const { supplierUrl } = parts
    const common = async () => ({ chain: await withOwnGas(parts), supplierUrl })
    const start = async (server: ThroughputServer) => {
      const child = await startChild<{ port: number }>('throughput-server.ts', server)
      started.push(child)
      return child
    }
    const servers = {
      store: await start({ ...(await common()), kind: 'store', databaseUrl }),
      stock: await start({ ...(await common()), kind: 'stock' }),
      documented: await start({ ...(await common()), kind: 'documented' }),
    }
    return figuresOf(await buyInTurn(servers, await accountsOn(parts)))
  } finally {
    await Promise.all(started.map((child) => child.stop()))
    await parts.stop()
  }
}

/** Each server has a gas key of its own: two that count the nonces of one account would collide. */
async function withOwnGas({ chain: { rpcUrl, keys } }: Parts): Promise<ThroughputServer['chain']> {
  const gas = generatePrivateKey()
  const client = createTestClient({ mode: 'anvil', transport: http(rpcUrl) })
  await client.setBalance({ address: privateKeyToAccount(gas).address, value: parseEther('1000') })
  return { rpcUrl, keys: { ...keys, gas } }
}

async function accountsOn({ chain }: Parts): Promise<readonly Account[]> {
  const accounts = Array.from({ length: buyers }, () => privateKeyToAccount(generatePrivateKey()))
  for (const { address } of accounts) await chain.faucet(address, pocketMoney)
  return accounts
}

/** Each server sells briefly in every round, because the speed of the machine varies; the first round warms up. */
async function buyInTurn(
  servers: Readonly<Record<Name, Server>>,
  accounts: readonly Account[],
): Promise<Turns> {
  const turns: Record<Name, Turn[]> = { store: [], stock: [], documented: [] }
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed())
      turns[name].push(await turnOf(servers[name], round, accounts))
  }
  // The first round was the warm-up.
  for (const name of names) turns[name].shift()
  return turns
}

async function turnOf(server: Server, round: number, accounts: readonly Account[]): Promise<Turn> {
  const { port } = server.told
  // Each buyer has a new address in every round, which keeps it below the rate limit.
  const from = (buyer: number) => `127.1.${round}.${buyer + 1}`
  const { terms } = await askPrice(port, from(buyers))
  // Signed before the clock starts, because signing costs nearly as much CPU as the work that is measured.
  const payments = await Promise.all(accounts.map((account) => signMany(account, terms)))
  const took: number[] = []
  const cpuBefore = await server.cpuMs()
  const startedAt = performance.now()
  await Promise.all(
    payments.map(async (own, buyer) => {
      for (const payment of own) took.push(await pay(port, from(buyer), payment))
    }),
  )
  const seconds = (performance.now() - startedAt) / 1_000
  const cpuMs = (await server.cpuMs()) - cpuBefore
  return { perSecond: took.length / seconds, cpu: cpuMs / took.length, took }
}

function signMany(account: Account, terms: Terms): Promise<string[]> {
  return Promise.all(Array.from({ length: purchasesEach }, () => sign(account, terms)))
}

function figuresOf(turns: Turns): Figure[] {
  const row = (name: Name) => {
    const median = (part: 'perSecond' | 'cpu') =>
      quantile(
        turns[name].map((turn) => turn[part]),
        0.5,
      )
    const took = turns[name].flatMap((turn) => turn.took)
    return {
      ...figure(titles[name], median('perSecond'), '/s'),
      details: {
        p50: amountOf(quantile(took, 0.5), 'ms'),
        p99: amountOf(quantile(took, 0.99), 'ms'),
        'Core per purchase': amountOf(median('cpu'), 'ms'),
      },
    }
  }
  const against = (other: Name) => {
    const ratios = turns.store.map(
      ({ perSecond }, round) => perSecond / (turns[other][round]?.perSecond ?? 0),
    )
    return quantile(ratios, 0.5)
  }
  const ratio = 'Purchases a second, the store against the stock middleware'
  return [
    { ...row('store'), note },
    row('stock'),
    row('documented'),
    lead(ratio, against('stock'), 1),
    lead(`${ratio} as its documentation wires it`, against('documented'), 1),
  ]
}

const titles: Readonly<Record<Name, string>> = {
  store: `Purchases with ${buyers} buyers at once, the whole store`,
  stock: `Purchases with ${buyers} buyers at once, stock @x402/hono selling a constant`,
  documented: `Purchases with ${buyers} buyers at once, stock @x402/hono as its documentation wires it`,
}

const note = `All in processes of their own on one chain, in turn, ${rounds} rounds of ${buyers * purchasesEach} purchases each; the supplier answers at once. The stock middleware keeps nothing, checks and settles with the package's facilitator in its process, and reaches the chain by the store's own connection, signer and fees, or, as its documentation wires it, by a client of viem that polls as often and counts its transactions by viem's nonce manager. Payments are signed before the clock starts. What a purchase takes of a core is that of the server's process; the database and the chain have theirs.`
