import { verifyTypedData } from 'viem'
import { describe, expect, test } from 'vitest'
import { usdc } from '../../../lib/money.ts'
import { networks } from '../../../payments/networks.ts'
import { accept, PaymentPayload } from '../../../payments/terms.ts'
import { pay, resume } from './paying.ts'
import { typedData } from './terms.ts'
import {
  account,
  answering,
  asked,
  demanding,
  fakeWallet,
  lineItem,
  ordered,
  page,
  type Sent,
  settings,
  storeTime,
} from './wallet.fixture.ts'

const signed = 'eth_signTypedData_v4'
const no = { code: 4001, message: 'User rejected the request.' }

function paymentIn({ headers }: Sent) {
  return JSON.parse(Buffer.from(headers['payment-signature'] ?? '', 'base64').toString())
}

describe('paying from a wallet', () => {
  test('signs what the page said, once, and sends it as the store takes it', async () => {
    const { deps, sent, shown } = page([demanding(), ordered()])
    const { wallet, calls } = fakeWallet()
    expect(await pay(deps, wallet, lineItem)).toEqual({
      type: 'paid',
      orderId: 'ord_1',
      accessToken: 'kat_1',
      key: sent[1]?.headers['idempotency-key'],
    })
    expect(calls).toEqual(['eth_requestAccounts', 'eth_chainId', 'eth_call', signed])
    expect(shown).toEqual(['checking', 'connecting', 'balance', 'signing', 'paying'])
    const [first, second] = sent
    expect(first?.headers['payment-signature']).toBeUndefined()
    expect([first?.body, second?.body]).toEqual([lineItem.fields, lineItem.fields])
    expect(second?.headers['idempotency-key']).toMatch(/^[A-Za-z0-9_-]{16,128}$/)

    const sentPayment = paymentIn(second as Sent)
    expect(sentPayment.resource.description).toBe('Käse')
    expect(sentPayment.extensions).toEqual({ 'payment-identifier': { info: {} } })
    const payment = PaymentPayload.parse(sentPayment)
    expect(payment.accepted).toEqual(asked)
    const payee = { network: networks['base-sepolia'], payTo: settings.payTo }
    expect(accept(payment, usdc(25_000_000n), payee, storeTime).type).not.toBe('mismatch')
    const { signature, authorization } = sentPayment.payload
    expect(authorization.validBefore).toBe(String(storeTime.getTime() / 1_000 + 300))
    const data = typedData(settings, authorization)
    expect(await verifyTypedData({ address: account.address, ...data, signature } as never)).toBe(
      true,
    )
    expect(deps.saved.find()).toBeUndefined()
  })

  test.each([
    ['payTo', { payTo: '0x2222222222222222222222222222222222222222' }],
    ['asset', { asset: '0x2222222222222222222222222222222222222222' }],
    ['network', { network: 'eip155:1' }],
    ['scheme', { scheme: 'upto' }],
    ['name of the coin', { extra: { name: 'USD Coin', version: '2' } }],
    ['amount that is none', { amount: '-1' }],
    ['amount of nothing', { amount: '0' }],
    ['time without end', { maxTimeoutSeconds: 1e9 }],
  ])('signs nothing when the store asks for another %s', async (_, changes) => {
    const { deps } = page([demanding(changes)])
    const { wallet, calls } = fakeWallet()
    expect(await pay(deps, wallet, lineItem)).toMatchObject({ code: 'mismatch' })
    expect(calls).toEqual([])
  })

  test('signs nothing where the browser keeps nothing', async () => {
    const full = () => {
      throw new DOMException('full', 'QuotaExceededError')
    }
    const { deps, sent } = page([demanding(), ordered()], full)
    const { wallet, calls } = fakeWallet()
    expect(await pay(deps, wallet, lineItem)).toEqual({ type: 'failed', code: 'notKept' })
    expect([calls, sent]).toEqual([[], []])
  })

  test('tells a higher price first, and pays it when it is agreed to', async () => {
    const dearer = { amount: '26000000' }
    const { deps } = page([demanding(dearer), demanding(dearer), ordered()])
    const { wallet, calls } = fakeWallet()
    const told = await pay(deps, wallet, lineItem)
    expect(told).toMatchObject({ code: 'dearer', values: { amount: '26.00' }, amount: 26_000_000n })
    expect(calls).toEqual([])
    expect(await pay(deps, wallet, { ...lineItem, most: 26_000_000n })).toMatchObject({
      type: 'paid',
    })
  })

  test.each([
    ['eth_requestAccounts', no, 'connectRejected'],
    ['eth_requestAccounts', { code: -32_002, message: 'Already processing' }, 'connectPending'],
    [signed, no, 'signRejected'],
    [signed, { code: -32_603, message: 'User denied message signature' }, 'signRejected'],
    [signed, { code: -32_000, message: 'The device is locked.' }, 'walletBroken'],
  ])('when %s fails with %o says so', async (method, fault, code) => {
    const { deps, sent } = page([demanding()])
    const { wallet } = fakeWallet({ faults: { [method]: fault } })
    expect(await pay(deps, wallet, lineItem)).toMatchObject({ type: 'failed', code })
    expect(sent).toHaveLength(1)
    expect(deps.saved.find()).toBeUndefined()
  })

  test('changes the network, and adds it where the wallet does not know it', async () => {
    const { deps, shown } = page([demanding(), ordered()])
    const unknown = { wallet_switchEthereumChain: { code: 4902, message: 'Unrecognized chain' } }
    const { wallet, calls } = fakeWallet({ chainId: 1, faults: unknown })
    expect(await pay(deps, wallet, lineItem)).toMatchObject({ type: 'paid' })
    expect(calls.slice(1, 5)).toEqual([
      'eth_chainId',
      'wallet_switchEthereumChain',
      'wallet_addEthereumChain',
      'eth_chainId',
    ])
    expect(shown).toContain('switching')
  })

  test('signs on no other network', async () => {
    const { deps } = page([demanding()])
    const { wallet, calls } = fakeWallet({ chainId: 1, faults: { wallet_switchEthereumChain: no } })
    expect(await pay(deps, wallet, lineItem)).toMatchObject({ code: 'wrongNetwork' })
    expect(calls).not.toContain(signed)
  })

  test('does not ask for a signature that the balance cannot carry', async () => {
    const { deps } = page([demanding()])
    const { wallet, calls } = fakeWallet({ balance: 24_999_999n })
    expect(await pay(deps, wallet, lineItem)).toMatchObject({
      code: 'noBalance',
      values: { balance: '24.999999', amount: '25.00' },
    })
    expect(calls).not.toContain(signed)
  })

  test('asks for the price again when opening the wallet took too long', async () => {
    const { deps, clock, sent } = page([demanding(), demanding({ amount: '26000000' })])
    const { wallet, calls } = fakeWallet()
    const connect = () => {
      clock.ms += 250_000
      return wallet.connect()
    }
    const slow = { ...wallet, connect }
    expect(await pay(deps, slow, lineItem)).toMatchObject({ code: 'dearer' })
    expect([sent.length, calls.includes(signed)]).toEqual([2, false])
  })
})

describe('a signed payment', () => {
  test('is sent again, the very same, until its fate is known', async () => {
    const unknown = answering(503, { code: 'try_again', charged: 'unknown', retryAfterSeconds: 5 })
    const { deps, sent, shown } = page([demanding(), 'lost', unknown, ordered()])
    const { wallet, calls } = fakeWallet()
    expect(await pay(deps, wallet, lineItem)).toMatchObject({ type: 'paid', orderId: 'ord_1' })
    expect(shown.slice(-2)).toEqual(['retrying', 'retrying'])
    const payments = sent.slice(1)
    expect(payments).toHaveLength(3)
    expect(new Set(payments.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(calls.filter((method) => method === signed)).toHaveLength(1)
  })

  test('is kept while nobody answers, and no other is signed before', async () => {
    const { deps, sent, answers } = page([demanding()])
    const { wallet, calls } = fakeWallet()
    expect(await pay(deps, wallet, lineItem)).toEqual({ type: 'failed', code: 'unknown' })
    const kept = deps.saved.find()
    expect(kept).toMatchObject({ body: JSON.stringify(lineItem.fields) })
    // Even with another form, the first payment has to end first.
    answers.push(answering(202, { orderId: 'ord_1' }))
    const other = { ...lineItem, fields: { ...lineItem.fields, firstName: 'Grace' } }
    expect(await pay(deps, wallet, other)).toMatchObject({ type: 'paid', accessToken: undefined })
    expect(sent.at(-1)?.headers['payment-signature']).toBe(kept?.header)
    expect(calls.filter((method) => method === signed)).toHaveLength(1)
    expect(deps.saved.find()).toBeUndefined()
  })

  test('that another tab has signed meanwhile is the only one that is sent', async () => {
    const { deps, sent, answers } = page([demanding()])
    await pay(deps, fakeWallet().wallet, lineItem)
    const first = deps.saved.find()
    const before = sent.length
    // This tab checked before the other one had signed.
    let looks = 0
    const late = { ...deps.saved, find: () => (looks++ === 0 ? undefined : deps.saved.find()) }
    answers.push(demanding(), answering(200, { orderId: 'ord_1' }))
    const ended = await pay({ ...deps, saved: late }, fakeWallet().wallet, lineItem)
    expect(ended).toMatchObject({ type: 'paid', orderId: 'ord_1' })
    expect(sent.slice(before).map(({ headers }) => headers['payment-signature'])).toEqual([
      undefined,
      first?.header,
    ])
    expect(deps.saved.find()).toBeUndefined()
  })

  test('is gone on with after the page was loaded again', async () => {
    const { deps, answers, shown } = page([demanding()])
    await pay(deps, fakeWallet().wallet, lineItem)
    answers.push(ordered())
    shown.length = 0
    expect(await resume(deps)).toMatchObject({ type: 'paid' })
    expect(shown).toEqual(['resuming'])
  })

  test.each([
    [demanding({}, 'The payer has not enough USDC.'), 'refused'],
    [answering(422, { code: 'invalid_body', charged: 'no' }), 'form'],
    [answering(403, { code: 'limit_exceeded', charged: 'no' }), 'limited'],
    [answering(409, { code: 'possible_duplicate', charged: 'no' }), 'toppedUp'],
    [answering(503, { code: 'store_paused', charged: 'no' }), 'paused'],
    [answering(409, { code: 'idempotency_conflict', charged: 'no', detail: 'Used.' }), 'refused'],
  ] as const)(
    'that was proven not to be taken may be followed by another',
    async (answer, code) => {
      const { deps, answers } = page([demanding(), answer])
      const { wallet, calls } = fakeWallet()
      expect(await pay(deps, wallet, lineItem)).toMatchObject({ type: 'failed', code })
      expect(deps.saved.find()).toBeUndefined()
      answers.push(demanding(), ordered())
      expect(await pay(deps, wallet, lineItem)).toMatchObject({ type: 'paid' })
      expect(calls.filter((method) => method === signed)).toHaveLength(2)
    },
  )

  test('whose first answer was lost is not given up because the store is busy now', async () => {
    const busy = () => answering(429, { code: 'rate_limited', charged: 'no' })
    const { deps } = page([demanding(), 'lost', busy(), busy(), busy(), busy(), busy(), busy()])
    expect(await pay(deps, fakeWallet().wallet, lineItem)).toMatchObject({ code: 'unknown' })
    expect(deps.saved.find()).toBeDefined()
  })

  test.each([
    answering(500, { code: 'internal_error', charged: 'unknown' }),
    answering(409, { code: 'payment_reused', charged: 'yes' }),
    new Response('<html>', { status: 502 }),
  ])('is not forgotten by an answer that does not say that nothing was charged', async (answer) => {
    const { deps } = page([demanding(), answer])
    expect(await pay(deps, fakeWallet().wallet, lineItem)).toMatchObject({ code: 'unknown' })
    expect(deps.saved.find()).toBeDefined()
  })

  test('has the same key for the same form, and another for another', async () => {
    const keyFor = async (changes: object) => {
      const { deps, sent } = page([demanding(), ordered()])
      await pay(deps, fakeWallet().wallet, { ...lineItem, ...changes })
      return sent[1]?.headers['idempotency-key']
    }
    const first = await keyFor({})
    expect(await keyFor({})).toBe(first)
    expect(await keyFor({ formKey: 'j'.repeat(22) })).not.toBe(first)
    expect(await keyFor({ fields: { ...lineItem.fields, lastName: 'Hopper' } })).not.toBe(first)
  })
})
