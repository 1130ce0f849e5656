/** What one page needs beyond what all pages are allowed. */
export interface PageNeeds {
  /** Our own scripts that it runs, "live.js". They may send requests to this store. */
  readonly scripts?: readonly string[]
  /** Shows pictures from data URLs. */
  readonly drawsPictures?: true
  /** Sends no referrer at all, not even to this store. */
  readonly isUntraced?: true
}

/**
 * Headers of every page. A page loads only our own style sheet, pictures and scripts, sends forms only to us, cannot be
 * framed, and sends no referrer to other sites. It does send one to our own: without it, browsers send our own forms
 * with an origin of "null" (Fetch, 3.2).
 *
 * @param pictures URLs of pictures on other hosts that this page shows
 */
export function pageHeaders(
  { scripts = [], drawsPictures, isUntraced }: PageNeeds,
  pictures: readonly string[] = [],
): Record<string, string> {
  const origins = new Set(pictures.map((url) => new URL(url).origin))
  const policy = [
    "default-src 'none'",
    ...(scripts.length > 0 ? ["script-src 'self'", "connect-src 'self'"] : []),
    "style-src 'self'",
    `img-src ${["'self'", ...(drawsPictures ? ['data:'] : []), ...origins].join(' ')}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return { ...headersWith(policy), ...(isUntraced ? { 'referrer-policy': 'no-referrer' } : {}) }
}

/**
 * Headers of the page about the API. It runs our copy of a third-party script, which reads the OpenAPI document from
 * this store; it loads nothing else and sends nothing anywhere. The script sets style attributes, which neither nonces
 * nor hashes can allow.
 */
export function apiPageHeaders(): Record<string, string> {
  return headersWith([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ])
}

function headersWith(policy: readonly string[]): Record<string, string> {
  return {
    ...fixedHeaders,
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy':
      'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), payment=(), usb=()',
  }
}

/** Headers of everything that the website serves, including pictures and styles. */
export const fixedHeaders: Readonly<Record<string, string>> = {
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}
