import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { atLeast16, matching, trustedProxiesIn, url, variable, whole } from './variable.ts'

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

export const mode = {
  MODE: variable(z.enum(['sandbox', 'live']).default('sandbox'), {
    description:
      '`sandbox` starts its own database, chain and supplier, with test money and test goods; `live` sells to real buyers. Startup fails if a variable of the other mode is set.',
  }),
}

/** Every link is this URL with a path appended, so it is public. */
export const publicUrl = url(/^https?$/).refine(
  (text) => !/[?#]|^https?:\/\/[^/]*@/i.test(text),
  'must be a URL without a password, a query or a fragment',
)

export const server = {
  HOST: variable(z.string().default('127.0.0.1'), {
    perNode: 'value',
    description: 'The address to listen on; the default is reachable from this machine only.',
  }),
  PORT: variable(whole(8402, 1, 65_535), {
    perNode: 'value',
    description: 'The port to listen on.',
  }),
  PUBLIC_URL: variable(publicUrl.optional(), {
    description:
      'The URL at which buyers reach the store. All published links and the origin of wallet sign-ins are made from it: at another address links lead nowhere and sign-ins fail with `sign_in_invalid`. If it and `HOST` are both addresses of this machine, `/mcp` answers this machine only.',
    unset: '`http://localhost:{PORT}` in the sandbox; required in live mode',
    required: 'the URL at which buyers reach this store',
    example: 'https://store.example.com',
  }),
  TRUSTED_PROXIES: variable(
    z
      .string()
      .transform(trustedProxiesIn)
      .refine((read) => read !== undefined, 'must be a number of hops or a list of addresses')
      .optional(),
    {
      perNode: 'value',
      description:
        'The proxies whose `X-Forwarded-For` is believed: their number between clients and the store, or a list of addresses and networks separated by commas. Networks are written `10.0.0.0/8`, or by the names `loopback`, `linklocal` and `uniquelocal`. If it is not set behind a proxy, all clients share one rate limit, and the log warns. With too many hops, clients choose the address that they are counted by.',
      unset: 'none',
      example: '1',
    },
  ),
  REDIS_URL: variable(url(/^rediss?$/).optional(), {
    description:
      'A Redis, version 6 or later, that counts requests for the rate limits of several nodes. While Redis does not answer, each node counts alone, logs that, and keeps trying.',
    unset: 'none',
    example: 'redis://localhost:6379',
    isSecret: true,
  }),
  DRAIN_SECONDS: variable(whole(0, 0, 60), {
    perNode: 'value',
    description:
      'How many seconds the store keeps serving after it is told to stop, while `/readyz` answers 503 `draining`. Give the load balancer time to notice, but stay below the time after which your service manager kills.',
  }),
  LOG_LEVEL: variable(z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'), {
    perNode: 'value',
    description:
      'The lowest level that is logged: `trace`, `debug`, `info`, `warn`, `error`, or `silent` for none, not even failed refunds.',
  }),
  METRICS_TOKEN: variable(atLeast16.optional(), {
    perNode: 'value',
    description:
      'The token that opens `/metrics` and the reasons in `/readyz`, sent as `Authorization: Bearer`, 16 characters or more.',
    unset: 'none: nobody reads `/metrics` in live mode, and this machine in the sandbox',
    isSecret: true,
  }),
}

export const database = {
  DATABASE_URL: variable(url(/^postgres(ql)?$/), {
    perNode: 'value',
    description:
      'A PostgreSQL database, version 15 or later, with the encoding UTF8. The store creates and upgrades its own tables. A pooler in between must keep one session for each connection ([poolers](docs/operators/scaling.md#poolers)). Startup fails if the database cannot be reached, belongs to a store of the other mode or on another network, or has [tables of another version](docs/operators/scaling.md#upgrading).',
    unset: 'the embedded PostgreSQL in the sandbox; required in live mode',
    required: 'the URL of a PostgreSQL database: postgres://user:password@host/name',
    example: 'postgres://user:password@localhost:5432/kiosk402',
    isSecret: true,
  }),
}

const text = (most: number) => z.string().min(1).max(most)
const usualDescription =
  'Gift cards, mobile topups and eSIM data plans, paid per purchase, delivered at once.'

export const site = {
  STORE_NAME: variable(text(80).default('Kiosk402'), {
    description: 'The published name, 1 to 80 characters.',
  }),
  STORE_DESCRIPTION: variable(text(400).default(usualDescription), {
    description: 'The published description, 1 to 400 characters.',
  }),
  STORE_LOGO: variable(url(/^https?$/).optional(), {
    description: 'The URL of the published logo.',
    unset: '`{PUBLIC_URL}/logo.svg`',
    example: 'https://store.example.com/logo.svg',
  }),
  STORE_COLOR: variable(
    matching(/^#?[0-9a-fA-F]{6}$/, 'must be a colour of six hexadecimal digits, such as 0b5d40')
      // In an env file, a # that is not quoted begins a comment.
      .transform((color) => `#${color.replace('#', '').toLowerCase()}`)
      .optional(),
    {
      description:
        'The colour of the website and of the default logo: six hexadecimal digits. A leading `#` must be quoted in a file.',
      unset: 'the green of Kiosk402',
      example: '0b5d40',
    },
  ),
  STORE_CONTACT: variable(z.email('must be an e-mail address').default('store@example.com'), {
    description: 'The published e-mail address. With the default, nobody reaches you.',
  }),
  TERMS_URL: variable(url(/^https?$/).optional(), {
    description: 'The URL of your terms of sale; `/terms` links to it. Set this or `TERMS_FILE`.',
    unset: 'none: `/terms` says what the store itself promises',
    example: 'https://example.com/terms',
  }),
  TERMS_FILE: variable(
    z
      .string()
      .transform(textOfFile)
      .refine((text) => text !== '', 'must name a text file that can be read and is not empty')
      .optional(),
    {
      description:
        'A text file with your terms of sale, read at startup, which `/terms` shows. Empty lines separate paragraphs, `#` starts a heading and `-` a list item.',
      unset: 'none',
      example: './terms.txt',
    },
  ),
}

export const mail = {
  SMTP_URL: variable(url(/^smtps?$/).optional(), {
    perNode: 'if set',
    description:
      'The mail server that sends buyers the links to their orders, when they ask for it: `smtps://`, or `smtp://`, which encrypts when the server supports it. The store keeps only keyed digests of the addresses. Buyers are told if a mail was not sent, and the log says why.',
    unset: 'none: the store sends no mail and asks nobody for an address',
    example: 'smtps://user:password@mail.example.com:465',
    isSecret: true,
  }),
  SMTP_FROM: variable(z.email('must be an e-mail address').optional(), {
    description:
      'The sender of these mails. The mail server must be allowed to send for this address.',
    unset: '`STORE_CONTACT`',
    example: 'kiosk@example.com',
  }),
}

export const alerts = {
  ALERT_MAIL: variable(z.email('must be an e-mail address').optional(), {
    needs: ['SMTP_URL'],
    description:
      'Where the store itself mails what needs you ([alerts](docs/operators/alerts.md)): one mail when an incident begins and one when it is over, however many nodes there are. Needs `SMTP_URL`.',
    unset: 'none: the store mails you nothing',
    example: 'you@example.com',
  }),
  ALERT_WEBHOOK_URL: variable(url(/^https?$/).optional(), {
    needs: ['ALERT_WEBHOOK_SECRET'],
    description:
      'Where the store posts the same as [signed events](docs/operators/alerts.md#by-webhook). It may be an address of your own network.',
    unset: 'none',
    example: 'https://hooks.example.com/kiosk402',
    isSecret: true,
  }),
  ALERT_WEBHOOK_SECRET: variable(
    matching(
      /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/,
      'must be whsec_ and 24 bytes or more in base64',
    ).optional(),
    {
      needs: ['ALERT_WEBHOOK_URL'],
      description:
        'The secret that signs these events, as [Standard Webhooks](https://www.standardwebhooks.com) writes it: `whsec_` and 24 to 64 random bytes in base64 (`echo "whsec_$(openssl rand -base64 32)"`).',
      unset: 'none',
      isSecret: true,
    },
  ),
}

export const policy = {
  MARKUP_BPS: variable(whole(0, 0, 10_000), {
    description:
      'The margin on the supplier’s price where no selling rule says another, in basis points: 250 is 2.5 %.',
  }),
  MAX_SETTLEMENT_GWEI: variable(whole(1_000_000, 1, 1_000_000_000), {
    description:
      'The highest network fee of one transaction, for its gas and its data on L1, in gwei of ETH: a million is 0.001 ETH. While the network asks more, payments are answered with 503 `too_costly` and refunds wait.',
  }),
  FULFILLMENT_DEADLINE_SECONDS: variable(whole(600, 1, 3_600), {
    description: 'The time from payment to `EXPIRED`, published in the manifest.',
  }),
  REFUND_GRACE_SECONDS: variable(whole(6 * 3_600, 1, 20 * 3_600), {
    description:
      'How long a refund waits after `EXPIRED` for the supplier’s final word. Goods that arrive later are your loss.',
  }),
  PURCHASE_WAIT_SECONDS: variable(whole(20, 1, 25), {
    description: 'How long a purchase request waits for its goods before it is answered with 202.',
  }),
  INVOICE_MINUTES: variable(whole(30, 5, 1_440), {
    description:
      'How long an invoice in a coin can be paid at its rate. Later payments are returned; meanwhile the rate moves at your expense.',
  }),
  LIMITS_COOLING_HOURS: variable(whole(24, 0, 720), {
    description:
      'How long a wallet waits after it loosens or lifts its [spending limits](docs/agents/buying.md#limits-for-your-agent). With 0, an agent that is talked into it can lift its own limits at once.',
  }),
  PERSONAL_DATA_DAYS: variable(whole(30, 0, 3_650), {
    description:
      'How many days after its end the personal fields of an order or a checkout are erased.',
  }),
}

export const caps = {
  REFUND_HOURLY_CAP_USDC: variable(whole(1_000, 1, 1_000_000), {
    description:
      'The cap on all refunds of any hour, in whole USDC; returns of checkouts and goodwill have a cap of the same size each. It limits what a defect or a thief can pay out. Above it refunds wait (`refund_held`), and nothing that costs more is sold.',
  }),
  REFUND_DAILY_CAP_USDC: variable(whole(5_000, 1, 10_000_000), {
    description: 'The same cap for any 24 hours.',
  }),
  UNPAID_PAYMENTS_PER_HOUR: variable(whole(5, 1, 1_000_000), {
    description:
      'How many payments of one wallet may be unproven or have failed in any hour, before it gets `budget_spent`; four times as many from one address ([budgets](docs/operators/treasury.md#budgets)).',
  }),
  FAILED_ORDERS_PER_HOUR: variable(whole(5, 1, 1_000_000), {
    description:
      'How many orders of one wallet may be refunded in any hour, before it gets `budget_spent`; four times as many from one address. Each refund costs you gas and room under the caps.',
  }),
}

export const sandbox = {
  DATA_DIR: variable(z.string().min(1).default('./data'), {
    perNode: 'value',
    description:
      'The folder of the sandbox’s database, chain, supplier, BTCPay Server, keys and log, for one store at a time.',
  }),
  SANDBOX_OFFERS: variable(whole(12_000, 100, 200_000), {
    perNode: 'value',
    description:
      'How many offers the sandbox supplier lists. Less than half of what the folder had before is refused ([when the catalog shrinks](docs/operators/operations.md#when-the-catalog-shrinks)).',
  }),
}

/** Empty if it cannot be read, whatever the reason. */
function textOfFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return ''
    throw error
  }
}
