import { expect, it } from 'vitest'
import { Delivery } from '../../catalog/good.ts'
import type { EsimDelivery } from '../../catalog/kinds/esim.ts'
import { chargeOf, deliveryOf, shownOf } from './deliveries.ts'

const receipt = {
  accountId: '',
  confirmationNumber: 'C-1',
  currency: 'USD',
  currencyDivisor: 100,
  deliveryType: 'EPIN',
  epin: 'ABCD-EFGH',
  expiresAt: '2027-01-01T00:00:00Z',
  instructions: 'Enter it.',
  notes: '',
  recipientCustomerServiceNumber: '',
  redemptionUrl: 'https://redeem.example/ABCD',
  send: 1000,
  senderCustomerServiceNumber: '',
  terms: 'No cash.',
  voucherId: '',
}

function voucher(changes: object) {
  const delivery = deliveryOf('voucher', { receipt: { ...receipt, ...changes } })
  return delivery === undefined ? undefined : Delivery.parse(delivery)
}

it('hands a voucher over', () => {
  expect(voucher({})).toEqual({
    kind: 'voucher',
    code: 'ABCD-EFGH',
    redemptionUrl: 'https://redeem.example/ABCD',
    instructions: 'Enter it.',
    terms: 'No cash.',
    expiresAt: '2027-01-01T00:00:00Z',
    confirmationNumber: 'C-1',
  })
})

it('takes the voucher id for the code where there is no pin', () => {
  const delivery = voucher({ epin: '', voucherId: 'V-9' })
  expect(delivery).toMatchObject({ code: 'V-9', instructions: 'Enter it.' })
})

it('passes further numbers on by their own names', () => {
  expect(voucher({ voucherId: 'V-9', accountId: 'A-7', notes: 'Hurry.' })).toMatchObject({
    code: 'ABCD-EFGH',
    instructions: 'Enter it.\nHurry.\nVoucher ID: V-9\nAccount ID: A-7',
  })
  expect(voucher({ voucherId: 'ABCD-EFGH' })).toMatchObject({ instructions: 'Enter it.' })
})

it('leaves out the year one, which means no time', () => {
  expect(voucher({ expiresAt: '0001-01-01T00:00:00Z' })).not.toHaveProperty('expiresAt')
})

it('finds the confirmation number beside the receipt too', () => {
  const record = {
    receipt: { ...receipt, confirmationNumber: '' },
    confirmation: { confirmationNumber: 'C-2' },
  }
  expect(deliveryOf('voucher', record)).toMatchObject({ confirmationNumber: 'C-2' })
})

it('keeps the value of the card as the supplier reports it', () => {
  const sent = { send: 2_150, sendCurrency: 'EUR', sendCurrencyDivisor: 100 }
  const credited = { amount: 2_150, currency: 'EUR', currencyDivisor: 100 }
  expect(deliveryOf('voucher', { receipt, ...sent })).toMatchObject({ credited })
  expect(deliveryOf('voucher', { receipt, ...sent, send: 0 })).not.toHaveProperty('credited')
})

it('has delivered nothing without something to redeem', () => {
  expect(deliveryOf('voucher', {})).toBeUndefined()
  expect(voucher({ epin: ' ', redemptionUrl: '' })).toBeUndefined()
  expect(voucher({ epin: '' })).toMatchObject({ redemptionUrl: 'https://redeem.example/ABCD' })
  expect(voucher({ epin: '' })).not.toHaveProperty('code')
})

it('has delivered a voucher that went by e-mail, and says so', () => {
  expect(voucher({ epin: '', redemptionUrl: '', deliveryType: 'EMAIL' })).toMatchObject({
    confirmationNumber: 'C-1',
    instructions: expect.stringMatching(/sent this voucher by e-mail.*\nEnter it\./),
  })
})

it('shows what there is of a voucher without a code, and nothing of other kinds', () => {
  const record = { receipt: { ...receipt, epin: '', redemptionUrl: '' } }
  const shown = Delivery.parse(shownOf('voucher', record))
  expect(shown).toMatchObject({ confirmationNumber: 'C-1', terms: 'No cash.' })
  expect(shown).toMatchObject({
    instructions: expect.stringContaining('neither a code nor a link'),
  })
  expect(Delivery.parse(shownOf('voucher', {}))).toHaveProperty('instructions')
  expect(shownOf('esim', {})).toBeUndefined()
})

it.each([
  [{ cost: 945, costCurrency: 'USD', costCurrencyDivisor: 100 }, true],
  [{ cost: 945, costCurrency: 'USD' }, false],
  [{ cost: 9.45, costCurrency: 'USD', costCurrencyDivisor: 100 }, false],
])('knows what a purchase has cost: %j', (record, isKnown) => {
  const charge = { amount: 945, currency: 'USD', divisor: 100 }
  expect(chargeOf(record)).toEqual(isKnown ? charge : undefined)
})

it('never cuts a code, and cuts what is only words', () => {
  const long = 'x'.repeat(20_001)
  expect(voucher({ epin: long, redemptionUrl: '' })).toBeUndefined()
  expect(voucher({ terms: long })?.kind).toBe('voucher')
})

const topup = {
  recipientPhoneNumber: '+50231234567',
  confirmation: { confirmationNumber: 'T-1', externalReferenceId: '', transactionTime: '' },
  send: 7660,
  sendCurrency: 'GTQ',
  sendCurrencyDivisor: 100,
}

it('hands a topup over', () => {
  expect(Delivery.parse(deliveryOf('topup', topup))).toEqual({
    kind: 'topup',
    confirmationNumber: 'T-1',
    credited: { amount: 7660, currency: 'GTQ', currencyDivisor: 100 },
  })
})

it('names no credited amount where a bundle has none', () => {
  expect(deliveryOf('topup', { ...topup, send: 0 })).not.toHaveProperty('credited')
})

it('takes a topup that is done for credited, confirmed or not', () => {
  expect(deliveryOf('topup', { ...topup, confirmation: undefined })).toEqual({
    kind: 'topup',
    credited: { amount: 7660, currency: 'GTQ', currencyDivisor: 100 },
  })
})

const confirmation = {
  activationCode: 'K2-1ABCDE-XYZ',
  externalReferenceId: '',
  iccid: '8901260862291230917F',
  redemptionInstructions: 'Scan it.',
  smdpAddress: 'smdp.example',
}

it('hands an eSIM over', () => {
  expect(Delivery.parse(deliveryOf('esim', { confirmation }))).toEqual({
    kind: 'esim',
    iccid: '8901260862291230917',
    smdpAddress: 'smdp.example',
    activationCode: 'K2-1ABCDE-XYZ',
    instructions: 'Scan it.',
  })
})

it.each([
  ['LPA:1$smdp.example$K2-1', 'smdp.example', 'K2-1', 'LPA:1$smdp.example$K2-1'],
  ['1$smdp.example$K2-1', 'smdp.example', 'K2-1', 'LPA:1$smdp.example$K2-1'],
  ['lpa:1$other.host$K2-1$1.3.6.1$1', 'other.host', 'K2-1', 'LPA:1$other.host$K2-1$1.3.6.1$1'],
  ['LPA:1$smdp.example$', 'smdp.example', undefined, 'LPA:1$smdp.example$'],
  ['K2-1', 'smdp.example', 'K2-1', undefined],
])('gives the bare activation code of %s, and the whole text beside it', (text, ...parts) => {
  const record = { confirmation: { ...confirmation, activationCode: text } }
  const { smdpAddress, activationCode, lpa } = deliveryOf('esim', record) as EsimDelivery
  expect([smdpAddress, activationCode, lpa]).toEqual(parts)
})

it('hands an added plan over, which may have nothing to install', () => {
  const added = { ...confirmation, activationCode: '', smdpAddress: '' }
  expect(deliveryOf('esim', { confirmation: added })).toEqual({
    kind: 'esim',
    iccid: '8901260862291230917',
    instructions: 'Scan it.',
  })
  expect(deliveryOf('esim', { confirmation: { ...added, iccid: '' } })).toBeUndefined()
  expect(deliveryOf('esim', {})).toBeUndefined()
})
