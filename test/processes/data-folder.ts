import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { ChildStore } from '../child-store.ts'
import { newBuyer } from '../stories/buyer.ts'
import { get, post } from '../stories/requests.ts'

/** The processes that run for a data folder, by what the folder says. */
export function partsOf(folder: string): number[] {
  const json = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'))
  // PostgreSQL takes its file away when it stops.
  const postmaster = join(folder, 'pg/postmaster.pid')
  const [pid] = existsSync(postmaster) ? readFileSync(postmaster, 'utf8').split('\n') : []
  const others = ['chain/node.json', 'supplier/process.json', 'btcpay/process.json'].map(json)
  return [...(pid === undefined ? [] : [Number(pid)]), ...others.map(({ process }) => process.pid)]
}

/** A buyer with test money from the faucet, on the chain of this store. */
export async function buyerAt({ url }: ChildStore, dataDir: string) {
  const { body } = await get(url, '/sandbox')
  const keys = JSON.parse(readFileSync(join(dataDir, 'chain/keys.json'), 'utf8'))
  const buyer = await newBuyer(0n, { rpcUrl: body.rpcUrl, usdc: body.usdc, keys })
  expect(await post(url, '/sandbox/faucet', { address: buyer.address })).toMatchObject({
    status: 200,
  })
  return buyer
}
