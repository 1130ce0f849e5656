/** What one page needs beyond what every page may do. */
export interface PageNeeds {
  /** Runs our own script, and sends a form to us. */
  readonly sendsForm?: true
  /** Shows pictures that stand in the page itself. */
  readonly drawsPictures?: true
}

/**
 * Headers of every page. Nothing is loaded but our own style sheet and pictures; pages run no
 * script, send no form, stand in no frame, and tell no other site where a visitor came from.
 *
 * @param pictures URLs of pictures elsewhere that this one page shows
 */
export function pageHeaders(
  pictures: readonly string[],
  { sendsForm, drawsPictures }: PageNeeds = {},
): Record<string, string> {
  const origins = new Set(pictures.map((url) => new URL(url).origin))
  const policy = [
    "default-src 'none'",
    ...(sendsForm ? ["script-src 'self'"] : []),
    "style-src 'self'",
    `img-src ${["'self'", ...(drawsPictures ? ['data:'] : []), ...origins].join(' ')}`,
    "base-uri 'none'",
    `form-action ${sendsForm ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
  ]
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
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
