import type { OrderStore } from '../../orders/ports.ts'
import type { Payment } from '../../payments/payment.ts'
import type { Database } from './database.ts'
import { claimDue, hasten, type LeasedTable, release } from './leases.ts'
import { erasePersonal, forgetKeys, forgetNeverPaid } from './order-keeping.ts'
import {
  boughtIccid,
  findBy,
  findByKey,
  hasKey,
  listByPayer,
  orderColumns,
  type StoredOrder,
} from './order-reads.ts'
import { orderOf } from './order-row.ts'
import { move, open } from './order-writes.ts'
import { claimRefund } from './refund-claims.ts'
import { spentBudget } from './spent-budgets.ts'

const table: LeasedTable = { name: 'orders', columns: orderColumns }

const ofRail: Readonly<Record<Payment['rail'], LeasedTable>> = {
  x402: { ...table, only: "doc #>> '{tender,rail}' = 'x402'" },
  btcpay: { ...table, only: "doc #>> '{tender,rail}' = 'btcpay'" },
}

/** Keeps orders in PostgreSQL. Every method runs a few statements, each a transaction of its own. */
export function createOrderStore(database: Database): OrderStore {
  return {
    open: (order, keys, opened) => open(database, order, keys, opened),
    spentBudget: (subjects, rules, now, risk) =>
      spentBudget(database, { subjects, rules, now, risk }),
    move: (from, to) => move(database, from, to),
    release: (order, againInMs) => release(database, table, order, againInMs),
    hasten: (id) => hasten(database, table, 'id', id),
    claimDue: async (limit, rail) => {
      const due = rail === undefined ? table : ofRail[rail]
      return (await claimDue<StoredOrder>(database, due, limit)).map(orderOf)
    },
    find: (id) => findBy(database, 'id', id),
    findByPaymentId: (id) => findBy(database, 'paymentId', id),
    findByTransaction: (hash) => findBy(database, 'transaction', hash.toLowerCase()),
    findByPayment: (paymentKey) => findBy(database, 'paymentKey', paymentKey),
    findByKey: (payer, key) => findByKey(database, payer, key),
    hasKey: (id, keys) => hasKey(database, id, keys),
    listByPayer: (payer, page) => listByPayer(database, payer, page),
    boughtIccid: (payer, iccidDigest) => boughtIccid(database, payer, iccidDigest),
    claimRefund: (order, claim, rules) => claimRefund(database, order, claim, rules),
    erasePersonal: (endedBefore, signal) => erasePersonal(database, endedBefore, signal),
    forgetNeverPaid: (endedBefore, signal) =>
      forgetNeverPaid(database, 'forget_never_paid', endedBefore, signal),
    forgetKeys: (usedBefore, signal) => forgetKeys(database, usedBefore, signal),
  }
}
