import type { Material } from './draft.ts'

export const material: Material = {
  host: '127.0.0.1:1',
  unpaid: { voucher: { a: 1 }, topup: { a: 2 }, esim: { a: 3 } },
  paid: {
    kind: 'voucher',
    body: {},
    payment: {},
    orderId: 'ord_1',
    paymentId: 'pay_1',
    transactionHash: '0x',
  },
  signIn: { domain: 'x' },
  webhook: { header: 'x-hook', value: 'secret' },
}
