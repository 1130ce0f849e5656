import { existsSync, readdirSync, readFileSync } from 'node:fs'
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
  const others = ['chain/process.json', 'services/process.json'].map(json)
  return [...(pid === undefined ? [] : [Number(pid)]), ...others.map(({ process }) => process.pid)]
}

/** A file of a process in /proc; nothing when that has ended, as connections to PostgreSQL do. */
export function fileOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && /ENOENT|ESRCH/.test(String(error.code)))
      return ''
    throw error
  }
}

const parentOf = (pid: number) => {
  const stat = fileOf(pid, 'stat')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

/** A process that this one started, or one that such a process started. */
export function descendantsOf(ancestor: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean)
  const children = pids.filter((pid) => parentOf(pid) === ancestor)
  return children.flatMap((pid) => [pid, ...descendantsOf(pid)])
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
