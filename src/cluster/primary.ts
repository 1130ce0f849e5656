import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { limitRules } from '../http/rate-limit.ts'
import { giveUp, onSignal, reasonOf } from '../lifecycle.ts'
import { envFilesIn } from '../secret-files.ts'
import { listen, logOf, startParts } from '../store-process.ts'
import { announce } from '../terminal.ts'
import { createOwner } from './counting.ts'
import type { Line } from './line.ts'
import { createNumbers } from './numbers.ts'
import { openPort } from './port.ts'
import { forkWorker, type WorkerProcess } from './worker-process.ts'
import { type End, startWorkers } from './workers.ts'

/** A scraper waits ten seconds; a worker that is slower than this is told of as it was seen last. */
const countedWithinMs = 1_000

type Secrets = Readonly<Record<string, string>>

/**
 * Runs the store as several processes on one port. This one accepts connections and hands them on,
 * serves none of them, and does what must be done once: it starts and stops the sandbox and the
 * workers, counts requests for all of them, and adds up their numbers. Workers get the secrets over
 * their channels: the environment of a process can be read in /proc, by every process of its account.
 */
export async function runPrimary(config: Config, secrets: Secrets): Promise<void> {
  const startedAt = performance.now()
  const starting = startAll(config, secrets)
  const isEnding = onSignal(starting, config.drainMs)
  const { pool, served, port, catalog, stop, payUrl } = await starting
  if (isEnding()) return
  void pool.hopeless.then((reason) => giveUp(reason, stop))
  await served
  await listen(port, config).catch((error: unknown) => giveUp(reasonOf(error), stop))
  await pool.complete
  announce(config, catalog(), performance.now() - startedAt, payUrl)
}

/** Starts the sandbox, and then the workers, which need not listen yet when it returns. */
async function startAll(config: Config, secrets: Secrets) {
  const sandbox = await startParts(config)
  const log = logOf(config)
  const monotonicMs = () => performance.now()
  const primary = openPrimary(monotonicMs, secrets, (address) => {
    if (sandbox === undefined) throw new Error('Only the sandbox gives test money')
    return sandbox.faucet(address as `0x${string}`)
  })
  const port = openPort()
  const served = Promise.withResolvers<void>()
  // A worker goes by what this process has read, not by a file that may have changed since.
  const { others } = envFilesIn(process.execArgv)
  let started = 0
  // However this process ends, no worker may stay behind, not even one that stands still.
  process.on('exit', primary.killAll)
  const pool = startWorkers({
    size: config.workers,
    start() {
      started += 1
      const worker = primary.admit(forkWorker(started, others))
      nameReady(worker, log)
      void worker.ready.then(() => {
        port.join(worker)
        served.resolve()
      })
      void worker.ended.then(() => port.gone(worker))
      return worker
    },
    lost: reportTo(log),
    monotonicMs,
    pause: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
  })
  const stop = async () => {
    port.end()
    const endedWell = await pool.stop()
    await sandbox?.stop()
    if (!endedWell) throw new Error('A worker did not stop as it should')
  }
  return {
    pool,
    served: served.promise,
    port,
    catalog: primary.catalog,
    stop,
    payUrl: sandbox?.btcpay.url,
  }
}

/** What the primary answers its workers, and knows of them. */
function openPrimary(
  monotonicMs: () => number,
  secrets: Secrets,
  faucet: (address: string) => Promise<string>,
) {
  const count = createOwner(Object.values(limitRules), monotonicMs)
  const numbers = createNumbers()
  const workers = new Map<WorkerProcess, { isReady: boolean }>()
  let catalog = { offers: 0, rejected: 0, readAt: new Date(0) }

  async function look(id: number, line: Line): Promise<void> {
    // One that does not answer is dying or very busy; its numbers of the last time stand in.
    const counted = await line.ask('counted', null, countedWithinMs).catch(() => undefined)
    if (counted !== undefined) numbers.seen(id, counted)
  }

  return {
    admit(worker: WorkerProcess): WorkerProcess {
      const { id, line } = worker
      workers.set(worker, { isReady: false })
      line.answer('secrets', () => secrets)
      line.answer('count', count)
      line.answer('faucet', faucet)
      line.answer('numbers', async () => {
        const ready = [...workers].filter(([, { isReady }]) => isReady)
        await Promise.all(ready.map(([one]) => look(one.id, one.line)))
        return numbers.text()
      })
      void worker.ready.then((sold) => {
        catalog = { ...sold, readAt: new Date(sold.readAt) }
        workers.set(worker, { isReady: true })
      })
      void worker.ended.then(() => {
        workers.delete(worker)
        return numbers.gone(id)
      })
      return worker
    },
    /** What the worker that became ready last has on sale. */
    catalog: () => catalog,
    killAll() {
      for (const worker of workers.keys()) worker.kill()
    },
  }
}

/** Says which processes there are, so that an operator finds them. */
function nameReady({ id, pid, ready }: WorkerProcess, log: Logger): void {
  void ready.then(() => log.info({ worker: id, pid }, 'a worker process listens'))
}

function reportTo(log: Logger) {
  return ({ id, pid }: WorkerProcess, { code, signal, failure }: End, startsInMs: number) => {
    const facts = { worker: id, pid, code, signal, reason: failure?.reason, startsInMs }
    log.error(facts, 'a worker process has ended, another one takes its place')
  }
}
