/** What stands around every page. */
export const frame = {
  /** The language as browsers and search engines name it. */
  language: 'en',
  locale: 'en_US',
  skip: 'Skip to the content',
  navigation: 'Main',
  footer: 'More',
  home: 'Home',
  catalog: 'Catalog',
  agents: 'For agents',
  manifest: 'x402 manifest',
  discovery: 'Discovery interface',
  models: 'For models',
  api: 'API reference',
  errors: 'Errors explained',
  help: 'Help',
  sandbox: 'Sandbox: test money and test goods only.',
}
