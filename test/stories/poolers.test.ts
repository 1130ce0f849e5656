import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { noPgbouncer, type Pgbouncer, startPgbouncer } from '../harness/pgbouncer.ts'
import { newBuyer } from './buyer.ts'
import { bodyFor, buy } from './requests.ts'
import { openNode, openStore, type Store, siblingSettings } from './store.ts'

// docs/operators/scaling.md, "Poolers": what may stand between the store and PostgreSQL.

const leavesOut =
  'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout'

describe.skipIf(noPgbouncer)('a node behind pgbouncer', () => {
  let store: Store
  let pooler: Pgbouncer | undefined

  beforeAll(async () => {
    store = await openStore()
  })
  afterEach(async () => {
    await pooler?.stop()
    pooler = undefined
  })
  afterAll(() => store.close())

  async function openBehind(...lines: string[]) {
    pooler = await startPgbouncer(store.databaseUrl, lines)
    return openNode({ ...(await siblingSettings(store)), databaseUrl: pooler.url }, store.parts)
  }

  async function limitAtTheDatabase(limit: string): Promise<void> {
    const name = new URL(store.databaseUrl).pathname.slice(1)
    await store.query(`alter database ${name} set statement_timeout = '${limit}'`)
    await store.query(`alter database ${name} set idle_in_transaction_session_timeout = '${limit}'`)
  }

  test('that refuses the time limits does not start, and says what to do', async () => {
    await expect(openBehind('pool_mode = session')).rejects.toThrow(
      /DATABASE_URL: A pooler .* refuses the time limits/,
    )
  })

  test('that leaves the time limits out does not start', async () => {
    await expect(openBehind('pool_mode = session', leavesOut)).rejects.toThrow(
      'it has no statement_timeout and no idle_in_transaction_session_timeout',
    )
  })

  test.each(['transaction', 'statement'])(
    'that lends a session for a %s does not start, whatever the database limits',
    async (mode) => {
      await limitAtTheDatabase('10s')
      const byTurns = 'server_round_robin = 1'
      for (const more of [[], [byTurns]]) {
        const opened = openBehind(`pool_mode = ${mode}`, leavesOut, ...more)
        await expect(opened).rejects.toThrow('take pool_mode = session')
        await pooler?.stop()
      }
    },
  )

  test('that keeps a session for each connection sells, with the limits of the database', async () => {
    await limitAtTheDatabase('10s')
    const node = await openBehind('pool_mode = session', leavesOut)
    const buyers = await Promise.all([newBuyer(), newBuyer(), newBuyer()])
    const bought = await Promise.all(
      buyers.map((buyer) => buy(node, buyer, 'voucher', bodyFor('voucher', 'OK'))),
    )
    expect(bought.map(({ answer }) => answer.body.orders?.[0]?.state)).toEqual(
      Array(3).fill('FULFILLED'),
    )
    await node.close()
  })
})
