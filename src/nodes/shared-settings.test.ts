import { describe, expect, test } from 'vitest'
import { type Common, type Outside, readConfig } from '../config.ts'
import { perSupplier } from '../environment/suppliers.ts'
import { differences, settingsOf, sharedVariables } from './shared-settings.ts'

/** The variables of every supplier. */
const ofSuppliers = (word: string): Record<string, string> =>
  perSupplier((name) => ({
    URL: `https://${word}.example/${name}`,
    KEY: `the-${word}-key-of-${name}`,
    WEBHOOK_HEADER: `x-${word}-${name}`,
    WEBHOOK_SECRET: `the-${word}-secret-of-${name}`,
  }))
const address = (digit: string) => `0x${digit.repeat(40)}`
const environment = {
  MODE: 'live',
  NETWORK: 'base',
  PUBLIC_URL: 'https://store.example',
  RPC_URL: 'https://chain.example',
  PAY_TO: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  GAS_KEY: `0x${'1'.repeat(64)}`,
  REFUND_KEY: `0x${'2'.repeat(64)}`,
  DATABASE_URL: 'postgres://localhost/kiosk',
  ...ofSuppliers('first'),
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
}
const btcpay = {
  BTCPAY_URL: 'https://btcpay.example',
  BTCPAY_STORE_ID: 'AStoreAtBtcpay',
  BTCPAY_API_KEY: 'a-key-of-the-processor',
  BTCPAY_METHODS: 'BTC',
  BTCPAY_WEBHOOK_SECRET: 'a-secret-of-the-processor',
}
const witnesses = { RPC_WITNESS_URLS: 'https://witness.example', WITNESS_ABOVE_USDC: '50' }
const mail = { SMTP_URL: 'smtp://mail.example', SMTP_FROM: 'shop@store.example' }
const facilitator = {
  FACILITATOR_URL: 'https://facilitator.example',
  FACILITATOR_KEY: 'a-key-of-the-facilitator',
}
const whole = { ...environment, ...btcpay, ...witnesses, ...mail, ...facilitator }

const key = Buffer.alloc(32, 7)
const settings = (given: Record<string, string>) =>
  settingsOf(readConfig(given) as Common & Outside, key)

/** For each variable another value, with the variables that it requires. */
const changes: Readonly<Record<string, Record<string, string>>> = {
  PUBLIC_URL: { PUBLIC_URL: 'https://other.example' },
  STORE_NAME: { STORE_NAME: 'Other' },
  STORE_DESCRIPTION: { STORE_DESCRIPTION: 'Other goods.' },
  STORE_LOGO: { STORE_LOGO: 'https://other.example/logo.svg' },
  STORE_COLOR: { STORE_COLOR: '5a2ca0' },
  STORE_CONTACT: { STORE_CONTACT: 'other@store.example' },
  TERMS_URL: { TERMS_URL: 'https://store.example/our-terms' },
  TERMS_FILE: { TERMS_FILE: 'LICENSE' },
  INVOICE_MINUTES: { INVOICE_MINUTES: '31' },
  MARKUP_BPS: { MARKUP_BPS: '500' },
  MAX_SETTLEMENT_GWEI: { MAX_SETTLEMENT_GWEI: '1000001' },
  FULFILLMENT_DEADLINE_SECONDS: { FULFILLMENT_DEADLINE_SECONDS: '601' },
  REFUND_GRACE_SECONDS: { REFUND_GRACE_SECONDS: '21601' },
  PURCHASE_WAIT_SECONDS: { PURCHASE_WAIT_SECONDS: '21' },
  PERSONAL_DATA_DAYS: { PERSONAL_DATA_DAYS: '31' },
  LIMITS_COOLING_HOURS: { LIMITS_COOLING_HOURS: '25' },
  REFUND_HOURLY_CAP_USDC: { REFUND_HOURLY_CAP_USDC: '1001' },
  REFUND_DAILY_CAP_USDC: { REFUND_DAILY_CAP_USDC: '5001' },
  UNPAID_PAYMENTS_PER_HOUR: { UNPAID_PAYMENTS_PER_HOUR: '6' },
  FAILED_ORDERS_PER_HOUR: { FAILED_ORDERS_PER_HOUR: '6' },
  REDIS_URL: { REDIS_URL: 'redis://redis.example' },
  SMTP_FROM: { SMTP_FROM: 'other@store.example' },
  WITNESS_ABOVE_USDC: { WITNESS_ABOVE_USDC: '51' },
  PAY_TO: { PAY_TO: address('b') },
  REFUND_KEY: { REFUND_KEY: `0x${'3'.repeat(64)}` },
  FACILITATOR_URL: { FACILITATOR_URL: 'https://other.example' },
  FACILITATOR_KEY: { FACILITATOR_KEY: 'another-key-of-it' },
  FACILITATOR_KEY_ID: { FACILITATOR_KEY_ID: 'organizations/1' },
  FACILITATOR_EVERY_DAYS: { FACILITATOR_EVERY_DAYS: '20' },
  WALLET_FACTORIES: { WALLET_FACTORIES: address('c') },
  ...Object.fromEntries(
    Object.entries(ofSuppliers('another')).map(([name, value]) => [name, { [name]: value }]),
  ),
  RATES_URL: { RATES_URL: 'https://rates.example' },
  BTCPAY_URL: { BTCPAY_URL: 'https://other.example' },
  BTCPAY_STORE_ID: { BTCPAY_STORE_ID: 'AnotherStore' },
  BTCPAY_API_KEY: { BTCPAY_API_KEY: 'another-key-of-the-processor' },
  BTCPAY_WEBHOOK_SECRET: { BTCPAY_WEBHOOK_SECRET: 'another-secret-of-it' },
}

describe('settings that must agree', () => {
  test.each(Object.entries(changes))('%s is one', (name, change) => {
    expect(differences(settings(whole), settings({ ...whole, ...change }))).toEqual([name])
  })

  const without = (...names: string[]) =>
    Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name)))

  test.each<[string, Record<string, string>, string[]]>([
    ['SMTP_URL', without(...Object.keys(mail)), ['SMTP_URL', 'SMTP_FROM']],
    [
      'RPC_WITNESS_URLS',
      without(...Object.keys(witnesses)),
      ['RPC_WITNESS_URLS', 'WITNESS_ABOVE_USDC'],
    ],
    ['NETWORK', { ...without(...Object.keys(btcpay)), NETWORK: 'base-sepolia' }, ['NETWORK']],
    [
      'REHEARSAL',
      { ...without(...Object.keys(btcpay)), NETWORK: 'base-sepolia', REHEARSAL: '1' },
      ['STORE_DESCRIPTION', 'NETWORK', 'REHEARSAL'],
    ],
    ['BTCPAY_METHODS', { ...whole, BTCPAY_METHODS: 'BTC,LTC' }, ['BTCPAY_METHODS']],
  ])('%s is one, as far as it matters', (name, other, differing) => {
    expect(differing).toContain(name)
    const own = name === 'NETWORK' || name === 'REHEARSAL' ? without(...Object.keys(btcpay)) : whole
    expect(differences(settings(own), settings(other))).toEqual(differing)
  })

  test('each of them is tried above', () => {
    const tried = [
      ...Object.keys(changes),
      ...['SMTP_URL', 'RPC_WITNESS_URLS', 'NETWORK', 'REHEARSAL', 'BTCPAY_METHODS'],
    ]
    expect(tried.sort()).toEqual([...sharedVariables].sort())
  })

  test.each([
    { PORT: '8403', HOST: '0.0.0.0', WORKERS: '4', LOG_LEVEL: 'warn' },
    { GAS_KEY: `0x${'4'.repeat(64)}`, RPC_URL: 'https://other-chain.example' },
    { RPC_WITNESS_URLS: 'https://other.example', SMTP_URL: 'smtp://localhost' },
    { MARKUP_BPS: '0', PAY_TO: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  ])('%j are none, or say the same in other words', (change) => {
    expect(differences(settings(whole), settings({ ...whole, ...change }))).toEqual([])
  })

  test('a setting that only one version knows is no difference', () => {
    const { MARKUP_BPS: _, ...others } = settings(whole)
    expect(differences(settings(whole), others)).toEqual([])
    expect(differences(others, settings(whole))).toEqual([])
  })

  test('nobody learns a setting from its digest without the key', () => {
    const config = readConfig(whole) as Common & Outside
    expect(settingsOf(config, Buffer.alloc(32, 8))['MARKUP_BPS']).not.toBe(
      settings(whole)['MARKUP_BPS'],
    )
  })
})
