import pg from 'pg'
import { expect, test } from 'vitest'
import type { TestProject } from 'vitest/node'
import { chainClient } from '../../sandbox/chain/rpc.ts'
import setup, { type SharedParts } from './setup.ts'

test('parts that were started are stopped when a later step of the start fails', async () => {
  const told: SharedParts[] = []
  const provide = (_: string, parts: SharedParts) => {
    told.push(parts)
    throw new Error('the next step')
  }

  await expect(setup({ provide } as unknown as TestProject)).rejects.toThrow('the next step')

  const [{ rpcUrl, databaseUrl } = { rpcUrl: '', databaseUrl: '' }] = told
  await expect(chainClient(rpcUrl).getChainId()).rejects.toThrow('fetch failed')
  await expect(new pg.Client({ connectionString: databaseUrl }).connect()).rejects.toThrow(
    'ECONNREFUSED',
  )
})
