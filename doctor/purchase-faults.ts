import type { Fault } from './faults.ts'

/** A paid operation, from the first probe to the headers. */
export const purchaseFaults = {
  probe_refused: {
    level: 'warn',
    what: 'An empty call is refused instead of answered with 402, so indexers take the operation off their lists.',
    mend: 'Answer 402 with a floor price to an empty body, before it is validated; place no order.',
  },
  probe_failed: {
    level: 'stop',
    what: 'An empty call without a payment makes the store fail.',
    mend: 'Answer 402; the log of the store tells what broke.',
  },
  probe_sold: {
    level: 'warn',
    what: 'An operation that is listed as paid answers without a payment.',
    mend: 'Ask for the payment, or list the operation as free.',
  },
  example_refused: {
    level: 'warn',
    what: 'The example that the store publishes is itself refused, so whoever copies it fails.',
    mend: 'Publish an example that can be bought.',
  },
  broken_body_priced: {
    level: 'stop',
    what: 'A body that breaks the store’s own schema is answered with a price: the buyer pays first and is refused then.',
    mend: 'Check the body before the payment, and answer 4xx with the reason.',
  },
  broken_body_failed: {
    level: 'warn',
    what: 'A body that is wrong makes the store fail instead of saying what is wrong.',
    mend: 'Answer 4xx with the reason.',
  },
  bad_payment_failed: {
    level: 'stop',
    what: 'A PAYMENT-SIGNATURE that cannot be read makes the store fail, and the buyer cannot know whether it paid.',
    mend: 'Answer 402 with the reason.',
  },
  bad_payment_sold: {
    level: 'stop',
    what: 'A PAYMENT-SIGNATURE that cannot be read is taken for a payment.',
    mend: 'Verify payments before anything else happens.',
  },
  bad_payment_refused: {
    level: 'note',
    what: 'A PAYMENT-SIGNATURE that cannot be read is not answered with 402, from which clients would go on.',
    mend: 'Answer 402 with the reason.',
  },
  head_buys: {
    level: 'stop',
    what: 'HEAD gets past the payment that GET asks for.',
    mend: 'Refuse HEAD on paid routes, or sell with POST.',
  },
  get_buys: {
    level: 'stop',
    what: 'GET on an operation that is sold with POST answers as if something had been bought.',
    mend: 'Let only POST reach buying; links are followed by machines.',
  },
  demand_missing: {
    level: 'stop',
    what: 'The 402 has no PAYMENT-REQUIRED header.',
    mend: 'Send it, also through the proxy; clients of x402 version 2 read nothing else.',
  },
  demand_unreadable: {
    level: 'stop',
    what: 'PAYMENT-REQUIRED is not base64 of a demand of x402 version 2.',
    mend: 'Write it with the encoder of @x402/core.',
  },
  demand_large: {
    level: 'warn',
    what: 'PAYMENT-REQUIRED is longer than 4.8 kB, which proxies drop unless they are set up for it.',
    mend: 'Keep schemas short, or leave them to the first probe.',
  },
  headers_large: {
    level: 'warn',
    what: 'All headers of the 402 together are longer than 8 kB.',
    mend: 'Send fewer or shorter ones; many proxies and clients stop there.',
  },
  demand_cacheable: {
    level: 'warn',
    what: 'The 402 may be kept by caches, so buyers get old prices.',
    mend: 'Send Cache-Control: no-store with it, and let the proxy keep it.',
  },
  demand_cached: {
    level: 'stop',
    what: 'The 402 comes out of a cache: price, receiver and quote may be another buyer’s.',
    mend: 'Except the paid paths from the cache.',
  },
  accepts_empty: {
    level: 'stop',
    what: 'The demand offers no way to pay.',
    mend: 'Put at least one into accepts.',
  },
  amount_wrong: {
    level: 'stop',
    what: 'The amount is not a whole number of the token’s smallest units above zero.',
    mend: 'Write it as digits: "500000" is 0.50 USDC.',
  },
  network_unknown: {
    level: 'warn',
    what: 'The network is not a CAIP-2 name of an EVM chain, so the doctor cannot judge the way to pay.',
    mend: 'Write for instance eip155:8453 for Base.',
  },
  asset_unknown: {
    level: 'warn',
    what: 'The token is none that stock clients know on this network; they refuse to pay with it.',
    mend: 'Offer USDC of this network as well.',
  },
  asset_domain: {
    level: 'stop',
    what: 'The EIP-712 name or version is not the one of this token on this network: every signature fails.',
    mend: 'Write extra.name and extra.version as the contract has them ("USD Coin" on Base, "USDC" on Base Sepolia).',
  },
  payee_wrong: {
    level: 'stop',
    what: 'The receiver is no address, or the zero address.',
    mend: 'Write the receiving wallet as 0x and 40 hexadecimal digits.',
  },
  timeout_short: {
    level: 'stop',
    what: 'maxTimeoutSeconds leaves less than ten seconds; payments run out before they are settled.',
    mend: 'Allow a minute at least; 300 is usual.',
  },
  timeout_long: {
    level: 'warn',
    what: 'maxTimeoutSeconds keeps a signed payment good for more than an hour.',
    mend: 'Allow as long as a purchase takes; 300 is usual.',
  },
  resource_insecure: {
    level: 'stop',
    what: 'resource.url says http where the store is published over https: indexers refuse it, and clients may follow it.',
    mend: 'Make it from a configured public address, not from the request behind the proxy.',
  },
  resource_other: {
    level: 'warn',
    what: 'resource.url is not the address that was asked.',
    mend: 'Make it from the configured public address; with --public, tell the doctor which that is.',
  },
  forwarded_trusted: {
    level: 'warn',
    what: 'A header of the request (X-Forwarded-Host) changes the address in the demand.',
    mend: 'Make addresses from the configuration, and trust forwarding headers only from the proxy.',
  },
  bazaar_missing: {
    level: 'warn',
    what: 'The demand has no bazaar extension, so it is not listed and no agent learns what to send.',
    mend: 'Declare it with @x402/extensions/bazaar, at least in the answer to an empty call.',
  },
  bazaar_input: {
    level: 'warn',
    what: 'The bazaar extension lacks info.input.type or info.input.method; lists fail closed without them.',
    mend: 'Say "type": "http" and the method.',
  },
  bazaar_invalid: {
    level: 'warn',
    what: 'The bazaar extension does not pass the validator of @x402/extensions.',
    mend: 'Make schema and example fit each other.',
  },
  description_long: {
    level: 'stop',
    what: 'resource.description has 500 characters or more, which makes a resource unpayable at some facilitators.',
    mend: 'Shorten it.',
  },
  metadata_wrong: {
    level: 'warn',
    what: 'serviceName, tags or iconUrl break the limits of the list and are dropped silently.',
    mend: 'serviceName: 32 printable ASCII characters; 5 tags of 32; iconUrl: https, 2048 characters, no IP address.',
  },
  preflight_refused: {
    level: 'stop',
    what: 'A browser’s preflight is not allowed, so no page can buy here.',
    mend: 'Answer OPTIONS with 204 before the payment, with Access-Control-Allow-Origin and POST.',
  },
  preflight_headers: {
    level: 'stop',
    what: 'The preflight does not allow a header that stock clients send.',
    mend: 'Allow all that are named, Access-Control-Expose-Headers among them: clients send it by mistake.',
  },
  demand_hidden: {
    level: 'stop',
    what: 'The 402 itself does not let pages read PAYMENT-REQUIRED and PAYMENT-RESPONSE.',
    mend: 'Send Access-Control-Allow-Origin and Access-Control-Expose-Headers with every answer, errors too.',
  },
} as const satisfies Readonly<Record<string, Fault>>
