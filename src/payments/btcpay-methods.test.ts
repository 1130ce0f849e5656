import { expect, it } from 'vitest'
import { readMethods } from './btcpay-methods.ts'

it('knows how BTCPay and its plugins call the methods of all five coins', () => {
  expect(readMethods('BTC,ETH,USDT,LTC,XMR')).toEqual([
    { coin: 'BTC', id: 'BTC-CHAIN', network: 'Bitcoin' },
    { coin: 'ETH', id: 'ETH-CHAIN', network: 'Ethereum' },
    { coin: 'USDT', id: 'USDT-TRON', network: 'Tron' },
    { coin: 'LTC', id: 'LTC-CHAIN', network: 'Litecoin' },
    { coin: 'XMR', id: 'XMR-CHAIN', network: 'Monero' },
  ])
})

it('takes other names from the operator, in any order and spacing', () => {
  expect(readMethods(' xmr , USDT=USDT-ETHEREUM, ETH=ETH-MAIN:Ethereum Mainnet,')).toEqual([
    { coin: 'XMR', id: 'XMR-CHAIN', network: 'Monero' },
    { coin: 'USDT', id: 'USDT-ETHEREUM', network: 'Ethereum' },
    { coin: 'ETH', id: 'ETH-MAIN', network: 'Ethereum Mainnet' },
  ])
  expect(readMethods('USDT=USDT-ARBITRUM:Arbitrum')).toEqual([
    { coin: 'USDT', id: 'USDT-ARBITRUM', network: 'Arbitrum' },
  ])
  expect(readMethods('USDT:Tron Nile')).toEqual([
    { coin: 'USDT', id: 'USDT-TRON', network: 'Tron Nile' },
  ])
})

it('knows the network of each id of the USDt plugin, and shows it to buyers', () => {
  expect(readMethods('USDT=usdt-polygon')).toEqual([
    { coin: 'USDT', id: 'usdt-polygon', network: 'Polygon' },
  ])
})

it.each([
  ['', 'names no coin; known are BTC, ETH, USDT, LTC, XMR'],
  [' , ', 'names no coin'],
  ['DOGE', '"DOGE" does not begin with a known coin'],
  ['BTC=BTC-CHAIN=x', 'does not begin with a known coin'],
  ['BTC,LTC,btc', 'names BTC twice'],
  ['BTC=LTC-CHAIN', '"LTC-CHAIN" is not a payment method for BTC: it has to begin with BTC-'],
  ['BTC=BTC', '"BTC" is no payment method of BTCPay; they look like BTC-CHAIN'],
  ['BTC=', '"" is no payment method of BTCPay'],
  ['BTC=BTC-LN', '"BTC-LN" is Lightning'],
  ['BTC=btc-lnurl', 'is Lightning'],
  ['USDT=USDT-ARBITRUM', '"USDT-ARBITRUM" is not known here: name its network'],
  ['ETH=ETH-MAIN', 'name its network, as in ETH=ETH-MAIN:Network'],
  ['USDT:Polygon', '"USDT-TRON" is on Tron, not on Polygon'],
  ['USDT=USDT-ETHEREUM:Tron', '"USDT-ETHEREUM" is on Ethereum, not on Tron'],
  ['ETH:Ethereum Classic', '"ETH-CHAIN" is on Ethereum, not on Ethereum Classic'],
  ['BTC:Bitcoin Cash', '"BTC-CHAIN" is on Bitcoin, not on Bitcoin Cash'],
  ['BTC:Bitcoin2', 'not on Bitcoin2'],
  ['USDT:Old Tron Nile', 'not on Old Tron Nile'],
  ['BTC:', '"" is no name of a network for BTC'],
  ['BTC:<b>', '"<b>" is no name of a network'],
])('says what is wrong with "%s"', (text, message) => {
  expect(() => readMethods(text)).toThrow(message)
})
