import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isAddress } from 'viem'
import { connectChain } from '../adapters/chain/connect.ts'
import { noteAct } from '../adapters/storage/audit.ts'
import { noteRun } from '../adapters/storage/operator-runs.ts'
import { createMovements } from '../adapters/storage/record.ts'
import { reachStorage, storesOn } from '../adapters/storage/storage.ts'
import { createWallets, presentOf } from '../adapters/storage/store.ts'
import { connectCoins } from '../app/coin-payments.ts'
import { loadSandbox, sandboxOptions } from '../app/sandbox-parts.ts'
import { connectSuppliers } from '../app/supply.ts'
import type { SandboxConfig, StoreConfig } from '../config.ts'
import { ConfigError } from '../environment/environment.ts'
import { type Operator, Refused } from '../operator/operator.ts'
import { idsFor } from '../orders/order.ts'
import type { WalletRole } from '../reconcile/ports.ts'
import { type RebuildDeps, rebuild } from '../reconcile/rebuild.ts'
import { reconcile } from '../reconcile/reconcile.ts'
import { published, rebuiltLines, reportLines } from '../reconcile/report-text.ts'
import type { Look, PaymentName, Report, Sources } from '../reconcile/sources.ts'
import { createDigest, createVault } from '../secrets/secrets.ts'
import { type Act, parseArguments, type Result, UsageError } from './act.ts'

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
  async run(args, { config: settings, isDryRun, tell, withOperator }) {
    const options = parseOptions(args)
    const setsUp = !isDryRun && (options.rebuild || options.earlier.length > 0)
    const config = settings()
    const stop = config.mode === 'sandbox' ? await startStopped(config, tell) : undefined
    try {
      return await withOperator(
        async (operator) => {
          const result = await run(operator, options)
          await noteRun(operator.database, 'reconcile', outcomes[result.exit])
          return result
        },
        setsUp ? setUp : undefined,
      )
    } finally {
      await stop?.()
    }
  },
}

/** What alerts and metrics go by, for each exit code. */
const outcomes = { 0: 'good', 1: 'differs', 2: 'failed' } as const

/** Makes the tables and claims the database, as a start does. */
async function setUp(config: StoreConfig): Promise<void> {
  const database = await reachStorage(config, () => undefined)
  await (await database.migrateAndClaim()).close()
}

async function run(operator: Operator, options: Options): Promise<Result> {
  const { config, database, by, now } = operator
  for (const { role, address } of options.earlier) {
    const entry = { act: 'reconcile earlier', subject: `wallet:${address}`, after: { role } }
    await noteAct(database, by, entry)
    await createWallets(database).addEarlier(role, address)
  }
  return withSources(operator, options, async (sources, look) => {
    const first = await reconcile(sources, look())
    if (options.acknowledge) {
      await acknowledge(operator, first, options.acknowledge)
      return resultOf(await reconcile(sources, look()))
    }
    if (!options.rebuild) return resultOf(first)
    await noteAct(database, by, { act: 'reconcile rebuild', subject: 'record' })
    const { secretsKeys: keys } = config
    const [vault, digest] = [createVault(keys), createDigest(keys, 'orders')]
    const rebuilt = await rebuild({ ...sources, vault, digest, now }, first)
    const { exit, data, lines } = resultOf(await reconcile(sources, look()))
    const before = [...reportLines(first), '', ...rebuiltLines(rebuilt), '', 'After that:', '']
    return { exit, data: { ...data, rebuilt }, lines: [...before, ...lines] }
  })
}

/** Only movements in the report can be acknowledged, never the payment or refund of an order. */
async function acknowledge(
  { database, by }: Operator,
  { movements }: Report,
  { transaction, reason }: { readonly transaction: string; readonly reason: string },
): Promise<void> {
  const named = movements.filter(({ transfer }) => transfer.transaction === transaction)
  if (named.length === 0) {
    throw new Refused(
      `${transaction} moved nothing of our wallets that no order explains, or is in no safe block yet`,
    )
  }
  for (const { transfer } of named) {
    await createMovements(database).acknowledge(transfer, { reason, by })
  }
}

function resultOf(report: Report) {
  const exit = report.differences.length > 0 ? 1 : report.silent.length === 0 ? 0 : 2
  return { exit, data: published(report), lines: reportLines(report) } as const
}

/** What the record is compared with, connected for `work`. A sandbox's chain is short, so it is read from its first block. */
export async function withSources<T>(
  { config, database, now }: Operator,
  { fromBlock, settleMinutes }: Pick<Options, 'fromBlock' | 'settleMinutes'>,
  work: (sources: AllSources, look: () => Look) => Promise<T>,
): Promise<T> {
  const storage = storesOn(database, config.refundCaps)
  const chain = connectChain(config, now)
  const stopping = new AbortController()
  const suppliers = connectSuppliers(config, now, stopping.signal)
  const sources = {
    chain: chain.statement(await storage.wallets.ours(presentOf(config, chain))),
    suppliers: new Map(Array.from(suppliers, ([name, { statement }]) => [name, statement])),
    store: storage.record,
    checkouts: storage.checkoutRecord,
    processor: connectCoins(config, { ...storage, now }).statement,
    hands: storage.handPayouts,
    movements: storage.movements,
  }
  const digests = config.secretsKeys.map((key) => createDigest([key], 'orders'))
  const look = () => ({
    now: now(),
    strayAfterMs: settleMinutes * 60_000,
    fromBlock: fromBlock ?? (config.mode === 'sandbox' ? 0 : undefined),
    idsFor: (payment: PaymentName) => digests.map((digest) => idsFor(digest, payment)),
  })
  try {
    return await work(sources, look)
  } finally {
    stopping.abort()
  }
}

/** That of a reconciliation without options. */
export const usualLook = { fromBlock: undefined, settleMinutes: 10 }

type AllSources = Sources & Pick<RebuildDeps, 'store'>

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
      'settle-minutes': { type: 'string', default: String(usualLook.settleMinutes) },
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
}) {
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

/** A store that refuses to start can be repaired: its parts run for this command. */
async function startStopped(config: SandboxConfig, tell: (message: string) => void) {
  const { dataDir } = config
  const { startSandbox, runningSandbox } = await loadSandbox()
  if (await runningSandbox(dataDir)) return undefined
  if (!existsSync(join(dataDir, 'store.lock'))) {
    throw new ConfigError([
      `DATA_DIR ${resolve(dataDir)} has no store in it; start one with npm start, or name another folder`,
    ])
  }
  tell(`No store is running in ${dataDir}; starting its parts for this command`)
  const parts = await startSandbox({
    ...sandboxOptions(config),
    onProgress: tell,
    onProblem: (error) => tell(error.message),
  })
  return parts.stop
}
