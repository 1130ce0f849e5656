import type { OrderStore } from '../../orders/ports.ts'
import type { Database } from './database.ts'
import { claimRefund, erasePersonal, forgetKeys } from './order-keeping.ts'
import { claimDue, hasten, release } from './order-leases.ts'
import { boughtIccid, findBy, findByKey, hasKey, listByPayer } from './order-reads.ts'
import { move, open } from './order-writes.ts'

/** Keeps orders in PostgreSQL. Every method is one or a few statements, none holds a transaction. */
export function createOrderStore(database: Database): OrderStore {
  return {
    open: (order, keys, recipient) => open(database, order, keys, recipient),
    move: (from, to) => move(database, from, to),
    release: (order, againInMs) => release(database, order, againInMs),
    hasten: (id) => hasten(database, id),
    claimDue: (limit) => claimDue(database, limit),
    find: (id) => findBy(database, 'id', id),
    findByPaymentId: (id) => findBy(database, 'paymentId', id),
    findByTransaction: (hash) => findBy(database, 'transaction', hash.toLowerCase()),
    findByPayment: (paymentKey) => findBy(database, 'paymentKey', paymentKey),
    findByKey: (payer, key) => findByKey(database, payer, key),
    hasKey: (id, keys) => hasKey(database, id, keys),
    listByPayer: (payer, page) => listByPayer(database, payer, page),
    boughtIccid: (payer, iccidDigest) => boughtIccid(database, payer, iccidDigest),
    claimRefund: (id, key, bodyHash) => claimRefund(database, id, key, bodyHash),
    erasePersonal: (endedBefore) => erasePersonal(database, endedBefore),
    forgetKeys: (usedBefore) => forgetKeys(database, usedBefore),
  }
}
