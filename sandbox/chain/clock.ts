import type { ChainClient } from './rpc.ts'

export type ClockOptions = {
  client: ChainClient
  /** Keeps the chain's state up to the block it gives; called some time after there were transactions. */
  save: () => Promise<bigint>
  /** Told when the chain stops answering, once for each time that it does. */
  onProblem: (error: Error) => void
  /** While there is business: a block this often, as on Base. Milliseconds, as all below. */
  everyMs?: number
  /** Business is over when there was no transaction for so long. */
  businessMs?: number
  /** Without business: a block this often. */
  idleEveryMs?: number
  /** The least time between two calls of `save`. */
  saveEveryMs?: number
  /** A clock that never goes back, in milliseconds. */
  now?: () => number
}

export type Clock = {
  /** Ends the clock; returns when the tick that is under way has ended. */
  stop(): Promise<void>
}

/**
 * Makes the chain's time go on. The node mines a block for each transaction at once; the clock adds
 * empty ones, so that `safe` and `finalized` follow and the newest timestamp passes the deadlines
 * of authorizations. Empty blocks are not free: each takes 1.7 kB in the saved state for ever and
 * makes every later block slower, so an idle chain gets few of them. The two of the start are
 * needed: a restarted node has states only for its head and what comes after, and contracts can be
 * asked at `finalized` when that is the old head.
 */
export async function startClock(options: ClockOptions): Promise<Clock> {
  const { client, everyMs = 2_000 } = options
  await client.mine({ blocks: 2 })
  const tick = makeTick(options, await headOf(client))
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
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

function makeTick(options: ClockOptions, head: bigint): () => Promise<void> {
  const { client, businessMs = 15 * 60_000, idleEveryMs = 30_000, saveEveryMs = 10_000 } = options
  const { now = () => performance.now() } = options
  const past = { head, transaction: now(), block: now(), save: now(), isSaved: true, isDown: false }
  const mineIfDue = async () => {
    const current = await headOf(client)
    if (current !== past.head) {
      past.transaction = past.block = now()
      past.isSaved = false
    }
    past.head = current
    const isIdle = now() - past.transaction > businessMs
    if (isIdle && now() - past.block < idleEveryMs) return
    await client.mine({ blocks: 1 })
    past.head = current + 1n
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
      if (!past.isDown) options.onProblem(toError(error))
      past.isDown = true
    }
  }
}

/** Asked anew each time: the number of an earlier block is of no use here. */
function headOf(client: ChainClient): Promise<bigint> {
  return client.getBlockNumber({ cacheTime: 0 })
}

function toError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value))
}
