import type { Fault } from './faults.ts'

/** Faults of a paid operation, in the order of a purchase. */
export const purchaseFaults = {
  probe_refused: {
    level: 'warn',
    what: 'An empty call is refused instead of answered with 402, so indexers remove the operation from their lists.',
    mend: 'Answer 402 with a floor price to an empty body, before it is validated; place no order.',
  },
  probe_failed: {
    level: 'stop',
    what: 'An empty call without a payment makes the store fail.',
    mend: 'Answer 402; the log of the store has the error.',
  },
  probe_sold: {
    level: 'warn',
    what: 'An operation that is listed as paid answers without a payment.',
    mend: 'Ask for the payment, or list the operation as free.',
  },
  example_refused: {
    level: 'warn',
    what: 'The store refuses its own published example, so clients that copy it fail.',
    mend: 'Publish an example that can be bought.',
  },
  broken_body_priced: {
    level: 'stop',
    what: 'The store answers a body that violates its own schema with a price: the buyer pays, and is refused afterwards.',
    mend: 'Check the body before the payment, and answer 4xx with the reason.',
  },
  broken_body_failed: {
    level: 'warn',
    what: 'An invalid body makes the store fail instead of naming the fault.',
    mend: 'Answer 4xx with the reason.',
  },
  bad_payment_failed: {
    level: 'stop',
    what: 'An unreadable PAYMENT-SIGNATURE makes the store fail, and the buyer cannot know whether they paid.',
    mend: 'Answer 402 with the reason.',
  },
  bad_payment_sold: {
    level: 'stop',
    what: 'The store accepts an unreadable PAYMENT-SIGNATURE as a payment.',
    mend: 'Verify payments before anything else happens.',
  },
  bad_payment_refused: {
    level: 'note',
    what: 'An unreadable PAYMENT-SIGNATURE is not answered with 402, with which clients could continue.',
    mend: 'Answer 402 with the reason.',
  },
  head_buys: {
    level: 'stop',
    what: 'HEAD gets past the payment that GET asks for.',
    mend: 'Refuse HEAD on paid routes, or sell with POST.',
  },
  get_buys: {
    level: 'stop',
    what: 'GET on an operation that is sold with POST answers like a purchase.',
    mend: 'Allow purchases only with POST; machines follow links.',
  },
  demand_missing: {
    level: 'stop',
    what: 'The 402 has no PAYMENT-REQUIRED header.',
    mend: 'Send it, also through the proxy; clients of x402 version 2 read nothing else.',
  },
  demand_unreadable: {
    level: 'stop',
    what: 'PAYMENT-REQUIRED is not base64 of payment requirements of x402 version 2.',
    mend: 'Write it with the encoder of @x402/core.',
  },
  demand_large: {
    level: 'warn',
    what: 'PAYMENT-REQUIRED is longer than 4.8 kB; proxies drop it unless they are configured for it.',
    mend: 'Shorten the schemas, or send them only in the answer to an empty call.',
  },
  headers_large: {
    level: 'warn',
    what: 'All headers of the 402 together are longer than 8 kB.',
    mend: 'Send fewer or shorter ones; many proxies and clients have this limit.',
  },
  demand_cacheable: {
    level: 'warn',
    what: 'Caches may store the 402, so buyers get old prices.',
    mend: 'Send Cache-Control: no-store with it, and configure the proxy to pass that header on.',
  },
  demand_cached: {
    level: 'stop',
    what: 'The 402 comes from a cache: price, receiver and quote may be another buyer’s.',
    mend: 'Exclude the paid paths from the cache.',
  },
  accepts_empty: {
    level: 'stop',
    what: 'The 402 offers no payment method.',
    mend: 'Add at least one to accepts.',
  },
  amount_wrong: {
    level: 'stop',
    what: 'The amount is not a positive whole number of the token’s smallest units.',
    mend: 'Write it as digits: "500000" is 0.50 USDC.',
  },
  network_unknown: {
    level: 'warn',
    what: 'The network is not the CAIP-2 name of an EVM chain, so the doctor cannot check this payment method.',
    mend: 'Write, for example, eip155:8453 for Base.',
  },
  asset_unknown: {
    level: 'warn',
    what: 'Stock clients do not know the token on this network, and refuse to pay with it.',
    mend: 'Offer USDC on this network as well.',
  },
  asset_domain: {
    level: 'stop',
    what: 'The EIP-712 name or version is not that of this token on this network: every signature fails.',
    mend: 'Write extra.name and extra.version as the contract has them ("USD Coin" on Base, "USDC" on Base Sepolia).',
  },
  payee_wrong: {
    level: 'stop',
    what: 'The receiver is not an address, or is the zero address.',
    mend: 'Write the receiving wallet as 0x and 40 hexadecimal digits.',
  },
  timeout_short: {
    level: 'stop',
    what: 'maxTimeoutSeconds is less than ten seconds; payments expire before they are settled.',
    mend: 'Allow a minute at least; 300 is usual.',
  },
  timeout_long: {
    level: 'warn',
    what: 'With maxTimeoutSeconds, a signed payment stays valid for more than an hour.',
    mend: 'Allow as long as a purchase takes; 300 is usual.',
  },
  resource_insecure: {
    level: 'stop',
    what: 'resource.url says http although the store is published over https: indexers refuse it, and clients may follow it.',
    mend: 'Derive it from a configured public address, not from the request behind the proxy.',
  },
  resource_other: {
    level: 'warn',
    what: 'resource.url is not the address that was called.',
    mend: 'Derive it from the configured public address; pass that address to the doctor with --public.',
  },
  forwarded_trusted: {
    level: 'warn',
    what: 'A header of the request (X-Forwarded-Host) changes the address in the 402.',
    mend: 'Derive addresses from the configuration, and trust forwarding headers only from the proxy.',
  },
  bazaar_missing: {
    level: 'warn',
    what: 'The 402 has no bazaar extension, so the operation is not listed and no agent learns what to send.',
    mend: 'Declare it with @x402/extensions/bazaar, at least in the answer to an empty call.',
  },
  bazaar_input: {
    level: 'warn',
    what: 'The bazaar extension lacks info.input.type or info.input.method; indexes leave the operation out.',
    mend: 'Set "type": "http" and the method.',
  },
  bazaar_invalid: {
    level: 'warn',
    what: 'The bazaar extension does not pass the validator of @x402/extensions.',
    mend: 'Make the example match the schema.',
  },
  description_long: {
    level: 'stop',
    what: 'resource.description has 500 characters or more, so some facilitators refuse payments for it.',
    mend: 'Shorten it.',
  },
  metadata_wrong: {
    level: 'warn',
    what: 'serviceName, tags or iconUrl exceed the limits of the index, which drops them silently.',
    mend: 'serviceName: 32 printable ASCII characters; 5 tags of 32; iconUrl: https, 2048 characters, no IP address.',
  },
  preflight_refused: {
    level: 'stop',
    what: 'The store refuses a browser’s preflight, so no page can buy here.',
    mend: 'Answer OPTIONS with 204 before the payment, with Access-Control-Allow-Origin and POST.',
  },
  preflight_headers: {
    level: 'stop',
    what: 'The preflight does not allow a header that stock clients send.',
    mend: 'Allow all the named headers, including Access-Control-Expose-Headers, which clients send by mistake.',
  },
  demand_hidden: {
    level: 'stop',
    what: 'The 402 does not let pages read PAYMENT-REQUIRED and PAYMENT-RESPONSE.',
    mend: 'Send Access-Control-Allow-Origin and Access-Control-Expose-Headers with every answer, including errors.',
  },
} as const satisfies Readonly<Record<string, Fault>>
