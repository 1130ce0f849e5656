import { expect, it } from 'vitest'
import type { EsimDelivery } from '../../catalog/kinds/esim.ts'
import { Delivery } from '../../catalog/offer.ts'
import { chargeOf, deliveryOf, partialOf } from './zendit.ts'

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

it.each<[string, object, object]>([
  [
    'the voucher id as its code where there is no pin',
    { epin: '', voucherId: 'V-9' },
    { code: 'V-9', instructions: 'Enter it.' },
  ],
  [
    'further numbers by their own names',
    { voucherId: 'V-9', accountId: 'A-7', notes: 'Hurry.' },
    {
      code: 'ABCD-EFGH',
      instructions: 'Enter it.\nHurry.\nVoucher ID: V-9\nAccount ID: A-7',
    },
  ],
  ['no code twice', { voucherId: 'ABCD-EFGH' }, { instructions: 'Enter it.' }],
  ['only a link', { epin: '' }, { redemptionUrl: 'https://redeem.example/ABCD' }],
  [
    'word that it went by e-mail',
    { epin: '', redemptionUrl: '', deliveryType: 'EMAIL' },
    {
      confirmationNumber: 'C-1',
      instructions: expect.stringMatching(/sent this voucher by e-mail.*\nEnter it\./),
    },
  ],
  ['too many words, cut,', { terms: 'x'.repeat(20_001) }, { code: 'ABCD-EFGH' }],
])('hands over a voucher with %s', (_, changes, expected) => {
  expect(voucher(changes)).toMatchObject(expected)
})

it('leaves out the year one, which means no time, and a code that is none', () => {
  expect(voucher({ expiresAt: '0001-01-01T00:00:00Z' })).not.toHaveProperty('expiresAt')
  expect(voucher({ epin: '' })).not.toHaveProperty('code')
})

it('finds the confirmation number and the value of the card beside the receipt', () => {
  const record = {
    ...{ send: 2_150, sendCurrency: 'EUR', sendCurrencyDivisor: 100 },
    receipt: { ...receipt, confirmationNumber: '' },
    confirmation: { confirmationNumber: 'C-2' },
  }
  expect(deliveryOf('voucher', record)).toMatchObject({
    confirmationNumber: 'C-2',
    credited: { amount: 2_150, currency: 'EUR', currencyDivisor: 100 },
  })
  expect(deliveryOf('voucher', { ...record, send: 0 })).not.toHaveProperty('credited')
})

it('has delivered nothing without something to redeem, and never cuts a code', () => {
  expect(deliveryOf('voucher', {})).toBeUndefined()
  expect(voucher({ epin: ' ', redemptionUrl: '' })).toBeUndefined()
  expect(voucher({ epin: 'x'.repeat(20_001), redemptionUrl: '' })).toBeUndefined()
})

it('shows what there is of a voucher without a code, and nothing of other kinds', () => {
  const record = { receipt: { ...receipt, epin: '', redemptionUrl: '' } }
  expect(Delivery.parse(partialOf('voucher', record))).toMatchObject({
    ...{ confirmationNumber: 'C-1', terms: 'No cash.' },
    instructions: expect.stringContaining('neither a code nor a link'),
  })
  expect(Delivery.parse(partialOf('voucher', {}))).toHaveProperty('instructions')
  expect(partialOf('esim', {})).toBeUndefined()
})

it.each([
  [{ cost: 945, costCurrency: 'USD', costCurrencyDivisor: 100 }, true],
  [{ cost: 945, costCurrency: 'USD' }, false],
  [{ cost: 9.45, costCurrency: 'USD', costCurrencyDivisor: 100 }, false],
])('knows what a purchase has cost: %j', (record, isKnown) => {
  const charge = { amount: 945, currency: 'USD', divisor: 100 }
  expect(chargeOf(record)).toEqual(isKnown ? charge : undefined)
})

const topup = {
  recipientPhoneNumber: '+50231234567',
  confirmation: { confirmationNumber: 'T-1', externalReferenceId: '', transactionTime: '' },
  send: 7660,
  sendCurrency: 'GTQ',
  sendCurrencyDivisor: 100,
}

const credited = { amount: 7660, currency: 'GTQ', currencyDivisor: 100 }

it.each<[string, object, object]>([
  ['confirmed', {}, { confirmationNumber: 'T-1', credited }],
  ['that is a bundle', { send: 0 }, { confirmationNumber: 'T-1' }],
  ['that is done and not confirmed', { confirmation: undefined }, { credited }],
])('hands over a topup %s', (_, changes, expected) => {
  const delivery = Delivery.parse(deliveryOf('topup', { ...topup, ...changes }))
  expect(delivery).toEqual({ kind: 'topup', ...expected })
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
