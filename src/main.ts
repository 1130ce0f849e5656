import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { destination, multistream } from 'pino'
import {
  type Config,
  ConfigError,
  type LiveConfig,
  readConfig,
  type SandboxConfig,
} from './config.ts'
import { createLog } from './log.ts'
import { loadSandbox, sandboxOptions, sandboxOutside } from './sandbox-parts.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'
import { banner, progress } from './terminal.ts'

/** How soon everything has to have stopped; after that the process ends as it is. */
const stopWithinMs = 9_000

/** A running store and what has to be stopped after it. */
interface Running {
  readonly service: Service
  readonly stop: () => Promise<void>
}

async function main(): Promise<void> {
  const startedAt = performance.now()
  const config = readConfig(process.env)
  const running = await run(config)
  onSignal(running.stop)
  onRefusal(running)
  await listen(running, config)
  console.log(banner(config, running.service.stock(), performance.now() - startedAt))
}

/** A port that is taken must not leave the parts running that were started for it. */
async function listen({ service, stop }: Running, { host, port }: Config): Promise<void> {
  try {
    await service.app.listen({ host, port })
  } catch (error) {
    await stop()
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    throw taken ? new ConfigError([`PORT ${port} is taken on ${host}; set another one`]) : error
  }
}

async function run(config: Config): Promise<Running> {
  if (config.mode === 'live') {
    const service = await startService(liveOptions(config))
    return { service, stop: service.stop }
  }
  return runSandbox(config)
}

function liveOptions(config: LiveConfig): ServiceOptions {
  return { config, log: createLog(config.logLevel, destination(1)) }
}

async function runSandbox(config: SandboxConfig): Promise<Running> {
  const { startSandbox } = await loadSandbox()
  const sandbox = await startSandbox({
    ...sandboxOptions(config),
    onProgress: progress,
    onProblem: (error) => console.error(`The sandbox chain has stopped: ${error.message}`),
  })
  const stopAll = async (service?: Service) => {
    await service?.stop()
    await sandbox.stop()
  }
  try {
    progress('Reading the catalog')
    const { chain, supplier } = sandbox
    const service = await startService({
      config: sandboxOutside(config, sandbox),
      log: createLog(config.logLevel, sandboxLog(config.dataDir)),
      sandbox: {
        rpcUrl: chain.rpcUrl,
        chainId: chain.chainId,
        usdc: chain.usdc,
        supplierUrl: supplier.url,
        faucet: (address) => sandbox.faucet(address as `0x${string}`),
      },
    })
    return { service, stop: () => stopAll(service) }
  } catch (error) {
    await stopAll()
    throw error
  }
}

/** Everything goes to a file, so that the terminal stays readable; what is wrong goes there too. */
function sandboxLog(dataDir: string) {
  mkdirSync(dataDir, { recursive: true })
  const file = destination({ dest: join(dataDir, 'store.log'), sync: false })
  return multistream([
    { level: 'trace', stream: file },
    { level: 'error', stream: destination(2) },
  ])
}

/** What the chain said too late for the start ends the store as it would have ended the start. */
function onRefusal({ service, stop }: Running): void {
  const giveUp = (error: Error) => {
    console.error(reasonOf(error))
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    return stop()
  }
  service.refused.then(giveUp).then(
    () => process.exit(1),
    () => process.exit(1),
  )
}

function onSignal(stop: () => Promise<void>): void {
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      setTimeout(() => process.exit(1), stopWithinMs).unref()
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
    })
  }
}

main().catch((error: unknown) => {
  console.error(reasonOf(error))
  process.exit(1)
})

/** One message for whoever started the store; where it came from only for who asks for details. */
function reasonOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return String(error)
  const wantsDetails = ['trace', 'debug'].includes(process.env['LOG_LEVEL'] ?? '')
  return `The store cannot start: ${wantsDetails ? (error.stack ?? error.message) : error.message}`
}
