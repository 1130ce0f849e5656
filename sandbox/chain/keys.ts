import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { z } from 'zod'
import { readFileIfThere, writePrivateFile } from '../private-file.ts'

const privateKey = z.custom<Hex>((value) => /^0x[0-9a-f]{64}$/.test(String(value)), 'not a key')
const keyFile = z.object({
  gas: privateKey,
  refund: privateKey,
  minter: privateKey,
  payTo: privateKey,
})

/** The wallets of the sandbox: private keys, or only an address if the key is not needed. */
export type ChainKeys = {
  /** Pays for gas; has ether. */
  gas: Hex
  /** Holds the USDC that refunds are paid from. */
  refund: Hex
  /** Owns the token and mints for the faucet. */
  minter: Hex
  /** Receives the payments of purchases. */
  payTo: Address
}

/**
 * The keys of this data folder, generated at random at the first start. No two sandboxes share a key, and none is a
 * well-known key of test nodes.
 */
export async function loadKeys(path: string): Promise<ChainKeys> {
  const text = await readFileIfThere(path)
  const keys = keyFile.parse(text === undefined ? newKeys() : JSON.parse(text))
  if (text === undefined) await writePrivateFile(path, `${JSON.stringify(keys, null, 2)}\n`)
  return { ...keys, payTo: privateKeyToAddress(keys.payTo) }
}

function newKeys() {
  const names = ['gas', 'refund', 'minter', 'payTo']
  return Object.fromEntries(names.map((name) => [name, generatePrivateKey()]))
}
