import * as z from 'zod'
import { readMethods } from '../payments/btcpay-methods.ts'
import { networks } from '../payments/networks.ts'
import { supplierShape } from './suppliers.ts'
import {
  address,
  atLeast16,
  list,
  matching,
  plainUrl,
  privateKey,
  url,
  variable,
  whole,
  wholeWithin,
} from './variable.ts'

type NetworkName = keyof typeof networks

const networkNames = Object.keys(networks) as NetworkName[]
const choice = new Intl.ListFormat('en', { type: 'disjunction' })
const anyNetwork = choice.format(networkNames)
export const testNetworks = networkNames.filter((name) => networks[name].isTestnet)
export const realNetworks = networkNames.filter((name) => !networks[name].isTestnet)

function describeNetwork(name: NetworkName): string {
  return `\`${name}\` (${networks[name].isTestnet ? 'test money' : 'real money'})`
}

export const chain = {
  NETWORK: variable(z.enum(networkNames, `must be ${anyNetwork}`), {
    description: `The chain that the store is paid on: ${choice.format(networkNames.map(describeNetwork))}.`,
    required: anyNetwork,
    example: 'base-sepolia',
  }),
  REHEARSAL: variable(z.literal('1', 'must be 1, or left out').optional(), {
    description: `\`1\` rehearses with test money: \`RPC_URL\` may then be a development node (Anvil, Hardhat) with the chain id and the USDC of ${testNetworks.map((name) => networks[name].name).join(' or ')}. Every page, the manifest and each line of the log say so, and the database serves no other store from then on. Startup fails with ${realNetworks.map((name) => `\`NETWORK=${name}\``).join(' or ')}. Set a test key of the supplier.`,
    unset: 'not set',
    example: '1',
  }),
  RPC_URL: variable(url(/^https?$/), {
    perNode: 'value',
    description:
      'The JSON-RPC address of a node of that network ([which plan to take](docs/operators/chain-node.md)). Startup fails on another chain, a chain without USDC, a USDC with another EIP-712 domain, or a development node without `REHEARSAL=1`. If the node does not answer, the store starts and refuses purchases with `store_paused`.',
    required: 'the URL of a node of that network',
    example: 'https://base-sepolia.example.com/your-key',
    isSecret: true,
  }),
  RPC_WITNESS_URLS: variable(
    list
      .pipe(z.array(url(/^https?$/)))
      .refine(
        (urls) => new Set(urls.map(plainUrl)).size === urls.length,
        'must not name a node twice',
      )
      .optional(),
    {
      perNode: 'if set',
      description:
        'Further nodes of that network, separated by commas, best run by somebody else ([what they decide](docs/operators/chain-node.md#a-witness)). They are checked like `RPC_URL`; an error names the node by its position. While a witness does not answer, what needs its word waits.',
      unset: 'none: `RPC_URL` is believed alone',
      example: 'https://another-base-sepolia.example.com/your-key',
      isSecret: true,
    },
  ),
  WITNESS_ABOVE_USDC: variable(whole(100, 0, 1_000_000), {
    needs: ['RPC_WITNESS_URLS'],
    description:
      'The amount, in whole USDC, from which a payment counts as settled only when a witness shows it too. Needs `RPC_WITNESS_URLS`.',
  }),
  PAY_TO: variable(address, {
    description:
      'The address that buyers pay, for this store alone; the store needs no key for it. Startup fails if it is the wallet of `GAS_KEY` or `REFUND_KEY`. It may change: [earlier ones](docs/operators/reconciliation.md#another-pay_to-another-refund-wallet) stay in the books.',
    required: 'the address that buyers pay; its key stays off this machine',
    example: '0x0000000000000000000000000000000000000000',
  }),
  GAS_KEY: variable(privateKey(), {
    perNode: 'value',
    description:
      'The private key that sends settlements and refunds. Its wallet needs some ETH on the network, and nothing else; several nodes may share it. Startup fails if it equals `REFUND_KEY`. Without ETH for the transfers that are expected soon, nothing is sold, and refunds fail with `no_gas`.',
    required: 'the private key of a wallet that holds a little ETH for gas',
    isSecret: true,
  }),
  REFUND_KEY: variable(privateKey(), {
    description:
      'The private key of the wallet that refunds come from, for this store alone: a refund that is not on record stops the start. It needs USDC and no ETH; without enough, refunds fail with `no_float`. It may change; [earlier wallets](docs/operators/reconciliation.md#another-pay_to-another-refund-wallet) stay in the books. Leave the old wallet its float for an hour, because it pays what it has signed.',
    required: 'the private key of a wallet that holds the USDC float for refunds',
    isSecret: true,
  }),
  WALLET_FACTORIES: variable(list.pipe(z.array(address)).default([]), {
    description:
      'Addresses of smart-wallet factories, separated by commas, that may be called with your gas to deploy a paying wallet. Other wallets that are not deployed are refused with `wallet_not_deployed`.',
    unset: 'none',
  }),
}

export const facilitator = {
  FACILITATOR_URL: variable(url(/^https?$/).optional(), {
    description:
      'A hosted x402 facilitator that checks and settles payments ([which, and why](#a-hosted-facilitator)). Without `FACILITATOR_EVERY_DAYS`, payments get 503 `try_again` while it does not answer.',
    unset: 'none: the store settles payments itself',
    isSecret: true,
  }),
  FACILITATOR_KEY: variable(
    atLeast16
      // An env file holds the lines of a PEM key in one line this way.
      .transform((key) => key.replaceAll('\\n', '\n'))
      .optional(),
    {
      needs: ['FACILITATOR_URL'],
      description:
        'How the facilitator knows the store: a token that is sent with each request (Circle), or with `FACILITATOR_KEY_ID` the secret of a CDP API key, which signs a token of two minutes for each request; 16 characters or more. Startup fails if the facilitator refuses it. If it is refused later, the facilitator counts as not answering.',
      unset: 'none: the facilitator needs none',
      isSecret: true,
    },
  ),
  FACILITATOR_KEY_ID: variable(z.string().max(400, 'must have at most 400 characters').optional(), {
    needs: ['FACILITATOR_URL', 'FACILITATOR_KEY'],
    description: 'The id of the CDP API key in `FACILITATOR_KEY`.',
    unset: 'none: the key is sent as it is',
  }),
  FACILITATOR_EVERY_DAYS: variable(wholeWithin(1, 29).optional(), {
    needs: ['FACILITATOR_URL'],
    description:
      'The store checks and settles payments itself, and hands over only the first settlement after this many days without one.',
    unset: 'none: the facilitator settles every payment',
    example: '20',
  }),
}

export const supplier = {
  ...supplierShape,
  RATES_URL: variable(url(/^https?$/).default('https://api.frankfurter.dev/v1/latest'), {
    description:
      'The service that exchange rates are read from every hour, in the format of Frankfurter. After two days without an answer, not counting those on which the ECB publishes no rates, offers in currencies other than USD are not sold. A rate that jumps by more than a fifth or cannot be true, and a currency that neither the ECB lists nor the dollar pegs, are left out and logged.',
    isSecret: true,
  }),
}

const processorNeeds = ['BTCPAY_URL', 'BTCPAY_STORE_ID', 'BTCPAY_API_KEY', 'BTCPAY_METHODS']

export const processor = {
  BTCPAY_URL: variable(url(/^https?$/).optional(), {
    needs: processorNeeds,
    description:
      'The URL of your BTCPay Server, without `/api`: people can then pay in coins ([what to set up there](docs/operators/payment-processor.md#what-to-set-up-in-btcpay)). Set it together with the next three variables. If the server does not answer or is not set up as that page says, the log says what is wrong (`payment processor: …`), and no checkout begins in a coin for which it makes no invoice.',
    unset: 'none: only USDC is accepted',
    example: 'https://btcpay.example.com',
  }),
  BTCPAY_STORE_ID: variable(
    matching(/^[A-Za-z0-9]{8,100}$/, 'must be the id of a store at BTCPay').optional(),
    {
      needs: processorNeeds,
      description: 'The id of the store in BTCPay, from its settings.',
      unset: 'none',
    },
  ),
  BTCPAY_API_KEY: variable(atLeast16.optional(), {
    needs: processorNeeds,
    description:
      'A key of BTCPay for that store alone, with [three permissions](docs/operators/payment-processor.md#what-to-set-up-in-btcpay), 16 characters or more. It can send money of that store. If it lacks a permission, checkouts do not begin, or returns fail with `processor_key`.',
    unset: 'none',
    isSecret: true,
  }),
  BTCPAY_METHODS: variable(z.string().transform(coinMethods).optional(), {
    needs: processorNeeds,
    description:
      'The coins, separated by commas: `BTC, LTC, XMR, ETH, USDT`. A coin that does not use [the usual payment method and network](docs/operators/payment-processor.md#what-to-set-up-in-btcpay) names them: `USDT=USDT-ARBITRUM:Arbitrum`.',
    unset: 'none',
    example: 'BTC,LTC,XMR,USDT=USDT-ETHEREUM',
  }),
  BTCPAY_WEBHOOK_SECRET: variable(atLeast16.optional(), {
    needs: processorNeeds,
    description:
      'The secret of the webhook that BTCPay sends to `{PUBLIC_URL}/webhooks/btcpay`, 16 characters or more. Webhooks with another one get 401, and invoices are polled.',
    unset: 'none: the store polls',
    isSecret: true,
  }),
}

const vaultKey =
  'must be 32 random bytes in base64 (make one with: openssl rand -base64 32); older ones follow after commas'

export const secrets = {
  SECRETS_KEY: variable(
    z
      .string(vaultKey)
      .transform((text) => text.split(',').map((part) => Buffer.from(part.trim(), 'base64')))
      .refine((keys) => keys.every((key) => key.length === 32), vaultKey),
    {
      perNode: 'value',
      description:
        '32 random bytes in base64 (`openssl rand -base64 32`): the key that seals goods and personal fields and signs price promises and [receipts](docs/agents/receipts.md). Older keys follow after commas: all of them open, and the first one seals ([changing it](#changing-secrets_key)). Keep every key that was ever in it, because ids of orders follow from it and a restored record is rebuilt with it. [A lost key](#changing-secrets_key) opens nothing.',
      required: '32 random bytes in base64 (openssl rand -base64 32)',
      isSecret: true,
    },
  ),
}

function coinMethods(text: string, context: z.RefinementCtx): ReturnType<typeof readMethods> {
  try {
    return readMethods(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : '' })
    return z.NEVER
  }
}
