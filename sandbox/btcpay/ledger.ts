import { randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import { openLedgerFile } from '../ledger-file.ts'
import { digest } from './addresses.ts'
import { coins, symbols, type Ticker } from './coins.ts'
import type { ChainTransaction, Settings, Stored, StoredOf } from './models.ts'

/** An id as the real server makes them: 22 letters for invoices, about 27 for everything else. */
export function newId(bytes = 20): string {
  return base58.encode(randomBytes(bytes))
}

/** The hash of the next transaction on a coin's chain. It depends only on the seed and on the transactions so far. */
export function nextTransaction(ledger: Ledger, seed: string, coin: Ticker): string {
  const count = ledger.all('transaction').length
  const hash = digest(seed, 'transaction', coin, String(count)).toString('hex')
  return coin === 'ETH' ? `0x${hash}` : hash
}

/** The transaction of a transfer, and its place there. */
export function hashOf({ id }: Pick<ChainTransaction, 'id'>): readonly [string, place: number] {
  const [hash = id, place = '0'] = id.split('/')
  return [hash, Number(place)]
}

const firstSettings: Settings = {
  type: 'settings',
  id: 'settings',
  processor: true,
}

/** All records of the server in their newest state, and the balances of its wallets. */
export function openLedger(path: string | undefined) {
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
      const { coin, direction, units, fee } = entry
      const moved = direction === 'in' ? BigInt(units) : -BigInt(units) - BigInt(fee)
      balances.set(coin, (balances.get(coin) ?? 0n) + moved)
    }
    tableOf(entry.type).set(entry.id, entry)
  }
  for (const line of file.lines) for (const entry of line as readonly Stored[]) apply(entry)
  /** Writes new states atomically: all survive a crash, or none. Transactions change the balance. */
  const commit = (...entries: readonly Stored[]): void => {
    file.append(entries)
    for (const entry of entries) apply(entry)
  }
  return {
    instance: file.instance,
    find: <T extends Stored['type']>(type: T, id: string) =>
      tableOf(type).get(id) as StoredOf<T> | undefined,
    all: <T extends Stored['type']>(type: T) => [...tableOf(type).values()] as StoredOf<T>[],
    settings: () => (tableOf('settings').get('settings') as Settings | undefined) ?? firstSettings,
    /** The balance of the store's wallet of the coin, in smallest units. */
    balance: (coin: Ticker) => balances.get(coin) ?? 0n,
    commit,
    /** Makes a copy of the server's own database, without the chains. */
    backup(): void {
      copy = own()
    },
    /** Restores the copy, as an operator does after a loss. Transactions on the chains since then remain. */
    restore(): void {
      const kept = new Set(copy.map(({ type, id }) => `${type} ${id}`))
      const lost = own().filter(({ type, id }) => !kept.has(`${type} ${id}`))
      commit(...lost.map(({ type, id }) => ({ type: 'removed', id, of: type }) as Stored), ...copy)
    },
    close: file.close,
  }
}

export type Ledger = ReturnType<typeof openLedger>
