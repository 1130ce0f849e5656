import { openLedgerFile } from '../ledger-file.ts'
import { coins, symbols, type Ticker } from './coins.ts'
import type { Settings, Stored, StoredOf } from './models.ts'

/** All records of the server in their newest state, and the balances of its wallets. */
export interface Ledger {
  /** The id of the data file: the same after a restart, and different for another file. */
  readonly instance: string
  find<T extends Stored['type']>(type: T, id: string): StoredOf<T> | undefined
  /** All of one type, oldest first. */
  all<T extends Stored['type']>(type: T): readonly StoredOf<T>[]
  settings(): Settings
  /** The balance of the store's wallet of the coin, in smallest units. */
  balance(coin: Ticker): bigint
  /** Writes new states atomically: all survive a crash, or none. Transactions change the balance. */
  commit(...entries: readonly Stored[]): void
  /** Makes a copy of the server's own database, without the chains. */
  backup(): void
  /** Restores the copy, as an operator does after a loss. Transactions on the chains since then remain. */
  restore(): void
  close(): void
}

const firstSettings: Settings = {
  type: 'settings',
  id: 'settings',
  rates: Object.fromEntries(symbols.map((symbol) => [symbol, coins[symbol].usd])) as Record<
    Ticker,
    string
  >,
  processor: true,
}

export function openLedger(path: string | undefined): Ledger {
  const file = openLedgerFile(path)
  const tables = new Map<Stored['type'], Map<string, Stored>>()
  const balances = new Map<Ticker, bigint>(symbols.map((symbol) => [symbol, coins[symbol].float]))
  const tableOf = (type: Stored['type']) => {
    const table = tables.get(type) ?? new Map<string, Stored>()
    tables.set(type, table)
    return table
  }
  let copy: readonly Stored[] = []
  const own = () =>
    [...tables].flatMap(([type, table]) => (type === 'transaction' ? [] : [...table.values()]))
  const apply = (entry: Stored) => {
    if (entry.type === 'removed') {
      tableOf(entry.of).delete(entry.id)
      return
    }
    if (entry.type === 'transaction') {
      const moved =
        entry.direction === 'in' ? BigInt(entry.units) : -BigInt(entry.units) - BigInt(entry.fee)
      balances.set(entry.coin, (balances.get(entry.coin) ?? 0n) + moved)
    }
    tableOf(entry.type).set(entry.id, entry)
  }
  for (const line of file.lines) for (const entry of line as readonly Stored[]) apply(entry)
  const commit = (...entries: readonly Stored[]) => {
    file.append(entries)
    for (const entry of entries) apply(entry)
  }
  return {
    instance: file.instance,
    find: (type, id) => tableOf(type).get(id) as never,
    all: (type) => [...tableOf(type).values()] as never,
    settings: () => (tableOf('settings').get('settings') as Settings | undefined) ?? firstSettings,
    balance: (coin) => balances.get(coin) ?? 0n,
    commit,
    backup() {
      copy = own()
    },
    restore() {
      const kept = new Set(copy.map(({ type, id }) => `${type} ${id}`))
      const lost = own().filter(({ type, id }) => !kept.has(`${type} ${id}`))
      commit(...lost.map(({ type, id }) => ({ type: 'removed', id, of: type }) as Stored), ...copy)
    },
    close: file.close,
  }
}
