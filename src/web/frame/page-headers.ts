/** What one page needs beyond what every page may do. */
export interface PageNeeds {
  /** Our own scripts that it runs, "live.js". They may ask this store for more. */
  readonly scripts?: readonly string[]
  /** Shows pictures that are part of the page itself. */
  readonly drawsPictures?: true
  /** Tells not even this store where a visitor came from. */
  readonly isUntraced?: true
}

/**
 * Headers of every page. It loads nothing but our own style sheet, pictures and scripts, sends forms to us
 * alone, cannot be framed, and tells no other site where a visitor came from. It does tell our own:
 * otherwise browsers send our own forms with an origin of "null" (Fetch, 3.2).
 *
 * @param pictures URLs of pictures elsewhere that this one page shows
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
 * Headers of the page about the API: it runs our copy of a script, which reads the document from here.
 * Nothing else is loaded, and nothing is sent anywhere. The script writes styles into elements, which
 * no nonce and no hash can allow.
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

/** What holds for everything the website serves, pictures and styles too. */
export const fixedHeaders: Readonly<Record<string, string>> = {
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}
