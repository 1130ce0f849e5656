import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ChainNode, startChainNode } from './node.ts'
import { chainClient } from './rpc.ts'
import { saveState, stateFileIn } from './state.ts'

let chainDir: string
let node: ChainNode

// A node without the sandbox's clock, which would also save the chain to the same file.
beforeEach(async () => {
  chainDir = await mkdtemp(join(tmpdir(), 'kiosk402-state-'))
  node = await startChainNode(chainDir)
})

afterEach(async () => {
  await node.stop()
  await rm(chainDir, { recursive: true })
})

/** The transactions of a sender in the saved state, by its account and by the blocks. */
async function savedOf(sender: Address) {
  const state = JSON.parse(await readFile(stateFileIn(chainDir), 'utf8')) as {
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
  const client = chainClient(node.rpcUrl)
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
  for (let save = 0; save < 15; save += 1) {
    await saveState(client, chainDir)
    seen.push(await savedOf(sender))
  }
  busy.isOver = true
  await sending
  expect(seen.filter(({ nonce = 0, mined }) => nonce !== mined)).toEqual([])
  expect(seen.at(-1)?.mined).toBeGreaterThan(seen[0]?.mined ?? 0)
  for (const hash of busy.sent) await client.waitForTransactionReceipt({ hash, timeout: 60_000 })
})
