/** The longest URL of a webhook, in characters: it has to fit in the query of a quote. */
export const maxWebhookUrl = 1_024

export const webhookForm = `must be an https URL of at most ${maxWebhookUrl} ASCII characters on port 443 or 8443, with a public host name and without user, password or fragment`

const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Top-level names that belong to no public host (RFC 2606, RFC 6761, RFC 6762, RFC 7686, RFC 9476). */
const specialNames =
  /\.(?:alt|arpa|example|home|internal|invalid|lan|local|localhost|onion|test|intranet|corp)$/

/** The sender resolves the name at every delivery. Only a sandbox lets it be on this machine, and on any port. */
export function isWebhookUrl(text: unknown, allowsLoopback = false): text is string {
  if (typeof text !== 'string' || text.length > maxWebhookUrl) return false
  if (!/^https:\/\/[!-~]+$/i.test(text) || /[\\#]/.test(text)) return false
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  if (allowsLoopback) return loopbackHosts.includes(url.hostname) || isPublicName(url.hostname)
  return (url.port === '' || url.port === '8443') && isPublicName(url.hostname)
}

function isPublicName(name: string): boolean {
  return /^(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*[a-z0-9]$/.test(name) && !specialNames.test(name)
}
