/** What stands around every page. */
export const frame = {
  /** The language as browsers and search engines name it. */
  language: 'en',
  locale: 'en_US',
  skip: 'Skip to the content',
  navigation: 'Main',
  footer: 'More',
  home: 'Home',
  shop: 'Shop',
  how: 'How it works',
  find: 'Find my order',
  terms: 'Terms',
  agents: 'For agents',
  forPeople: 'The store',
  forSoftware: 'For software',
  manifest: 'x402 manifest',
  discovery: 'Discovery interface',
  models: 'For models',
  api: 'API reference',
  errors: 'Errors explained',
  help: 'Help',
  sandbox: 'Sandbox: test money and test goods only.',
}
