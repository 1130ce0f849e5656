import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Invoice } from '../../src/checkouts/checkout.ts'
import { seenUnits, settledUnits } from '../../src/checkouts/checkout.ts'
import type { CoinPayout, Processor, WantedInvoice } from '../../src/checkouts/ports.ts'
import type { CheckoutId, OrderId } from '../../src/lib/ids.ts'
import { usdc } from '../../src/lib/money.ts'
import type { Coin } from '../../src/payments/coins.ts'
import type { PaidBack } from '../../src/payments/ports.ts'

/** A processor with its surroundings: buyers, chains, and a network that loses calls and answers. */
export interface ProcessorWorld {
  readonly processor: Processor
  /** A payment to the address of an invoice; by default confirmed. */
  pay(
    invoice: string,
    units: bigint,
    how?: { readonly late?: boolean; readonly confirmed?: boolean },
  ): unknown
  /** Confirms all payments that were seen. */
  confirm(invoice: string): unknown
  /** The time to pay is over. */
  expire(invoice: string): unknown
  /** The next call of this kind is carried out, and its answer is lost. */
  loseNext(call: 'open' | 'payOut'): unknown
  /** The next call of this kind never arrives. */
  dropNext(call: 'open' | 'read' | 'payOut'): unknown
  /** The number of invoices of a checkout. */
  invoicesOf(checkout: CheckoutId): Promise<number> | number
  /** Restores its database to the beginning, without any invoice or payout. */
  restore(): unknown
  /** The units of each payout sent to this address on the chain. */
  paidTo(address: string): Promise<readonly bigint[]> | readonly bigint[]
  /** An operator records a payout that was made by hand. */
  noteHand(reference: string, transaction: string): void
  /** A new address in this coin for a payout. */
  addressOf(coin: Coin): string
  close(): unknown
}

/** The contract of `Processor`. */
export function describeProcessor(name: string, start: () => Promise<ProcessorWorld>): void {
  describe(`the payment processor ${name}`, () => {
    let world: ProcessorWorld
    beforeAll(async () => {
      world = await start()
    })
    afterAll(async () => {
      await world.close()
    })

    describeInvoices(() => world)
    describePayouts(() => world)
  })
}

/** The network of each coin, the same for all processors under test. */
const networks: Readonly<Record<Coin, string>> = {
  BTC: 'Bitcoin',
  ETH: 'Ethereum',
  USDT: 'Tron',
  LTC: 'Litecoin',
  XMR: 'Monero',
}

function wanted(coin: Coin = 'BTC', atomic = 25_000_000n): WantedInvoice {
  const unique = randomBytes(13).toString('hex')
  return {
    checkout: `chk_${unique}` as CheckoutId,
    order: `ord_${unique}` as OrderId,
    amount: usdc(atomic),
    coin,
  }
}

function describeInvoices(world: () => ProcessorWorld): void {
  const opened = async (lineItem = wanted()): Promise<Invoice> => {
    const answer = await world().processor.open(lineItem)
    if (answer.outcome !== 'open') throw new Error(JSON.stringify(answer))
    return answer.invoice
  }
  const read = async ({ id }: Invoice, coin: Coin = 'BTC'): Promise<Invoice> => {
    const answer = await world().processor.read(id, coin)
    if (answer.outcome !== 'found') throw new Error(JSON.stringify(answer))
    return answer.invoice
  }

  test('names its coins and their networks', () => {
    const { methods } = world().processor
    expect(methods.map(({ coin }) => coin).sort()).toEqual(['BTC', 'ETH', 'LTC', 'USDT', 'XMR'])
    for (const { network } of methods) expect(network).toMatch(/^[A-Z]/)
  })

  test.each<Coin>(['BTC', 'ETH', 'USDT', 'LTC', 'XMR'])('opens an invoice in %s', async (coin) => {
    const invoice = await opened(wanted(coin))
    expect(invoice).toMatchObject({ status: 'NEW', payments: [] })
    expect(invoice.units).toBeGreaterThan(0n)
    expect(invoice.paymentLink).toContain(invoice.address)
    expect(Number(invoice.rate)).toBeGreaterThan(0)
    expect(invoice.expiresAt.getTime()).toBeGreaterThan(Date.now())
    expect(invoice.watchedUntil.getTime()).toBeGreaterThan(invoice.expiresAt.getTime())
    expect(await read(invoice, coin)).toEqual(invoice)
  })

  test('opens one invoice for a checkout, however often it is asked', async () => {
    const lineItem = wanted()
    const first = await opened(lineItem)
    expect(await opened(lineItem)).toEqual(first)
    expect(await world().invoicesOf(lineItem.checkout)).toBe(1)
  })

  test('only finds an invoice if it shall make none', async () => {
    const lineItem = { ...wanted(), onlyFinds: true }
    expect(await world().processor.open(lineItem)).toMatchObject({ outcome: 'refused' })
    expect(await world().invoicesOf(lineItem.checkout)).toBe(0)
    const first = await opened({ ...lineItem, onlyFinds: false })
    expect(await opened(lineItem)).toEqual(first)
  })

  test('makes another invoice where the address of the first is another’s', async () => {
    const lineItem = wanted('LTC')
    const first = await opened(lineItem)
    const isTaken = async (address: string) => address === first.address
    const second = await opened({ ...lineItem, isTaken })
    expect(second.address).not.toBe(first.address)
    expect(await opened({ ...lineItem, isTaken })).toEqual(second)
  })

  test('goes on past the addresses of others, and ends the invoices that were made for them', async () => {
    const lineItem = wanted('USDT')
    let left = 12
    const taken = new Set<string>()
    const isTaken = async (address: string) => {
      if (!taken.has(address) && left > 0) {
        left -= 1
        taken.add(address)
      }
      return taken.has(address)
    }
    const { processor } = world()
    expect(await processor.open({ ...lineItem, isTaken })).toEqual({ outcome: 'searching' })
    const answer = await processor.open({ ...lineItem, isTaken })
    expect(answer).toMatchObject({ outcome: 'open', hasOthers: true })
    if (answer.outcome !== 'open') return
    const { invoice } = answer
    expect(taken).not.toContain(invoice.address)

    const end = () => processor.endOthers(lineItem.checkout, invoice.id)
    expect((await end()) || (await end())).toBe(true)
    expect(await processor.open(lineItem)).toEqual({ outcome: 'open', invoice, hasOthers: false })
    expect((await read(invoice, 'USDT')).status).toBe('NEW')
  })

  test('finds the invoice again whose making was never heard of', async () => {
    const lineItem = wanted('LTC')
    await world().loseNext('open')
    await world().processor.open(lineItem)
    const invoice = await opened(lineItem)
    expect(await read(invoice, 'LTC')).toEqual(invoice)
    expect(await world().invoicesOf(lineItem.checkout)).toBe(1)
  })

  test('knows nothing when nobody answers, and opens it afterwards', async () => {
    const lineItem = wanted()
    await world().dropNext('open')
    expect(await world().processor.open(lineItem)).toMatchObject({ outcome: 'unknown' })
    await opened(lineItem)
    expect(await world().invoicesOf(lineItem.checkout)).toBe(1)
  })

  test('knows nothing of an invoice that it cannot read', async () => {
    const invoice = await opened()
    expect(await world().processor.read('NoSuchInvoice', 'BTC')).toMatchObject({
      outcome: 'unknown',
    })
    await world().dropNext('read')
    expect(await world().processor.read(invoice.id, 'BTC')).toMatchObject({ outcome: 'unknown' })
  })

  test('says that an invoice is gone which it has forgotten, and of no other', async () => {
    const invoice = await opened()
    await world().pay(invoice.id, invoice.units)
    await world().restore()
    const gone = { outcome: 'unknown', isGone: true }
    expect(await world().processor.read(invoice.id, 'BTC')).toMatchObject(gone)
    await world().dropNext('read')
    expect(await world().processor.read(invoice.id, 'BTC')).not.toHaveProperty('isGone')
    expect(await read(await opened())).toMatchObject({ status: 'NEW' })
  })

  test('sees money come, and settles when all of it is confirmed', async () => {
    const invoice = await opened()
    await world().pay(invoice.id, invoice.units, { confirmed: false })
    const seen = await read(invoice)
    expect(seen.status).toBe('PROCESSING')
    expect([seenUnits(seen), settledUnits(seen)]).toEqual([invoice.units, 0n])
    await world().confirm(invoice.id)
    const settled = await read(invoice)
    expect(settled.status).toBe('SETTLED')
    expect(settledUnits(settled)).toBe(invoice.units)
    const [payment] = settled.payments
    expect(payment?.transaction).not.toBe('')
    expect(payment?.receivedAt.getTime()).toBeLessThanOrEqual(settled.expiresAt.getTime())
  })

  test('takes parts, and does not settle for less', async () => {
    const invoice = await opened(wanted('XMR'))
    await world().pay(invoice.id, invoice.units - 1n)
    const partly = await read(invoice, 'XMR')
    expect(partly.status).toBe('NEW')
    expect(settledUnits(partly)).toBe(invoice.units - 1n)
    await world().expire(invoice.id)
    const over = await read(invoice, 'XMR')
    expect(over.status).toBe('EXPIRED')
    expect(settledUnits(over)).toBe(invoice.units - 1n)
  })

  test('tells of more money than was asked for', async () => {
    const invoice = await opened(wanted('ETH'))
    await world().pay(invoice.id, invoice.units * 2n)
    const paid = await read(invoice, 'ETH')
    expect(paid.status).toBe('SETTLED')
    expect(settledUnits(paid)).toBe(invoice.units * 2n)
  })

  test('does not settle for money that comes late', async () => {
    const invoice = await opened()
    await world().expire(invoice.id)
    await world().pay(invoice.id, invoice.units, { late: true })
    const late = await read(invoice)
    expect(late.status).toBe('EXPIRED')
    expect(settledUnits(late)).toBe(invoice.units)
  })
}

function describePayouts(world: () => ProcessorWorld): void {
  const payoutOf = (coin: Coin = 'BTC', units = 120_000n): CoinPayout => ({
    reference: `ref_${randomBytes(13).toString('hex')}-1`,
    coin,
    network: networks[coin],
    to: world().addressOf(coin),
    units,
  })
  /** Repeats the call while the payout is pending, as the store does. */
  const done = async (payout: CoinPayout): Promise<PaidBack> => {
    for (;;) {
      const answer = await world().processor.payOut(payout)
      if (answer.outcome !== 'pending') return answer
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  test('says of each coin whether it sends it by itself', () => {
    const all: readonly Coin[] = ['BTC', 'ETH', 'USDT', 'LTC', 'XMR']
    expect(all.filter((coin) => world().processor.sends(coin))).toEqual(['BTC', 'ETH', 'LTC'])
  })

  test.each<readonly [Coin, bigint]>([
    ['BTC', 120_000n],
    ['LTC', 31_250_001n],
    ['ETH', 7_812_500_000_000_001n],
  ])('pays out in %s, to the last unit', async (coin, units) => {
    const payout = payoutOf(coin, units)
    const paid = await done(payout)
    expect(paid).toEqual({ outcome: 'paid', transaction: expect.stringMatching(/./) })
    expect(await world().paidTo(payout.to)).toEqual([units])
    expect(await done(payout)).toEqual(paid)
    expect(await world().paidTo(payout.to)).toEqual([units])
  })

  test('pays two references to two people', async () => {
    const [one, other] = [payoutOf(), payoutOf()]
    await Promise.all([done(one), done(other)])
    expect(await world().paidTo(one.to)).toEqual([one.units])
    expect(await world().paidTo(other.to)).toEqual([other.units])
  })

  test('pays once when every answer is lost on the way', async () => {
    const payout = payoutOf('LTC', 500_000n)
    for (let round = 0; round < 4; round += 1) {
      await world().loseNext('payOut')
      await world().processor.payOut(payout)
    }
    expect(await done(payout)).toMatchObject({ outcome: 'paid' })
    expect(await world().paidTo(payout.to)).toEqual([payout.units])
  })

  test('pays nothing again that it has paid and forgotten: an operator decides', async () => {
    const payout = payoutOf('LTC', 700_000n)
    expect(await done(payout)).toMatchObject({ outcome: 'paid' })
    await world().restore()
    for (let round = 0; round < 3; round += 1) {
      expect(await world().processor.payOut(payout)).toMatchObject({
        outcome: 'blocked',
        code: 'payout_gone',
      })
    }
    expect(await world().paidTo(payout.to)).toEqual([payout.units])
    expect(await done(payoutOf())).toMatchObject({ outcome: 'paid' })
    const transaction = 'cd'.repeat(32)
    world().noteHand(payout.reference, transaction)
    expect(await world().processor.payOut(payout)).toEqual({ outcome: 'paid', transaction })
  })

  test('waits while nobody answers', async () => {
    const payout = payoutOf()
    await world().dropNext('payOut')
    expect(await world().processor.payOut(payout)).toMatchObject({ outcome: 'pending' })
    expect(await done(payout)).toMatchObject({ outcome: 'paid' })
  })

  test.each<Coin>(['XMR', 'USDT'])(
    'leaves %s to an operator, and takes the word of one',
    async (coin) => {
      const payout = payoutOf(coin, 40_000_000n)
      expect(await world().processor.payOut(payout)).toMatchObject({
        outcome: 'blocked',
        code: 'operator_pays',
      })
      const transaction = 'ab'.repeat(32)
      world().noteHand(payout.reference, transaction)
      expect(await world().processor.payOut(payout)).toEqual({ outcome: 'paid', transaction })
    },
  )

  test('pays nothing that an operator paid by hand', async () => {
    const payout = payoutOf()
    world().noteHand(payout.reference, 'by-hand')
    expect(await world().processor.payOut(payout)).toEqual({
      outcome: 'paid',
      transaction: 'by-hand',
    })
    expect(await world().paidTo(payout.to)).toEqual([])
  })
}
