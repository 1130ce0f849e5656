import type { Fault } from './faults.ts'

/** Faults of the store as a whole, and of its documents. */
export const storeFaults = {
  unreachable: {
    level: 'stop',
    what: 'The store does not answer.',
    mend: 'Start it, and check the address, the proxy and the certificate.',
  },
  not_https: {
    level: 'warn',
    what: 'The store answers over plain HTTP, so anybody on the way can change prices and receivers.',
    mend: 'Publish it over HTTPS only.',
  },
  rate_limited: {
    level: 'note',
    what: 'The store limited the doctor, so some checks are missing.',
    mend: 'Wait a minute and run the doctor again.',
  },
  nothing_for_sale: {
    level: 'stop',
    what: 'Neither the manifest nor the OpenAPI document has a paid operation.',
    mend: 'List the paid operations in /openapi.json with x-payment-info, or in /.well-known/x402 under resources.',
  },
  manifest_missing: {
    level: 'warn',
    what: 'There is no manifest at /.well-known/x402.',
    mend: 'Serve {"version":1,"resources":["https://…"]} there.',
  },
  manifest_unreadable: {
    level: 'warn',
    what: 'The manifest is not a JSON object with a list of resources.',
    mend: 'Serve JSON with a version and resources, each a URL or an object with one.',
  },
  manifest_version: {
    level: 'warn',
    what: 'The manifest has no known version.',
    mend: 'Set "version": 1.',
  },
  resource_elsewhere: {
    level: 'warn',
    what: 'The manifest names a resource that is not a URL of this store.',
    mend: 'List full URLs that begin with the address that buyers use; pass that address to the doctor with --public.',
  },
  resource_unreachable: {
    level: 'warn',
    what: 'The manifest names a resource that does not exist or fails.',
    mend: 'Remove it from the list, or fix the route.',
  },
  policy_missing: {
    level: 'note',
    what: 'The manifest does not say what happens after a failed purchase.',
    mend: 'Add fulfillment_policy and refund_policy (x402-signals).',
  },
  signals_missing: {
    level: 'note',
    what: 'The manifest does not say whether the store works at the moment.',
    mend: 'Add signals with agent_action and last_updated (x402-signals).',
  },
  signals_stale: {
    level: 'warn',
    what: 'The signals are older than five minutes, so readers consider the store down.',
    mend: 'Set last_updated each time the manifest is served.',
  },
  signals_stop: {
    level: 'stop',
    what: 'The signals tell agents to stop.',
    mend: 'Fix the part that is down; the health page of the store names it.',
  },
  openapi_missing: {
    level: 'warn',
    what: 'There is no OpenAPI document at /openapi.json, where indexers look first.',
    mend: 'Serve one, with x-payment-info on the paid operations.',
  },
  openapi_unreadable: {
    level: 'warn',
    what: 'The OpenAPI document is not a JSON object with paths.',
    mend: 'Serve the document as JSON, not as YAML or a page.',
  },
  openapi_version: {
    level: 'warn',
    what: 'The OpenAPI document does not have version 3.1.',
    mend: 'Write it in OpenAPI 3.1, whose schemas are JSON Schema.',
  },
  openapi_elsewhere: {
    level: 'warn',
    what: 'The OpenAPI document has a path outside of this store, so nobody can call it.',
    mend: 'Begin every path with a single slash. Its scheme and host belong in `servers`.',
  },
  openapi_unpriced: {
    level: 'warn',
    what: 'An operation answers 402 and has no x-payment-info.',
    mend: 'Add x-payment-info with protocols and price, or indexers treat it as free.',
  },
  openapi_no_402: {
    level: 'warn',
    what: 'A paid operation does not list the answer 402.',
    mend: 'Add "402" to its responses.',
  },
  openapi_security: {
    level: 'warn',
    what: 'A free operation does not declare that it needs no authentication.',
    mend: 'Add "security": [] to it.',
  },
  openapi_guidance: {
    level: 'note',
    what: 'The document has no guidance for models (info.x-guidance).',
    mend: 'Add a paragraph about how to search, buy and wait.',
  },
  openapi_contact: {
    level: 'note',
    what: 'The document has no contact address (info.contact.email).',
    mend: 'Add an address that somebody reads.',
  },
  listing_error: {
    level: 'warn',
    what: 'The published validator of discovery reports an error.',
    mend: 'Follow its message; indexers use the same validator.',
  },
  listing_remark: {
    level: 'note',
    what: 'The published validator of discovery has a remark.',
    mend: 'Consider its message.',
  },
  llms_missing: {
    level: 'note',
    what: 'There is no text for models at /llms.txt.',
    mend: 'Serve one that says what the store sells and how to buy it.',
  },
  jwks_missing: {
    level: 'note',
    what: 'There are no keys at /.well-known/jwks.json, so nobody can check receipts of the store.',
    mend: 'Sign receipts and publish the public keys.',
  },
  jwks_private: {
    level: 'stop',
    what: 'The published keys contain private parts: anybody can sign as the store.',
    mend: 'Remove them at once, and change the keys.',
  },
  mcp_missing: {
    level: 'note',
    what: 'There is no MCP server at /mcp.',
    mend: 'Serve one, so that assistants can shop without a client of their own.',
  },
  mcp_broken: {
    level: 'warn',
    what: 'The MCP server answers, but the official client cannot list its tools.',
    mend: 'Run the MCP inspector against it.',
  },
  tool_undescribed: {
    level: 'warn',
    what: 'An MCP tool has no description, so no model knows when to use it.',
    mend: 'Describe it in a sentence or two.',
  },
  clock_off: {
    level: 'warn',
    what: 'The clock of the store and the one here are more than ten seconds apart.',
    mend: 'Synchronise the clock of the store (NTP); payments are valid only for minutes.',
  },
  clock_far_off: {
    level: 'stop',
    what: 'The clocks are so far apart that payments signed here are expired or not yet valid there.',
    mend: 'Synchronise the clock of the store (NTP).',
  },
  sign_in_future: {
    level: 'warn',
    what: 'A sign-in challenge was issued in the future, so its signature is refused.',
    mend: 'Synchronise the clocks of all machines of the store.',
  },
  sign_in_expired: {
    level: 'warn',
    what: 'A sign-in challenge has expired when it arrives.',
    mend: 'Make challenges valid for some minutes, and never cache them.',
  },
  sign_in_elsewhere: {
    level: 'warn',
    what: 'A sign-in challenge is for an address other than the published one; stock clients do not sign it.',
    mend: 'Derive domain and uri from the configured public address.',
  },
  metrics_closed: {
    level: 'note',
    what: 'The metrics are closed to the doctor, so it knows nothing about the nodes of the store.',
    mend: 'Set METRICS_TOKEN to that of the store, or omit --metrics.',
  },
  nodes_disagree: {
    level: 'warn',
    what: 'A node differs in a setting that must agree, so buyers may see two prices, or orders follow two rules.',
    mend: 'Give all nodes the same value (docs/operators/configuration.md, "Settings that must agree"), and restart those that differ.',
  },
  versions_differ: {
    level: 'warn',
    what: 'The nodes of the store have different versions.',
    mend: 'Finish the upgrade, or stop the nodes with the other version.',
  },
} as const satisfies Readonly<Record<string, Fault>>
