import { expect, test } from 'vitest'
import { topup } from '../../../test/fixtures/offers.ts'
import { newX402Payment } from '../../../test/fixtures/sample-orders.ts'
import type { BuyingDeps } from '../../api/operation.ts'
import { goods } from '../../catalog/kinds.ts'
import { kinds } from '../../catalog/offer.ts'
import { type Fields, fieldsOfEveryPurchase, wordingOf } from '../../catalog/purchase-body.ts'
import { usdc } from '../../lib/money.ts'
import { card, plan, purchaseWorld, refusalOf } from '../../orders/purchase.fixture.ts'
import { requireApproval } from '../../orders/spending-limits/rules.ts'
import { read, website } from '../frame/website.fixture.ts'

const offers = { voucher: card, topup: topup('TOP'), esim: plan }
const ours = kinds.flatMap((kind) =>
  ['offerId', 'value', ...fieldsOfEveryPurchase, ...Object.keys(goods[kind].recipient.shape)].map(
    (name) => [kind, name] as const,
  ),
)

/** What a person reads who is asked to approve this. */
async function pageFor(
  kind: (typeof kinds)[number],
  fields: Fields,
  { payer = `0x${'a'.repeat(40)}`, most = usdc(25_000_000n) } = {},
): Promise<string> {
  const { deps } = purchaseWorld()
  const request = { kind, fields, payment: undefined, viewer: {} }
  const lineItem = { recipient: {}, value: undefined, most } as never
  const priced = { offer: offers[kind], lineItem, amount: usdc(20_000_000n) }
  const payment = { ...newX402Payment(), payer }
  const question = { request, priced, payment, above: usdc(0n) }
  const { details } = await refusalOf(requireApproval(deps, question))
  const [address = '', token = ''] = String(details.extra?.['approvalUrl']).split('#')
  const { post } = website({ buying: { purchases: deps } as BuyingDeps })
  const page = await post(address, { token })
  expect(page.statusCode).toBe(200)
  return read(page.body)
}

test.each(ours)(
  'an approval of a %s shows its %s exactly if it is bound to it',
  async (kind, name) => {
    const fieldsWith = (value: string): Fields => ({ offerId: '0', [name]: value })
    const [one, other] = [fieldsWith('1'), fieldsWith('2')]
    const page = await pageFor(kind, one)
    expect(await pageFor(kind, one)).toBe(page)
    const isBound = wordingOf(kind, one) !== wordingOf(kind, other)
    expect((await pageFor(kind, other)) !== page).toBe(isBound)
    // The two that say how it is bought, and not what.
    expect(isBound).toBe(!['maxUsdc', 'confirmAnother'].includes(name))
  },
)

test('an approval shows the most that it may cost', async () => {
  const pages = [25_000_000n, 26_000_000n].map((most) =>
    pageFor('voucher', {}, { most: usdc(most) }),
  )
  const [one = '', other = ''] = await Promise.all(pages)
  expect([one, other].map((page) => /Costs at most ([\d.]+) USDC/.exec(page)?.[1])).toEqual([
    '25.00',
    '26.00',
  ])
})

test('an approval names its payer, and opens for nothing but its token', async () => {
  const fields = { offerId: '0' }
  const other = `0x${'b'.repeat(40)}`
  expect(await pageFor('voucher', fields, { payer: other })).toContain(other)
  const { get, post } = website({ buying: { purchases: purchaseWorld().deps } as BuyingDeps })
  expect((await get('/approve')).body).toContain('Filled in from the link')
  expect((await post('/approve', { token: 'apr_1' })).statusCode).toBe(404)
})
