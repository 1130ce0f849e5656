/** A voucher as Zendit lists it, for tests to change. */
export function rawVoucher(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    brand: 'APPLE',
    brandName: 'Apple',
    cost: { currency: 'USD', currencyDivisor: 100, discount: 5, fee: 0, feePct: 0, fixed: 950 },
    country: 'US',
    createdAt: '2026-01-01T00:00:00Z',
    deliveryType: 'EPIN',
    enabled: true,
    notes: 'Long notes',
    offerId: 'APPLE_US_10_EGIFT_WHS',
    price: { currency: 'USD', currencyDivisor: 100, fee: 0, fixed: 1000 },
    priceType: 'FIXED',
    productType: 'VOUCHER',
    regions: ['North America'],
    requiredFields: ['recipient.firstName', 'recipient.lastName'],
    send: { currency: 'USD', currencyDivisor: 100, fixed: 1000 },
    shortNotes: 'Ten dollars',
    subTypes: ['Electronics'],
    updatedAt: '2026-01-01T00:00:00Z',
    ...changes,
  }
}

const allowance = {
  dataGB: 0,
  dataUnlimited: false,
  durationDays: 0,
  smsNumber: 0,
  smsUnlimited: false,
  voiceMinutes: 0,
  voiceUnlimited: false,
}

/** An open-value topup as the supplier lists it. */
export function rawTopup(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    ...rawVoucher(),
    ...allowance,
    brand: 'CLARO_GT',
    brandName: 'Claro',
    cost: {
      currency: 'USD',
      currencyDivisor: 100,
      discount: 0,
      fee: 0,
      feePct: 0,
      min: 690,
      max: 9900,
    },
    country: 'GT',
    offerId: 'CLARO_GT_OPEN',
    price: { currency: 'USD', currencyDivisor: 100, fee: 0, min: 700, max: 10000, increment: 100 },
    priceType: 'RANGE',
    productType: 'TOPUP',
    regions: ['Central America'],
    requiredFields: undefined,
    send: { currency: 'GTQ', currencyDivisor: 100, min: 5362, max: 76600, fx: 7.66 },
    subTypes: ['Mobile Top Up'],
    ...changes,
  }
}

/** A multi-country eSIM plan as the supplier lists it. */
export function rawEsim(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    ...rawVoucher(),
    ...allowance,
    brand: 'ESIM_PLUS',
    brandName: 'eSIM Plus',
    country: '',
    dataGB: 10,
    dataSpeeds: ['4G', '5G'],
    durationDays: 30,
    offerId: 'ESIM-EUROPE-30D-10GB',
    productType: 'ESIM',
    regions: ['Western Europe'],
    requiredFields: undefined,
    roaming: [
      { country: 'FR', dataSpeeds: ['4G', '5G'] },
      { country: 'CYP', dataSpeeds: ['4G'] },
    ],
    send: undefined,
    subTypes: ['Standard'],
    ...changes,
  }
}
