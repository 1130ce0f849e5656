import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { giveUp, onSignal, reasonOf } from '../app/lifecycle.ts'
import { listen, logOf, startParts } from '../app/store-process.ts'
import { announce } from '../app/terminal.ts'
import type { Config } from '../config.ts'
import { environmentAtStart } from '../environment/process-environment.ts'
import { envFilesIn } from '../environment/secret-files.ts'
import { limitRules } from '../http/rate-limit.ts'
import type { IpcPeer } from './ipc.ts'
import { createClusterMetrics } from './metrics.ts'
import { createRequestCounter } from './rate-limits.ts'
import { openSharedPort } from './shared-port.ts'
import { forkWorker, type WorkerProcess } from './worker-process.ts'
import { startWorkers, type WorkerExit } from './workers.ts'

/** Prometheus waits ten seconds. A worker that needs longer than this is reported with its last known metrics. */
const metricsTimeoutMs = 1_000

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Runs the store as several processes on one port. The primary accepts connections and hands them to
 * the workers. It also does what must be done once: it starts and stops the sandbox and the workers,
 * counts requests against rate limits, and sums the metrics. Workers read their variables over IPC,
 * because every process of the same account can read a process's environment in /proc.
 */
export async function runPrimary(config: Config, environment: Environment): Promise<void> {
  const startedAt = performance.now()
  const starting = startCluster(config, environment)
  const isEnding = onSignal(starting, config.drainMs)
  const { pool, firstReady, port, catalog, stop, payUrl } = await starting
  if (isEnding()) return
  const end = (reason: string) => giveUp(reason, stop, config.drainMs)
  void pool.failed.then(end)
  await firstReady
  await listen(port, config).catch((error: unknown) => end(reasonOf(error)))
  await pool.allReady
  announce(config, catalog(), performance.now() - startedAt, payUrl)
}

/** Starts the sandbox and then the workers, without waiting until the workers are ready. */
async function startCluster(config: Config, environment: Environment) {
  const sandbox = await startParts(config)
  const log = logOf(config)
  const monotonicMs = () => performance.now()
  const registry = createWorkerRegistry(monotonicMs, environment, (address) => {
    if (sandbox === undefined) throw new Error('Only the sandbox has a faucet')
    return sandbox.faucet(address as `0x${string}`)
  })
  const port = openSharedPort()
  const firstReady = Promise.withResolvers<void>()
  // Workers get the configuration of this process; an environment file may have changed since the start.
  const { others } = envFilesIn(process.execArgv)
  const env = environmentAtStart(environment)
  let started = 0
  // No worker may outlive the primary, not even one that hangs.
  process.on('exit', registry.killAll)
  const pool = startWorkers({
    size: config.workers,
    start() {
      started += 1
      const worker = registry.register(forkWorker(started, { execArgv: others, env }))
      logReady(worker, log)
      void worker.ready.then(() => {
        port.add(worker)
        firstReady.resolve()
      })
      void worker.exit.then(() => port.remove(worker))
      return worker
    },
    onExit: logExit(log),
    monotonicMs,
    pause: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
  })
  const stop = async () => {
    port.close()
    const stoppedCleanly = await pool.stop()
    await sandbox?.stop()
    if (!stoppedCleanly) throw new Error('A worker did not exit cleanly')
  }
  return {
    pool,
    firstReady: firstReady.promise,
    port,
    catalog: registry.catalog,
    stop,
    payUrl: sandbox?.btcpay.url,
  }
}

/** Tracks the running workers and handles their requests. */
function createWorkerRegistry(
  monotonicMs: () => number,
  environment: Environment,
  faucet: (address: string) => Promise<string>,
) {
  const count = createRequestCounter(Object.values(limitRules), monotonicMs)
  const metrics = createClusterMetrics()
  const workers = new Map<WorkerProcess, { isReady: boolean }>()
  let catalog = { offers: 0, rejected: 0, readAt: new Date(0) }

  async function collectMetrics(id: number, ipc: IpcPeer): Promise<void> {
    // A worker that does not answer in time is busy or exiting; its last known metrics are used.
    const values = await ipc.request('ownMetrics', null, metricsTimeoutMs).catch(() => undefined)
    if (values !== undefined) metrics.update(id, values)
  }

  return {
    register(worker: WorkerProcess): WorkerProcess {
      const { id, ipc } = worker
      workers.set(worker, { isReady: false })
      ipc.handle('environment', () => environment)
      ipc.handle('count', count)
      ipc.handle('faucet', faucet)
      ipc.handle('metrics', async () => {
        const ready = [...workers].filter(([, { isReady }]) => isReady)
        await Promise.all(ready.map(([one]) => collectMetrics(one.id, one.ipc)))
        return metrics.text()
      })
      void worker.ready.then((reported) => {
        catalog = { ...reported, readAt: new Date(reported.readAt) }
        workers.set(worker, { isReady: true })
      })
      void worker.exit.then(() => {
        workers.delete(worker)
        return metrics.remove(id)
      })
      return worker
    },
    /** The catalog of the worker that became ready last. */
    catalog: () => catalog,
    killAll() {
      for (const worker of workers.keys()) worker.kill()
    },
  }
}

/** Logs the process id of each worker. */
function logReady({ id, pid, ready }: WorkerProcess, log: Logger): void {
  void ready.then(() => log.info({ worker: id, pid }, 'a worker process is ready'))
}

function logExit(log: Logger) {
  return (
    { id, pid }: WorkerProcess,
    { code, signal, failure }: WorkerExit,
    startsInMs: number,
  ) => {
    const facts = { worker: id, pid, code, signal, reason: failure?.reason, startsInMs }
    log.error(facts, 'a worker process exited, a replacement is started')
  }
}
