import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Chain, startChain } from './chain.ts'
import { chainClient } from './rpc.ts'
import { saveState, stateFileIn } from './state.ts'

let dataDir: string
let chain: Chain

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kiosk402-state-'))
  chain = await startChain({ dataDir })
})

afterEach(async () => {
  await chain.stop()
  await rm(dataDir, { recursive: true })
})

/** What the saved state says of a sender, by its account and by the blocks. */
async function savedOf(sender: Address) {
  const state = JSON.parse(await readFile(stateFileIn(join(dataDir, 'chain')), 'utf8')) as {
    accounts: Record<string, { nonce: number }>
    transactions: { info: { from: string } }[]
  }
  const isTheirs = ({ info }: { info: { from: string } }) => info.from.toLowerCase() === sender
  return {
    nonce: state.accounts[sender]?.nonce,
    mined: state.transactions.filter(isTheirs).length,
  }
}

it('saves accounts and blocks of one moment, however busy the chain is', async () => {
  const client = chainClient(chain.rpcUrl)
  const account = privateKeyToAccount(generatePrivateKey())
  const sender = account.address.toLowerCase() as Address
  await client.setBalance({ address: sender, value: 10n ** 20n })
  const busy = { isOver: false, sent: [] as Hex[] }
  const sending = (async () => {
    for (let nonce = 0; !busy.isOver; nonce += 1) {
      busy.sent.push(await client.sendTransaction({ account, to: sender, nonce, gas: 21_000n }))
    }
  })()
  const seen: Awaited<ReturnType<typeof savedOf>>[] = []
  for (let save = 0; save < 40; save += 1) {
    await saveState(client, join(dataDir, 'chain'))
    seen.push(await savedOf(sender))
  }
  busy.isOver = true
  await sending
  expect(seen.filter(({ nonce = 0, mined }) => nonce !== mined)).toEqual([])
  expect(seen.at(-1)?.mined).toBeGreaterThan(seen[0]?.mined ?? 0)
  for (const hash of busy.sent) await client.waitForTransactionReceipt({ hash, timeout: 5_000 })
})
