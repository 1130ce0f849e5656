import type { Demo, Outcome, Step } from '../demo.ts'
import { usdcText } from '../money.ts'
import { type Bought, buy, follow, goodsOf, tellPayment } from '../order.ts'
import { qrCode } from '../qr.ts'

const recipient = { firstName: 'Ada', lastName: 'Lovelace' }

export const fixedVoucher: Step = {
  name: 'buy_voucher',
  title: 'Buy a voucher with a fixed price',
  async run(demo) {
    const bought = await buy(demo, 'voucher', { offerId: 'TEST-VOUCHER-OK', ...recipient })
    return voucherOutcome(demo, await follow(demo, bought))
  },
}

export const openVoucher: Step = {
  name: 'buy_open_voucher',
  title: 'Buy a voucher of a value you choose (0.35 USD)',
  async run(demo) {
    const fields = { offerId: 'TEST-VOUCHER-OPEN', ...recipient, value: 0.35 }
    return voucherOutcome(demo, await follow(demo, await buy(demo, 'voucher', fields)))
  },
}

export const topup: Step = {
  name: 'buy_topup',
  title: 'Top up a phone',
  async run(demo) {
    const fields = { offerId: 'TEST-TOPUP-OK', msisdn: '+12015550123' }
    const bought = await follow(demo, await buy(demo, 'topup', fields))
    const { msisdn, confirmationNumber } = goodsOf(bought.order)
    demo.tell.fact('Credited', `${text(msisdn, 'msisdn')}, confirmation ${confirmationNumber}`)
    return delivered(demo, bought)
  },
}

export const esim: Step = {
  name: 'buy_esim',
  title: 'Buy an eSIM, and show the QR code that installs it',
  async run(demo) {
    const bought = await follow(demo, await buy(demo, 'esim', { offerId: 'TEST-ESIM-OK' }))
    const { iccid, lpa, qrPng, qrSvg, ...rest } = goodsOf(bought.order)
    if (!text(qrPng, 'qrPng').startsWith('data:image/png;base64,')) throw lacks('a PNG in qrPng')
    if (!text(qrSvg, 'qrSvg').includes('<svg')) throw lacks('an SVG in qrSvg')
    demo.tell.fact('ICCID', text(iccid, 'iccid'))
    demo.tell.fact('LPA', text(lpa, 'lpa'))
    demo.tell.block(await qrCode(text(lpa, 'lpa'), demo.tell.colours))
    // The report leaves out the pictures, which are long and repeat the lpa.
    return delivered(demo, bought, { iccid, lpa, ...rest })
  },
}

export const slowVoucher: Step = {
  name: 'buy_slow_voucher',
  title: 'Buy a voucher that takes 25 seconds, and poll its order',
  async run(demo) {
    demo.tell.note('the store waits 20 s for the supplier, then answers 202 and goes on by itself')
    const first = await buy(demo, 'voucher', { offerId: 'TEST-VOUCHER-SLOW', ...recipient })
    if (first.status === 202) {
      demo.tell.fact('Polls', `every ${first.retryAfterSeconds} s, with the order's access token`)
    }
    return voucherOutcome(demo, await follow(demo, first))
  },
}

function voucherOutcome(demo: Demo, bought: Bought): Outcome {
  const { code, redemptionUrl, expiresAt } = goodsOf(bought.order)
  demo.tell.fact('Code', text(code, 'code'))
  if (typeof redemptionUrl === 'string') demo.tell.fact('Redeem at', redemptionUrl)
  if (typeof expiresAt === 'string') demo.tell.fact('Expires', expiresAt)
  return delivered(demo, bought)
}

/** The outcome of a delivered purchase: the wallet paid, and nothing is refunded. */
function delivered({ tell }: Demo, bought: Bought, result = goodsOf(bought.order)): Outcome {
  tellPayment(tell, bought)
  const { order, paid, receipt, status, seconds, polls } = bought
  const [{ offerId }] = order.orders
  const { orderId, transactionHash } = order
  return {
    change: -paid,
    purchase: { offerId, orderId, state: 'FULFILLED', paid, refunded: 0n },
    data: {
      offerId,
      orderId,
      state: 'FULFILLED',
      firstStatus: status,
      firstSeconds: seconds,
      polls,
      paidUsdc: usdcText(paid),
      transactionHash,
      paymentResponse: receipt ?? null,
      result,
    },
  }
}

function text(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw lacks(name)
}

function lacks(what: string): Error {
  return new Error(`The delivered goods lack ${what}.`)
}
