import { type Address, parseAbi } from 'viem'
import { chainClient } from '../sandbox/chain/rpc.ts'
import { query } from '../test/harness/query.ts'
import type { OrderRow, Supplied, Transfer } from './audit.ts'
import type { Parts } from './parts.ts'

const token = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

/** The facts of the chain, the supplier and the database, each read directly and not through the store. */
export async function collect({ chain, supplier, database, refundWallet }: Parts) {
  const [transfers, supplied, orders] = await Promise.all([
    transfersOf(chain),
    ledgerOf(supplier),
    ordersIn(database.url),
  ])
  const payTo = chain.keys.payTo.toLowerCase()
  return {
    payments: transfers.filter(({ to }) => to === payTo),
    refunds: transfers.filter(({ from }) => from === refundWallet),
    supplied,
    orders,
  }
}

/** The number of orders that are neither delivered, nor refunded, nor proven unpaid. */
export async function countOpen(databaseUrl: string): Promise<number> {
  const [row] = await query(
    databaseUrl,
    `select count(*)::int as open from orders
      where state not in ('FULFILLED', 'PAYMENT_FAILED') and refund_state is distinct from 'REFUNDED'`,
  )
  return row.open
}

/** All transfers of USDC. The log just before a transfer has the nonce of its authorization. */
async function transfersOf({ rpcUrl, usdc }: Parts['chain']): Promise<readonly Transfer[]> {
  const client = chainClient(rpcUrl, 60_000)
  const logs = await client.getLogs({
    address: usdc as Address,
    events: token,
    fromBlock: 0n,
    toBlock: 'latest',
    strict: true,
  })
  return logs.flatMap((log, index) => {
    if (log.eventName !== 'Transfer') return []
    const before = logs[index - 1]
    const isUse =
      before?.eventName === 'AuthorizationUsed' &&
      before.transactionHash === log.transactionHash &&
      before.args.authorizer === log.args.from
    return {
      transaction: log.transactionHash,
      from: log.args.from.toLowerCase(),
      to: log.args.to.toLowerCase(),
      value: log.args.value,
      nonce: isUse ? before.args.nonce.toLowerCase() : undefined,
    }
  })
}

async function ledgerOf({ url, apiKey }: Parts['supplier']): Promise<readonly Supplied[]> {
  const response = await fetch(new URL('/_admin/ledger', url), {
    headers: { authorization: `Bearer ${apiKey}` },
  })
  if (!response.ok) throw new Error(`The supplier's ledger answered ${response.status}.`)
  const { purchases } = (await response.json()) as { purchases: readonly Supplied[] }
  return purchases
}

async function ordersIn(databaseUrl: string): Promise<readonly OrderRow[]> {
  const rows = await query(
    databaseUrl,
    `select id, state, refund_state as "refundState", payer, amount::text as amount,
        transaction_hash as transaction,
        refund_transaction_hash as "refundTransaction", doc -> 'supply' ->> 'state' as supply,
        (select coalesce(array_agg(
            to_char(at at time zone 'utc', 'HH24:MI:SS.MS') || ' ' || concat_ws(' ', state, payout_state)
            order by seq), '{}')
          from order_events where order_id = id) as events
      from orders order by placed_at`,
  )
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
}
