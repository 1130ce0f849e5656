import type { Delivery } from '../../catalog/good.ts'
import type { Charge, Kind } from '../../catalog/offer.ts'
import { present, type Raw, recordOf, wholePositiveOf } from './client.ts'

const maxText = 20_000

/** Undefined while the goods are not in the record of a finished purchase yet. */
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
 * Zendit's receipt has one secret, `epin`, which is the code; some brands send `voucherId` instead. If a receipt has
 * both, or an `accountId`, nothing says what the second number is. It is passed on under its own name, so that the
 * buyer gets all of it and none of it is mislabelled as a PIN.
 *
 * Without a code or a link there is nothing to redeem yet, unless the goods were sent by mail.
 */
function voucherDelivery(record: Raw): Delivery | undefined {
  const receipt = recordOf(record['receipt'])
  if (receipt === undefined) return undefined
  const delivery = voucherOf(record, receipt)
  const isMailed = /mail/i.test(String(receipt['deliveryType']))
  if (delivery.code !== undefined || delivery.redemptionUrl !== undefined) return delivery
  return isMailed ? explained(delivery, mailedWords) : undefined
}

const mailedWords =
  'The supplier has sent this voucher by e-mail to its recipient; no code was given to this store.'
const missingWords =
  'The supplier has delivered this voucher, and gave this store neither a code nor a link. It may have been sent by e-mail to its recipient.'

export function shownOf(kind: Kind, record: Raw): Delivery | undefined {
  if (kind !== 'voucher') return undefined
  return explained(voucherOf(record, recordOf(record['receipt']) ?? {}), missingWords)
}

function explained(delivery: VoucherDelivery, words: string): VoucherDelivery {
  return present({ ...delivery, instructions: joined([words, delivery.instructions]) })
}

type VoucherDelivery = Extract<Delivery, { kind: 'voucher' }>

function voucherOf(record: Raw, receipt: Raw): VoucherDelivery {
  const epin = secretOf(receipt['epin'])
  const voucherId = secretOf(receipt['voucherId'])
  const code = epin ?? voucherId
  const redemptionUrl = secretOf(receipt['redemptionUrl'])
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
    credited: creditedOf(record),
  })
}

/** Nothing has to be handed over, so a finished topup is delivered with or without a number. */
function topupDelivery(record: Raw): Delivery {
  const confirmation = recordOf(record['confirmation'])
  return present({
    kind: 'topup' as const,
    confirmationNumber: secretOf(confirmation?.['confirmationNumber']),
    credited: creditedOf(record),
  })
}

/** A plan for an installed eSIM may come without an activation code. */
function esimDelivery(record: Raw): Delivery | undefined {
  const confirmation = recordOf(record['confirmation'])
  const iccid = secretOf(confirmation?.['iccid'])?.replace(/F$/i, '')
  if (confirmation === undefined || iccid === undefined) return undefined
  return present({
    kind: 'esim' as const,
    iccid,
    smdpAddress: secretOf(confirmation['smdpAddress']),
    ...activationOf(secretOf(confirmation['activationCode'])),
    instructions: wordsOf(confirmation['redemptionInstructions']),
  })
}

export function chargeOf(record: Raw): Charge | undefined {
  const { cost: amount, costCurrency: currency, costCurrencyDivisor: divisor } = record
  const isCharge =
    Number.isSafeInteger(amount) && typeof currency === 'string' && wholePositiveOf(divisor)
  return isCharge ? { amount: amount as number, currency, divisor: divisor as number } : undefined
}

/** By itself, or in the text of its QR code, which names the host too: "LPA:1$host$code", and more (SGP.22 4.1). */
function activationOf(text: string | undefined) {
  const [, parts] = /^(?:LPA:)?(1\$.+)$/i.exec(text ?? '') ?? []
  if (parts === undefined) return { activationCode: text }
  const [, host, code] = parts.split('$')
  const address = host ? { smdpAddress: host } : {}
  return { ...address, activationCode: code || undefined, lpa: `LPA:${parts}` }
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

/** A code must reach the buyer unchanged: not cut, and not cleaned except for the space around it. */
function secretOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return text === '' || text.length > maxText ? undefined : text
}

function wordsOf(value: unknown): string | undefined {
  return secretOf(typeof value === 'string' ? value.slice(0, maxText) : value)
}

/** Zendit's servers write the year 1 if there is no time. */
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
