import { type Address, parseAbi } from 'viem'
import * as z from 'zod'
import { chainClient } from '../sandbox/chain/rpc.ts'
import { storeAt } from '../sandbox/demo/store.ts'
import { parseUnits } from '../src/payments/coins.ts'
import { query } from '../test/harness/query.ts'
import type { OrderRow, Seen, Supplied, Transfer } from './audit.ts'
import { coin, type Parts } from './parts.ts'

const token = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

/** The facts of the chains, the supplier and the database, each read directly and not through the store. */
export async function collect(
  { chain, supplier, btcpay, database, refundWallet }: Parts,
  seen: readonly Seen[],
) {
  const [transfers, inCoin, supplied, orders] = await Promise.all([
    transfersOf(chain),
    coinTransfers(btcpay),
    ledgerOf(supplier),
    ordersIn(database.url),
  ])
  const payTo = chain.keys.payTo.toLowerCase()
  const payers = new Map(seen.flatMap(({ nonces, payer }) => nonces.map((nonce) => [nonce, payer])))
  const paid = inCoin.incoming.map((one) => ({ ...one, from: payers.get(one.to) ?? '' }))
  const unitsOf = new Map(paid.map(({ transaction, value }) => [transaction, value]))
  return {
    payments: [...transfers.filter(({ to }) => to === payTo), ...paid],
    refunds: [...transfers.filter(({ from }) => from === refundWallet), ...inCoin.outgoing],
    supplied,
    // The price of these is in USDC; what is owed is what came in.
    orders: orders.map((row) => ({
      ...row,
      amount: unitsOf.get(row.transaction ?? '') ?? row.amount,
    })),
  }
}

const Moves = z.array(z.object({ id: z.string(), amount: z.string(), address: z.string() }))
const Books = z.object({ [coin]: z.object({ incoming: Moves, outgoing: Moves }) })

/** What came in and went out on the chain of the coin. The address that a payment was sent to is its nonce. */
export async function coinTransfers({ url }: Pick<Parts['btcpay'], 'url'>) {
  const { body } = await storeAt(url).get('/sandbox/ledger', Books)
  const { incoming, outgoing } = body[coin]
  const transfer = ({ id, amount, address }: z.infer<typeof Moves>[number]): Transfer => ({
    ...{
      transaction: id,
      from: coin,
      to: address,
      value: parseUnits(amount, coin),
      nonce: address,
    },
  })
  return { incoming: incoming.map(transfer), outgoing: outgoing.map(transfer) }
}

export const isInCoin = ({ transaction }: Transfer) => !transaction.startsWith('0x')

/** The number of orders and paid checkouts that are neither delivered, nor refunded, nor proven unpaid. */
export async function countOpen(databaseUrl: string): Promise<number> {
  const [row] = await query(
    databaseUrl,
    `select (select count(*) from orders
        where state not in ('FULFILLED', 'PAYMENT_FAILED') and refund_state is distinct from 'REFUNDED')::int
      + (select count(*) from checkouts
        where settled > 0 and not coalesce(is_placed, returned = settled))::int as open`,
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
    `select id, state, refund_state as "refundState", split_part(payer, ':', -1) as payer, amount::text as amount,
        transaction_hash as transaction,
        refund_transaction_hash as "refundTransaction", doc -> 'supply' ->> 'state' as supply,
        (select coalesce(array_agg(
            to_char(at at time zone 'utc', 'HH24:MI:SS.MS') || ' ' || concat_ws(' ', state, payout_state)
            order by seq), '{}')
          from order_events where order_id = id) as events
      from orders
    union all
      select id, replace(state, 'ENDED', 'EXPIRED'),
        case doc #>> '{returns,0,payout,state}' when 'CONFIRMED' then 'REFUNDED' else 'REFUND_PENDING' end,
        refund_to, '0', doc #>> '{invoice,payments,0,transaction}', doc #>> '{returns,0,payout,transaction}', null, '{}'
      from checkouts where settled > 0 and state <> 'ORDERED'`,
  )
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
}
