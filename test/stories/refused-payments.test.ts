import { parseSignature } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import type { Accepts, SignOptions } from '../harness/payer.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { anybody, balanceOf, transactionsOf, usdcAbi } from './chain.ts'
import { ledgerOf, lifeOf, rowsKept } from './facts.ts'
import { expectNoInsides } from './reading.ts'
import { type Answer, bodyFor, post, purchasePath, termsOf } from './requests.ts'
import { useStore } from './store.ts'

const voucher = bodyFor('voucher', 'OK')

const store = useStore({})
let buyer: Buyer
let terms: Accepts

beforeAll(async () => {
  buyer = await newBuyer()
  terms = await termsOf(store.url, 'voucher', voucher)
})

const soon = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds

async function send(header: string): Promise<Answer> {
  return post(store.url, purchasePath('voucher'), voucher, { 'payment-signature': header })
}

async function everything() {
  return {
    rows: await rowsKept(store),
    bought: (await ledgerOf(store)).length,
    sent: await transactionsOf(store.parts, store.gasWallet),
    earned: await balanceOf(store.parts, store.payTo),
    balance: await buyer.balance(),
  }
}

/** The payment is refused with fresh terms and the reason, and nothing has happened. */
async function expectRefused(header: string, code: string, reason: RegExp): Promise<void> {
  const before = await everything()
  const answer = await send(header)
  expect(answer).toMatchObject({
    status: 402,
    body: { code, charged: 'no', error: expect.stringMatching(reason), x402Version: 2 },
  })
  const required = JSON.parse(
    Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString(),
  )
  expect(required).toMatchObject({ error: answer.body.error, accepts: [{ amount: '500000' }] })
  expect(answer.headers.get('payment-response')).toBeNull()
  expectNoInsides(JSON.stringify(answer.body))
  expect(await everything()).toEqual(before)
}

interface Mismatch {
  readonly what: string
  readonly accepts?: Partial<Accepts>
  readonly sign?: SignOptions
  readonly code?: string
  readonly reason: RegExp
}

const stranger = '0x00000000000000000000000000000000000000aa'
const mismatches: readonly Mismatch[] = [
  { what: 'a lower amount', accepts: { amount: '499999' }, reason: /amount is 499999/ },
  { what: 'a higher amount', accepts: { amount: '500001' }, reason: /amount is 500001/ },
  { what: 'dust', accepts: { amount: '1' }, reason: /amount is 1/ },
  { what: 'nothing', accepts: { amount: '0' }, reason: /amount is 0/ },
  { what: 'another value than it accepted', sign: { value: '499999' }, reason: /for 499999/ },
  { what: 'another recipient than it accepted', sign: { to: stranger }, reason: /pays 0x0+aa/i },
  { what: 'another store', accepts: { payTo: stranger }, reason: /payTo/ },
  { what: 'another network', accepts: { network: 'eip155:8453' }, reason: /network/ },
  { what: 'another coin', accepts: { asset: stranger }, reason: /asset/ },
  { what: 'another scheme', accepts: { scheme: 'upto' }, reason: /scheme/ },
  { what: 'another time limit', accepts: { maxTimeoutSeconds: 3_000 }, reason: /maxTimeout/ },
  { what: 'too short', sign: { validBefore: 0 }, code: 'expired', reason: /at least 30 s/ },
  {
    what: 'too long',
    sign: { validBefore: soon(7_200) },
    code: 'valid_too_long',
    reason: /at most 600 s/,
  },
]

test.each(mismatches)('a payment that is $what is not taken', async (mismatch) => {
  const { accepts, sign, code = 'payment_mismatch', reason } = mismatch
  const { header } = await buyer.sign({ ...terms, ...accepts }, sign)
  await expectRefused(header, code, reason)
})

test('a payment that ends in less than half a minute is not taken', async () => {
  const { header } = await buyer.sign(terms, { validBefore: soon(20) })
  await expectRefused(header, 'expired', /ends in \d+ s/)
})

test('a signature of somebody else, or of something else, is not taken', async () => {
  const other = await newBuyer()
  const mine = await buyer.sign(terms)
  const theirs = await other.sign(terms)
  const replaced = (signature: string) =>
    Buffer.from(
      JSON.stringify({
        x402Version: 2,
        accepted: terms,
        payload: { signature, authorization: mine.authorization },
      }),
    ).toString('base64')
  await expectRefused(replaced(theirs.signature), 'bad_signature', /signature/i)
  await expectRefused(replaced(`0x${'11'.repeat(65)}`), 'bad_signature', /signature/i)
  await expectRefused(replaced(mine.signature.slice(0, -2)), 'bad_signature', /signature/i)
})

test('a wallet that does not hold enough is told so', async () => {
  const poor = await newBuyer(499_999n)
  const { header } = await poor.sign(terms)
  await expectRefused(header, 'insufficient_balance', /enough USDC/)
})

test('an authorization that its payer cancelled is not taken', async () => {
  const { header, authorization } = await buyer.sign(terms)
  const { nonce } = authorization
  const signature = await buyer.account.signTypedData({
    domain: {
      name: 'USDC',
      version: '2',
      chainId: 84_532,
      verifyingContract: terms.asset as `0x${string}`,
    },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: buyer.address, nonce },
  })
  await asAnybody('cancelAuthorization', [buyer.address, nonce, signature])
  await expectRefused(header, 'nonce_used', /used or cancelled/)
})

test('an authorization that was spent on somebody else is not taken', async () => {
  const used = await buyer.sign(terms)
  const { nonce } = used.authorization
  const elsewhere = await buyer.sign(terms, { nonce, to: stranger, value: '1' })
  await submit(elsewhere)
  await expectRefused(used.header, 'nonce_used', /used or cancelled/)
})

test('after all of these, a good payment of the same terms is taken', async () => {
  const { header } = await buyer.sign(terms)
  expect(await send(header)).toMatchObject({ status: 200 })
})

test('a payment that somebody else submitted first is found and delivered', async () => {
  const payment = await buyer.sign(terms)
  const before = await everything()
  const hash = await submit(payment)
  const answer = await send(payment.header)
  expect(answer).toMatchObject({
    status: 200,
    body: { transactionHash: hash, orders: [{ state: 'FULFILLED' }] },
  })
  const after = await everything()
  expect(before.balance - after.balance).toBe(500_000n)
  expect(after.earned - before.earned).toBe(500_000n)
  expect((await lifeOf(store, answer.body.orderId)).states).toEqual([
    'PAYMENT_PENDING',
    'PAID',
    'FULFILLING',
    'FULFILLED',
  ])
  const again = await send(payment.header)
  expect(again.body).toMatchObject({ transactionHash: hash, state: 'FULFILLED' })
})

type Payment = Awaited<ReturnType<Buyer['sign']>>

/** Sends the authorization to the token, as anybody can who sees it. */
function submit({ authorization, signature }: Payment): Promise<`0x${string}`> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const { v, r, s } = parseSignature(signature)
  return asAnybody('transferWithAuthorization', [
    from,
    to,
    BigInt(value),
    BigInt(validAfter),
    BigInt(validBefore),
    nonce,
    Number(v),
    r,
    s,
  ])
}

async function asAnybody(
  functionName: 'cancelAuthorization' | 'transferWithAuthorization',
  args: readonly unknown[],
): Promise<`0x${string}`> {
  const { client, account } = await anybody(store.parts, generatePrivateKey())
  const address = terms.asset as `0x${string}`
  const call = { address, abi: usdcAbi, functionName, args: args as never, account } as const
  const hash = await client.writeContract(call as never)
  const { status } = await client.waitForTransactionReceipt({ hash })
  expect(status).toBe('success')
  return hash
}
