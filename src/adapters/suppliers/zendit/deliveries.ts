import type { Delivery } from '../../../goods/good.ts'
import type { Kind } from '../../../goods/offer.ts'
import { present, type Raw, recordOf } from './raw.ts'

/** As much as a delivery may hold of one text (goods/fields.ts). */
const maxText = 20_000

/**
 * What the supplier delivered, out of the record of a finished purchase (suppliers A.11-A.12), or
 * undefined while the record does not hold it yet.
 */
export function deliveryOf(kind: Kind, record: Raw): Delivery | undefined {
  switch (kind) {
    case 'voucher':
      return voucherDelivery(record)
    case 'topup':
      return topupDelivery(record)
    case 'esim':
      return esimDelivery(record)
  }
}

/**
 * Zendit's receipt has one secret, `epin`, and that is the code. Some brands send `voucherId`
 * instead, which is the code then. Where a receipt has both, or an `accountId`, nothing says
 * whether the second number is a serial, a card number or a login: it is passed on by its own name
 * in the instructions, so that the buyer has all of it and none of it is mislabelled as a PIN.
 *
 * Without a code or a link there is nothing to redeem, so nothing was delivered yet.
 */
function voucherDelivery(record: Raw): Delivery | undefined {
  const receipt = recordOf(record['receipt'])
  if (receipt === undefined) return undefined
  const epin = secretOf(receipt['epin'])
  const voucherId = secretOf(receipt['voucherId'])
  const code = epin ?? voucherId
  const redemptionUrl = secretOf(receipt['redemptionUrl'])
  if (code === undefined && redemptionUrl === undefined) return undefined
  const others = [
    numberLine('Voucher ID', code === voucherId ? undefined : voucherId),
    numberLine('Account ID', secretOf(receipt['accountId'])),
  ]
  const confirmation = recordOf(record['confirmation'])
  return present({
    kind: 'voucher' as const,
    code,
    redemptionUrl,
    instructions: joined([wordsOf(receipt['instructions']), wordsOf(receipt['notes']), ...others]),
    terms: wordsOf(receipt['terms']),
    expiresAt: timeOf(receipt['expiresAt']),
    confirmationNumber:
      secretOf(receipt['confirmationNumber']) ?? secretOf(confirmation?.['confirmationNumber']),
  })
}

/** Nothing has to be handed over, so a topup that is done is delivered with or without a number. */
function topupDelivery(record: Raw): Delivery {
  const confirmation = recordOf(record['confirmation'])
  return present({
    kind: 'topup' as const,
    confirmationNumber: secretOf(confirmation?.['confirmationNumber']),
    credited: creditedOf(record),
  })
}

/** An added plan may come without an activation code: the eSIM is installed already. */
function esimDelivery(record: Raw): Delivery | undefined {
  const confirmation = recordOf(record['confirmation'])
  const iccid = secretOf(confirmation?.['iccid'])?.replace(/F$/i, '')
  if (confirmation === undefined || iccid === undefined) return undefined
  return present({
    kind: 'esim' as const,
    iccid,
    smdpAddress: secretOf(confirmation['smdpAddress']),
    activationCode: secretOf(confirmation['activationCode']),
    instructions: wordsOf(confirmation['redemptionInstructions']),
  })
}

function creditedOf(record: Raw) {
  const { send: amount, sendCurrency: currency, sendCurrencyDivisor: currencyDivisor } = record
  const isMoney =
    typeof amount === 'number' &&
    amount > 0 &&
    typeof currency === 'string' &&
    currency !== '' &&
    typeof currencyDivisor === 'number' &&
    currencyDivisor >= 1
  return isMoney ? { amount, currency, currencyDivisor } : undefined
}

/** A code must reach the buyer as it is: not cut, and not cleaned but for the space around it. */
function secretOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return text === '' || text.length > maxText ? undefined : text
}

function wordsOf(value: unknown): string | undefined {
  return secretOf(typeof value === 'string' ? value.slice(0, maxText) : value)
}

/** Zendit's servers write the year 1 where there is no time. */
function timeOf(value: unknown): string | undefined {
  const time = secretOf(value)
  return time?.startsWith('0001-') ? undefined : time
}

function numberLine(label: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `${label}: ${value}`
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
  const text = parts.filter((part) => part !== undefined).join('\n')
  return wordsOf(text)
}
