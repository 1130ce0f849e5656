import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isAddress } from 'viem'
import { connectChain } from '../adapters/chain/connect.ts'
import { reachStorage, type Stores } from '../adapters/storage/storage.ts'
import { presentOf } from '../adapters/storage/store.ts'
import { connectCoins } from '../app/coin-payments.ts'
import { loadSandbox, sandboxOptions, sandboxOutside } from '../app/sandbox-parts.ts'
import { connectSuppliers } from '../app/supply.ts'
import type { Common, Outside, SandboxConfig } from '../config.ts'
import { ConfigError } from '../environment/environment.ts'
import { Refused } from '../operator/operator.ts'
import { idsFor } from '../orders/order.ts'
import type { Acknowledgement, WalletRole } from '../reconcile/ports.ts'
import { rebuild } from '../reconcile/rebuild.ts'
import { reconcile } from '../reconcile/reconcile.ts'
import { published, rebuiltLines, reportLines } from '../reconcile/report-text.ts'
import type { Look, PaymentName, Report, Sources } from '../reconcile/sources.ts'
import { createDigest, createVault } from '../secrets/secrets.ts'
import { type Act, type Context, parseArguments, type Result, UsageError } from './act.ts'
import { statementTimeoutMs } from './settings.ts'

const usage = `Usage: kiosk402 reconcile [--rebuild] [--from-block N] [--settle-minutes N]
       kiosk402 reconcile --acknowledge TRANSACTION --reason TEXT
       kiosk402 reconcile [--earlier-pay-to ADDRESS] [--earlier-refund-wallet ADDRESS]

Compares ledger, chain, supplier and payment processor, and names every difference.

  --rebuild         writes refunds and lost orders into the record, then compares again
  --acknowledge     says that the transfers of our wallets in this transaction, which no order explains,
                    are right, and why. It is kept for ever, with who says so.
  --earlier-pay-to, --earlier-refund-wallet
                    puts an address on record that was PAY_TO, or that of REFUND_KEY, before the record of
                    them begins. It is compared from now on, and cannot be taken away.
  --from-block      begins there; otherwise at the oldest payment on record
  --settle-minutes  what is younger counts as under way; 10 otherwise

Examples:
  kiosk402 reconcile
  kiosk402 reconcile --acknowledge 0x5c50… --reason "Float to the cold wallet" --as "Ann Smith"`

type Options = ReturnType<typeof parseOptions>

export const reconcileAct: Act = {
  summary: 'compares the record with chain, supplier and payment processor',
  usage,
  async run(args, context) {
    const options = parseOptions(args)
    const { isDryRun, by } = context
    const setsUp = options.rebuild || options.earlier.length > 0
    const connection = await connect(context, setsUp && !isDryRun)
    const runOn = (storage: Stores) => run({ ...connection, storage }, options, by)
    try {
      if (isDryRun) return await connection.storage.rehearse(runOn)
      const result = await runOn(connection.storage)
      await connection.storage.noteRun('reconcile', outcomes[result.exit])
      return result
    } finally {
      await connection.close()
    }
  },
}

/** What alerts and metrics go by, for each exit code. */
const outcomes = { 0: 'good', 1: 'differs', 2: 'failed' } as const

async function run(connection: Connection, options: Options, by: string): Promise<Result> {
  const { wallets } = connection.storage
  for (const { role, address } of options.earlier) {
    const entry = { act: 'reconcile earlier', subject: `wallet:${address}`, after: { role } }
    await connection.storage.noteAct(by, entry)
    await wallets.addEarlier(role, address)
  }
  const sources = await sourcesOf(connection)
  const compare = () => reconcile(sources, lookOf(connection, options))
  const first = await compare()
  if (options.acknowledge) {
    await acknowledge(connection, first, { ...options.acknowledge, by })
    return resultOf(await compare())
  }
  if (!options.rebuild) return resultOf(first)
  await connection.storage.noteAct(by, { act: 'reconcile rebuild', subject: 'record' })
  const { secretsKeys: keys } = connection.config
  const rebuilt = await rebuild(
    {
      ...sources,
      vault: createVault(keys),
      digest: createDigest(keys, 'orders'),
      now: () => new Date(),
    },
    first,
  )
  const { exit, data, lines } = resultOf(await compare())
  const before = [...reportLines(first), '', ...rebuiltLines(rebuilt), '', 'After that:', '']
  return { exit, data: { ...data, rebuilt }, lines: [...before, ...lines] }
}

/** Only movements in the report can be acknowledged, never the payment or refund of an order. */
async function acknowledge(
  { storage }: Connection,
  { movements }: Report,
  { transaction, ...why }: Acknowledgement & { readonly transaction: string },
): Promise<void> {
  const named = movements.filter(({ transfer }) => transfer.transaction === transaction)
  if (named.length === 0) {
    throw new Refused(
      `${transaction} moved nothing of our wallets that no order explains, or is in no safe block yet`,
    )
  }
  for (const { transfer } of named) await storage.movements.acknowledge(transfer, why)
}

function resultOf(report: Report) {
  const exit = report.differences.length > 0 ? 1 : report.silent.length === 0 ? 0 : 2
  return { exit, data: published(report), lines: reportLines(report) } as const
}

async function sourcesOf({ chain, suppliers, storage, processor, config }: Connection) {
  return {
    chain: chain.statement(await storage.wallets.ours(presentOf(config, chain))),
    suppliers,
    store: storage.record,
    checkouts: storage.checkoutRecord,
    processor,
    hands: storage.handPayouts,
    movements: storage.movements,
  }
}

/** A sandbox's chain is short, so it is read from its first block. */
function lookOf({ config }: Connection, { fromBlock, settleMinutes }: Options): Look {
  const digests = config.secretsKeys.map((key) => createDigest([key], 'orders'))
  return {
    now: new Date(),
    strayAfterMs: settleMinutes * 60_000,
    fromBlock: fromBlock ?? (config.mode === 'sandbox' ? 0 : undefined),
    idsFor: (payment: PaymentName) => digests.map((digest) => idsFor(digest, payment)),
  }
}

function parseOptions(args: readonly string[]) {
  const { values } = parseArguments({
    args: [...args],
    options: {
      rebuild: { type: 'boolean', default: false },
      acknowledge: { type: 'string' },
      reason: { type: 'string' },
      'earlier-pay-to': { type: 'string' },
      'earlier-refund-wallet': { type: 'string' },
      'from-block': { type: 'string' },
      'settle-minutes': { type: 'string', default: '10' },
    },
  })
  const from = values['from-block']
  return {
    rebuild: values.rebuild,
    acknowledge: acknowledgedIn(values),
    earlier: [
      ...addressIn('pay_to', '--earlier-pay-to', values['earlier-pay-to']),
      ...addressIn('refunds', '--earlier-refund-wallet', values['earlier-refund-wallet']),
    ],
    fromBlock: from === undefined ? undefined : whole('--from-block', from),
    settleMinutes: whole('--settle-minutes', values['settle-minutes']),
  }
}

function acknowledgedIn(values: {
  readonly acknowledge?: string | undefined
  readonly reason?: string | undefined
  readonly rebuild: boolean
}): (Omit<Acknowledgement, 'by'> & { readonly transaction: string }) | undefined {
  const { acknowledge: transaction, reason = '' } = values
  if (transaction === undefined) {
    if (reason) throw new UsageError('--reason goes with --acknowledge TRANSACTION')
    return undefined
  }
  if (values.rebuild) throw new UsageError('Use --acknowledge and --rebuild in two runs')
  if (reason.trim().length < 3 || reason.length > 500) {
    throw new UsageError('--acknowledge needs a --reason of 3 to 500 characters')
  }
  return { transaction: transaction.toLowerCase(), reason: reason.trim() }
}

/** The address stays on record for ever, so its checksum is required, which reveals typing errors. */
function addressIn(role: WalletRole, option: string, text: string | undefined) {
  if (text === undefined) return []
  if (isAddress(text) && text !== text.toLowerCase()) return [{ role, address: text }]
  throw new UsageError(`${option} is "${text}"; it must be an address with its checksum`)
}

function whole(name: string, text: string): number {
  if (!/^\d{1,12}$/.test(text))
    throw new UsageError(`${name} is "${text}"; it must be a whole number`)
  return Number(text)
}

/** What the record is compared with, connected for `work`. */
export async function withSources<T>(
  context: Context,
  work: (sources: Sources, look: Look) => Promise<T>,
): Promise<T> {
  const connection = await connect({ ...context, tellStore: () => undefined }, false)
  try {
    return await work(await sourcesOf(connection), lookOf(connection, parseOptions([])))
  } finally {
    await connection.close()
  }
}

type Connection = Omit<Awaited<ReturnType<typeof connect>>, 'storage'> & {
  readonly storage: Stores
}

/**
 * In the sandbox, it uses the parts of the store that runs in DATA_DIR, or starts them for this command, so that a
 * store which refuses to start can be repaired.
 *
 * @param setsUp whether to make the tables and claim the database, as a start does
 */
async function connect(
  { tell, tellStore, config: read }: Pick<Context, 'tell' | 'tellStore' | 'config'>,
  setsUp: boolean,
) {
  const ownConfig = read()
  const { config, stop }: Parts =
    ownConfig.mode === 'live'
      ? { config: ownConfig, stop: async () => {} }
      : await sandbox(ownConfig, tell)
  const now = () => new Date()
  const stopping = new AbortController()
  try {
    tellStore(config)
    const database = await reachStorage({ ...config, statementTimeoutMs }, tellError(tell))
    const storage = await (setsUp ? database.migrateAndClaim() : database.openMigrated())
    const suppliers = connectSuppliers(config, now, stopping.signal)
    return {
      config,
      storage,
      chain: connectChain(config, now),
      suppliers: new Map(Array.from(suppliers, ([name, { statement }]) => [name, statement])),
      processor: connectCoins(config, { ...storage, now }).statement,
      async close() {
        stopping.abort()
        await storage.close()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Parts {
  readonly config: Common & Outside & { readonly mode: 'sandbox' | 'live' }
  stop(): Promise<void>
}

async function sandbox(config: SandboxConfig, tell: (message: string) => void): Promise<Parts> {
  const { dataDir } = config
  const { startSandbox, runningSandbox } = await loadSandbox()
  const running = await runningSandbox(dataDir)
  if (running) return { config: sandboxOutside(config, running), stop: async () => {} }
  if (!existsSync(join(dataDir, 'store.lock'))) {
    throw new ConfigError([
      `DATA_DIR ${resolve(dataDir)} has no store in it; start one with npm start, or name another folder`,
    ])
  }
  tell(`No store is running in ${dataDir}; starting its parts for this command`)
  const parts = await startSandbox({
    ...sandboxOptions(config),
    onProgress: tell,
    onProblem: tellError(tell),
  })
  return { config: sandboxOutside(config, parts), stop: parts.stop }
}

function tellError(tell: (message: string) => void): (error: Error) => void {
  return (error) => tell(error.message)
}
