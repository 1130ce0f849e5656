import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { hash32 } from './catalog/rng.ts'
import type { Manner } from './manners.ts'
import type {
  Confirmation,
  EsimConfirmation,
  EsimPurchase,
  Purchase,
  SupplierError,
  VoucherPurchase,
  VoucherReceipt,
} from './models.ts'

/** Digits and capitals that cannot be mistaken for one another. There are 32, so random bytes map to them evenly. */
const letters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const smdpAddress = 'smdp.sandbox.example.com'

/**
 * A code that is worth money: `SBX-` and four groups of four random letters (80 bits). The prefix lets a scan of logs
 * find leaked codes.
 */
function newCode(): string {
  const drawn = [...randomBytes(16)].map((byte) => letters[byte % letters.length]).join('')
  return `SBX-${drawn.replaceAll(/(.{4})(?=.)/g, '$1-')}`
}

function digits(count: number): string {
  return Array.from({ length: count }, () => randomInt(10)).join('')
}

/** The check digit that completes `number` by the Luhn algorithm. */
export function luhnDigit(number: string): string {
  const sum = [...number].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return String((10 - (sum % 10)) % 10)
}

/** 19 digits: 89 for telecommunications, a fictitious country and issuer, the account, and a check digit. */
function newIccid(): string {
  const number = `8910390${digits(11)}`
  return number + luhnDigit(number)
}

function confirm(now: Date): Confirmation {
  return {
    confirmationNumber: digits(12),
    externalReferenceId: randomUUID(),
    transactionTime: now.toISOString(),
  }
}

function receipt(
  record: VoucherPurchase,
  confirmation: Confirmation,
  { now, receipt: manner }: Delivering,
): VoucherReceipt {
  const epin = newCode()
  const expires = new Date(now)
  expires.setUTCFullYear(expires.getUTCFullYear() + 1 + (hash32(record.brand) % 4))
  const linked = manner === 'link' || hash32(`link ${record.brand}`) % 2 === 0
  const usual = {
    accountId: '',
    confirmationNumber: confirmation.confirmationNumber,
    currency: record.sendCurrency,
    currencyDivisor: record.sendCurrencyDivisor,
    deliveryType: linked ? 'URL' : 'EPIN',
    epin,
    expiresAt: expires.toISOString(),
    instructions: `Sign in to ${record.brandName}, choose "Redeem a gift card" and enter the code.`,
    notes: record.shortNotes,
    recipientCustomerServiceNumber: '',
    redemptionUrl: linked ? `https://redeem.example.com/${record.brand}?code=${epin}` : '',
    send: record.send,
    senderCustomerServiceNumber: '',
    terms: 'Sandbox voucher without value. It cannot be exchanged for cash.',
    voucherId: randomUUID(),
  }
  if (manner === 'link') return { ...usual, epin: '', voucherId: '' }
  if (manner !== 'email') return usual
  const nothing = { epin: '', redemptionUrl: '', voucherId: '' }
  return { ...usual, ...nothing, deliveryType: 'EMAIL', instructions: 'Look into your e-mail.' }
}

/** A plan that is added to an eSIM keeps its ICCID and codes; otherwise a new eSIM is made. */
function esimConfirmation(
  record: EsimPurchase,
  iccid: string | undefined,
  known: EsimConfirmation | undefined,
): EsimConfirmation {
  const externalReferenceId = randomUUID()
  const redemptionInstructions = iccid
    ? 'The plan was added to your eSIM and begins when the one before it ends.'
    : 'Scan the QR code in the mobile network settings of your phone, then switch on data roaming.'
  if (iccid) {
    const { activationCode, smdpAddress: address } = known ?? {
      activationCode: '',
      smdpAddress: '',
    }
    return {
      activationCode,
      externalReferenceId,
      iccid,
      redemptionInstructions,
      smdpAddress: address,
    }
  }
  const matchingId = newCode()
  const whole = hash32(`activation ${record.offerId}`) % 2 === 0
  const activationCode = whole ? `LPA:1$${smdpAddress}$${matchingId}` : matchingId
  const made = newIccid()
  return { activationCode, externalReferenceId, iccid: made, redemptionInstructions, smdpAddress }
}

/** The text of the QR code: the activation code if it is complete, else composed from its parts. */
export function lpaOf({ activationCode, smdpAddress: address }: EsimConfirmation): string {
  return activationCode.startsWith('LPA:') ? activationCode : `LPA:1$${address}$${activationCode}`
}

interface Delivering {
  readonly now: Date
  readonly receipt: Manner['receipt']
  /** The eSIM to which a plan is added, and how that was first delivered. */
  readonly iccid: string | undefined
  readonly known: EsimConfirmation | undefined
}

/** The record with its goods. */
export function delivered(record: Purchase, how: Delivering): Purchase {
  switch (record.productType) {
    case 'VOUCHER': {
      const confirmation = confirm(how.now)
      return { ...record, confirmation, receipt: receipt(record, confirmation, how) }
    }
    case 'TOPUP':
      return { ...record, confirmation: confirm(how.now) }
    case 'ESIM':
      return { ...record, confirmation: esimConfirmation(record, how.iccid, how.known) }
    default:
      return record satisfies never
  }
}

/** The record of a completed purchase, without its goods. */
export function withoutGoods(record: Purchase): Purchase {
  const { confirmation: _, receipt: __, ...bare } = { receipt: undefined, ...record }
  return bare as Purchase
}

const failures: Readonly<Record<Purchase['productType'], SupplierError>> = {
  VOUCHER: {
    code: 'PRODUCT_OUT_OF_STOCK',
    description: 'The provider has no more codes of this value.',
    message: 'Product out of stock',
  },
  TOPUP: {
    code: 'CARRIER_REJECTED',
    description: 'The carrier refused the recipient number.',
    message: 'Rejected by the carrier',
  },
  ESIM: {
    code: 'ESIM_OUT_OF_STOCK',
    description: 'The provider has no free eSIM profile for this plan.',
    message: 'No profile available',
  },
}

export function failureOf(record: Purchase): SupplierError {
  return failures[record.productType]
}

export const insufficientFunds: SupplierError = {
  code: 'INSUFFICIENT_FUNDS',
  description: 'The balance of the wallet does not cover the cost of this purchase.',
  message: 'Insufficient funds',
}
