import type { ChainClient } from './rpc.ts'

export interface ClockOptions {
  readonly client: ChainClient
  /** Saves the chain's state and returns its newest block; called some time after there were transactions. */
  readonly save: () => Promise<bigint>
  readonly onProblem: (error: Error) => void
}

/** The interval of blocks while there is business, as on Base. Milliseconds, like all below. */
const everyMs = 2_000
/** Business ends after this time without a transaction. */
const businessMs = 15 * 60_000
const idleEveryMs = 30_000
const saveEveryMs = 10_000

/**
 * Keeps the chain's time moving. The node mines a block for each transaction at once; the clock adds empty blocks, so
 * that `safe` and `finalized` advance and the newest timestamp passes the deadlines of authorizations. Empty blocks
 * have a cost: each takes 1.7 kB in the saved state for ever and slows down every later block, so an idle chain gets
 * few. The two at the start are needed: a restarted node has states only from its head on, so contracts can be called
 * at `finalized` only once that is the old head.
 */
export async function startClock(options: ClockOptions) {
  const { client } = options
  await client.mine({ blocks: 2 })
  const tick = makeTick(options, await client.getBlockNumber())
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  const next = () => {
    timer = setTimeout(() => {
      running = tick().finally(() => {
        if (!stopped) next()
      })
    }, everyMs)
    timer.unref()
  }
  next()
  return {
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

function makeTick(options: ClockOptions, head: bigint): () => Promise<void> {
  const { client } = options
  const now = () => performance.now()
  const past = { head, transaction: now(), block: now(), save: now(), isSaved: true, isDown: false }
  const mineIfDue = async () => {
    const current = await client.getBlockNumber()
    if (await hasTransactions(client, past.head + 1n, current)) {
      past.transaction = past.block = now()
      past.isSaved = false
    }
    past.head = current
    const isIdle = now() - past.transaction > businessMs
    if (isIdle && now() - past.block < idleEveryMs) return
    await client.mine({ blocks: 1 })
    past.block = now()
  }
  const saveIfDue = async () => {
    if (past.isSaved || now() - past.save < saveEveryMs) return
    past.save = now()
    past.head = await options.save()
    past.isSaved = true
  }
  return async () => {
    try {
      await mineIfDue()
      await saveIfDue()
      past.isDown = false
    } catch (error) {
      if (!past.isDown) options.onProblem(error instanceof Error ? error : new Error(String(error)))
      past.isDown = true
    }
  }
}

/**
 * Whether one of the blocks has a transaction. Counting blocks would not tell: a transaction that waits while the clock
 * mines lands in the clock's own block.
 */
async function hasTransactions(client: ChainClient, from: bigint, to: bigint): Promise<boolean> {
  for (let blockNumber = from; blockNumber <= to; blockNumber += 1n) {
    if ((await client.getBlockTransactionCount({ blockNumber })) > 0) return true
  }
  return false
}
