/** The paths of the discovery interface, as its own answers name them. */
export const paths = {
  index: '/ai',
  capabilities: '/ai/capabilities',
  vouchers: '/ai/vouchers',
  topups: '/ai/topups',
  esims: '/ai/esims',
} as const

/** The version of the discovery interface. */
export const discoveryVersion = '1.0.0'
